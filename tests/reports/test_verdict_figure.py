"""The verdicts at a glance: marks lie where the numbers say, words name both ends, and nothing is cut."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from personare.core.findings import Estimate
from personare.reports.drawing.shapes import Circle, Polygon, Scene
from personare.reports.palette import LIGHT
from personare.reports.protection import Protection
from personare.reports.verdict_figure import COLOURS, PAD, WIDTH_PT, verdict_figure
from personare.reports.verdicts import PROTECTION_TONES, MethodVerdict, judged_methods
from reports.drawing.overlaps import assert_nothing_is_cut_or_covered, flat, words_of
from reports.test_verdicts import INFORMED, UNKNOWN, UNPROTECTED, at, finding


def texts(scene: Scene) -> list[str]:
    return [word.text for word in words_of(scene)]


def marks(scene: Scene, protection: Protection) -> list[float]:
    """Where the upright marks of this verdict's colour stand, as shares of the track."""
    colour = COLOURS[PROTECTION_TONES[protection]]
    boxes = [s for s in flat(scene.shapes) if isinstance(s, Polygon) and s.colour == colour]
    narrow = [s for s in boxes if max(x for x, _ in s.points) - min(x for x, _ in s.points) == pytest.approx(3.5)]
    return [(sum(x for x, _ in s.points) / 4 - PAD) / (WIDTH_PT - 2 * PAD) for s in narrow]


CASES = [
    ([at(0.8), at(0.3, attacker="ignorant")], "not protected"),
    ([at(0.3)], "partly protected"),
    ([at(0.02), at(0.0, **INFORMED)], "protected"),
    ([UNKNOWN], "not decided"),
]


@pytest.mark.parametrize(("attacks", "protection"), CASES)
def test_the_mark_lies_at_the_share_that_remains(attacks: list[object], protection: Protection) -> None:
    (verdict,) = judged_methods([*UNPROTECTED, *attacks])  # type: ignore[list-item]
    figure = verdict_figure([verdict])
    assert verdict.protection == protection and marks(figure.scene, protection) == [pytest.approx(verdict.share)]
    assert {"guessing 5.0 %", "half", "no protection 95.0 %", "b2", f"Voice {protection}"} <= set(texts(figure.scene))
    assert verdict.label in figure.alt and "between guessing 5.0 % and no protection 95.0 %" in figure.alt
    assert len([s for s in flat(figure.scene.shapes) if isinstance(s, Circle) and s.width]) == len(attacks) - 1
    assert_nothing_is_cut_or_covered(figure.scene)


def named(verdict: MethodVerdict, method: str) -> MethodVerdict:
    return replace(verdict, method=method)


def test_many_methods_with_long_names_share_one_scale() -> None:
    (one,) = judged_methods([*UNPROTECTED, at(0.8)])
    long = "a method of our own with quite a long name, trained twice"
    same = verdict_figure([named(one, "b1"), named(one, long)])
    assert texts(same.scene).count("no protection 95.0 %") == 1, "the ends are named once where they are the same"
    (other,) = judged_methods([*UNPROTECTED, at(0.4, metric="eer")])
    different = verdict_figure([named(one, long), named(other, "b3")])
    assert {"no protection 95.0 %", "no protection 4.0 %"} <= set(texts(different.scene))
    for figure in (same, different):
        assert_nothing_is_cut_or_covered(figure.scene)


def test_an_attack_beyond_both_ends_stays_on_the_track() -> None:
    for share in (-0.3, 1.4):
        (verdict,) = judged_methods([*UNPROTECTED, at(share, half_wide=0.01)])
        (mark,) = marks(verdict_figure([verdict]).scene, verdict.protection)
        assert mark == pytest.approx(min(max(share, 0.0), 1.0))


def test_without_unprotected_speech_the_track_ends_with_a_perfect_attack() -> None:
    (verdict,) = judged_methods([at(0.5)])
    scene = verdict_figure([verdict]).scene
    assert "perfect attack 100.0 %" in texts(scene) and marks(scene, "not protected") == [pytest.approx(0.45 / 0.95)]


def test_what_nobody_with_training_tried_is_protected_so_far() -> None:
    (verdict,) = judged_methods([*UNPROTECTED, at(0.0)])
    scene = verdict_figure([verdict]).scene
    assert "Voice protected so far" in texts(scene)
    assert any(w.colour == LIGHT["good"] for w in words_of(scene))


def test_a_value_nobody_knows_has_no_mark() -> None:
    unknown = finding("linkability", math.nan, math.nan, N=20)
    nothing = replace(unknown, estimate=Estimate(math.nan, math.nan, math.nan, 0))
    (verdict,) = judged_methods([*UNPROTECTED, nothing])
    scene = verdict_figure([verdict]).scene
    assert "nothing was measured" in texts(scene) and marks(scene, "not decided") == []
