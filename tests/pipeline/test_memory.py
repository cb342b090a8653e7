"""What is held of an utterance while a corpus is anonymized: rows of tables, no Python object each."""

from __future__ import annotations

import functools
import gc
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import polars as pl

from personare.core.journal import encode_line
from personare.core.tables import Corpus
from personare.corpora import read_corpus
from personare.pipeline.jobs.anonymize_journal import AnonymizeJournal
from personare.pipeline.jobs.worklist import work_list

FEW, MANY = 10_000, 40_000


def listed(count: int) -> Corpus:
    names = [f"u{n:06d}" for n in range(count)]
    table = {"utterance": names, "speaker": [n[:5] for n in names], "audio": [f"/sounds/{n}.wav" for n in names]}
    return Corpus(pl.DataFrame(table))


def python_bytes(work: Callable[[], object]) -> int:
    """The greatest size of Python objects while it works; tables are not among them."""
    gc.collect()
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def write_journal(folder: Path, count: int) -> Path:
    folder.mkdir()
    lines = [encode_line([float(n), f"u{n:06d}", "a" * 64, "system", "b" * 64, 1.0, 0.1, None]) for n in range(count)]
    (folder / "journal").write_bytes(b"".join(lines))
    return folder


def write_manifest(folder: Path, count: int) -> Path:
    folder.mkdir()
    (folder / "one.wav").touch()
    frame = listed(count).frame.with_columns(audio=pl.lit("one.wav"))
    frame.write_parquet(folder / "manifest.parquet")
    return folder / "manifest.parquet"


def test_the_list_of_work_holds_no_object_per_utterance() -> None:
    def name_of(_: str, utterance: str) -> str:
        return f"audio/{utterance[:2]}/{utterance}.flac"

    corpora = [listed(count) for count in (FEW, MANY)]
    few, many = (python_bytes(functools.partial(work_list, corpus, name_of)) for corpus in corpora)
    assert many < 1.5 * few


def test_a_journal_is_read_some_lines_at_a_time(tmp_path: Path) -> None:
    few, many = (
        python_bytes(AnonymizeJournal(write_journal(tmp_path / str(n), n), "system").known) for n in (FEW, MANY)
    )
    assert many < 1.5 * few


def test_a_manifest_is_read_some_rows_at_a_time(tmp_path: Path) -> None:
    places = [write_manifest(tmp_path / str(n), n) for n in (FEW, MANY)]
    read_corpus(places[0])  # what is loaded once
    few, many = (python_bytes(functools.partial(read_corpus, place)) for place in places)
    assert many < 1.5 * few


def test_a_journal_gives_the_last_result_and_the_last_error(tmp_path: Path) -> None:
    private = write_journal(tmp_path / "p", 5000)
    with (private / "journal-1-of-2").open("wb") as stream:
        stream.write(encode_line([9e9, "u000007", "new", "system", "newer", 2.0, 0.1, None]))
        stream.write(encode_line([9e9, "u000008", "new", "another", "newer", 2.0, 0.1, None]))
        stream.write(encode_line([9e9, "u000009", None, "system", None, None, None, "was cut"]))
    journal = AnonymizeJournal(private, "system")
    known = journal.known()
    assert known.columns == ["lead", "source", "output", "speech_s"] and len(known) == 5000
    assert known.filter(pl.col("lead") == "u000007").row(0) == ("u000007", "new", "newer", 2.0)
    assert known.filter(pl.col("lead") == "u000008")["output"].to_list() == ["b" * 64]
    assert journal.errors() == {"u000009": "was cut"}
