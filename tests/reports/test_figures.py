"""Each kind of figure with what strains it: one point, equal or missing values, many curves at once, long names."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from personare.core.findings import Estimate, Finding
from personare.metrics import card
from personare.reports.bar_figures import FindingBar, bar_figure, exposed_figure
from personare.reports.blocks import Figure
from personare.reports.difference_figure import DifferenceRow, difference_figure
from personare.reports.drawing.svg import page_svg
from personare.reports.learning_figure import write_learning_figure
from personare.reports.matrices import matrix_figure
from personare.reports.rank_plots import RankCurve, rank_figure
from personare.reports.risk_curves import curve_figure, save_curves
from personare.reports.scatter import Point, scatter_figure
from personare.reports.score_plots import det_scene, ece_scene, histogram_scene, profile_figure, score_picture
from reports.drawing.overlaps import assert_nothing_is_cut_or_covered

LONG = "xvector with a random-projection-pool_of_pseudo-speakers, trained on <LibriTTS> & VCTK"
NAN = math.nan
NOT_A_NUMBER = re.compile(r"""[\s"MLx-](nan|inf)\b""")


def finding(name: str, value: float, low: float, high: float, *, chance: float | None = None, **where: Any) -> Finding:
    return Finding(card(name), Estimate(value, low, high, 12), where, chance=chance)


def linked(value: float, people: int = 12, who: str = "lazy", length: int = 1) -> Finding:
    ends = (max(0.0, value - 0.1), min(1.0, value + 0.1))
    return finding("linkability", value, *ends, chance=1 / people, N=people, attacker=who, L=length)


def checked(figure: Figure) -> str:
    """Draw it, look for what must not be there, and give the drawing."""
    assert_nothing_is_cut_or_covered(figure.scene)
    assert not NOT_A_NUMBER.search(figure.svg)
    return figure.svg


def test_bars() -> None:
    bars = [FindingBar(LONG, LONG, linked(0.99), 0), FindingBar("b2", "lazy", linked(0.0), None)]
    svg = checked(bar_figure(bars, name="a", title=LONG))
    assert "guessing" in svg and "99.0 %" in svg and "&lt;LibriTTS&gt; &amp;" in svg
    unknown = finding("g_vd", NAN, NAN, NAN)
    negative = [FindingBar("b2", "ge2e", finding("g_vd", -4.0, -4.6, -3.4)), FindingBar("b2", "x", unknown)]
    checked(bar_figure(negative, name="b", title="below zero"))
    checked(bar_figure([FindingBar("b2", "x", unknown)], name="c", title="nothing known"))
    checked(exposed_figure([(LONG, 1.0), ("b", 0.0)], everybody=2, chance=1.0, series=0, name="d", title="exposed"))


@pytest.mark.parametrize("sizes", [(2,), (2, 3, 4, 5, 1_000_000), (2, 5, 10, 30, 100, 300, 1000)])
def test_curves_in_one_place(sizes: tuple[int, ...], tmp_path: Path) -> None:
    attackers = [LONG, *(f"attacker {i}" for i in range(5))]
    findings = [linked(0.9, n, who) for who in attackers for n in sizes]
    svg = checked(curve_figure(findings, attackers=attackers, grey=LONG, name="a", title="L = 1"))
    assert all(who in svg for who in attackers[1:]) and "guessing" in svg
    save_curves([*findings, linked(0.2, length=3)], tmp_path / "a.svg", title="Linkability", paper_chance=0.37)
    drawn = (tmp_path / "a.svg").read_text(encoding="utf-8")
    assert "L = 1" in drawn and "L = 3" in drawn and "exp(-1)" in drawn


def test_points() -> None:
    where = (finding("wer", 0.3, NAN, NAN), linked(0.4))
    same = [Point(name, *where, series=i) for i, name in enumerate((LONG, "same place", "here too"))]
    checked(scatter_figure(same, name="a", title=LONG))
    checked(scatter_figure([Point("one", finding("wer", 0.0, 0.0, 0.0), linked(1.0), None)], name="b", title="one"))


def test_two_runs() -> None:
    rows = [DifferenceRow(LONG, finding("wer", 0.3, 0.3, 0.3), finding("wer", 0.3, NAN, NAN))] * 2
    svg = checked(difference_figure(rows, name="a", title="equal"))
    assert "run 1" in svg and "run 2" in svg


def test_ranks() -> None:
    curves = [RankCurve(LONG, np.array([1.0]), 1, 1, 0), RankCurve("b", np.array([1.5, 2.0]), 1.5, 1.5, None)]
    checked(rank_figure(curves, people=1, guess=1.0, name="a", title="one speaker"))


def test_matrices() -> None:
    one = np.ones((1, 1))
    checked(matrix_figure(one, one, one, name="a", title="one speaker"))
    many = np.random.default_rng(0).random((60, 60))
    many[3] = NAN
    figure = matrix_figure(many, -100 * many, many, name="b", title=LONG)
    assert "data:image/png;base64," in checked(figure) and len(figure.svg) < 100_000


def test_scores() -> None:
    same = score_picture(np.array([1.0]), np.array([1.0, 1.0]), LONG)
    rng = np.random.default_rng(0)
    apart = score_picture(rng.normal(9, 1, 50), rng.normal(0, 1, 500), "apart")
    for scene in (det_scene([same, apart]), ece_scene([same, apart]), histogram_scene(same), histogram_scene(apart)):
        assert_nothing_is_cut_or_covered(scene)
        assert not NOT_A_NUMBER.search(page_svg(scene))
    checked(profile_figure([(same, "#1d5fa8"), (apart, "#b3530a")], name="a", title=LONG))


@pytest.mark.parametrize("values", [[NAN, 2.0, 1.0], [NAN, NAN, NAN], [1.0, 1.0, 1.0]])
def test_a_training(values: list[float], tmp_path: Path) -> None:
    write_learning_figure([0, 100, 200], values, values, tmp_path / "a.svg", title=LONG, judged=LONG)
    assert not NOT_A_NUMBER.search((tmp_path / "a.svg").read_text(encoding="utf-8"))
