"""Voice similarity matrices as in figure 13 of VPC 2020: who resembles whom, before and after anonymization.

Upper left: original against original; upper right and lower left: original against anonymized; lower right: anonymized
against anonymized. A bright diagonal: speakers can be distinguished (upper left, lower right) or recognised.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from personare.reports.blocks import Figure
from personare.reports.drawing.axes import Axis, linear_ticks
from personare.reports.drawing.items import Cells, Level, Panel
from personare.reports.drawing.panels import picture
from personare.reports.figures import GREY, PANEL_PT

if TYPE_CHECKING:
    from numpy.typing import NDArray

# from dark blue to yellow, evenly lighter, the same to eyes that do not tell red from green (Nunez and others, 2018)
CIVIDIS = ("00224e", "123570", "3b496c", "575d6d", "707173", "8a8678", "a59c74", "c3b369", "e1cc55", "fee838")
UNKNOWN = (128, 128, 128)
WIDTHS = (0.81, 0.19)  # of the matrix and of its scale


def matrix_figure(
    oo: NDArray[np.float64], oa: NDArray[np.float64], aa: NDArray[np.float64], *, name: str, title: str
) -> Figure:
    """Draw the composed matrix of matrices [n, n]."""
    whole = np.block([[oo, oa], [oa.T, aa]])
    people = len(oo)
    low, high = (float(q) for q in np.nanquantile(whole, [0.01, 0.99]))
    high = max(high, low + 1e-9)
    across = Axis(0, 2, ticks=((0.5, "original"), (1.5, "anonymized")), grid=False, tick_pt=0)
    upright = Axis(2, 0, ticks=across.ticks, grid=False, tick_pt=0)
    lines = (Level(1.0, across=True, colour=GREY), Level(1.0, colour=GREY))
    cells = Cells(2 * people, 2 * people, _coloured((whole - low) / (high - low)))
    matrix = Panel(across, upright, (cells, *lines), title, framed=False, upright_labels=True)
    ramp = Cells(1, 256, _coloured(np.linspace(1, 0, 256)[:, None]))
    ticks = tuple(linear_ticks(low, high, most=6)) if high > low + 1e-6 else ((low, f"{low:.3g}"),)
    scale = Panel(
        Axis(0, 1, ticks=(), grid=False),
        Axis(low, high, label="similarity (higher: more alike)", ticks=ticks, grid=False, size=9),
        (ramp,),
        framed=False,
    )
    means = ", ".join(f"{side} {_contrast(m):.2f}" for side, m in (("oo", oo), ("oa", oa), ("aa", aa)))
    alt = f"{title}: similarity of {people} speakers; how far the diagonal stands out: {means}."
    return Figure(picture([matrix, scale], width=PANEL_PT, height=None, widths=WIDTHS), alt, name=name)


def _coloured(shares: NDArray[np.float64]) -> bytes:
    """Give the colours of shares from 0 to 1 [rows, columns]; what is unknown is grey."""
    stops = np.array([[int(colour[i : i + 2], 16) for i in (0, 2, 4)] for colour in CIVIDIS], dtype=np.float64)
    known = np.clip(np.nan_to_num(shares), 0, 1)
    at = np.linspace(0, 1, len(stops))
    rgb = np.stack([np.interp(known, at, stops[:, channel]) for channel in range(3)], axis=-1).round()
    rgb[np.isnan(shares)] = UNKNOWN
    return rgb.astype(np.uint8).tobytes()


def _contrast(matrix: NDArray[np.float64]) -> float:
    """Diagonal minus off-diagonal mean."""
    same = np.eye(len(matrix), dtype=bool)
    return float(np.nanmean(matrix[same]) - np.nanmean(matrix[~same])) if len(matrix) > 1 else float("nan")
