"""Text made comparable: the published examples of Whisper's normalizer hold, letters stay, others replace it."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import hum
from listener_plugins import Spelling
from personare.core.errors import ConfigError, UnknownNameError
from personare.core.observations import Observation, ObservedUtterance, SummaryContext
from personare.core.seeding import Key
from personare.listeners.moonshine import Moonshine
from personare.listeners.normalize import NORMALIZERS, Letters, WhisperEnglish, normalizer
from personare.training.recognizer.features import symbols_of

# openai/whisper, tests/test_normalizer.py at commit 12410616f28a287f79d72637aa659fa768a4c1b0 (MIT): text -> normalized
PUBLISHED = {
    "two": "2",
    "thirty one": "31",
    "five twenty four": "524",
    "nineteen ninety nine": "1999",
    "two point five million": "2500000",
    "four point two billions": "4200000000s",
    "€52.4 million": "€52400000",
    "two double o eight": "2008",
    "forty three thousand two hundred and sixty": "43260",
    "nineteen fifties": "1950s",
    "thirty three thousand and three hundred and thirty third": "33333rd",
    "august twenty sixth twenty twenty one": "august 26th 2021",
    "3 point 14": "3.14",
    "two point two five dollars": "$2.25",
    "seventy six per cent": "76%",
    "double oh seven": "007",
    "one triple oh one": "10001",
    "thirty two thousandth": "32000th",
    "minus 500": "-500",
    "two dollars and seventy cents": "$2.70",
    "$0.36": "¢36",
    "three and a half million": "3500000",
    "b747": "b 747",
    "mobilisation": "mobilization",
    "cancelation": "cancellation",
    "Let's": "let us",
    "he's like": "he is like",
    "she's been like": "she has been like",
    "10km": "10 km",
    "RC232": "rc 232",
    "Mr. Park visited Assoc. Prof. Kim Jr.": "mister park visited associate professor kim junior",
}


@pytest.mark.parametrize("text", PUBLISHED)
def test_published_examples_of_whispers_normalizer(text: str) -> None:
    assert WhisperEnglish()(text) == PUBLISHED[text]


@given(st.text(max_size=60))
def test_any_text_is_normalized_and_has_single_spaces(text: str) -> None:
    for make in (WhisperEnglish(), Letters()):
        once = make(text)
        assert once == " ".join(once.split())


@given(st.text(alphabet="abcé 'XYZ,.-\u2019_", max_size=40))
def test_letters_of_letters_are_the_same(text: str) -> None:
    once = Letters()(text)
    assert Letters()(once) == once
    assert all(c.isalpha() or c in " '" for c in once)
    assert len(symbols_of(once)) == len(once)


def test_a_text_with_digits_cannot_be_trained_on() -> None:
    """Letters are spelt out by nobody here: dropping the digit would teach the network a wrong text."""
    with pytest.raises(ConfigError, match="'2' is no letter the network can write; write numbers out in words"):
        symbols_of("room 2")


def test_names_are_known() -> None:
    with pytest.raises(UnknownNameError, match="no normalizer 'wisper-english'; did you mean 'whisper-english'"):
        normalizer("wisper-english")
    assert WhisperEnglish().fingerprint.startswith("whisper-english:0.1.")


def test_a_normalizer_of_ones_own_decides_what_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(NORMALIZERS.builtin, "shouting", "listener_plugins:Shouting")
    rows = [ObservedUtterance("u", {"original": Observation("one"), "anonymized": Observation("two three")})]
    context = SummaryContext("spelling", {"u": "s"}, 1, Key.from_seed(1))
    (usual,) = Spelling().summarize(rows, context).findings
    (own,) = Spelling(normalizer="shouting").summarize(rows, context).findings
    assert (usual.estimate.value, own.estimate.value) == (2.0, 0.0)
    assert Spelling().fingerprint == Spelling(normalizer="shouting").fingerprint  # the same words, counted otherwise
    assert Spelling().summary_fingerprint != Spelling(normalizer="shouting").summary_fingerprint


@pytest.mark.models
def test_words_do_not_depend_on_the_normalizer(tmp_path: Path) -> None:
    sound = hum(1)
    assert Moonshine()([sound]) == Moonshine(normalizer="letters")([sound])
