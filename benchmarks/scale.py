"""How work grows: time and memory of anonymize over growing corpora; linkability and Singling Out in large galleries.

``python benchmarks/scale.py`` prints four tables. Corpora: ``--most 100000`` goes on to 10^5 files, and ``--lists
1000000`` to 10^6 utterances without their audio (an engine that writes empty files: what is left is the work of the
main process). Galleries: ``--enrolled 1000000 --tests 10000`` is linked, ``--people 100000`` singled out; both are run
as commands on memory-mapped .npy files and compared with the bare matrix product (sgemm) of the same size in the same
run. Every measurement is a process of its own with 64 open files at most; times are of the processor, because a
machine may be busy. The projections are linear in the last step; that of memory is too high while buffers of some ten
thousand rows are being filled, which ``--lists`` shows.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from personare.engine import Result

DIMENSIONS = 192
RATE_HZ, SAMPLES = 8_000, 800
OPEN_FILES = 64
ROWS = 65_536


@dataclass(frozen=True)
class Measured:
    """What a process took: seconds of the processor, seconds on the clock, and its greatest memory."""

    cpu_s: float
    wall_s: float
    peak_mb: float


def measured(*words: str) -> Measured:
    """Run a process of our own Python, and wait for it."""
    began = time.perf_counter()
    process = subprocess.Popen([sys.executable, *words], stdout=subprocess.DEVNULL, preexec_fn=few_files)  # noqa: S603
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(words)[:300]} ended with {process.returncode}")
    return Measured(used.ru_utime + used.ru_stime, time.perf_counter() - began, used.ru_maxrss / 1024)


def few_files() -> None:
    resource.setrlimit(resource.RLIMIT_NOFILE, (OPEN_FILES, OPEN_FILES))


def measured_here(call: str) -> Measured:
    """Call a function of this file in a process of its own."""
    here = str(Path(__file__).parent)
    return measured("-c", f"import sys, pathlib; sys.path.insert(0, {here!r}); import scale; scale.{call}")


def write_corpus(folder: Path, count: int) -> None:
    """Write ``count`` recordings of 0.1 s: a few different ones, linked under names of their own."""
    from personare.core.audio import Audio, write
    from personare.core.tables import Corpus

    rng = np.random.default_rng(1)
    for n in range(16):
        write(folder / "sounds" / f"{n}.wav", Audio((0.1 * rng.standard_normal(SAMPLES)).astype(np.float32), RATE_HZ))
    for first in range(0, count, 1000):
        (folder / f"{first:07d}").mkdir()
        for n in range(first, min(first + 1000, count)):
            (folder / f"{first:07d}" / f"{n:07d}.wav").hardlink_to(folder / "sounds" / f"{n % 16}.wav")
    rows = [
        (f"u{n:07d}", f"s{n // 10:06d}", str(folder / f"{n - n % 1000:07d}" / f"{n:07d}.wav")) for n in range(count)
    ]
    Corpus(pl.DataFrame(rows, schema=["utterance", "speaker", "audio"], orient="row")).save(folder / "manifest.parquet")


class ListsOnly:
    """An engine that writes an empty file for each utterance: only the main process's own work is left."""

    def map(self, work: Any, items: Iterable[Any], *, ordered: bool = True) -> Iterator[Result[Any, Any]]:
        from personare.pipeline.jobs.anonymize_work import AnonymizedUtterance

        del ordered
        for index, item in enumerate(items):
            place = work.place_of(item)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.touch()
            digest = hashlib.sha256(place.name.encode()).hexdigest()
            yield Result(index, item, AnonymizedUtterance(0.1, 0.001, digest, digest))


