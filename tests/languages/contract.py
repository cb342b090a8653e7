"""Requirements for every row of the language table; ``check_row`` runs those that need no fetched model."""

from __future__ import annotations

import unicodedata

from personare.core.carriers import WEIGHTS
from personare.core.language_codes import NAMES
from personare.encoders import whisper
from personare.encoders.recognition import ENGLISH_RECOGNIZERS
from personare.languages import Language
from personare.languages.symbols import SYMBOLS

STATUSES = ("measured", "usable", "experimental")
NUMBERS = ("0", "1", "7", "16", "21", "100", "1931", "2026", "1000000")


def check_row(row: Language) -> None:
    """Check everything that a row promises."""
    check_identity(row)
    check_models(row)
    check_examples(row)
    check_numbers(row)
    if row.code != "en":  # English is pronounced by a dictionary that is fetched
        check_pronunciation(row)


def check_identity(row: Language) -> None:
    """The code is one that recognizers know, under its usual name; the status has its figures."""
    assert NAMES[row.code] == row.name
    assert row.status in STATUSES
    assert row.status == "experimental" or {"wer", "cer"} <= set(row.figures), "no status without figures"
    assert all(0 <= value <= 100 for value in row.figures.values()), "figures are percentages"


def check_models(row: Language) -> None:
    """The recognizer and the voices are in the model index, and the recognizer knows the language."""
    files = {member.rpartition("/")[2] for name in ("kokoro", "kokoro-languages") for member in WEIGHTS[name].files}
    assert row.recognizer in WEIGHTS
    if row.recognizer in whisper.MODELS:
        assert row.code in whisper.LANGUAGES
    else:
        assert row.code == "en" and row.recognizer in (*ENGLISH_RECOGNIZERS, "moonshine")
    assert row.voices and {f"{voice}.bin" for voice in row.voices} <= files


def check_examples(row: Language) -> None:
    """Five sentences of everyday life, some with digits; texts are normalized once and for all."""
    assert len(set(row.examples)) == 5
    assert sum(any(one.isdigit() for one in example) for example in row.examples) >= 2
    for example in row.examples:
        once = row.normalize(example)
        assert once and once == row.normalize(once) == unicodedata.normalize("NFC", once) == once.lower()
        spoken = row.spoken(example)
        assert not any(one.isdigit() for one in spoken), spoken
        assert row.spoken(spoken) == spoken, "what is spelt out stays"


def check_numbers(row: Language) -> None:
    """Every number has words, whose normalized form is that of the digits."""
    for number in NUMBERS:
        words = row.spoken(number)
        assert words and not any(one.isdigit() for one in words)
        assert row.normalize(number) == row.normalize(words)


def check_pronunciation(row: Language) -> None:
    """Examples and numbers are pronounced in symbols of Kokoro, with stress, and end as they are written."""
    for example in row.examples:
        phonemes = row.pronounce(example)
        assert set(phonemes) <= SYMBOLS
        assert "ˈ" in phonemes and not any(one.isdigit() for one in phonemes)
        assert phonemes[-1] == example[-1]
    for number in NUMBERS:
        assert row.pronounce(number)
    assert row.pronounce("") == ""
