"""personare anonymize: hide the voices of a whole corpus."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import typer

from personare.cli import show


def parse_settings(settings: list[str] | None) -> dict[str, Any]:
    """Turn ``name=value`` words into parameters; values are read as YAML, so that ranges are ``[0.5, 0.9]``."""
    from personare.core.config import parse_yaml
    from personare.core.errors import ConfigError

    parameters: dict[str, Any] = {}
    for word in settings or []:
        name, equals, value = word.partition("=")
        if not equals or not name:
            raise ConfigError(f"--set {word}: write name=value, e.g. --set alpha=0.8")
        if name in parameters:
            raise ConfigError(f"--set {name} is given twice")
        parameters[name] = parse_yaml(value, where=f"--set {name}")
    return parameters


def anonymize(
    source: Path = typer.Argument(
        ..., metavar="SRC", help="A corpus in any known layout (see: personare corpus info)."
    ),
    target: Path = typer.Argument(..., metavar="DST", help="A new folder; the key goes to DST-private beside it."),
    method: str = typer.Option("mcadams", help="How to hide the voice (see: personare methods), or module:Class."),
    settings: list[str] | None = typer.Option(None, "--set", metavar="NAME=VALUE", help="A parameter of the method."),
    key: Path | None = typer.Option(
        None, metavar="FILE", help="The secret key; made there when absent.  [DST-private/key]"
    ),
    level: str = typer.Option("speaker", help="One new voice per 'speaker', or per 'utterance'."),
    names: str = typer.Option("tokens", help="'tokens' tell nobody who it was; 'keep' keeps ids (research only)."),
    file_format: str = typer.Option("flac", "--format", help="Audio format of the result: flac or wav."),
    layout: str | None = typer.Option(None, help="Layout of SRC, where several fit."),
    jobs: int = typer.Option(1, "--jobs", "-j", min=1, help="How many processes work at once."),
    shard: str | None = typer.Option(
        None, metavar="I/N", help="Do only the I-th of N parts (run the others elsewhere)."
    ),
) -> None:
    """Hide the voices of a corpus: audio in, audio out, identities nowhere.

    The result has new names for files and speakers, carries no tags, and can be resumed when interrupted: run the same
    command again. Failed files are rows, never silently dropped; the exit code is then 1.

    Examples:

        personare anonymize recordings/ anonymous/ --method mcadams --jobs 2

        personare anonymize recordings/ anonymous/ --set "alpha=[0.7, 0.9]" --key secret.key

        personare anonymize recordings/ anonymous/ --method my_module:MyAnonymizer
    """
    from personare.core.catalog import allow_modules_in
    from personare.core.config import coerce
    from personare.core.errors import OutputError
    from personare.corpora import read_corpus
    from personare.engine import engine_for, shard_of
    from personare.pipeline.jobs import anonymize as job
    from personare.pipeline.system import System, rehearse

    if ":" in method:
        allow_modules_in(Path.cwd())
    system = System(method, parse_settings(settings), coerce(level, Literal["speaker", "utterance"], where="--level"))
    reading = read_corpus(source, layout=layout)
    corpus = reading.corpus
    typer.echo(f"{source}: {reading.layout}, {len(corpus.speakers)} speakers, {len(corpus)} utterances", err=True)
    show.problems(reading.problems)
    if target.resolve().is_relative_to(source.resolve()):
        raise OutputError(f"{target}: lies inside {source} and would become part of it; name a folder elsewhere")
    if not rehearse(system):
        typer.echo(f"note: {method} as set here draws nothing by chance: everybody gets the same change", err=True)
    with show.progress("anonymizing", len(corpus)) as tick:
        summary = job.anonymize(
            corpus,
            target,
            system,
            engine=engine_for(jobs),
            key_file=key,
            file_format=coerce(file_format, Literal["flac", "wav"], where="--format"),
            names=coerce(names, Literal["tokens", "keep"], where="--names"),
            keep=(lambda items: shard_of(shard, items, name=lambda i: i.utterance)) if shard else (lambda items: items),
            watch=lambda _: tick(1),
        )
    show.failures(summary.failures)
    show.table(
        f"{method} -> {target}",
        ["done", "kept from before", "failed", "hours", "real-time factor"],
        [
            [
                str(summary.done),
                str(summary.kept),
                str(summary.failed),
                f"{summary.speech_s / 3600:.3f}",
                f"{summary.real_time_factor:.4f}" if summary.speech_s else "-",
            ]
        ],
    )
    typer.echo(f"keep private: {job.private_folder(target)}")
    if summary.unexplained:
        rest = f"{summary.unexplained} audio files in {target} belong to no utterance of {source}"
        typer.echo(f"problem: {rest} (withdrawn since?); delete them or the folder", err=True)
    if summary.failed or summary.unexplained:
        raise typer.Exit(1)
