"""personare listen: what friendly ears still hear after anonymization."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import typer

from personare.cli import show


def listen(
    original: Path = typer.Argument(..., metavar="ORIG", help="The original corpus."),
    anonymized: Path = typer.Argument(..., metavar="ANON", help="The same corpus after anonymization."),
    measures: str = typer.Option(
        "words,pitch,pesq,stoi,estoi,dnsmos", metavar="NAME,NAME", help="What to measure; visqol is slower."
    ),
    recognizers: str = typer.Option(
        "moonshine", metavar="NAME,NAME", help="Ears for words: moonshine, whisper, ctc:DIR."
    ),
    tracker: str = typer.Option("pitch", help="Ear for pitch: pitch (WORLD) or pitch-swift (neural)."),
    affect: Path | None = typer.Option(None, metavar="FILE", help="Your own model of feeling: .json or .onnx."),
    outputs: str = typer.Option("", metavar="NAME,NAME", help="What the outputs of a .onnx model are called."),
    classes: bool = typer.Option(False, "--classes", help="The outputs of a .onnx model are categories."),
    labels: str = typer.Option("emotion", metavar="COLUMN", help="Column of the corpus that notes the true category."),
    by: str | None = typer.Option(None, metavar="COLUMN", help="Rows for each value too: gender, age_group, part, ..."),
    guess: bool = typer.Option(
        False, "--guess", help="Guess gender and age group where not noted; marked as predicted."
    ),
    key: Path | None = typer.Option(None, metavar="FILE", help="The key that pairs both.  [ANON-private/key]"),
    seed: int = typer.Option(1, help="Chooses the redraws behind the intervals."),
    jobs: int = typer.Option(1, "--jobs", "-j", min=1, help="How many processes listen at once."),
    remember: bool = typer.Option(True, help="Keep what was heard in the cache folder."),
    as_json: bool = typer.Option(False, "--json", help="Print JSON instead of a table."),
) -> None:
    """Measure what anonymization leaves useful: words, melody, quality, each with an interval over speakers.

    What cannot be measured is counted as failed and named on stderr, never averaged as zero. Values of a model of
    feeling are compared by concordance (CCC), categories by average recall (UAR).

    Examples:

        personare listen recordings/ anonymous/ --jobs 2

        personare listen recordings/ anonymous/ --measures words --recognizers moonshine,whisper --json

        personare listen recordings/ anonymous/ --by gender --guess
    """
    import json

    import polars as pl

    from personare.corpora import read_corpus
    from personare.engine import engine_for
    from personare.listeners import listener
    from personare.pipeline import listen as study
    from personare.pipeline.given import pair_given
    from personare.pipeline.listening import ListenWork
    from personare.pipeline.resolve import GivenFolder
    from personare.pipeline.system import read_system

    feeling: Any = None
    if affect is not None:
        feeling = listener("affect", model=affect, outputs=_names(outputs), classes=classes)
    work = ListenWork(_names(measures), _names(recognizers), tracker, remember, feeling)
    work.check()
    system, frame = read_system(anonymized), read_corpus(original).corpus.frame
    speech = pair_given(frame, GivenFolder(anonymized, key))
    files = [str(speech.files[u]) if u in speech.files else None for u in frame["utterance"]]
    frame = frame.with_columns(pl.Series("anonymized", files, dtype=pl.String))
    missing = frame.filter(pl.col("anonymized").is_null())["utterance"].to_list()
    pairs = study.Pairs(frame.drop_nulls("anonymized"), tuple(missing))
    pairs, told = _guessed(pairs, jobs) if guess else (pairs, [])
    with show.progress("listening", len(pairs.frame)) as tick:
        found = study.listen(pairs, work, engine=engine_for(jobs), seed=seed, by=by, labels=labels, watch=tick)
    found = dataclasses.replace(found, notes=(*found.notes, *told))
    show.failures(found.failures)
    if as_json:
        typer.echo(json.dumps(study.as_json(found), indent=2, allow_nan=False))
        return
    head, rows = study.table_rows(found)
    show.table(
        f"What is left: {len(pairs.frame)} utterances, {system.method if system else 'unknown method'}", head, rows
    )
    for note in found.notes:
        typer.echo(note)


def _guessed(pairs: Any, jobs: int) -> tuple[Any, list[str]]:
    """Fill in what nobody noted, and say so."""
    from personare.engine import engine_for
    from personare.pipeline.jobs.guess_attributes import with_guesses

    guesses = with_guesses(pairs.frame, engine=engine_for(jobs), kinds=("gender", "age_group"))
    show.failures(guesses.failures)
    return dataclasses.replace(pairs, frame=guesses.frame), guesses.notes


def _names(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(word.strip() for word in text.split(",") if word.strip()))
