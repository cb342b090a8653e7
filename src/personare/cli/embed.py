"""personare embed: turn a corpus into speaker vectors, for link, single-out and tools of one's own."""

from __future__ import annotations

from pathlib import Path

import typer

from personare.cli import given, show


def embed(
    corpus: Path = typer.Argument(..., metavar="CORPUS", help="Speech in any known layout."),
    out: Path = typer.Argument(..., metavar="OUT", help="The file to write: .npz or .parquet."),
    embedder: str = given.EMBEDDER,
    part: str | None = typer.Option(None, help="Only this part of the corpus, where it has parts."),
    layout: str | None = typer.Option(None, help="Layout of the corpus, where several fit."),
    jobs: int = given.JOBS,
    engine: str = given.ENGINE,
    address: str | None = given.ADDRESS,
    as_json: bool = show.JSON,
) -> None:
    """Turn every utterance into a speaker vector: what link, single-out and pseudospeakers compare work on.

    Vectors of voices are biometric data: keep the file where the recordings may be kept. Recordings that cannot
    be embedded are named and counted; the exit code is then 1.

    Examples:

        personare embed anonymous/ anonymous.npz --jobs 2

        personare embed recordings/ train.parquet --part train --embedder ge2e
    """
    from personare import api
    from personare.core.embedding_files import check_kind, write_embeddings
    from personare.corpora import read_corpus
    from personare.engine import engine_named

    check_kind(out)
    machine = engine_named(engine, jobs, address)
    reading = read_corpus(corpus, layout=layout, person_channels=True)
    show.problems(reading.problems)
    chosen = reading.corpus.of_part(part)
    with show.progress("embedding", len(chosen)) as tick:
        vectors, failures = api.embed(chosen, embedder=embedder, engine=machine, watch=lambda _: tick(1))
    show.failures(failures)
    write_embeddings(vectors, out)
    counts = [len(vectors.ids), len(set(vectors.speakers)), vectors.vectors.shape[1], len(failures)]
    head = ["utterances", "speakers", "dimensions", "failed"]
    if as_json:
        show.json_object({"embedder": embedder, "out": str(out), **dict(zip(head, counts, strict=True))})
    else:
        show.table(f"{embedder} -> {out}", head, [[str(n) for n in counts]])
    if failures:
        raise typer.Exit(1)
