"""personare metrics list: the cards, and the reference page that is made of them."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from personare.cli import main
from personare.metrics import cards
from personare.reports.metric_page import metric_page

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "metrics.md"


def test_every_metric_is_listed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "argv", ["personare", "metrics", "list"])
    with pytest.raises(SystemExit):
        main()
    printed = capsys.readouterr().out
    assert all(card.name in printed for card in cards())


def test_the_reference_page_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == metric_page(), (
        "run: personare metrics list --markdown > docs/reference/metrics.md"
    )


def test_the_page_gives_formula_caution_and_literature_of_each_metric() -> None:
    page = metric_page()
    for card in cards():
        assert f"(`{card.name}`)" in page
        assert card.caution.rstrip(".") in page
    assert "[nautsch2020zebra, eq. 4]" in page
    assert "- **nautsch2020zebra**: Nautsch et al." in page
