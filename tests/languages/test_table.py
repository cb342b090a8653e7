"""The language table as a whole, and its rules on any text; requirements for a row are in ``contract.py``."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

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
