"""Answers that a test takes, and those it does not: every scale, every cluster, everything listened to."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from personare.panels import Test
from personare.panels.answer_rules import AnswerError, checked_answer, checked_listening
from personare.panels.folder import PlannedStimulus, PlannedTrial

SOUNDS = tuple(PlannedStimulus(name * 24, "recording", 2.0, "anna") for name in "abc")
TRIAL = PlannedTrial(1, 1, "original", None, "A", "", SOUNDS)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=12), inner, max_size=4),
    max_leaves=8,
)
GOOD: dict[Test, dict[str, Any]] = {
    "unified": {"naturalness": 1, "intelligibility": 10, "similarity": 5},
    "mos": {"naturalness": 1, "intelligibility": 5},
    "abx": {"choice": "B"},
    "expression": {"choice": "A"},
    "clustering": {"clusters": {s.token: i + 1 for i, s in enumerate(SOUNDS)}, "moves": 3},
}
HEARD = {"played_ms": {s.token: 2000 for s in SOUNDS}, "plays": {s.token: 1 for s in SOUNDS}, "page_ms": 9000}


@pytest.mark.parametrize("test", GOOD)
def test_a_right_answer_is_taken_as_it_is(test: Test) -> None:
    assert checked_answer(test, TRIAL, GOOD[test]) == GOOD[test]
    assert checked_listening(TRIAL, HEARD) == HEARD


@pytest.mark.parametrize(
    ("test", "change"),
    [
        ("unified", {"similarity": 11}),
        ("unified", {"similarity": 0}),
        ("unified", {"similarity": 5.0}),
        ("unified", {"similarity": True}),
        ("unified", {"more": 1}),
        ("mos", {"naturalness": 6}),
        ("mos", {"naturalness": "3"}),
        ("abx", {"choice": "X"}),
        ("abx", {"choice": None}),
        ("expression", {"choice": "C"}),
        ("clustering", {"moves": -1}),
        ("clustering", {"clusters": {}}),
        ("clustering", {"clusters": {s.token: 5 for s in SOUNDS}}),
        ("clustering", {"clusters": {**{s.token: 1 for s in SOUNDS}, "d" * 24: 1}}),
        ("clustering", {"clusters": [1, 2, 3]}),
    ],
)
def test_a_wrong_answer_is_refused(test: Test, change: dict[str, Any]) -> None:
    with pytest.raises(AnswerError):
        checked_answer(test, TRIAL, GOOD[test] | change)


@pytest.mark.parametrize(
    "change",
    [
        {"played_ms": {**HEARD["played_ms"], SOUNDS[0].token: 1700}},  # type: ignore[dict-item]
        {"plays": {**HEARD["plays"], SOUNDS[1].token: 0}},  # type: ignore[dict-item]
        {"played_ms": {}},
        {"page_ms": -1},
        {"page_ms": 1e9},
        {"plays": {**HEARD["plays"], "other": 1}},  # type: ignore[dict-item]
    ],
)
def test_everything_must_be_heard_first(change: dict[str, Any]) -> None:
    with pytest.raises(AnswerError):
        checked_listening(TRIAL, HEARD | change)


@given(JSON)
def test_anything_else_is_refused_by_name(value: Any) -> None:
    for test in GOOD:
        with pytest.raises(AnswerError):
            checked_answer(test, TRIAL, value)
    with pytest.raises(AnswerError):
        checked_listening(TRIAL, value)
