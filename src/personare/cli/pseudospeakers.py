"""personare pseudospeakers: the generators of pseudo-speakers, side by side on a pool of one's own."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from personare.cli import show

if TYPE_CHECKING:
    from personare.pseudospeakers.comparison import CosineSummary, GeneratorComparison

app = typer.Typer(no_args_is_help=True, help="Generators of pseudo-speakers, compared on a pool of speaker vectors.")


@app.command("list")
def list_generators() -> None:
    """List the generators.

    Examples:

        personare pseudospeakers list
    """
    import inspect

    from personare.pseudospeakers import PSEUDOSPEAKERS

    names = PSEUDOSPEAKERS.names()
    rows = [[name, (inspect.getdoc(PSEUDOSPEAKERS.load(name)) or "").splitlines()[0]] for name in names]
    show.table("pseudo-speaker generators", ["name", "what it does"], rows)


@app.command("compare")
def compare(
    path: Path = typer.Argument(..., metavar="POOL", help="Vectors with speakers (npz, also with genders)."),
    only: list[str] = typer.Option([], "--only", help="A generator to compare; repeat it. Without: all."),
    parameters: list[str] = typer.Option([], "--set", help="generator.parameter=value, e.g. b1.farthest=50."),
    people: bool = typer.Option(False, "--people", help="Average the vectors of each speaker first."),
    share: float = typer.Option(0.2, help="Share of the people held out of the pool as originals."),
    most: int = typer.Option(200, min=4, help="How many originals at most."),
    seed: int = typer.Option(0, help="Makes the comparison repeatable."),
) -> None:
    """Fit every generator on a pool, generate pseudo-speakers for people held out of it, and print how they differ.

    Examples:

        personare pseudospeakers compare pool.npz

        personare pseudospeakers compare pool.npz --people --set b1.farthest=20 --set b1.average=10
    """
    from personare.core.seeding import Key, rng_for
    from personare.pseudospeakers import PSEUDOSPEAKERS, comparison
    from personare.pseudospeakers.pool import read_pool

    settings = _settings(parameters)
    for name in [*only, *settings]:
        PSEUDOSPEAKERS.load(name)
    key, pool = Key.from_seed(seed), read_pool(path)
    pool = pool.speaker_means() if people else pool
    if len(set(pool.ids)) < len(pool):
        sys.stderr.write(f"note: {path}: several vectors per speaker; --people averages them, as the papers do\n")
    pool, originals = comparison.hold_out(pool, share=share, most=most, rng=rng_for(key, "hold out"))
    names = only or PSEUDOSPEAKERS.names()
    rows = []
    with show.progress("comparing", len(names)) as tick:
        for row in comparison.compare(pool, originals, key=key, names=names, settings=settings):
            rows.append(row)
            tick(1)
    _print(
        rows,
        comparison.CosineSummary.of(comparison.within_gender(pool.vectors, pool.genders)),
        len(pool),
        len(originals),
    )
    show.failures([(row.generator, row.failed) for row in rows if row.failed])
    if any(row.failed for row in rows):
        raise typer.Exit(1)


def _print(rows: list[GeneratorComparison], pool: CosineSummary, voices: int, originals: int) -> None:
    head = [
        "generator",
        "to original",
        "median",
        "between",
        "5 %",
        "95 %",
        "nearest",
        "most",
        "distance",
        "fit s",
        "ms",
    ]
    between = [f"{pool.mean:.2f}", f"{pool.low:.2f}", f"{pool.high:.2f}"]
    shown = [["(the pool)", "-", "-", *between, "-", "-", "-", "-", "-"]]
    for row in rows:
        if row.to_original is None or row.between is None:
            shown.append([row.generator, *["-"] * 10])
            continue
        own, two = row.to_original, row.between
        cells = [f"{own.mean:.2f}", f"{own.median:.2f}", f"{two.mean:.2f}", f"{two.low:.2f}", f"{two.high:.2f}"]
        cells += [f"{row.nearest_mean:.2f}", f"{row.nearest_most:.2f}", f"{row.distance:.2f}"]
        shown.append([row.generator, *cells, f"{row.fit_s:.2f}", f"{row.generate_ms:.1f}"])
    show.table(f"{voices} voices in the pool, {originals} originals held out", head, shown)
    typer.echo(
        "to original, between, nearest: cosines of an invented voice to the original, to another invented voice of"
    )
    typer.echo("that gender, and to the most similar person of the pool; distance 0 would be a person of the pool.")


def _settings(parameters: list[str]) -> dict[str, dict[str, Any]]:
    """Read generator.parameter=value; values are YAML, as in a study file."""
    from personare.core.config import parse_yaml
    from personare.core.errors import ConfigError

    settings: dict[str, dict[str, Any]] = {}
    for text in parameters:
        place, equals, value = text.partition("=")
        generator, dot, parameter = place.partition(".")
        if not (equals and dot and parameter):
            raise ConfigError(f"--set {text}: write generator.parameter=value, e.g. b1.farthest=50")
        settings.setdefault(generator, {})[parameter] = parse_yaml(value, where=f"--set {text}")
    return settings
