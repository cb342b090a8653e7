"""A ledger adds up, or it is none."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from personare.core.ledger import NOT_DONE, Excluded, Ledger, count, read_ledger

COUNTS = st.integers(0, 50)


@given(
    outcomes=st.lists(st.sampled_from(NOT_DONE), max_size=30),
    failures=st.lists(st.sampled_from(["unreadable", "rejected", "failed"]), max_size=30),
    anonymized=COUNTS,
    pending=COUNTS,
)
def test_every_recording_has_one_outcome(outcomes: list, failures: list, anonymized: int, pending: int) -> None:  # type: ignore[type-arg]
    excluded = [Excluded(str(n), outcome, "why") for n, outcome in enumerate(outcomes)]
    ledger = count(excluded, failures, anonymized=anonymized, pending=pending)
    assert ledger.found == len(outcomes) + len(failures) + anonymized + pending
    (name, found), *others = ledger.rows
    assert name == "found" and found == sum(n for _, n in others)
    assert read_ledger(ledger.to_dict()) == ledger


def test_what_does_not_add_up_is_refused() -> None:
    with pytest.raises(ValueError, match="must add up: 3 found, 2 accounted for"):
        Ledger(3, anonymized=2)
    with pytest.raises(ValueError, match="more recordings attacked"):
        Ledger(3, anonymized=3, attacked=2, enrolled=2)
    wrong: list[Any] = [{"found": 3}, {"found": "3"}, [], None, {"found": 2, "anonymized": 2, "attacked": "x"}, {}]
    assert not [values for values in wrong if read_ledger(values) is not None]
    assert read_ledger({"found": 2, "anonymized": 2, "of a later version": 1}) == Ledger(2, anonymized=2)


def test_not_checked_is_said() -> None:
    assert Ledger(2, anonymized=2).speakers_line == "More than one speaker on a channel: not checked."
    checked = Ledger(2, anonymized=2, speakers_checked=2, several_speakers=1)
    assert checked.speakers_line == "More than one speaker on a channel: 1 recording (all checked)."
