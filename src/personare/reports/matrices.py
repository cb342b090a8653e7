"""Voice similarity matrices as in figure 13 of VPC 2020: who resembles whom, before and after anonymization.

Upper left: original against original; upper right and lower left: original against anonymized; lower right: anonymized
against anonymized. A bright diagonal: speakers can be distinguished (upper left, lower right) or recognised.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from personare.reports.blocks import Figure
from personare.reports.figures import GREY, INK, PANEL_IN, drawing, drawn

if TYPE_CHECKING:
    from numpy.typing import NDArray


def matrix_figure(
    oo: NDArray[np.float64], oa: NDArray[np.float64], aa: NDArray[np.float64], *, name: str, title: str
) -> Figure:
    """Draw the composed matrix of matrices [n, n]."""
    whole = np.block([[oo, oa], [oa.T, aa]])
    people = len(oo)
    low, high = (float(q) for q in np.nanquantile(whole, [0.01, 0.99]))
    with drawing(PANEL_IN, 4.5) as (figure, axes):
        axis = axes[0]
        shown = axis.imshow(whole, cmap="cividis", vmin=low, vmax=max(high, low + 1e-9), interpolation="nearest")
        for place in (people - 0.5,):
            axis.axhline(place, color=GREY, linewidth=1.2)
            axis.axvline(place, color=GREY, linewidth=1.2)
        middles = [(people - 1) / 2, people + (people - 1) / 2]
        axis.set_xticks(middles, ["original", "anonymized"])
        axis.set_yticks(middles, ["original", "anonymized"], rotation=90, va="center")
        axis.tick_params(length=0)
        axis.set_title(title)
        bar = figure.colorbar(shown, ax=axis, shrink=0.75, aspect=24)
        bar.set_label("similarity (higher: more alike)", color=INK, fontsize=9)
        bar.outline.set_visible(False)
        means = ", ".join(f"{side} {_contrast(m):.2f}" for side, m in (("oo", oo), ("oa", oa), ("aa", aa)))
        alt = f"{title}: similarity of {people} speakers; how far the diagonal stands out: {means}."
        return drawn(figure, name=name, alt=alt)


def _contrast(matrix: NDArray[np.float64]) -> float:
    """Diagonal minus off-diagonal mean."""
    same = np.eye(len(matrix), dtype=bool)
    return float(np.nanmean(matrix[same]) - np.nanmean(matrix[~same])) if len(matrix) > 1 else float("nan")
