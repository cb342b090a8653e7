"""How work grows: time and memory of anonymize at 10^3, 10^4 (and 10^5) tiny files; linkability from memory maps.

``python benchmarks/scale.py`` prints both tables; ``--most 100000`` goes on to 10^5 files, ``--enrolled 1000000
--tests 10000`` to the largest gallery. The projection is linear in the last step. Linkability is compared with the bare
matrix product (sgemm) of the same size in the same run.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl

DIMENSIONS = 192
RATE_HZ, SAMPLES = 8_000, 800


def write_corpus(folder: Path, count: int) -> None:
    """Write ``count`` recordings of 0.1 s: a few different ones, linked many times under names of their own."""
    from personare.core.audio import Audio, write
    from personare.core.tables import Corpus

    rng = np.random.default_rng(1)
    for n in range(16):
        write(folder / "sounds" / f"{n}.wav", Audio((0.1 * rng.standard_normal(SAMPLES)).astype(np.float32), RATE_HZ))
    rows = [(f"u{n:07d}", f"s{n // 10:06d}", str(folder / "sounds" / f"{n % 16}.wav")) for n in range(count)]
    Corpus(pl.DataFrame(rows, schema=["utterance", "speaker", "audio"], orient="row")).save(folder / "manifest.parquet")


def anonymized(count: int, folder: Path) -> None:
    """Run in a process of its own, so that its greatest memory is its own; prints seconds and megabytes."""
    from personare.corpora import read_corpus
    from personare.engine import Serial
    from personare.pipeline.jobs.anonymize import anonymize
    from personare.pipeline.system import System

    write_corpus(folder, count)
    began = time.perf_counter()
    corpus = read_corpus(folder / "manifest.parquet").corpus
    summary = anonymize(corpus, folder / "out", System("mcadams", {"alpha": 0.8}), engine=Serial())
    assert summary.done == count and not summary.failed
    peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{time.perf_counter() - began:.2f} {peak_mb:.0f}")


def anonymize_table(most: int) -> None:
    print("anonymize, one process, recordings of 0.1 s, every file forced to the disk")
    print(f"{'utterances':>12} {'ms per utterance':>18} {'greatest memory MB':>20}")
    measured = []
    for count in (c for c in (1_000, 10_000, 100_000) if c <= most):
        folder = Path(tempfile.mkdtemp(prefix="scale-"))
        try:
            here = str(Path(__file__).parent)
            code = f"import sys, pathlib; sys.path.insert(0, {here!r}); import scale; "
            code += f"scale.anonymized({count}, pathlib.Path({str(folder)!r}))"
            done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)  # noqa: S603
        finally:
            shutil.rmtree(folder)
        seconds, peak_mb = map(float, done.stdout.split())
        measured.append((count, seconds, peak_mb))
        print(f"{count:>12,} {1000 * seconds / count:>18.2f} {peak_mb:>20.0f}")
    if len(measured) > 1:
        (n0, s0, m0), (n1, s1, m1) = measured[-2:]
        hours = (s1 + (1_000_000 - n1) * (s1 - s0) / (n1 - n0)) / 3600
        memory_mb = m1 + (1_000_000 - n1) * (m1 - m0) / (n1 - n0)
        print(f"{'1,000,000':>12} projected: {hours:.1f} hours in one process, {memory_mb:.0f} MB in the main process")


def link_table(enrolled: int, tests: int) -> None:
    """Compare linkability from memory-mapped vectors with the bare product of the same size."""
    from personare.core.embedding_files import read_embeddings
    from personare.metrics.privacy.nontargets_above import ENROLLED_AT_ONCE, nontargets_above

    folder = Path(tempfile.mkdtemp(prefix="scale-"))
    try:
        rng = np.random.default_rng(2)
        gallery = np.lib.format.open_memmap(folder / "e.npy", "w+", np.float32, (enrolled, DIMENSIONS))
        for start in range(0, enrolled, 65_536):
            gallery[start : start + 65_536] = rng.standard_normal((min(65_536, enrolled - start), DIMENSIONS))
        gallery.flush()
        who = np.sort(rng.choice(enrolled, tests, replace=False))
        test = gallery[who] + 1.5 * rng.standard_normal((tests, DIMENSIONS)).astype(np.float32)
        del gallery
        read = read_embeddings(folder / "e.npy")
        began = time.perf_counter()
        above = nontargets_above(test, np.array(read.speakers)[who], read.vectors, np.array(read.speakers))
        ours_s = time.perf_counter() - began
        began = time.perf_counter()
        step = max(1, 6_000_000 // ENROLLED_AT_ONCE)
        for first in range(0, enrolled, ENROLLED_AT_ONCE):
            part = np.ascontiguousarray(read.vectors[first : first + ENROLLED_AT_ONCE]).T
            for start in range(0, tests, step):
                test[start : start + step] @ part
        bare_s = time.perf_counter() - began
        peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(
            f"\nlinkability of {tests:,} tests among {enrolled:,} enrolled, {DIMENSIONS} dimensions, from a memory map"
        )
        print(
            f"  ours {ours_s:.1f} s, bare product {bare_s:.1f} s, ratio {ours_s / bare_s:.2f}, memory {peak_mb:.0f} MB"
        )
        cell_s = ours_s / enrolled / tests
        print(
            f"  projected for N people and T tests: {cell_s:.2e} s x N x T; N = 10^9, T = 10^4: "
            f"{cell_s * 1e13 / 3600:,.0f} hours on one core, divided by the number of cores"
        )
        print(f"  linked at N = {enrolled:,}: {np.mean(above == 0):.1%}")
    finally:
        shutil.rmtree(folder)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--most", type=int, default=10_000)
    parser.add_argument("--enrolled", type=int, default=100_000)
    parser.add_argument("--tests", type=int, default=1_000)
    chosen = parser.parse_args()
    anonymize_table(chosen.most)
    with multiprocessing.get_context("spawn").Pool(1) as pool:  # its own memory
        pool.apply(link_table, (chosen.enrolled, chosen.tests))


if __name__ == "__main__":
    main()
