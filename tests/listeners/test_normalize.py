"""What cannot be heard must not count: case, punctuation, digits, spelling schools; what can be heard must stay."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from personare.listeners.normalize import Normalizer
from personare.listeners.numerals import cardinal, ordinal, year
from personare.listeners.spelling import american

normalize = Normalizer()


@pytest.mark.parametrize(
    ("written", "words"),
    [
        ("", ""),
        ("  ...  --- ", ""),
        ("Hello,   WORLD!", "hello world"),
        ("I\u2019m sure it\u2019s Ann\u2019s.", "i'm sure it's ann's"),
        ("'Tis the boys' room", "tis the boys room"),
        ("well-known—twenty-one", "well known twenty one"),
        ("Mr. and Mrs. Holland saw Dr Watson", "mister and missus holland saw doctor watson"),
        ("the col is steep, Col. Ross", "the col is steep colonel ross"),
        ("T. X. came; the U.S. too", "tx came the us too"),
        ("had I a sword", "had i a sword"),
        ("a café", "a cafe"),
        ("[laughs] yes (quietly) no", "yes no"),
        ("I cannot come to-day", "i can not come today"),
        ("5 & 6", "five and six"),
        ("Äpfel und Öl", "apfel und ol"),
        ("日本", "日本"),
    ],
)
def test_text_becomes_words(written: str, words: str) -> None:
    assert normalize(written) == words


@pytest.mark.parametrize(
    ("digits", "words"),
    [
        ("0", "zero"),
        ("105", "one hundred five"),
        ("1,205", "one thousand two hundred five"),
        ("1862", "eighteen sixty two"),
        ("1900", "nineteen hundred"),
        ("2007", "two thousand seven"),
        ("2107", "two thousand one hundred seven"),
        ("1,862", "one thousand eight hundred sixty two"),
        ("1990s", "nineteen nineties"),
        ("the 60s", "the sixties"),
        ("3rd 12th 21st 100th", "third twelfth twenty first one hundredth"),
        ("3.14", "three point one four"),
        ("0.5%", "zero point five percent"),
        ("-5", "minus five"),
        ("007", "zero zero seven"),
        ("$5", "five dollars"),
        ("$1.01", "one dollar one cent"),
        ("£3.20", "three pounds twenty pence"),
        ("$2.5 million", "two point five million dollars"),
        ("10:30", "ten thirty"),
        ("9:05 am", "nine oh five am"),
        ("7:00", "seven o'clock"),
        ("1/2 and 3/4 and 2/3", "one half and three quarters and two thirds"),
        ("1" * 19, " ".join(["one"] * 19)),
        ("room 4b", "room four b"),
    ],
)
def test_numbers_become_the_words_that_are_read(digits: str, words: str) -> None:
    assert normalize(digits) == words


def test_a_reader_may_say_and_inside_a_number() -> None:
    assert normalize("two hundred and five") == normalize("205")
    assert normalize("a hundred and one things") == "a hundred one things"
    assert normalize("a hundred and many things") == "a hundred and many things"


@pytest.mark.parametrize(
    ("british", "us"),
    [
        ("colour", "color"),
        ("favourites", "favorites"),
        ("dishonourable", "dishonorable"),
        ("recognised", "recognized"),
        ("organisation", "organization"),
        ("centred", "centered"),
        ("kilometres", "kilometers"),
        ("quarrelling", "quarreling"),
        ("traveller's", "traveler's"),
        ("grey", "gray"),
    ],
)
def test_british_spelling_becomes_american(british: str, us: str) -> None:
    assert american(british) == us
    assert Normalizer(spelling="as_is")(british) == british


@pytest.mark.parametrize(
    "word", ["our", "hour", "four", "devour", "wise", "promise", "advise", "noise", "here", "fire", "telling", "toward"]
)
def test_words_that_only_look_british_stay(word: str) -> None:
    assert american(word) == word


def test_contractions_stay_unless_asked() -> None:
    assert normalize("I don't, they're") == "i don't they're"
    expand = Normalizer(contractions="expand")
    assert expand("I don't, they're, he's, I'd, can't won't") == "i do not they are he's i'd can not will not"


@given(st.text(max_size=60))
def test_words_of_words_are_the_same_words(text: str) -> None:
    once = normalize(text)
    assert normalize(once) == once


@given(st.text(alphabet="abc 'XYZ,.0123456789-$%:/", max_size=40))
def test_no_digits_capitals_or_punctuation_are_left(text: str) -> None:
    assert all(c.isalpha() or c in " '" for c in normalize(text))


@given(st.integers(0, 10**18 - 1))
def test_different_numbers_are_different_words(number: int) -> None:
    assert cardinal(number) != cardinal(number + 1)
    assert ordinal(number) != cardinal(number)


@given(st.integers(1100, 2099))
def test_every_year_can_be_read(number: int) -> None:
    assert year(number) == normalize(str(number))
