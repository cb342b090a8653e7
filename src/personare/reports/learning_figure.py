"""The picture of a training: how the loss falls, and how held-out people judge the network after so many steps."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

from personare.reports.drawing.axes import Axis, limits
from personare.reports.drawing.items import Curve, Panel, Ring
from personare.reports.drawing.panels import picture
from personare.reports.figures import COLOURS, save_drawing


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
    """Draw loss and judgement over steps into ``path``, SVG or PDF; ``judged`` names ``scale`` times the judgement."""
    x = Axis(*limits(steps), label="steps")
    shown = [scale * value for value in held_out]
    known = [(step, value) for step, value in zip(steps, shown, strict=True) if math.isfinite(value)]
    best = [Ring(*min(known, key=lambda pair: pair[1]))] if known else []
    loss = Curve(steps, losses, COLOURS[0], marker="circle", size=3.2, width=1.5)
    judgement = Curve(steps, shown, COLOURS[1], marker="circle", size=3.2, width=1.5)
    panels = [
        Panel(x, Axis(*limits(losses), label="loss, mean since the last judgement"), (loss,)),
        Panel(x, Axis(*limits(shown, low=min([0.0, *(v for _, v in known)])), label=judged), (judgement, *best)),
    ]
    save_drawing(picture(panels, width=648, height=190, title=title), path, alt=title)
