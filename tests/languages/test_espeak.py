"""Agreement of our pronunciation with espeak-ng on 80 sentences per language; runs where the extra espeak is there."""

from __future__ import annotations

import re

import jiwer
import pytest

from personare.core.errors import ConfigError
from personare.languages import language
from personare.languages.espeak import VOICES, espeak_phonemes
from personare.languages.sentences import rows

_ROWS = rows()
_SETS = ("first", "second")  # the rules were written with the first; the second was unseen until it was measured once


def test_a_language_without_reference_is_an_error() -> None:
    with pytest.raises(ConfigError, match="'xx'"):
        espeak_phonemes("a", code="xx")


@pytest.mark.parametrize("code", sorted(VOICES))
@pytest.mark.parametrize("name", _SETS)
def test_sentences_are_there_and_can_be_pronounced(code: str, name: str) -> None:
    texts = _texts(code, name)
    assert len(texts) == (60 if name == "first" else 20)
    assert all(language(code).pronounce(text) for text in texts)


@pytest.mark.parametrize("code", sorted(VOICES))
@pytest.mark.parametrize("name", _SETS)
def test_most_symbols_agree_with_espeak(code: str, name: str) -> None:
    pytest.importorskip("espeakng_loader")
    texts = _texts(code, name)
    expected = [_symbols(espeak_phonemes(text, code=code)) for text in texts]
    ours = [_symbols(language(code).pronounce(text)) for text in texts]
    agreement = 100 - 100 * jiwer.cer(expected, ours)
    print(f"{code} {name}: {agreement:.1f} %")
    assert agreement > 90


def _texts(code: str, name: str) -> list[str]:
    return [text for row_code, row_name, text in _ROWS if (row_code, row_name) == (code, name)]


def _symbols(phonemes: str) -> str:
    return re.sub("[ ,.;:!?]", "", phonemes)
