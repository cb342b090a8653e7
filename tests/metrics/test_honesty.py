"""Intervals hold the truth and verdicts seldom raise false alarms: ``benchmarks/honesty.py`` on a smaller grid."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

from benchmark_modules import benchmark
from personare.core.findings import Estimate, Finding
from personare.metrics import card


@pytest.fixture(scope="module")
def honesty() -> Any:
    """benchmarks/honesty.py, which is no package."""
    return benchmark("honesty")


@pytest.mark.parametrize("world", ["words", "ratings", "affect", "inference"])
def test_means_and_counts_are_honest(honesty: Any, world: str) -> None:
    assert honesty.run([honesty.WORLDS[world]()], (5, 10), 60) == []


@pytest.mark.slow
@pytest.mark.parametrize("world", ["detection", "legal", "singling-out", "similarity", "listeners", "headline"])
def test_attacks_and_verdicts_are_honest(honesty: Any, world: str) -> None:
    assert honesty.run([honesty.WORLDS[world]()], (5, 10, 20), 100) == []


def test_intervals_that_are_too_narrow_and_verdicts_that_cry_wolf_are_named(honesty: Any) -> None:
    """The benchmark itself must see what it looks for: 1.4 standard errors of five speakers, and 0.7."""

    def narrow(people: int, rng: np.random.Generator, *, informed: bool) -> Any:
        values = rng.normal(size=people)
        middle, reach = values.mean(), values.std() / np.sqrt(people) * (1.4 if informed else 0.7)
        yield "sim", Finding(card("sim"), Estimate(middle, middle - reach, middle + reach, people), chance=0.0)

    world = honesty.World("narrow", narrow, lambda: {"sim": 0.0})
    problems = honesty.run([world], (5,), 200)
    assert len(problems) == 2 and "coverage" in problems[0] and "false alarms" in problems[1]


def test_intervals_that_always_hold_the_truth_are_named_too(honesty: Any) -> None:
    """Three times as wide as needed: no false promise, but no 95 % either; of five speakers that is allowed."""

    def wide(people: int, rng: np.random.Generator, *, informed: bool) -> Any:
        middle = rng.normal() / np.sqrt(people)
        yield "sim", Finding(card("sim"), Estimate(middle, middle - 6 / np.sqrt(people), middle + 6, people))

    world = honesty.World("wide", wide, lambda: {"sim": 0.0}, can_be_empty=False)
    assert honesty.run([world], (5, 10), 300) == ["sim at 10 speakers: coverage 100.0%"]
    assert honesty.coverage_problem(0.985, 10, 300) is False


def test_the_truth_is_that_of_the_same_attack(honesty: Any) -> None:
    """One test of each speaker suffices for the truth, but everybody is enrolled as in the data sets."""
    worlds = sys.modules["honesty_worlds"]
    one, six = (worlds.trials(9, np.random.default_rng(0), kept=1.0, tests=tests) for tests in (1, 6))
    assert one["targets"].tolist() == six["targets"][::6].tolist()
    assert len(one["nontargets"]) == 9 * 8 and len(six["nontargets"]) == 54 * 8


def test_no_interval_is_printed_as_refused(honesty: Any, capsys: pytest.CaptureFixture[str]) -> None:
    def silent(people: int, rng: np.random.Generator, *, informed: bool) -> Any:
        yield "log10_l", Finding(card("log10_l"), Estimate(rng.random(), np.nan, np.nan, people))

    world = honesty.World("silent", silent, dict, can_be_empty=False)
    assert honesty.run([world], (5, 10), 20) == []
    assert "| log10_l | refused | refused |" in capsys.readouterr().out
