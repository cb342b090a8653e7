"""The picture of a training: how the loss falls, and how held-out people judge the network after so many steps."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

from personare.core.files import atomic_path
from personare.reports.figures import COLOURS, INK, drawing


def write_learning_figure(
    steps: Sequence[int],
    losses: Sequence[float],
    held_out: Sequence[float],
    path: Path,
    *,
    title: str,
    judged: str = "EER on held-out speakers, %",
    scale: float = 100.0,
) -> None:
    """Draw loss and judgement over steps into ``path``, a PNG; ``judged`` names ``scale`` times the judgement."""
    with drawing(9.0, 3.4, columns=2) as (figure, axes):
        known = [(step, loss) for step, loss in zip(steps, losses, strict=True) if math.isfinite(loss)]
        axes[0].plot([s for s, _ in known], [v for _, v in known], color=COLOURS[0], marker="o", markersize=3)
        axes[0].set_ylabel("loss, mean since the last judgement")
        shown = [scale * value for value in held_out]
        best = min(range(len(shown)), key=shown.__getitem__)
        axes[1].plot(steps, shown, color=COLOURS[1], marker="o", markersize=3)
        axes[1].plot(steps[best], shown[best], "o", color=INK, markersize=8, fillstyle="none")
        axes[1].set_ylabel(judged)
        axes[1].set_ylim(bottom=0)
        for axis in axes:
            axis.set_xlabel("steps")
        figure.suptitle(title)
        with atomic_path(path) as part:
            figure.savefig(part, dpi=150, metadata={"Software": None})