def anonymized(folder: Path, *, lists_only: bool) -> None:
    """Do what the command does: read the corpus some rows at a time, count its people, anonymize it."""
    from personare.corpora import read_in_parts
    from personare.engine import Serial
    from personare.pipeline.jobs.anonymize import anonymize
    from personare.pipeline.jobs.corpus_facts import people_of, speech_problems
    from personare.pipeline.system import System

    engine = ListsOnly() if lists_only else Serial()
    with read_in_parts(folder / "in") as reading:
        corpus = reading.corpus
        assert people_of(corpus).count == -(-len(corpus) // 10) and not speech_problems(corpus)
        summary = anonymize(corpus, folder / "out", System("mcadams", {"alpha": 0.8}), engine=engine)
    assert summary.done == len(corpus) and not summary.failed


def anonymize_table(most: int, *, lists_only: bool) -> None:
    what = "lists, journal and tables without audio" if lists_only else "recordings of 0.1 s, all forced to the disk"
    print(f"\nanonymize, one process, {what}")
    print(f"{'utterances':>12} {'processor ms each':>18} {'clock ms each':>14} {'greatest memory MB':>19}")
    seen: list[tuple[int, Measured]] = []
    for count in (c for c in (1_000, 10_000, 100_000, 1_000_000) if c <= most):
        with scratch() as folder:
            measured_here(f"write_corpus(pathlib.Path({str(folder / 'in')!r}), {count})")
            took = measured_here(f"anonymized(pathlib.Path({str(folder)!r}), lists_only={lists_only})")
        seen.append((count, took))
        each = [1000 * seconds / count for seconds in (took.cpu_s, took.wall_s)]
        print(f"{count:>12,} {each[0]:>18.2f} {each[1]:>14.2f} {took.peak_mb:>19.0f}", flush=True)
    if len(seen) > 1:
        (n0, first), (n1, last) = seen[-2:]
        each_s, each_mb = (last.cpu_s - first.cpu_s) / (n1 - n0), (last.peak_mb - first.peak_mb) / (n1 - n0)
        print(f"  one utterance more: {1000 * each_s:.2f} ms, {each_mb * 1024 * 1024:,.0f} bytes")
        if n1 < 1_000_000:
            more = 1_000_000 - n1
            hours, memory_mb = (last.cpu_s + more * each_s) / 3600, last.peak_mb + more * each_mb
            print(f"  projected for 1,000,000: {hours:.2g} hours of one processor, {memory_mb:,.0f} MB")


class scratch:  # noqa: N801 - a context manager
    """A folder for a while."""

    def __enter__(self) -> Path:
        self._folder = Path(tempfile.mkdtemp(prefix="scale-"))
        return self._folder

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self._folder)


def write_vectors(path: Path, rows: int, *, voices: Callable[[slice], Any], noise: float, seed: int) -> None:
    """Write float32 vectors to a .npy, a part at a time; ``voices`` (rows) are what noise is added to."""
    rng = np.random.default_rng(seed)
    table = np.lib.format.open_memmap(path, "w+", np.float32, (rows, DIMENSIONS))
    for start in range(0, rows, ROWS):
        part = slice(start, min(start + ROWS, rows))
        table[part] = voices(part) + noise * rng.standard_normal((part.stop - start, DIMENSIONS), dtype=np.float32)
    table.flush()


def name_rows(path: Path, speakers: Iterable[int]) -> None:
    pl.DataFrame({"speaker": [f"{who:09d}" for who in speakers]}).write_parquet(path.with_suffix(".parquet"))


