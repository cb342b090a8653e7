"""Singling Out in parts of the voices: the same outcomes in one process, in a pool, from a file, in any parts."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from personare.core.embedding_files import read_embeddings
from personare.core.errors import MetricError
from personare.core.tables import Embeddings
from personare.core.vectors import PickedRows
from personare.engine import Engine, ProcessPool, Result, Serial
from personare.metrics.privacy import gallery as galleries
from personare.metrics.privacy import highest_scores
from personare.metrics.privacy.conversations import conversations, single_utterances
from personare.metrics.privacy.gallery import isolation_in_galleries
from personare.metrics.privacy.legal import single_out_conversations
from personare.pipeline import gallery_parts
from personare.pipeline.gallery_parts import IsolateByEngine

PEOPLE, EACH, WIDTH = 60, 4, 16


def gallery(path: Path) -> Embeddings:
    """Tests in a file: groups of people are nearly alike, so that single precision cannot order them."""
    rng = np.random.default_rng(5)
    voices = np.repeat(rng.standard_normal((PEOPLE // 3, WIDTH)), 3, axis=0)
    owner = np.repeat(np.arange(PEOPLE), EACH)
    table = voices[owner] + 1e-6 * rng.standard_normal((len(owner), WIDTH))
    table[::2] += 0.5 * rng.standard_normal((len(owner) // 2, WIDTH))
    np.save(path, table.astype(np.float32))
    pl.DataFrame({"speaker": [f"p{who:02d}" for who in owner]}).write_parquet(path.with_suffix(".parquet"))
    return read_embeddings(path)


def outcomes(tests: Embeddings, *, engine: Engine | None = None, control: bool = False) -> Any:
    rng = np.random.default_rng(6)
    enrolled = slice(0, 20 * EACH, EACH)
    vectors = tests.vectors[enrolled] + 0.01 * rng.standard_normal((20, WIDTH)).astype(np.float32)
    run = single_out_conversations(
        vectors,
        np.array(tests.speakers[enrolled]),
        tests.vectors,
        np.array(tests.speakers),
        length=1,
        rng=np.random.default_rng(7),
        sizes=(10, 30, 40),
        control=control,
        isolate=isolation_in_galleries if engine is None else IsolateByEngine(engine),
    )
    return run.result.isolated


@pytest.mark.parametrize("control", [False, True])
def test_a_pool_isolates_what_one_process_isolates(tmp_path: Path, monkeypatch: Any, control: bool) -> None:
    tests = gallery(tmp_path / "t.npy")
    expected = outcomes(tests, control=control)
    assert 0.1 < expected.mean() < 0.9
    monkeypatch.setattr(gallery_parts, "PART_PREDICATES", 7)
    for some in (tests, replace(tests, vectors=np.array(tests.vectors))):  # mapped from the file, and sent
        for engine in (Serial(), ProcessPool(2)):
            assert (outcomes(some, engine=engine, control=control) == expected).all()


@pytest.mark.parametrize("predicates", [1, 3])
def test_blocks_of_any_size_give_the_same_outcomes(tmp_path: Path, monkeypatch: Any, predicates: int) -> None:
    tests = gallery(tmp_path / "t.npy")
    expected = outcomes(tests)
    monkeypatch.setattr(galleries, "PREDICATES_AT_ONCE", predicates)
    monkeypatch.setattr(galleries, "BLOCK_CELLS", predicates * PEOPLE * EACH)
    monkeypatch.setattr(highest_scores, "CONVERSATIONS_AT_ONCE", 13)
    monkeypatch.setattr(galleries, "DIRECT_CELLS", 60)  # only the smallest gallery is looked up
    assert (outcomes(tests) == expected).all()


def test_the_table_of_a_gallery_in_a_file_is_not_sent(tmp_path: Path) -> None:
    class Watched:
        """An engine that looks at what it is given."""

        def map(self, work: Any, items: Any, *, ordered: bool = True) -> Any:
            assert work.mapped is not None and len(work.gallery.vectors.table) == 0
            yield from Serial().map(work, items, ordered=ordered)

    tests = gallery(tmp_path / "t.npy")
    assert (outcomes(tests, engine=Watched()) == outcomes(tests)).all()


def test_a_part_that_fails_is_one_line(tmp_path: Path) -> None:
    class Broken:
        """An engine that loses everything."""

        def map(self, work: Any, items: Any, *, ordered: bool = True) -> Any:
            del work, ordered
            yield from (Result(n, item, None, "OSError: gone") for n, item in enumerate(items))

    with pytest.raises(MetricError, match=r"voices 1 to 20 of the enrolled could not be compared \(OSError: gone\)"):
        outcomes(gallery(tmp_path / "t.npy"), engine=Broken())


def test_single_utterances_are_the_conversations_of_length_one(tmp_path: Path) -> None:
    tests = gallery(tmp_path / "t.npy")
    who = np.array(tests.speakers)
    picked = single_utterances(tests.vectors, who, rng=np.random.default_rng(1), fewest=2, most=3)
    made = conversations(tests.vectors, who, length=1, rng=np.random.default_rng(1), fewest=2, most=3)
    assert isinstance(picked.vectors, PickedRows) and np.shares_memory(picked.vectors.table, tests.vectors)
    assert picked.speakers.tolist() == made.speakers.tolist()
    rows = picked.vectors[:].astype(np.float64)
    assert np.allclose(rows / np.linalg.norm(rows, axis=1, keepdims=True), made.vectors, atol=1e-7)
    assert picked.vectors.shape == (3 * PEOPLE, WIDTH)


@pytest.mark.parametrize("length", [1e-30, 1e30])
def test_vectors_of_any_length_are_compared(tmp_path: Path, length: float) -> None:
    tests = gallery(tmp_path / "t.npy")
    scaled = replace(tests, vectors=np.array(tests.vectors))
    scaled.vectors[::3] *= np.float32(length)
    rng = np.random.default_rng(1)
    unit = (rng.standard_normal((2, WIDTH)) / 4).astype(np.float32)
    found = galleries.gallery_of(scaled.vectors, np.array(tests.speakers), most=EACH)
    expected = galleries.gallery_of(tests.vectors, np.array(tests.speakers), most=EACH)
    one, other = (g.unit.compare(unit, np.arange(PEOPLE * EACH)) for g in (found, expected))
    assert np.allclose(one, other, atol=1e-6)
