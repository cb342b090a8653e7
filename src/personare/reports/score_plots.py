"""Pictures of scores: the trade of errors (DET), what an attacker learns (ECE profiles of ZEBRA), how scores lie."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np

from personare.core.files import atomic_path
from personare.core.text import number_text
from personare.metrics.privacy.detection import error_curve
from personare.metrics.privacy.summary import score_values
from personare.metrics.privacy.zebra import ece_curve, tag
from personare.reports.blocks import Figure
from personare.reports.figures import COLOURS, INK, PANEL_IN, drawing, drawn

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

DET_TICKS = (0.001, 0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 0.999)
DET_ENDS = (0.0005, 0.9995)
CELLS_PER_UNIT = 100
STYLES = ("-", (0, (5, 1.5)), (0, (1.5, 1)), (0, (5, 1.5, 1, 1.5)))


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
    """Write det.png, ece.png (all files together) and one histogram per file; give their paths."""
    drawn = [folder / "det.png", folder / "ece.png"]
    with drawing(5.6, 5.2) as (figure, axes):
        draw_det(axes[0], pictures)
        _save(figure, drawn[0])
    with drawing(10.5, 4.6, columns=2) as (figure, axes):
        draw_ece(axes, pictures)
        _save(figure, drawn[1])
    for picture in pictures:
        drawn.append(folder / f"scores-{picture.name}.png")
        with drawing(6.4, 3.6) as (figure, axes):
            draw_histograms(axes[0], picture)
            _save(figure, drawn[-1])
    return drawn


def draw_det(axes: Any, pictures: Sequence[ScorePicture]) -> None:
    """Draw misses against false alarms on normal scales; guessing is the falling diagonal."""
    place = NormalDist().inv_cdf
    ends = [place(x) for x in DET_ENDS]
    for picture, colour in _coloured(pictures):
        inside = (np.clip(rate, 1e-9, 1 - 1e-9) for rate in (picture.false_alarm, picture.miss))
        x, y = ([place(float(v)) for v in rates] for rates in inside)
        axes.plot(x, y, color=colour, lw=1.8, label=f"{picture.name} (EER {number_text(picture.eer, '%')})")
        if DET_ENDS[0] < picture.eer:  # the EER lies on the hull of the curve, hence a little below it
            axes.plot([place(picture.eer)], [place(picture.eer)], "o", color=colour, ms=5)
    axes.plot(ends, ends[::-1], color=INK, lw=1, ls=":", label="guessing; dots: EER on the hull")
    ticks = [place(x) for x in DET_TICKS]
    labels = [f"{100 * x:g}" for x in DET_TICKS]
    axes.set_xticks(ticks, labels, rotation=45)
    axes.set_yticks(ticks, labels)
    axes.set(xlim=ends, ylim=ends, xlabel="false alarms [%]", ylabel="misses [%]")
    axes.set_title("Errors of the attacker (DET)", loc="left")
    axes.set_aspect("equal")
    axes.grid(color=INK, alpha=0.12, lw=0.6)
    _legend(axes)


def draw_ece(axes: Sequence[Any], pictures: Sequence[ScorePicture]) -> None:
    """Draw ECE profiles against the prior and against its log-odds, as in figures 2 and 3 of the ZEBRA paper."""
    for panel, odds in zip(axes, (False, True), strict=True):
        draw_profiles(panel, _coloured(pictures), odds=odds)
    axes[0].set_title("What the attacker still lacks (ECE)", loc="left")
    handles, labels = axes[1].get_legend_handles_labels()
    axes[1].figure.legend(handles, labels, loc="outside lower center", ncols=min(2, len(labels)), frameon=False)


def draw_profiles(panel: Any, pictures: Sequence[tuple[ScorePicture, str]], *, odds: bool) -> None:
    """Draw the ECE profiles of (picture, colour) pairs; the lower a profile, the more the attacker learns."""
    for i, (picture, colour) in enumerate(pictures):
        x = np.log10(picture.priors / (1 - picture.priors)) if odds else picture.priors
        if not i:
            panel.plot(x, picture.zero_evidence, color=INK, lw=1.6, label="zero evidence: nothing learnt")
        style = STYLES[i % len(STYLES)]
        panel.plot(x, picture.adversary, color=colour, lw=1.9, ls=style, label=_zebra_label(picture))
        panel.fill_between(x, picture.adversary, picture.zero_evidence, color=colour, alpha=0.08, lw=0)
    label = "log10 odds of the prior" if odds else "prior of a target"
    panel.set(xlabel=label, ylabel="empirical cross-entropy [bit]", ylim=(0, 1.03), xlim=(-3, 3) if odds else (0, 1))
    panel.grid(color=INK, alpha=0.12, lw=0.6)


def profile_figure(pictures: Sequence[tuple[ScorePicture, str]], *, name: str, title: str) -> Figure:
    """Draw the profiles of several methods against one attacker, (D_ECE, log10 l, tag) in the legend (ZEBRA fig. 3)."""
    with drawing(PANEL_IN, 4.1) as (figure, axes):
        draw_profiles(axes[0], pictures, odds=True)
        axes[0].set_title(title)
        figure.legend(loc="outside lower left", ncols=1, frameon=False, fontsize=9)
        words = "; ".join(_zebra_label(picture) for picture, _ in pictures)
        return drawn(figure, name=name, alt=f"{title}. ECE profiles, with (D_ECE, log10 l, tag): {words}.")


def draw_histograms(axes: Any, picture: ScorePicture) -> None:
    """Draw how the scores of both classes lie; each histogram has area 1."""
    ends = [np.quantile(scores, [0.0005, 0.9995]) for scores in (picture.targets, picture.nontargets)]
    low, high = min(e[0] for e in ends), max(e[1] for e in ends)
    if low == high:
        low, high = low - 0.5, high + 0.5
    bins = np.linspace(low, high, 61)
    pairs = (("nontarget", picture.nontargets, COLOURS[0]), ("target", picture.targets, COLOURS[1]))
    for kind, scores, colour in pairs:
        label = f"{kind} ({len(scores):,})"
        axes.hist(scores, bins=bins, density=True, histtype="stepfilled", color=colour, alpha=0.45, label=label)
    axes.set(xlabel="score", ylabel="density", xlim=(low, high))
    axes.set_title(f"Scores: {picture.name}", loc="left")
    _legend(axes)


def _zebra_label(picture: ScorePicture) -> str:
    average, worst, tag = picture.zebra
    return f"{picture.name} ({average:.2f}, {worst:.2f}, {tag})"


def _coloured(pictures: Sequence[ScorePicture]) -> list[tuple[ScorePicture, str]]:
    return [(picture, COLOURS[i % len(COLOURS)]) for i, picture in enumerate(pictures)]


def _legend(axes: Any) -> None:
    axes.legend(frameon=False, fontsize=9)


def _save(figure: Any, path: Path) -> None:
    with atomic_path(path) as part:
        figure.savefig(part, dpi=150, facecolor="white", metadata={"Software": None})


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
