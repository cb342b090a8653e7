"""personare listen: what stays useful after anonymization, by machine listeners."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import typer

from personare.cli import show


def listen(
    original: Path = typer.Argument(..., metavar="ORIG", help="The original corpus."),
    anonymized: Path = typer.Argument(..., metavar="ANON", help="The same corpus after anonymization."),
    listeners: str = typer.Option(
        "moonshine,pitch,pesq,stoi,estoi,dnsmos",
        metavar="NAME,NAME",
        help="Also: whisper, ctc:DIR, pitch-swift, visqol (slow), affect:FILE, module:Class.",
    ),
    settings: list[str] | None = typer.Option(
        None, "--set", metavar="NAME.PARAMETER=VALUE", help="A parameter of a listener; may be repeated."
    ),
    by: str | None = typer.Option(None, metavar="COLUMN", help="Rows for each value too: gender, age_group, part, ..."),
    guess: bool = typer.Option(
        False, "--guess", help="Guess gender and age group where not noted; marked as predicted."
    ),
    key: Path | None = typer.Option(None, metavar="FILE", help="The key that pairs both.  [ANON-private/key]"),
    seed: int = typer.Option(1, help="Chooses the redraws behind the intervals."),
    jobs: int = typer.Option(1, "--jobs", "-j", min=1, help="How many processes listen at once."),
    remember: bool = typer.Option(True, help="Keep what was observed in the cache folder."),
    as_json: bool = typer.Option(False, "--json", help="Print JSON instead of a table."),
) -> None:
    """Measure what anonymization leaves useful: words, melody, quality, each with an interval over speakers.

    What cannot be measured is counted as failed and named on stderr, never averaged as zero. Values of a model of
    affect are compared by concordance (CCC), categories by average recall (UAR).

    Examples:

        personare listen recordings/ anonymous/ --jobs 2

        personare listen recordings/ anonymous/ --listeners moonshine,whisper --json

        personare listen recordings/ anonymous/ --listeners affect:model.onnx --set "affect.outputs=[arousal]"

        personare listen recordings/ anonymous/ --by gender --guess
    """
    import json

    import polars as pl

    from personare.core.catalog import allow_modules_in
    from personare.corpora import read_corpus
    from personare.engine import engine_for
    from personare.pipeline import listen as study
    from personare.pipeline.given import pair_given
    from personare.pipeline.resolve import GivenFolder
    from personare.pipeline.system import read_system

    allow_modules_in(Path.cwd())
    made = study.make_listeners(_names(listeners), _settings(settings or []))
    system, frame = read_system(anonymized), read_corpus(original).corpus.frame
    speech = pair_given(frame, GivenFolder(anonymized, key))
    files = [str(speech.files[u]) if u in speech.files else None for u in frame["utterance"]]
    frame = frame.with_columns(pl.Series("anonymized", files, dtype=pl.String))
    missing = frame.filter(pl.col("anonymized").is_null())["utterance"].to_list()
    pairs = study.Pairs(frame.drop_nulls("anonymized"), tuple(missing))
    pairs, guessed = _guessed(pairs, jobs) if guess else (pairs, [])
    with show.progress("listening", len(pairs.frame) * len(made)) as tick:
        found = study.listen(pairs, made, engine=engine_for(jobs), seed=seed, by=by, remember=remember, watch=tick)
    found = dataclasses.replace(found, notes=(*found.notes, *guessed))
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


def _settings(words: list[str]) -> dict[str, dict[str, Any]]:
    """Read listener.parameter=value; values are YAML, as in a study file."""
    from personare.core.config import parse_yaml
    from personare.core.errors import ConfigError

    settings: dict[str, dict[str, Any]] = {}
    for word in words:
        place, equals, value = word.partition("=")
        name, dot, parameter = place.rpartition(".")
        if not (equals and dot and name):
            raise ConfigError(f"--set {word}: write listener.parameter=value, e.g. pitch.method=harvest")
        settings.setdefault(name, {})[parameter] = parse_yaml(value, where=f"--set {word}")
    return settings
