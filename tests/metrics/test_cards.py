"""The table of cards: every card can be imported, carries its name, and tells a reader what to do with the number."""

from __future__ import annotations

import subprocess
import sys

import pytest

from personare.core.errors import MetricError, UnknownNameError
from personare.metrics import CARDS, card, cards
from personare.metrics.literature import REFERENCES, keys_in


@pytest.mark.parametrize("name", list(CARDS))
def test_a_card_explains_its_metric(name: str) -> None:
    found = card(name)
    assert found.name == name
    assert found.bounds[0] < found.bounds[1]
    assert found.reading
    assert found.caution
    assert keys_in(found.cite) or found.cite.startswith("personare")
    assert set(keys_in(found.cite)) <= set(REFERENCES), "add the key to personare/metrics/literature.py"
    if found.chance is not None:
        assert found.bounds[0] <= found.chance <= found.bounds[1]


def test_cards_are_listed_once_each() -> None:
    assert [c.name for c in cards()] == list(CARDS)
    assert len({c.title for c in cards()}) == len(CARDS)


def test_an_unknown_metric_gets_a_suggestion() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'd_ece'"):
        card("d_ecee")


def test_importing_the_table_loads_no_metric_and_nothing_heavy() -> None:
    code = (
        "import sys, personare.metrics; "
        "heavy = [m for m in ('scipy', 'jiwer', 'polars', 'personare.metrics.privacy.eer') if m in sys.modules]; "
        "sys.exit(','.join(heavy) or None)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr


@pytest.mark.parametrize("place", ["KALDI_CARD", "eer_of_levels"])
def test_a_table_that_points_to_another_card_or_to_none_is_refused(monkeypatch: pytest.MonkeyPatch, place: str) -> None:
    monkeypatch.setitem(CARDS, "eer", f"personare.metrics.privacy.eer:{place}")
    with pytest.raises(MetricError, match="is not a card of that name"):
        card("eer")
