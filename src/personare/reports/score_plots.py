"""Pictures of scores: the trade of errors (DET), what an attacker learns (ECE profiles of ZEBRA), how scores lie."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from personare.core.text import number_text
from personare.metrics.privacy.detection import error_curve
from personare.metrics.privacy.eer import rocch_eer
from personare.metrics.privacy.summary import score_values
from personare.metrics.privacy.zebra import ece_curve, tag
from personare.reports.blocks import Figure
from personare.reports.drawing.axes import Axis, limits
from personare.reports.drawing.items import Band, Curve, Item, Panel
from personare.reports.drawing.panels import picture
from personare.reports.drawing.shapes import Scene
from personare.reports.figures import COLOURS, DASHES, PANEL_PT, save_drawing

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

DET_TICKS = (0.001, 0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 0.999)
DET_ENDS = (0.0005, 0.9995)
CELLS_PER_UNIT = 100
DET_PT, ECE_PT, HISTOGRAM_PT = 400.0, 756.0, 460.0


@dataclass(frozen=True, eq=False)
class ScorePicture:
    """What the pictures show of one list of scores.

    Parameters
    ----------
    miss, false_alarm : points of the DET curve; eer : where it meets the diagonal.
    priors, zero_evidence, adversary : ECE profiles over the prior of a target; zebra : (D_ECE, log10(l), tag).
    targets, nontargets : the scores themselves.
    """

    name: str
    miss: Floats
    false_alarm: Floats
    eer: float
    priors: Floats
    zero_evidence: Floats
    adversary: Floats
    zebra: tuple[float, float, str]
    targets: Floats
    nontargets: Floats


def write_score_plots(pictures: Sequence[ScorePicture], folder: Path) -> list[Path]:
    """Write det and ece (all files together) and one histogram per file, as SVG and PDF; give their paths."""
    scenes = {"det": det_scene(pictures), "ece": ece_scene(pictures)}
    scenes |= {f"scores-{p.name}": histogram_scene(p) for p in pictures}
    return [
        save_drawing(scene, folder / f"{name}{kind}") for name, scene in scenes.items() for kind in (".svg", ".pdf")
    ]


@dataclass(frozen=True, eq=False)
class DetCurve:
    """One trade of errors: its name, its points, where it meets the diagonal, and its colour."""

    name: str
    miss: Floats
    false_alarm: Floats
    eer: float
    colour: str


def det_scene(pictures: Sequence[ScorePicture]) -> Scene:
    """Draw misses against false alarms on normal scales; guessing is the falling diagonal."""
    curves = [DetCurve(one.name, one.miss, one.false_alarm, one.eer, colour) for one, colour in _coloured(pictures)]
    return picture([det_panel(curves, title="Errors of the attacker (DET)")], width=DET_PT, height=None)


def det_curve(targets: Floats, nontargets: Floats, *, name: str, colour: str) -> DetCurve:
    """Make the curve of a list of scores, with the points that a picture can show."""
    errors = error_curve(targets, nontargets)
    kept = _visible(errors.miss, errors.false_alarm)
    return DetCurve(name, errors.miss[kept], errors.false_alarm[kept], rocch_eer(targets, nontargets), colour)


def det_panel(curves: Sequence[DetCurve], *, title: str) -> Panel:
    """Draw several curves; the dots are on their hulls, hence a little below."""
    items: list[Item] = []
    for one in curves:
        x, y = (np.clip(rate, 1e-9, 1 - 1e-9).tolist() for rate in (one.false_alarm, one.miss))
        items.append(Curve(x, y, one.colour, label=f"{one.name} (EER {number_text(one.eer, '%')})"))
        if DET_ENDS[0] < one.eer:
            items.append(Curve([one.eer], [one.eer], one.colour, width=0, marker="circle", size=6))
    guessing = Curve(DET_ENDS, DET_ENDS[::-1], width=1, dash=(1.0, 2.0), label="guessing; dots: EER on the hull")
    ticks = tuple((x, f"{100 * x:g}") for x in DET_TICKS)
    x, y = (
        Axis(*DET_ENDS, label=label, scale="probit", ticks=ticks, size=8.5)
        for label in ("false alarms [%]", "misses [%]")
    )
    return Panel(x, y, (*items, guessing), title)


def ece_scene(pictures: Sequence[ScorePicture]) -> Scene:
    """Draw ECE profiles against the prior and against its log-odds, as in figures 2 and 3 of the ZEBRA paper."""
    panels = [_profiles(_coloured(pictures), odds=odds) for odds in (False, True)]
    panels[0] = replace(panels[0], title="What the attacker still lacks (ECE)")
    return picture(panels, width=ECE_PT, height=250)


def profile_figure(pictures: Sequence[tuple[ScorePicture, str]], *, name: str, title: str) -> Figure:
    """Draw the profiles of several methods against one attacker, (D_ECE, log10 l, tag) in the legend (ZEBRA fig. 3)."""
    scene = picture([replace(_profiles(pictures, odds=True), title=title)], width=PANEL_PT, height=185)
    words = "; ".join(_zebra_label(one) for one, _ in pictures)
    return Figure(scene, f"{title}. ECE profiles, with (D_ECE, log10 l, tag): {words}.", name=name)


def _profiles(pictures: Sequence[tuple[ScorePicture, str]], *, odds: bool) -> Panel:
    """Draw the ECE profiles of (picture, colour) pairs; the lower a profile, the more the attacker learns."""
    items: list[Item] = []
    for i, (one, colour) in enumerate(pictures):
        x = (np.log10(one.priors / (1 - one.priors)) if odds else one.priors).tolist()
        if not i:
            items.append(Curve(x, one.zero_evidence.tolist(), width=1.6, label="zero evidence: nothing learnt"))
        items.append(Band(x, one.adversary.tolist(), one.zero_evidence.tolist(), colour, opacity=0.08))
        dash = DASHES[i % len(DASHES)]
        items.append(Curve(x, one.adversary.tolist(), colour, width=1.9, dash=dash, label=_zebra_label(one)))
    across = Axis(-3, 3, label="log10 odds of the prior") if odds else Axis(0, 1, label="prior of a target")
    return Panel(across, Axis(0, 1.03, label="empirical cross-entropy [bit]"), tuple(items))


def histogram_scene(scores: ScorePicture) -> Scene:
    """Draw how the scores of both classes lie; each histogram has area 1."""
    ends = [np.quantile(values, [0.0005, 0.9995]) for values in (scores.targets, scores.nontargets)]
    low, high = limits((float(e) for pair in ends for e in pair), margin=0.0)
    edges = np.linspace(low, high, 61)
    bands = []
    pairs = (("nontarget", scores.nontargets, COLOURS[0]), ("target", scores.targets, COLOURS[1]))
    for kind, values, colour in pairs:
        density = np.repeat(np.histogram(values, bins=edges, density=True)[0], 2).tolist()
        x = np.repeat(edges, 2)[1:-1].tolist()
        label = f"{kind} ({len(values):,})"
        bands.append(Band(x, [0.0] * len(x), density, colour, opacity=0.45, label=label))
    y = Axis(*limits((v for band in bands for v in band.high), low=0.0), label="density", grid=False)
    panel = Panel(Axis(low, high, label="score", grid=False), y, tuple(bands), f"Scores: {scores.name}")
    return picture([panel], width=HISTOGRAM_PT, height=190)


def _zebra_label(picture: ScorePicture) -> str:
    average, worst, tag = picture.zebra
    return f"{picture.name} ({average:.2f}, {worst:.2f}, {tag})"


def _coloured(pictures: Sequence[ScorePicture]) -> list[tuple[ScorePicture, str]]:
    return [(picture, COLOURS[i % len(COLOURS)]) for i, picture in enumerate(pictures)]


def score_picture(targets: NDArray[np.float64], nontargets: NDArray[np.float64], name: str) -> ScorePicture:
    """Gather what the pictures of one list of scores show."""
    t, n = targets, nontargets
    errors = error_curve(t, n)
    kept = _visible(errors.miss, errors.false_alarm)
    priors = 1 / (1 + np.exp(-np.linspace(-8, 8, 321)))
    profile = ece_curve(t, n, priors=priors)
    values = score_values(t, n)
    return ScorePicture(
        name=name,
        miss=errors.miss[kept],
        false_alarm=errors.false_alarm[kept],
        eer=values["eer"],
        priors=priors,
        zero_evidence=profile.zero_evidence,
        adversary=profile.minimum,
        zebra=(values["d_ece"], values["log10_l"], tag(values["log10_l"])),
        targets=t,
        nontargets=n,
    )


def _visible(miss: Any, false_alarm: Any) -> Any:
    """Choose the points of a DET curve that a picture can tell apart on its normal scales."""
    from scipy.special import ndtri

    cells = [np.round(CELLS_PER_UNIT * ndtri(np.clip(rate, 1e-9, 1 - 1e-9))) for rate in (miss, false_alarm)]
    moved = (np.diff(cells[0]) != 0) | (np.diff(cells[1]) != 0)
    return np.flatnonzero(np.append(True, moved) | np.append(moved, True))
