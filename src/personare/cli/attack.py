"""personare attack: choose what the attacker knows, and see how many speakers they recognise, and whom most often."""

from __future__ import annotations

from pathlib import Path

import typer

from personare.cli import show


def attack(
    original: Path = typer.Argument(..., metavar="ORIG", help="The original corpus."),
    anonymized: Path = typer.Argument(..., metavar="ANON", help="The same corpus after anonymization."),
    knowledge: str = typer.Option(
        "original,ignorant,lazy-informed",
        "--knowledge",
        "-k",
        metavar="NAME,NAME",
        help="original, ignorant, lazy-informed, semi-informed, informed, aligned; or vpc:NAME.",
    ),
    train: Path | None = typer.Option(None, metavar="CORPUS", help="Speech of other people, to learn from."),
    train_method: str | None = typer.Option(
        None, "--train-method", metavar="NAME", help="The similar system a semi-informed attacker has."
    ),
    key: Path | None = typer.Option(None, metavar="FILE", help="The key that pairs both.  [ANON-private/key]"),
    embedder: str = typer.Option("ecapa", help="The attacker's ear: ecapa, ge2e, or trained:FILE.onnx."),
    seed: int = typer.Option(1, help="Chooses the split into enrolment and trial."),
    jobs: int = typer.Option(1, "--jobs", "-j", min=1, help="How many processes listen at once."),
) -> None:
    """Attack an anonymized corpus with attackers of chosen knowledge.

    Prints EER (0 % is full recognition), linkability and the most exposed speakers. Attackers who learn (semi-informed,
    informed, aligned) need speech of other people, which they anonymize themselves.

    Examples:

        personare attack recordings/ anonymous/ --jobs 2

        personare attack recordings/ anonymous/ --knowledge lazy-informed,informed --train others/
    """
    from personare.attackers.knowledge import knowledge as level_named
    from personare.engine import engine_for
    from personare.studies import knowledge as study
    from personare.studies.evaluate import read_pair
    from personare.studies.hearing import ready

    levels = list(dict.fromkeys(level_named(word) for word in knowledge.split(",")))
    pairs, recipe, _ = read_pair(original, anonymized, key)
    lesson = study.lesson_of(train, train_method, recipe)
    ready(embedder)
    listening = study.plan(pairs, levels, recipe=recipe, embedder=embedder, lesson=lesson, seed=seed)
    with show.progress("listening", len(listening)) as tick:
        found = study.attack(pairs, levels, listening, engine=engine_for(jobs), seed=seed, watch=lambda _: tick(1))
    show.failures(found.failures)
    head, rows = study.table_rows(found)
    show.table(f"What attackers achieve, {embedder}", head, rows)
    for line in study.exposed_lines(found):
        typer.echo(line)
