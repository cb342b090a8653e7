"""The reference page of all metrics, made from their cards and the definitions at the top of their files."""

from __future__ import annotations

import importlib
import math

from personare.core.findings import MetricCard
from personare.metrics import CARDS
from personare.metrics import card as card_named
from personare.metrics.literature import REFERENCES, keys_in

HEAD = """# Metrics

Every number personare can report: how to read it, when not to trust it, who defined it, by which formula.
This page is made by `personare metrics list --markdown`; change the cards and definitions in `src/personare/metrics/`.
"""


def metric_page() -> str:
    """Write the page in Markdown: one section per file of definitions, its cards first, then the definition."""
    files: dict[str, list[MetricCard]] = {}
    for name, place in CARDS.items():
        files.setdefault(place.partition(":")[0], []).append(card_named(name))
    sections = [_section(module, cards) for module, cards in files.items()]
    cited = sorted({key for cards in files.values() for card in cards for key in keys_in(card.cite)})
    listed = "\n".join(f"- **{key}**: {REFERENCES[key]}" for key in cited)
    return "\n".join([HEAD, *sections, f"## Literature\n\n{listed}\n"])


def _section(module: str, cards: list[MetricCard]) -> str:
    lines = (importlib.import_module(module).__doc__ or "").strip().splitlines()
    title, definition = lines[0], "\n".join(lines[1:]).strip("\n")
    rows = "\n".join(_rows(card) for card in cards)
    return f"## {title}\n\n{rows}\n```text\n{definition}\n```\n\nCode: `{module}`\n"


def _rows(card: MetricCard) -> str:
    low, high = (bound_text(x) for x in card.bounds)
    chance = "depends on the data" if card.chance is None else f"{card.chance:g}"
    unit = f", in {card.unit}" if card.unit and card.unit != "%" else ""
    return (
        f"**{card.title}** (`{card.name}`): {card.reading}.\n"
        f"*Caution:* {card.caution}.\n"
        f"Better: {card.better}. Range: {low} to {high}{unit}. Chance: {chance}. Defined in: {card.cite}.\n"
    ).replace("..", ".")


def bound_text(value: float) -> str:
    """Write the end of a metric's range."""
    return ("-∞" if value < 0 else "∞") if math.isinf(value) else f"{value:.4g}"
