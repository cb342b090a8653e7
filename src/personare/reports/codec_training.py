"""The page of a codec's training: curves of its losses and measurements, and held-out speech at each level."""

from __future__ import annotations

import base64
import html
import itertools
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from personare.core.audio import Audio, encode_flac
from personare.core.files import write_text
from personare.reports.drawing.axes import Axis, limits
from personare.reports.drawing.items import Curve, Panel
from personare.reports.drawing.panels import picture
from personare.reports.drawing.shapes import INK
from personare.reports.drawing.svg import page_svg
from personare.reports.figures import COLOURS, DASHES
from personare.reports.palette import variables

PAGE = "log.html"
_STYLE = (
    f":root{{{variables(dark=False)}}}@media(prefers-color-scheme:dark){{:root{{{variables(dark=True)}}}}}"
    "body{font:16px sans-serif;max-width:60em;margin:2em auto;padding:0 1em;color:var(--ink);background:var(--paper)}"
    "td,th{padding:.3em .8em;text-align:right}svg{width:100%;height:auto}"
)


def write_training_page(
    folder: Path, rows: Sequence[Mapping[str, Any]], sounds: Mapping[str, Mapping[str, Audio]] | None = None
) -> Path:
    """Write the page; ``sounds`` maps an utterance to its sounds by name (original, C0, ...)."""
    parts = [
        "<!doctype html><html lang=en><meta charset=utf-8><title>Training of the codec</title>",
        f"<style>{_STYLE}</style><h1>Training of the codec</h1>",
        f"<p>{rows[-1]['step']} steps, {rows[-1].get('cpu_s', 0):.0f} s of processor time since the last start.</p>",
        _curves(rows),
        _table(rows[-1]),
        _players(sounds or {}),
    ]
    write_text(folder / PAGE, "\n".join(parts) + "\n")
    return folder / PAGE


def _curves(rows: Sequence[Mapping[str, Any]]) -> str:
    """Three plots over steps: the loss and its parts, the mel distance per number of levels, what each level leaves."""
    losses = {"loss": [row["loss"] for row in rows]}
    for name in sorted({name for row in rows for name in row.get("parts", {})}):
        losses[name] = [row.get("parts", {}).get(name, math.nan) for row in rows]
    mels = {
        "C0" if level == 1 else f"C0:{level - 1}": [row["mel"][place] for row in rows]
        for place, level in enumerate(rows[-1].get("levels", []))
    }
    left = {
        "before C1" if level == 0 else f"after C{level}": [
            row["left"][level] if level < len(row.get("left", [])) else math.nan for row in rows
        ]
        for level in range(len(rows[-1].get("left", [])))
    }
    steps = [row["step"] for row in rows]
    plots = {"losses": losses, "mel distance, held out (nepers)": mels, "variance left": left}
    drawn = (_plot(steps, curves, label, name=f"plot-{i}") for i, (label, curves) in enumerate(plots.items()))
    return "\n".join(drawn)


def _plot(steps: Sequence[int], curves: Mapping[str, Sequence[float]], label: str, *, name: str) -> str:
    """Draw curves over steps, their values on a logarithmic axis."""
    looks = itertools.product(DASHES, (INK, *COLOURS))
    items = [
        Curve(steps, values, colour, width=1.6, dash=dash, label=curve)
        for (curve, values), (dash, colour) in zip(curves.items(), looks, strict=False)
    ]
    powers = [math.log10(v) for values in curves.values() for v in values if 0 < v < math.inf]
    low, high = limits(powers)
    y = Axis(10**low, 10**high, label=label, scale="log")
    panel = Panel(Axis(*limits(steps), label="steps"), y, tuple(items))
    svg = page_svg(picture([panel], width=720, height=190), name=name)
    return f'<div role="img" aria-label="{label} over steps">{svg}</div>'


def _table(row: Mapping[str, Any]) -> str:
    """Codes used and variance left, per level, at the last measurement."""
    if "used" not in row:
        return ""
    cells = [
        f"<tr><td>C{level}<td>{used}<td>{perplexity:.0f}</tr>"
        for level, (used, perplexity) in enumerate(zip(row["used"], row["perplexity"], strict=True))
    ]
    head = f"<tr><th>level<th>codes used in {row['frames']} frames<th>perplexity</tr>"
    return f"<h2>Codes</h2><table>{head}{''.join(cells)}</table>"


def _players(sounds: Mapping[str, Mapping[str, Audio]]) -> str:
    parts = ["<h2>Held-out speech</h2>"] if sounds else []
    for name, versions in sounds.items():
        parts.append(f"<h3>{html.escape(name)}</h3>")
        for version, audio in versions.items():
            encoded = base64.b64encode(encode_flac(audio)).decode("ascii")
            source = f"data:audio/flac;base64,{encoded}"
            parts.append(f"<p>{html.escape(version)}<br><audio controls src='{source}'></audio></p>")
    return "\n".join(parts)
