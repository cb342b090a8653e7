"""Text becomes phonemes: the dictionary first, words with endings, compounds, names of letters, and letters last."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from personare.voices.letters import guess_phones
from personare.voices.numerals import spell_numbers, whole_number
from personare.voices.pronunciation import dictionary, phones_of, pronounce

LEXICON = {
    word: tuple(phones.split())
    for word, phones in {
        "cat": "K AE1 T",
        "dog": "D AO1 G",
        "house": "HH AW1 S",
        "boat": "B OW1 T",
        "hope": "HH OW1 P",
        "stop": "S T AA1 P",
        "carry": "K EH1 R IY0",
        "kind": "K AY1 N D",
        "the": "DH AH0",
        "of": "AH1 V",
        "apple": "AE1 P AH0 L",
    }.items()
}


@pytest.mark.parametrize(
    ("word", "phones"),
    [
        ("cats", "K AE1 T S"),
        ("cat's", "K AE1 T S"),
        ("dogs", "D AO1 G Z"),
        ("houses", "HH AW1 S AH0 Z"),
        ("hoped", "HH OW1 P T"),
        ("hoping", "HH OW1 P IH0 NG"),
        ("stopped", "S T AA1 P T"),
        ("carried", "K EH1 R IY0 D"),
        ("kindness", "K AY1 N D N AH0 S"),
        ("unkind", "AH0 N K AY1 N D"),
        ("houseboats", "HH AW1 S B OW2 T S"),
    ],
)
def test_a_known_word_with_a_beginning_or_an_ending(word: str, phones: str) -> None:
    assert " ".join(phones_of(word, lexicon=LEXICON)) == phones


def test_initials_are_spelled_and_unknown_words_are_guessed() -> None:
    assert " ".join(phones_of("BBC", lexicon=LEXICON)) == "B IY1 B IY1 S IY1"
    assert " ".join(phones_of("zorvane", lexicon=LEXICON)) == "Z AO1 R V EY0 N"
    assert pronounce("the U.S.A.", lexicon=LEXICON).endswith("jˈuː ˈɛs ˈeɪ")


def test_marks_are_kept_once_and_small_words_are_unstressed() -> None:
    assert pronounce("The dog... of the cat?!", lexicon=LEXICON) == "ðə dˈɔːɡ. ʌv ðə kˈæt?"
    assert pronounce("the apple", lexicon=LEXICON) == "ðɪ ˈæpəl"
    assert (
        pronounce("Mr. Cat, dog", lexicon=LEXICON | {"mister": ("M", "IH1", "S", "T", "ER0")}) == "mˈɪstɚ kˈæt, dˈɔːɡ"
    )


def test_accents_and_typographic_marks_are_plain() -> None:
    assert pronounce("cát’s — dog", lexicon=LEXICON) == pronounce("cat's, dog", lexicon=LEXICON)
    assert pronounce("¿¡…» 中文", lexicon=LEXICON) == ""


@given(st.text(alphabet="abcdefghijklmnopqrstuvwxyz", min_size=1, max_size=20))
def test_any_letters_can_be_said(word: str) -> None:
    phones = phones_of(word, lexicon={})
    assert phones and sum(phone.endswith("1") for phone in guess_phones(word)) <= 1


@given(st.text(max_size=40))
def test_any_text_can_be_said_with_symbols_of_the_voice(text: str) -> None:
    symbols = set("abcdefhijklmnopstuvwzæðŋɐɑɔəɚɛɜɡɪɹɾʃʊʌʒˈˌːθ ,.;:?!")
    assert set(pronounce(text, lexicon=LEXICON)) <= symbols


@given(st.integers(min_value=0, max_value=10**15 - 1))
def test_every_whole_number_has_words(number: int) -> None:
    words = whole_number(number).split()
    assert words and all(word.isalpha() for word in words)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("12th", "twelfth"),
        ("20th", "twentieth"),
        ("1900", "nineteen hundred"),
        ("1905", "nineteen oh five"),
        ("2005", "two thousand five"),
        ("$1", "one dollar"),
        ("100%", "one hundred percent"),
        ("3 p.m. and 3:15", "three p.m. and three fifteen"),
        ("B2B", "B two B"),
        ("12345678901234567890", "one two three four five six seven eight nine zero " * 2),
    ],
)
def test_numbers_as_they_are_read(text: str, words: str) -> None:
    assert spell_numbers(text) == words.strip()


@pytest.mark.models
def test_the_fetched_dictionary() -> None:
    lexicon = dictionary()
    assert len(lexicon) > 120_000
    assert pronounce("Water was poured.") == "wˈɔːɾɚ wʌz pˈɔːɹd."
