"""How much is computed at once is a matter of memory and time: one item, a few or all of them give the same numbers."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from personare import metrics
from personare.core.vectors import run_means, unit_rows
from personare.metrics.privacy.chance import shuffled_levels
from personare.metrics.privacy.cllr import cllr
from personare.metrics.privacy.dsys import dsys_of_levels
from personare.metrics.privacy.eer import eer_of_levels, kaldi_eer_of_levels
from personare.metrics.privacy.linkability import linkability_from_counts
from personare.metrics.privacy.nontargets_above import nontargets_above
from personare.metrics.privacy.redraws import left_out, level_values
from personare.metrics.privacy.singling_out import singling_out

RNG = np.random.default_rng
OWNER = np.repeat(np.arange(9), 3)
VOICES = RNG(0).normal(size=(9, 5)).repeat(3, axis=0)
TEST, ENROLL = (VOICES + 0.8 * RNG(seed).normal(size=VOICES.shape) for seed in (1, 2))
T, N = RNG(3).normal(1, 1, 30), RNG(4).normal(size=50)
ALIKE = np.repeat(VOICES[:3], 3, axis=0) + 1e-8 * RNG(5).normal(size=(9, 5))  # too near for single precision


def without_each_speaker() -> Any:
    out = left_out(30, 50, target_speakers=np.arange(30) % 7, nontarget_speakers=np.arange(50) % 7)
    return level_values(T, N, [eer_of_levels, dsys_of_levels], out, raw=[kaldi_eer_of_levels])


def deals() -> Any:
    found = shuffled_levels(T, N, [eer_of_levels], rng=RNG(0), deals=7, raw=[kaldi_eer_of_levels])
    return [dealt.values for dealt in found]


def similarity() -> Any:
    found = [metric(TEST, ENROLL, OWNER) for metric in (metrics.deid, metrics.g_vd)]
    return [[estimate.value, estimate.low, estimate.high] for estimate in found]


def drawn_links() -> Any:
    found = linkability_from_counts(OWNER, OWNER, enrolled=12, sizes=(2, 3, 5, 8, 12), draws=4, rng=0)
    return np.vstack([[e.value for e in found.estimates], found.drawn])  # type: ignore[list-item]


def exact_links() -> Any:
    found = linkability_from_counts(OWNER, OWNER, enrolled=12, sizes=(2, 3, 5, 8, 12))
    return [[e.value, e.low, e.high] for e in found.estimates]


def isolated() -> Any:
    return singling_out(ENROLL[::3], OWNER[::3], TEST, OWNER, sizes=(4, 9), draws=2).isolated


def nearly_alike() -> Any:
    return nontargets_above(ALIKE[::-1], np.arange(9)[::-1], ALIKE, np.arange(9))


def isolated_alike() -> Any:
    noisy = ALIKE.repeat(3, axis=0) + 1e-8 * RNG(6).normal(size=(27, 5))
    return singling_out(ALIKE, np.arange(9), noisy, OWNER, sizes=(4, 9), draws=2).isolated


def means_of_runs() -> Any:
    return run_means(TEST, np.arange(27)[::-1], np.array([1, 5, 2, 9, 10]))


PRIVACY = "personare.metrics.privacy."
CASES: list[tuple[str, str, Callable[[], Any]]] = [
    (PRIVACY + "redraws", "CELLS_AT_ONCE", without_each_speaker),
    (PRIVACY + "chance", "CELLS_AT_ONCE", deals),
    (PRIVACY + "similarity", "CELLS_AT_ONCE", similarity),
    (PRIVACY + "linkability", "CHUNK_CELLS", drawn_links),
    (PRIVACY + "linkability", "CHUNK_CELLS", exact_links),
    (PRIVACY + "cllr", "PIECE", lambda: cllr(T, N)),
    (PRIVACY + "gallery", "PREDICATES_AT_ONCE", isolated),
    (PRIVACY + "gallery", "BLOCK_CELLS", isolated_alike),
    (PRIVACY + "gallery", "EXACT_AT_ONCE", isolated_alike),
    (PRIVACY + "highest_scores", "CONVERSATIONS_AT_ONCE", isolated),
    (PRIVACY + "nontargets_above", "BLOCK_CELLS", nearly_alike),
    (PRIVACY + "nontargets_above", "ENROLLED_AT_ONCE", nearly_alike),
    (PRIVACY + "nontargets_above", "DOUBLE_CELLS", nearly_alike),
    (PRIVACY + "vectors", "ROWS_AT_ONCE", nearly_alike),
    ("personare.core.vectors", "ROWS_AT_ONCE", lambda: unit_rows(TEST)),
    (
        "personare.core.vectors",
        "ROWS_AT_ONCE",
        means_of_runs,
    ),
]


@pytest.mark.parametrize(("module", "constant", "result"), CASES)
def test_one_a_few_or_all_at_once(
    monkeypatch: pytest.MonkeyPatch, module: str, constant: str, result: Callable[[], Any]
) -> None:
    whole = np.asarray(result())
    for at_once in (1, 4, 60):
        monkeypatch.setattr(importlib.import_module(module), constant, at_once)
        np.testing.assert_allclose(np.asarray(result(), dtype=float), np.asarray(whole, dtype=float), rtol=1e-12)
