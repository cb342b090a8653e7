"""The authors' published points of the legal Figure 1, beside ours."""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path

import polars as pl
import pytest

from benchmark_modules import benchmark


@pytest.mark.shared
def test_all_2884_published_points_are_read(shared_folder: Path) -> None:
    points = benchmark("legal_reference").published(shared_folder / "golden" / "legal-eval-2.1.0")
    assert Counter(p.metric for p in points) == {"linkability": 2640, "singling_out": 112, "eer": 132}
    assert {p.attacker for p in points} == {"original", "ignorant", "semi-informed", "informed"}
    assert all(0 <= p.mean <= 1 for p in points)


@pytest.mark.shared
def test_their_chance_levels_are_ours(shared_folder: Path) -> None:
    """1/N for linkability, 1/2 for the EER; 0.37, that is exp(-1), for Singling Out."""
    points = benchmark("legal_reference").published(shared_folder / "golden" / "legal-eval-2.1.0")
    for point in points:
        expected = {"linkability": 1 / point.N, "eer": 0.5, "singling_out": math.exp(-1)}[point.metric]
        assert point.chance == pytest.approx(expected, abs=0.003)


@pytest.mark.shared
def test_linkability_falls_with_n_and_rises_with_l(shared_folder: Path) -> None:
    points = benchmark("legal_reference").published(shared_folder / "golden" / "legal-eval-2.1.0")
    original = {(p.L, p.N): p.mean for p in points if p.metric == "linkability" and p.attacker == "original"}
    most = max(n for _, n in original)
    for length in (1, 3, 30):
        assert original[length, 20] > original[length, 1020] > original[length, most]
    assert original[1, 1020] < original[3, 1020] < original[30, 1020]


def test_a_run_is_printed_beside_the_nearest_published_n() -> None:
    module = benchmark("legal_reference")
    points = [module.Point("linkability", "informed", 1, n, mean, 0.01, 1 / n) for n, mean in ((20, 0.5), (120, 0.3))]
    rows = [
        ("linkability", "b1", "informed", 1, 30, 0.4, 300, None),
        ("linkability", "b1", "informed", 1, 30, 0.9, 150, "f"),
        ("linkability", "b1", "stranger", 1, 30, 0.4, 300, None),
    ]
    columns = ["metric", "anonymizer", "attacker", "L", "N", "value", "n", "gender"]
    shown = module.table(pl.DataFrame(rows, schema=columns, orient="row"), points)
    assert "| linkability | informed | 1 | 30 | 40.0 | 50.0 (sd 1.0), N = 20 | 5.0 |" in shown
    assert len(shown.splitlines()) == 3
