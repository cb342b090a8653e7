"""Counts in parts of the gallery: the same whole numbers in one process, in a pool, from a file, in any parts."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from personare.attackers.attack import Attack
from personare.core.embedding_files import read_embeddings
from personare.core.errors import MetricError
from personare.core.tables import Embeddings
from personare.engine import ProcessPool, Serial
from personare.metrics.privacy import nontargets_above as counting
from personare.pipeline import gallery_parts
from personare.pipeline.attack_inputs import PlayedAttack
from personare.pipeline.gallery_parts import mapped_rows, nontargets_by_engine

PEOPLE, TESTS, WIDTH = 300, 40, 24


def people(path: Path) -> Embeddings:
    """A gallery in a file: many are nearly alike, some exactly, so that single precision cannot order them."""
    rng = np.random.default_rng(3)
    table = rng.standard_normal(WIDTH) + 2e-3 * rng.standard_normal((PEOPLE, WIDTH))
    table[150:] += rng.standard_normal((150, WIDTH))
    table[7] = table[8] = 2 * table[9]
    np.save(path, table.astype(np.float32))
    return read_embeddings(path)


def heard(gallery: Embeddings) -> Embeddings:
    rng = np.random.default_rng(4)
    who = rng.choice(PEOPLE, TESTS, replace=False)
    who[:3] = 7, 8, 9
    vectors = gallery.vectors[who] + 0.02 * rng.standard_normal((TESTS, WIDTH)).astype(np.float32)
    vectors[0] = gallery.vectors[9]
    return Embeddings(
        tuple(f"t{n:02d}" for n in range(TESTS)), tuple(gallery.speakers[i] for i in who), vectors.astype(np.float32)
    )


def by_hand(tests: Embeddings, gallery: Embeddings) -> list[int]:
    unit = [np.asarray(v, np.float64) / np.linalg.norm(np.asarray(v, np.float64)) for v in gallery.vectors]
    counts = []
    for vector, who in zip(tests.vectors.astype(np.float64), tests.speakers, strict=True):
        scores = np.array([u @ (vector / np.linalg.norm(vector)) for u in unit])
        counts.append(int((scores >= scores[gallery.speakers.index(who)] - counting.TIE).sum()) - 1)
    return counts


@pytest.mark.parametrize("rows", [1, 7, 64, 16_384])
def test_any_parts_give_the_same_whole_numbers(tmp_path: Path, monkeypatch: Any, rows: int) -> None:
    gallery = people(tmp_path / "e.npy")
    tests = heard(gallery)
    expected = by_hand(tests, gallery)
    assert max(expected) > 20 and min(expected) == 0
    monkeypatch.setattr(gallery_parts, "PART_ROWS", rows)
    monkeypatch.setattr(counting, "ENROLLED_AT_ONCE", 11)
    monkeypatch.setattr(counting, "BLOCK_CELLS", 50)
    assert mapped_rows(gallery.vectors) is not None
    assert nontargets_by_engine(tests, gallery, engine=Serial()).tolist() == expected
    in_memory = replace(gallery, vectors=np.array(gallery.vectors))
    assert mapped_rows(in_memory.vectors) is None
    assert nontargets_by_engine(tests, in_memory, engine=Serial()).tolist() == expected


def test_a_pool_counts_what_one_process_counts(tmp_path: Path, monkeypatch: Any) -> None:
    gallery = people(tmp_path / "e.npy")
    tests = heard(gallery)
    monkeypatch.setattr(gallery_parts, "PART_ROWS", 100)
    for some in (gallery, replace(gallery, vectors=np.array(gallery.vectors))):
        assert nontargets_by_engine(tests, some, engine=ProcessPool(2)).tolist() == by_hand(tests, gallery)


def test_a_part_that_fails_is_one_line(tmp_path: Path) -> None:
    gallery = people(tmp_path / "e.npy")
    tests = heard(gallery)
    (tmp_path / "e.npy").rename(tmp_path / "gone.npy")
    with pytest.raises(MetricError, match=r"rows 1 to 300 of the gallery could not be compared \(FileNotFoundError"):
        nontargets_by_engine(tests, gallery, engine=Serial())


def test_a_sorted_gallery_of_one_row_each_stays_in_its_file(tmp_path: Path) -> None:
    gallery = people(tmp_path / "e.npy")
    played = PlayedAttack(Attack(gallery.sorted(), heard(gallery)), 1)
    assert np.shares_memory(played.linked_gallery.vectors, gallery.vectors)
    assert mapped_rows(played.linked_gallery.vectors) is not None
    turned = PlayedAttack(Attack(gallery.rows(range(PEOPLE - 1, -1, -1)), heard(gallery)), 1)
    assert not np.shares_memory(turned.linked_gallery.vectors, gallery.vectors)
    for attack in (played, turned):
        assert attack.nontargets_above(heard(gallery)).tolist() == by_hand(heard(gallery), gallery)


def test_part_of_a_file_is_no_whole_table(tmp_path: Path) -> None:
    gallery = people(tmp_path / "e.npy")
    assert mapped_rows(gallery.vectors[1:]) is None and mapped_rows(gallery.vectors[:, :3]) is None
    found = mapped_rows(gallery.vectors)
    assert found is not None and np.array_equal(found.rows(5, 9), gallery.vectors[5:9])
