"""The picture of a training: how the loss falls, and how well held-out people are told apart after so many steps."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

from personare.core.files import atomic_path
from personare.reports.figures import COLOURS, INK, drawing


def write_learning_figure(
    steps: Sequence[int], losses: Sequence[float], held_out: Sequence[float], path: Path, *, title: str
) -> None:
    """Draw loss and held-out EER (shares of 1) over steps into ``path``, a PNG."""
    with drawing(9.0, 3.4, columns=2) as (figure, axes):
        known = [(step, loss) for step, loss in zip(steps, losses, strict=True) if math.isfinite(loss)]
        axes[0].plot([s for s, _ in known], [v for _, v in known], color=COLOURS[0], marker="o", markersize=3)
        axes[0].set_ylabel("loss, mean since the last judgement")
        percent = [100 * value for value in held_out]
        best = min(range(len(percent)), key=percent.__getitem__)
        axes[1].plot(steps, percent, color=COLOURS[1], marker="o", markersize=3)
        axes[1].plot(steps[best], percent[best], "o", color=INK, markersize=8, fillstyle="none")
        axes[1].set_ylabel("EER on held-out speakers, %")
        axes[1].set_ylim(bottom=0)
        for axis in axes:
            axis.set_xlabel("steps")
        figure.suptitle(title)
        with atomic_path(path) as part:
            figure.savefig(part, dpi=150, metadata={"Software": None})
