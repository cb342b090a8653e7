"""personare pseudospeakers: the generators of pseudo-speakers, side by side on a pool of one's own."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from personare.cli import given, show

if TYPE_CHECKING:
    from personare.pseudospeakers.comparison import CosineSummary, GeneratorComparison

app = typer.Typer(no_args_is_help=True, help="Generators of pseudo-speakers, compared on a pool of speaker vectors.")


@app.command("list")
def list_generators(as_json: bool = show.JSON) -> None:
    """List the generators.

    Examples:

        personare pseudospeakers list
    """

    from personare.pseudospeakers import PSEUDOSPEAKERS

    names = PSEUDOSPEAKERS.names()
    rows = [[name, show.description(PSEUDOSPEAKERS.load(name)).partition("\n")[0]] for name in names]
    head = ["name", "what it does"]
    if as_json:
        show.json_object({"generators": show.records(head, rows)})
    else:
        show.table("pseudo-speaker generators", head, rows)


@app.command("pool")
def pool(
    out: Path = typer.Argument(..., metavar="OUT", help="The pool to write (.npz)."),
    corpus: list[Path] = typer.Option(..., "--corpus", help="Speech of the pool's people; repeat it."),
    part: str | None = typer.Option(None, help="Only this part of each corpus, where it has parts."),
    embedder: str = typer.Option("ge2e", help="What turns speech into vectors; xvector and cascade speak from ge2e."),
    utterances: int | None = typer.Option(None, min=1, help="At most so many utterances of each person."),
    jobs: int = given.JOBS,
    as_json: bool = show.JSON,
) -> None:
    """Make a pool of speech: the mean speaker vector and the gender of everybody, for every generator to learn from.

    Vectors of voices are biometric data: keep the file where the recordings may be kept. Recordings that cannot be
    embedded are named and counted; the exit code is then 1.

    Examples:

        personare pseudospeakers pool pool.npz --corpus recordings/ --part train

        personare anonymize speech/ anonymous/ --method xvector --set pool=pool.npz
    """
    from personare.api.speech import joined_corpus, speaker_pool
    from personare.core.errors import OutputError
    from personare.corpora import read_corpus
    from personare.engine import engine_named
    from personare.pseudospeakers.pool import write_pool

    if out.suffix != ".npz":
        raise OutputError(f"{out}: a pool is written as .npz")
    readings = [read_corpus(path, person_channels=True) for path in corpus]
    for reading in readings:
        show.problems(reading.problems)
    speech = joined_corpus([reading.corpus.of_part(part) for reading in readings], utterances=utterances)
    machine = engine_named("local", jobs, None)
    with show.progress("embedding", len(speech)) as tick:
        made, failures = speaker_pool(speech, embedder=embedder, engine=machine, watch=lambda _: tick(1))
    show.failures(failures)
    write_pool(made, out)
    counts = {gender or "unknown": len(vectors) for gender, vectors in made.groups.items()}
    if as_json:
        show.json_object({"embedder": embedder, "out": str(out), "people": len(made), "genders": counts})
    else:
        shown = ", ".join(f"{count} {gender}" for gender, count in counts.items())
        show.table(
            f"{embedder} -> {out}", ["people", "genders", "failed"], [[str(len(made)), shown, str(len(failures))]]
        )
    if failures:
        raise typer.Exit(1)


@app.command("compare")
def compare(
    path: Path = typer.Argument(..., metavar="POOL", help="Vectors with speakers (npz, also with genders)."),
    only: list[str] = typer.Option([], "--only", help="A generator to compare; repeat it. Without: all."),
    parameters: list[str] = typer.Option([], "--set", help="generator.parameter=value, e.g. b1.farthest=50."),
    people: bool = typer.Option(False, "--people", help="Average the vectors of each speaker first."),
    share: float = typer.Option(0.2, help="Share of the people held out of the pool as originals."),
    most: int = typer.Option(200, min=4, help="How many originals at most."),
    seed: int = typer.Option(0, help="Makes the comparison repeatable."),
    as_json: bool = show.JSON,
) -> None:
    """Fit every generator on a pool, generate pseudo-speakers for people held out of it, and print how they differ.

    Examples:

        personare pseudospeakers compare pool.npz

        personare pseudospeakers compare pool.npz --people --set b1.farthest=20
    """
    from personare.cli.settings import parse_member_settings
    from personare.core.seeding import Key, rng_for
    from personare.pseudospeakers import PSEUDOSPEAKERS, comparison
    from personare.pseudospeakers.pool import read_pool

    settings = parse_member_settings(parameters, kind="generator", example="b1.farthest=50")
    for name in [*only, *settings]:
        PSEUDOSPEAKERS.load(name)
    key, pool = Key.from_seed(seed), read_pool(path)
    pool = pool.speaker_means() if people else pool
    if len(set(pool.ids)) < len(pool):
        show.aside(f"note: {path}: several vectors per speaker; --people averages them, as the papers do")
    pool, originals = comparison.hold_out(pool, share=share, most=most, rng=rng_for(key, "hold out"))
    names = only or PSEUDOSPEAKERS.names()
    rows = []
    with show.progress("comparing", len(names)) as tick:
        for row in comparison.compare(pool, originals, key=key, names=names, settings=settings):
            rows.append(row)
            tick(1)
    within = comparison.CosineSummary.of(comparison.within_gender(pool.vectors, pool.genders))
    if as_json:
        counts = {"voices": len(pool), "originals": len(originals)}
        show.json_object({**counts, "pool": asdict(within), "generators": [asdict(row) for row in rows]})
    else:
        _print(rows, within, len(pool), len(originals))
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
    show.text(
        "to original, between, nearest: cosines of a pseudo-speaker to the original, to another pseudo-speaker of that "
        "gender, and to the most similar person of the pool; distance 0 would be a person of the pool."
    )
