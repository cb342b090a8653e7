"""personare listen: what stays useful after anonymization, by machine listeners."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer

from personare.cli import given, show


def listen(
    original: Path = given.ORIGINAL,
    anonymized: Path = given.ANONYMIZED,
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
    out: Path | None = typer.Option(None, "--out", metavar="DIR", help="Keep the run folder.  [none is kept]"),
    key: Path | None = given.KEY,
    seed: int = given.SEED,
    jobs: int = given.JOBS,
    as_json: bool = typer.Option(False, "--json", help="Print JSON instead of a table."),
) -> None:
    """Measure what anonymization leaves useful: words, F0, quality, each with an interval over speakers.

    What cannot be measured is counted as failed and named on stderr, never averaged as zero. Values of a model of
    affect are compared by concordance (CCC), categories by average recall (UAR).

    Examples:

        personare listen recordings/ anonymous/ --jobs 2

        personare listen recordings/ anonymous/ --listeners moonshine,whisper --json

        personare listen recordings/ anonymous/ --listeners affect:model.onnx --set "affect.outputs=[arousal]"

        personare listen recordings/ anonymous/ --by gender --guess
    """
    import json

    from personare import api
    from personare.core.catalog import allow_modules_in

    allow_modules_in(Path.cwd())
    result = given.watched(
        api.listen,
        original=original,
        anonymized=anonymized,
        listeners=given.words(listeners),
        parameters=_settings(settings or []),
        by=by,
        guess=("gender", "age_group") if guess else (),
        key=key,
        seed=seed,
        jobs=jobs,
        out=out,
    )
    if as_json:
        show.failures([(f"{stage}: {item}", why) for stage, item, why in result.failures])
        typer.echo(json.dumps(result.to_json(), indent=2, allow_nan=False))
    else:
        given.tell(result, "What is left of the speech")
    if result.failures:
        raise typer.Exit(1)


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
