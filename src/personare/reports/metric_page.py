"""The reference page of all metrics, made from their cards and the definitions at the top of their files."""

from __future__ import annotations

import importlib
import math

from personare.core.findings import MetricCard
from personare.metrics import CARDS, card
from personare.metrics.literature import REFERENCES, keys_in

HEAD = """# Metrics

Every number personare can report: how to read it, when not to trust it, who defined it, by which formula.
This page is made by `personare metrics list --markdown`; change the cards and definitions in `src/personare/metrics/`.
"""


def metric_page() -> str:
    """Write the page in Markdown: one section per file of definitions, its cards first, then the definition."""
    files: dict[str, list[MetricCard]] = {}
    for name, place in CARDS.items():
        files.setdefault(place.partition(":")[0], []).append(card(name))
    sections = [_section(module, found) for module, found in files.items()]
    cited = sorted({key for found in files.values() for each in found for key in keys_in(each.cite)})
    listed = "\n".join(f"- **{key}**: {REFERENCES[key]}" for key in cited)
    return "\n".join([HEAD, *sections, f"## Literature\n\n{listed}\n"])


def _section(module: str, found: list[MetricCard]) -> str:
    lines = (importlib.import_module(module).__doc__ or "").strip().splitlines()
    title, definition = lines[0], "\n".join(lines[1:]).strip("\n")
    rows = "\n".join(_rows(each) for each in found)
    return f"## {title}\n\n{rows}\n```text\n{definition}\n```\n\nCode: `{module}`\n"


def _rows(found: MetricCard) -> str:
    low, high = (_bound(x) for x in found.bounds)
    chance = "depends on the data" if found.chance is None else f"{found.chance:g}"
    unit = f", in {found.unit}" if found.unit and found.unit != "%" else ""
    return (
        f"**{found.title}** (`{found.name}`): {found.reading}.\n"
        f"*Caution:* {found.caution}.\n"
        f"Better: {found.better}. Range: {low} to {high}{unit}. Chance: {chance}. Defined in: {found.cite}.\n"
    ).replace("..", ".")


def _bound(value: float) -> str:
    return ("-∞" if value < 0 else "∞") if math.isinf(value) else f"{value:.4g}"
