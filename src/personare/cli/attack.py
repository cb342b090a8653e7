"""personare attack: choose what the attacker knows, and see how many speakers they recognise, and whom most often."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

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
    scorer: str = typer.Option("plda", metavar="plda|cosine", help="How attackers who learn compare."),
    as_norm: int = typer.Option(0, "--as-norm", min=0, metavar="N", help="For them: judge scores by N strangers'."),
    disguises: int = typer.Option(
        5, min=1, metavar="K", help="How often they disguise each enrolled utterance; 1 as in VoicePrivacy."
    ),
    no_pairs: bool = typer.Option(
        False, "--no-pairs", help="The aligned attacker does not know which training utterance became which."
    ),
    lengths: str = typer.Option("1", "--lengths", metavar="L,L", help="Utterances the attacker hears at once."),
    seed: int = typer.Option(1, help="Chooses the split into enrolment and trial."),
    jobs: int = typer.Option(1, "--jobs", "-j", min=1, help="How many processes listen at once."),
    guess_gender: bool = typer.Option(
        False, "--guess-gender", help="Guess genders where not noted, for same-gender EER; marked as predicted."
    ),
) -> None:
    """Attack an anonymized corpus with attackers of chosen knowledge.

    Prints EER (0 % is full recognition), linkability and the most exposed speakers. Attackers who learn (semi-informed,
    informed, aligned) need speech of other people, which they anonymize themselves, or an ear that has learnt from
    anonymized speech (personare train embedder).

    Examples:

        personare attack recordings/ anonymous/ --jobs 2

        personare attack recordings/ anonymous/ --knowledge lazy-informed,informed --train others/

        personare attack recordings/ anonymous/ --guess-gender
    """
    from personare.attackers.knowledge import knowledge as level_named
    from personare.cli.evaluate import parse_lengths, with_genders
    from personare.core.config import coerce
    from personare.engine import engine_for
    from personare.pipeline import old_knowledge as study
    from personare.pipeline.hearing import ready
    from personare.pipeline.jobs.guess_attributes import gender_notes
    from personare.pipeline.old_evaluate import read_pair
    from personare.pipeline.old_knowledge_table import exposed_lines, table_rows

    levels = list(dict.fromkeys(level_named(word) for word in knowledge.split(",")))
    compare = coerce(scorer, Literal["plda", "cosine"], where="--scorer")
    heard_at_once = parse_lengths(lengths)
    pairs, system, _ = read_pair(original, anonymized, key)
    lesson = study.lesson_of(train, train_method, system)
    ready(embedder)
    pairs = with_genders(pairs, jobs) if guess_gender else pairs
    listening = study.plan(
        pairs, levels, system=system, embedder=embedder, lesson=lesson, seed=seed, disguises=disguises
    )
    with show.progress("listening", len(listening)) as tick:
        found = study.attack(
            pairs,
            levels,
            listening,
            engine=engine_for(jobs),
            lengths=heard_at_once,
            seed=seed,
            compare=compare,
            as_norm=as_norm,
            alignment="no pairs" if no_pairs else "pairs",
            watch=lambda _: tick(1),
        )
    show.failures(found.failures)
    show.table(f"What attackers achieve, {embedder}", *table_rows(found))
    for line in exposed_lines(found):
        typer.echo(line)
    for note in gender_notes(pairs.frame):
        typer.echo(note)
