"""Pure numbers: privacy and utility, arrays in, Estimates out; no files, models or plots.

``CARDS`` names every metric that can reach a report and where its card lives; ``card`` and ``cards`` import them only
when asked for.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping

from personare.core.errors import MetricError, UnknownNameError, did_you_mean
from personare.core.findings import MetricCard

CARDS: Mapping[str, str] = {
    # detection: can the attacker tell "same speaker" from "another speaker"?
    "eer": "personare.metrics.privacy.eer:CARD",
    "eer_kaldi": "personare.metrics.privacy.eer:KALDI_CARD",
}


def card(name: str) -> MetricCard:
    """Import the card of one metric.

    >>> card("eer").title
    'EER (ROCCH)'
    """
    if name not in CARDS:
        raise UnknownNameError(f"no metric '{name}'; {did_you_mean(name, CARDS)}")
    module, _, attribute = CARDS[name].partition(":")
    found = getattr(importlib.import_module(module), attribute)
    if not isinstance(found, MetricCard) or found.name != name:
        raise MetricError(f"metric '{name}' ({CARDS[name]}) is not a card of that name")
    return found


def cards() -> list[MetricCard]:
    """Import every card, in the order of the table."""
    return [card(name) for name in CARDS]