def bare_product(one: Path, other: Path) -> None:
    """Multiply two files of vectors in the blocks that the counting uses, and do nothing with the result."""
    from personare.metrics.privacy.nontargets_above import BLOCK_CELLS, ENROLLED_AT_ONCE

    rows, columns = np.load(one), np.load(other, mmap_mode="r")
    step = max(1, BLOCK_CELLS // ENROLLED_AT_ONCE)
    for first in range(0, len(columns), ENROLLED_AT_ONCE):
        part = np.ascontiguousarray(columns[first : first + ENROLLED_AT_ONCE]).T
        for start in range(0, len(rows), step):
            rows[start : start + step] @ part


def compared(title: str, ours: Measured, bare: Measured) -> None:
    print(f"\n{title}, {DIMENSIONS} dimensions, from memory maps")
    print(f"  command {ours.cpu_s:.1f} s, bare product {bare.cpu_s:.1f} s of the processor, ", end="")
    print(f"ratio {ours.cpu_s / bare.cpu_s:.2f}; greatest memory {ours.peak_mb:,.0f} MB", flush=True)


def link_table(enrolled: int, tests: int) -> None:
    """Run personare link on a gallery with one row per person."""
    with scratch() as folder:
        write_vectors(folder / "e.npy", enrolled, voices=lambda _: 0.0, noise=1.0, seed=2)
        gallery = np.load(folder / "e.npy", mmap_mode="r")
        who = np.sort(np.random.default_rng(3).choice(enrolled, tests, replace=False))
        write_vectors(folder / "t.npy", tests, voices=lambda part: gallery[who[part]], noise=3.5, seed=4)
        name_rows(folder / "t.npy", who)
        ours = measured("-m", "personare", "link", str(folder / "t.npy"), str(folder / "e.npy"), "--lengths", "1")
        bare = measured_here(f"bare_product(pathlib.Path({str(folder / 't.npy')!r}), {str(folder / 'e.npy')!r})")
    compared(f"linkability of {tests:,} tests among {enrolled:,} enrolled", ours, bare)
    cell_s = ours.cpu_s / enrolled / tests
    print(f"  projected: {cell_s:.2e} s x N x T; N = 10^9, T = 10^4: {cell_s * 1e13 / 3600:,.0f} hours of one")
    print(f"  processor, divided by their number (--jobs, --engine ray); {4 * DIMENSIONS} GB of vectors on disk")


def single_out_table(people: int, each: int, predicates: int) -> None:
    """Run personare single-out among so many people with ``each`` utterances."""
    with scratch() as folder:
        write_vectors(folder / "v.npy", people, voices=lambda _: 0.0, noise=1.0, seed=5)
        voices = np.load(folder / "v.npy", mmap_mode="r")
        owner = np.repeat(np.arange(people), each)
        write_vectors(folder / "t.npy", len(owner), voices=lambda part: voices[owner[part]], noise=2.0, seed=6)
        name_rows(folder / "t.npy", owner)
        write_vectors(folder / "e.npy", predicates, voices=lambda part: voices[part], noise=2.0, seed=7)
        words = [str(folder / "t.npy"), str(folder / "e.npy"), "--lengths", "1", "--predicates", str(predicates)]
        ours = measured("-m", "personare", "single-out", *words)
        bare = measured_here(f"bare_product(pathlib.Path({str(folder / 'e.npy')!r}), {str(folder / 't.npy')!r})")
    compared(f"Singling Out by {predicates:,} voices among N = {people:,} people with {each} tests each", ours, bare)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--most", type=int, default=10_000)
    parser.add_argument("--lists", type=int, default=100_000)
    parser.add_argument("--enrolled", type=int, default=100_000)
    parser.add_argument("--tests", type=int, default=1_000)
    parser.add_argument("--people", type=int, default=10_000)
    parser.add_argument("--tests-each", type=int, default=10)
    parser.add_argument("--predicates", type=int, default=495)
    parser.add_argument("--only", choices=["files", "lists", "link", "single-out"])
    chosen = parser.parse_args()
    tables: dict[str, Callable[[], None]] = {
        "files": lambda: anonymize_table(chosen.most, lists_only=False),
        "lists": lambda: anonymize_table(chosen.lists, lists_only=True),
        "link": lambda: link_table(chosen.enrolled, chosen.tests),
        "single-out": lambda: single_out_table(chosen.people, chosen.tests_each, chosen.predicates),
    }
    for name, table in tables.items():
        if chosen.only in (None, name):
            table()


if __name__ == "__main__":
    main()
