"""What is held of an utterance while a corpus is anonymized: nothing, but for its row where a table was given."""

from __future__ import annotations

import functools
import gc
import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from benchmark_modules import benchmark
from personare.core import pieces
from personare.core.errors import OutputError
from personare.core.journal import encode_line
from personare.core.tables import Corpus
from personare.corpora import read_corpus, read_in_parts
from personare.pipeline.jobs import published, worktable
from personare.pipeline.jobs.anonymize import anonymize
from personare.pipeline.jobs.anonymize_journal import AnonymizeJournal
from personare.pipeline.jobs.anonymize_work import KnownResult
from personare.pipeline.jobs.corpus_facts import people_of, speech_problems
from personare.pipeline.jobs.worktable import work_table
from personare.pipeline.system import System

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
    """List so many utterances, a hundred in each file."""
    folder.mkdir()
    for n in range(-(-count // 100)):
        (folder / f"{n:04d}.wav").touch()
    frame = listed(count).frame.with_columns(audio=pl.col("utterance").str.slice(1, 4) + ".wav")
    frame.write_parquet(folder / "manifest.parquet", row_group_size=512)
    return folder / "manifest.parquet"


def name_of(_: str, utterance: str) -> str:
    return f"audio/{utterance[:2]}/{utterance}.flac"


def test_the_list_of_work_and_the_journal_are_on_the_disk(tmp_path: Path, monkeypatch: Any) -> None:
    """Listing, looking up in the journal, working, counting and naming everything: the same few objects at any size."""

    def work(corpus: Corpus, private: Path) -> None:
        journal = AnonymizeJournal(private, "system")
        with work_table(private) as table:
            table.fill(corpus, name_of)
            table.note(journal.lines())
            assert sum(one.known is not None for one in table.assignments(None)) == len(corpus)
            for item in table.noted():
                table.made(item)
            assert table.list_made(lambda who, what: (what, who)) == len(corpus)
            for part in table.listed((), rows=500):
                assert len(part)
            assert sum(1 for _ in table.digests()) == len(corpus)

    monkeypatch.setattr(worktable, "_ROWS", 256)
    corpora = [listed(count) for count in (1500, 6000)]
    places = [write_journal(tmp_path / str(count), count) for count in (1500, 6000)]
    work(listed(10), write_journal(tmp_path / "10", 10))  # what is loaded once
    few, many = (
        min(python_bytes(functools.partial(work, *one)) for _ in range(2))  # the first may load something
        for one in zip(corpora, places, strict=True)
    )
    assert many < 1.5 * few
    assert [path.name for path in places[1].iterdir()] == ["journal"], "the table is removed at the end"


PLACES = [str(Path(__file__).parent), str(Path(__file__).parents[1])]
MEASURED = """
import pathlib, sys
sys.path[:0] = {places!r}
import test_memory
print(test_memory.{call}({count}, pathlib.Path({folder!r})))
"""


def in_a_process(call: str, count: int, folder: Path) -> int:
    script = MEASURED.format(places=PLACES, call=call, count=count, folder=str(folder))
    return int(subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout)


def bytes_of_a_job(count: int, folder: Path) -> int:
    """How much this process grew, at its greatest, while a job over so many utterances ran; their corpus not counted.

    What is held at a time is made small, and what is loaded once is loaded before.
    """
    published.ROW_GROUP, worktable._ROWS, worktable._CACHE_KIB = 512, 256, 512
    system = System("mcadams", {"alpha": 0.8})
    anonymize(listed(3000), folder / "first", system, engine=benchmark("scale").ListsOnly())
    corpus = listed(count)
    gc.collect()
    Path("/proc/self/clear_refs").write_text("5")  # the greatest size is counted from here
    before = _status("VmRSS")
    assert anonymize(corpus, folder / "out", system, engine=benchmark("scale").ListsOnly()).done == count
    return _status("VmHWM") - before


def _status(name: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(1024 * int(line.split()[1]) for line in lines if line.startswith(f"{name}:"))


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="only Linux tells the greatest size since")
def test_a_job_needs_no_memory_for_each_utterance_beyond_its_row_in_the_corpus(tmp_path: Path) -> None:
    """Memory of the whole process, tables included: rows that were held would need some hundred bytes each."""
    grown = in_a_process("bytes_of_a_job", 20_000, tmp_path)
    assert grown < 20_000 * 400, "some MB at any size; a row held again would need more than this"


def bytes_of_a_manifest(count: int, folder: Path) -> int:
    """How much this process grew, at its greatest, while the manifest of so many utterances was read and worked on."""
    published.ROW_GROUP, worktable._ROWS, worktable._CACHE_KIB, pieces.ROWS = 512, 256, 512, 1024
    system, engine = System("mcadams", {"alpha": 0.8}), benchmark("scale").ListsOnly()

    def work(name: str, manifest: Path) -> int:
        with read_in_parts(manifest.parent) as reading:
            people_of(reading.corpus)
            speech_problems(reading.corpus)
            return anonymize(reading.corpus, folder / name, system, engine=engine).done

    work("first", write_manifest(folder / "few", 3000))
    manifest = write_manifest(folder / "many", count)
    gc.collect()
    Path("/proc/self/clear_refs").write_text("5")  # the greatest size is counted from here
    before = _status("VmRSS")
    assert work("out", manifest) == count
    return _status("VmHWM") - before


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="only Linux tells the greatest size since")
def test_a_manifest_needs_no_memory_for_each_utterance(tmp_path: Path) -> None:
    """From the file to the result, some rows at a time; a table of all rows would need more."""
    assert in_a_process("bytes_of_a_manifest", MANY, tmp_path) < MANY * 250


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
    with work_table(private) as table:
        table.fill(listed(5000), name_of)
        table.note(AnonymizeJournal(private, "system").lines())
        items = {item.lead: item for item in table.noted()}
        known = {one.utterance: one.known for one in table.assignments(None)}
    assert len(items) == 5000 and all(item.output is not None for item in items.values())
    assert known["u000007"] == KnownResult("new", "newer", 2.0)
    assert items["u000008"].output == "b" * 64
    assert {lead: item.error for lead, item in items.items() if item.error} == {"u000009": "was cut"}


def test_a_line_that_says_nothing_of_an_item_is_no_line(tmp_path: Path) -> None:
    private = write_journal(tmp_path / "p", 1)
    with (private / "journal").open("ab") as stream:
        stream.write(encode_line([1.0, 7, "a", "system", "b", 1.0, 0.1, None]))
        stream.write(encode_line([1.0, "u000000"]))
    lines = list(AnonymizeJournal(private, "system").lines())
    assert [line.lead for line in lines] == ["u000000"]


def test_a_long_manifest_is_joined_from_parts(tmp_path: Path, monkeypatch: Any) -> None:
    """The same rows as a short one, in the same order; nothing is left over."""
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    for folder in (whole, parts):
        folder.mkdir()
        monkeypatch.setattr(published, "ROW_GROUP", 65_536 if folder is whole else 100)
        (folder / "key").write_text(bytes(range(32)).hex() + "\n")
        (folder / "key").chmod(0o600)
        options: dict[str, Any] = {"engine": benchmark("scale").ListsOnly(), "key_file": folder / "key"}
        anonymize(listed(950), folder / "out", System("mcadams", {"alpha": 0.8}), **options)
    one, other = (pl.read_parquet(folder / "out" / "manifest.parquet") for folder in (whole, parts))
    assert one.equals(other) and len(one) == 950 and one["utterance"].is_sorted()
    assert sorted(path.name for path in (parts / "out-private").iterdir()) == ["failures.tsv", "job.json", "journal"]


def test_only_what_the_table_itself_cannot_do_is_told_as_such(tmp_path: Path) -> None:
    """Another file that cannot be written must not be reported as the list of work."""
    with pytest.raises(OutputError, match=r"\.sqlite: cannot be written \(No such file or directory\)"):
        work_table(tmp_path / "absent").__enter__()
    with pytest.raises(FileNotFoundError, match="manifest"), work_table(tmp_path):
        raise FileNotFoundError("the manifest is gone")
    with pytest.raises(OutputError, match="cannot be written"), work_table(tmp_path) as table:
        table._sql.execute("DROP TABLE rows")
        list(table.assignments(None))
    assert not list(tmp_path.iterdir())
