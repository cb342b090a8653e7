"""personare infer: see whether anonymized voices still tell gender, age group, accent or another attribute."""

from __future__ import annotations

from pathlib import Path

import typer

from personare.cli import show


def infer(
    original: Path = typer.Argument(..., metavar="ORIG", help="The original corpus, with the attributes."),
    anonymized: Path = typer.Argument(..., metavar="ANON", help="The same corpus after anonymization."),
    train: Path = typer.Option(..., metavar="CORPUS", help="Speech of other people with these attributes."),
    attribute: str = typer.Option(
        "gender", "--attribute", "-a", metavar="NAME,NAME", help="Columns of the corpus, or of its speakers.tsv."
    ),
    key: Path | None = typer.Option(None, metavar="FILE", help="The key that pairs both.  [ANON-private/key]"),
    embedder: str = typer.Option("ecapa", help="The attacker's ear: ecapa, ge2e, or trained:FILE.onnx."),
    seed: int = typer.Option(1, help="Chooses the attacker's own pseudo-voices and the control."),
    jobs: int = typer.Option(1, "--jobs", "-j", min=1, help="How many processes listen at once."),
) -> None:
    """Guess attributes of people from their anonymized voices: the third criterion of WP29, inference.

    The attacker learns from other people, whose speech they anonymize themselves, and says one value per target. Beside
    it stand the majority guess, which needs no voice, and the same guess from somebody else's voice. The risk is what
    the disguised voice adds to the latter.

    Examples:

        personare infer recordings/ anonymous/ --train others/

        personare infer recordings/ anonymous/ --train others/ --attribute gender,age_group,accent
    """
    from personare.corpora import read_corpus
    from personare.engine import engine_for
    from personare.pipeline import old_infer as study
    from personare.pipeline.hearing import ready
    from personare.pipeline.old_evaluate import read_pair
    from personare.pipeline.old_knowledge import lesson_of

    pairs, system, source = read_pair(original, anonymized, key)
    teachers = read_corpus(train).corpus
    names = list(dict.fromkeys(word.strip() for word in attribute.split(",")))
    attributes = {name: study.attribute_of(name, (original, source), (train, teachers)) for name in names}
    ready(embedder)
    lesson = lesson_of(train, None, system)
    listening = study.plan(pairs, system=system, lesson=lesson, embedder=embedder, seed=seed)
    with show.progress("listening", len(listening)) as tick:
        found = study.infer(attributes, listening, engine=engine_for(jobs), seed=seed, watch=lambda _: tick(1))
    show.failures(found.failures)
    show.table(f"What anonymized voices tell about people, {embedder}", *study.table_rows(found))
    for line in study.sentences(found):
        typer.echo(line)
