"""Sounds as symbols: one for each sound, all of them Kokoro's, numbers one to one; what is no symbol is refused."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from personare.core.errors import ConfigError
from personare.voices.arpabet import to_ipa
from personare.voices.pronunciation import dictionary, pronounce
from personare.voices.spelling import (
    ENGLISH_SYMBOL_COUNT,
    ENGLISH_SYMBOLS,
    FRAME,
    FURTHER_SYMBOLS,
    SYMBOL_COUNT,
    SYMBOLS,
    similar_numbers,
    spell,
    symbol_numbers,
)

LETTERS = "abdefhijklmnopstuvwzæðŋɐɑɔəɚɛɜɡɪɹɾʃʊʌʒˈˌːθ ,.;:?!"  # all that ``pronounce`` writes
STRESS = "ˈˌ"


@pytest.mark.parametrize(
    ("phones", "spelled"),
    [
        ("D EY1", "dˈA"),
        ("S K AY1", "skˈI"),
        ("G OW1", "ɡˈO"),
        ("N AW1", "nˈW"),
        ("CH OY1 S", "ʧˈYs"),
        ("JH AH1 JH", "ʤˈʌʤ"),
        ("F IY1 L", "fˈil"),
        ("F AA1 DH ER0", "fˈɑðəɹ"),
        ("W ER1 D", "wˈɜɹd"),
        ("W AO1 T ER0", "wˈɔtəɹ"),
        ("S AO1 IH0 NG", "sˈɔɪŋ"),
    ],
)
def test_each_sound_is_one_symbol(phones: str, spelled: str) -> None:
    """Closed form; the last one has two vowels side by side, which are not the diphthong of ``choice``."""
    assert spell(to_ipa(phones.split())) == spelled


def test_marks_and_blanks_stay_and_an_article_is_a_schwa() -> None:
    assert spell("ɐ ˈaʊl, bˈɔɪ; tʃˈiːz! ˌeɪ?") == "ə ˈWl, bˈY; ʧˈiz! ˌA?"


def test_small_words_that_are_easily_misheard_are_said_in_full() -> None:
    assert spell("ənd, aɪ. ɑːn ɪt") == "ˌænd, ˌI. ˌɑn ɪt"
    assert spell("hˈænd ˈaɪ ˈɑːn lˈɛɡənd") == "hˈænd ˈI ˈɑn lˈɛɡənd", "and no part of a word, nor one that has stress"


def test_symbols_are_numbered_from_the_one_after_the_frame() -> None:
    assert len(set(SYMBOLS)) == len(SYMBOLS) == SYMBOL_COUNT - 1
    assert all(len(symbol) == 1 for symbol in SYMBOLS)
    assert symbol_numbers("") == [FRAME, FRAME]
    assert symbol_numbers("".join(SYMBOLS)) == [FRAME, *range(1, SYMBOL_COUNT), FRAME]


def test_english_symbols_come_first_and_each_further_one_has_similar_ones_among_them() -> None:
    assert (*ENGLISH_SYMBOLS, *FURTHER_SYMBOLS) == SYMBOLS
    assert sorted(similar_numbers()) == list(range(ENGLISH_SYMBOL_COUNT, SYMBOL_COUNT))
    assert all(similar for similar in similar_numbers().values())
    assert {FRAME < number < ENGLISH_SYMBOL_COUNT for similar in similar_numbers().values() for number in similar} == {
        True
    }


@given(st.text(alphabet=SYMBOLS, max_size=30))
def test_numbers_are_framed_and_one_to_one(spelled: str) -> None:
    first, *inner, last = symbol_numbers(spelled)
    assert first == last == FRAME
    assert FRAME not in inner
    assert "".join(SYMBOLS[number - 1] for number in inner) == spelled


@given(st.lists(st.text(alphabet=LETTERS.replace(" ", ""), max_size=8), max_size=4))
def test_words_are_spelled_one_by_one(words: list[str]) -> None:
    assert spell(" ".join(words)) == " ".join(map(spell, words))


@given(st.text(max_size=40))
def test_whatever_is_written_can_be_spelled(text: str) -> None:
    spelled = spell(pronounce(text, lexicon={}))
    assert len(symbol_numbers(spelled)) == len(spelled) + 2


@pytest.mark.parametrize(("spelled", "symbol"), [("ˈOж", "ж"), ("bˈɚd", "ɚ"), ("ɯɪ", "ɯ"), ("A\nA", "\n")])
def test_a_symbol_that_is_none_of_ours_is_refused(spelled: str, symbol: str) -> None:
    with pytest.raises(ConfigError) as refused:
        symbol_numbers(spelled)
    assert str(refused.value).startswith(f"there is no symbol '{symbol}' (in '{spelled}')")


@pytest.mark.models
def test_every_word_of_the_dictionary_is_spelled_with_known_symbols() -> None:
    """A seeded sample; where no sound is written with two symbols or two sounds with one, there are as many of both."""
    lexicon = dictionary()
    drawn = np.random.default_rng(1).choice(sorted(lexicon), 4000, replace=False).tolist()
    counted = 0
    for word in drawn:
        phones = lexicon[word]
        spelled = spell(to_ipa(phones))
        numbers = symbol_numbers(spelled)
        assert 0 < min(numbers[1:-1]) <= max(numbers) < SYMBOL_COUNT, word
        kinds = [phone.rstrip("012") for phone in phones]
        if "ER" not in kinds and not {("T", "SH"), ("D", "ZH")} & set(pairwise(kinds)):
            assert len([symbol for symbol in spelled if symbol not in STRESS]) == len(phones), word
            assert sum(symbol in STRESS for symbol in spelled) == sum(phone[-1] in "12" for phone in phones), word
            counted += 1
    assert counted > 2000


@pytest.mark.models
def test_different_sounds_have_different_symbols() -> None:
    """Words that the dictionary tells apart stay apart, but for r after a weak vowel, and a t that is flapped."""
    lexicon = dictionary()
    drawn = np.random.default_rng(2).choice(sorted(lexicon), 4000, replace=False).tolist()
    spoken = {to_ipa(lexicon[word]).replace("ɚ", "əɹ").replace("ɾ", "t") for word in drawn}
    assert len({spell(ipa) for ipa in spoken}) == len(spoken)


@pytest.mark.models
def test_every_symbol_is_one_of_kokoros() -> None:
    from personare.voices.kokoro import symbol_ids, symbols

    assert set(SYMBOLS) <= set(symbols())
    assert len(symbol_ids("".join(SYMBOLS))) == len(SYMBOLS)
