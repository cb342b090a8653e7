"""The colours of every page and picture, on light and on dark screens; words in any of them stay readable on both."""

from __future__ import annotations

from collections.abc import Mapping

LIGHT: Mapping[str, str] = {
    "ink": "#1b1f24",
    "soft": "#57606a",
    "paper": "#ffffff",
    "card": "#f6f8fa",
    "line": "#d0d7de",
    "mark": "#0b62a8",
    "bad": "#b42318",
    "warn": "#8a5300",
    "good": "#1a7037",
}
DARK: Mapping[str, str] = {
    "ink": "#e6edf3",
    "soft": "#a3adb8",
    "paper": "#0d1117",
    "card": "#161b22",
    "line": "#30363d",
    "mark": "#6cb6ff",
    "bad": "#ff8f86",
    "warn": "#e3b341",
    "good": "#5bd08b",
}
# what is compared: pictures are drawn in the light colours, a page swaps them for the dark ones by itself
SERIES = ("#1d5fa8", "#b3530a", "#1a7a4c", "#8445b0", "#b8323f", "#0f6f7c")
SERIES_DARK = ("#6cb6ff", "#f2a15f", "#5fd39a", "#cda2f2", "#ff8f9a", "#5cc9d6")
NEUTRAL, NEUTRAL_DARK = "#646c76", "#9099a3"


def variables(*, dark: bool) -> str:
    """Write the colours as style-sheet variables."""
    named = dict(DARK if dark else LIGHT)
    named |= {f"c{i + 1}": colour for i, colour in enumerate(SERIES_DARK if dark else SERIES)}
    named["c0"] = NEUTRAL_DARK if dark else NEUTRAL
    return " ".join(f"--{name}: {colour};" for name, colour in named.items())
