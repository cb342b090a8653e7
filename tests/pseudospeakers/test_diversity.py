"""Collapse and fidelity: averages of many voices are all alike, drawn voices differ as real ones do."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from personare.core.seeding import Key
from personare.pseudospeakers import PSEUDOSPEAKERS, pseudospeaker
from personare.pseudospeakers.comparison import CosineSummary, GeneratorComparison, compare, hold_out, within_gender
from personare.pseudospeakers.pool import SpeakerPool
from pseudospeakers.pools import SETTINGS, clouds, golden


def compared(pool: SpeakerPool, *names: str, most: int = 80) -> tuple[dict[str, GeneratorComparison], CosineSummary]:
    rest, originals = hold_out(pool, share=0.3, most=most, rng=np.random.default_rng(3))
    rows = compare(rest, originals, key=Key.from_seed(0), names=names, settings=SETTINGS)
    return {row.generator: row for row in rows}, CosineSummary.of(within_gender(rest.vectors, rest.genders))


def test_b1_collapses_and_o1_follows_the_pool() -> None:
    rows, pool = compared(clouds(200), "b1", "a1", "o1", "random", "keyed", "k2")
    found = {name: row.between for name, row in rows.items() if row.between is not None}
    assert found["b1"].mean > pool.mean + 0.3
    for name in ("o1", "random", "keyed", "k2"):
        assert abs(found[name].mean - pool.mean) < 0.05, name
        assert abs((found[name].high - found[name].low) - (pool.high - pool.low)) < 0.15, name
        assert found[name].mean < found["a1"].mean < found["b1"].mean + 0.1, name


@pytest.mark.slow
def test_every_generator_is_compared_and_a_failure_is_a_row() -> None:
    rest, originals = hold_out(clouds(60), share=0.2, most=10, rng=np.random.default_rng(0))
    rows = list(compare(rest, originals, key=Key.from_seed(0)))
    assert [row.generator for row in rows] == PSEUDOSPEAKERS.names()
    failed = {row.generator: row.failed for row in rows if row.failed}
    assert list(failed) == ["b1", "s1", "s2"]
    assert "needs at least 200 voices" in failed["b1"]


@pytest.mark.shared
def test_turner2020_collapse_of_b1_on_real_x_vectors(shared_folder: Path) -> None:
    """The challenge's own B1 (synthesised, then measured again) and ours lose diversity; O1 and RP + GMM do not."""
    pool = golden(shared_folder)
    rest, originals = hold_out(pool, share=0.3, most=100, rng=np.random.default_rng(3))
    names = ("b1", "o1", "rp_gmm", "random")
    rows = {r.generator: r for r in compare(rest, originals, key=Key.from_seed(0), names=names)}
    real = CosineSummary.of(within_gender(rest.vectors, rest.genders))
    published = golden(shared_folder, "anon")
    published_b1 = CosineSummary.of(within_gender(published.vectors, published.genders))
    assert published_b1.mean > real.mean + 0.4
    between = {name: row.between for name, row in rows.items() if row.between is not None}
    assert between["b1"].mean > real.mean + 0.3
    for name in ("o1", "rp_gmm", "random"):
        assert abs(between[name].mean - real.mean) < 0.1, name


@pytest.mark.shared
def test_wang2026_figures_2_and_3_entropy_falls_with_c_and_with_epsilon(shared_folder: Path) -> None:
    women = SpeakerPool(golden(shared_folder).groups["f"])
    recipe = pseudospeaker("rp_gmm", epsilons=[0.5, 0.6, 0.7, 0.8], components=[1, 4, 16])
    grid = recipe.fit(women, rng=np.random.default_rng(0)).groups[""].grid
    by_epsilon = {e: grid[grid[:, 0] == e] for e in np.unique(grid[:, 0])}
    for rows in by_epsilon.values():  # figure 2: a fixed epsilon
        assert stats.spearmanr(rows[:, 2], rows[:, 3]).statistic == pytest.approx(-1)
    for c in np.unique(grid[:, 2]):  # figure 3: a fixed C
        rows = grid[grid[:, 2] == c]
        assert stats.spearmanr(rows[:, 0], rows[:, 3]).statistic == pytest.approx(-1)
    assert grid[0, 0] == 0.5, "so that the smallest epsilon and the fewest components win, as in the paper"
    assert grid[0, 2] == 1
