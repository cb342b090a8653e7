"""personare embed: turn a corpus into speaker vectors, for link, single-out and tools of one's own."""

from __future__ import annotations

from pathlib import Path

import typer

from personare.cli import show


def embed(
    corpus: Path = typer.Argument(..., metavar="CORPUS", help="Speech in any known layout."),
    out: Path = typer.Argument(..., metavar="OUT", help="The file to write: .npz or .parquet."),
    embedder: str = typer.Option("ecapa", help="The ear: ecapa, ge2e, or trained:FILE.onnx."),
    part: str | None = typer.Option(None, help="Only this part of the corpus, where it has parts."),
    layout: str | None = typer.Option(None, help="Layout of the corpus, where several fit."),
    jobs: int = typer.Option(1, "--jobs", "-j", min=1, help="How many processes listen at once."),
) -> None:
    """Turn every utterance into a speaker vector: what link, single-out and pseudospeakers compare work on.

    Vectors of voices are biometric data: keep the file where the recordings may be kept. Recordings that cannot
    be heard are named and counted; the exit code is then 1.

    Examples:

        personare embed anonymous/ anonymous.npz --jobs 2

        personare embed recordings/ train.parquet --part train --embedder ge2e
    """
    from personare.core.embedding_files import check_kind, write_embeddings
    from personare.corpora import read_corpus
    from personare.engine import engine_for
    from personare.pipeline.hearing import HearWork, hear, ready, sounds_of

    check_kind(out)
    ready(embedder)
    reading = read_corpus(corpus, layout=layout)
    show.problems(reading.problems)
    sounds = sounds_of(reading.corpus, part=part)
    with show.progress("listening", len(sounds)) as tick:
        heard = hear(sounds, HearWork(embedder), engine=engine_for(jobs), watch=lambda _: tick(1))
    show.failures(heard.failures)
    write_embeddings(heard.embeddings, out)
    people = len(set(heard.embeddings.speakers))
    show.table(
        f"{embedder} -> {out}",
        ["utterances", "speakers", "dimensions", "failed"],
        [
            [
                str(len(heard.embeddings.ids)),
                str(people),
                str(heard.embeddings.vectors.shape[1]),
                str(len(heard.failures)),
            ]
        ],
    )
    if heard.failures:
        raise typer.Exit(1)
