"""Pronunciations of words in Kokoro's symbols, by the rules of each language."""

from __future__ import annotations

import pytest

from personare.core.errors import ConfigError
from personare.languages import language
from personare.languages.symbols import checked

WORDS = [
    ("es", "queso", "kˈeso"),
    ("es", "guerra", "ɡˈera"),
    ("es", "pingüino", "piŋɡwˈino"),
    ("es", "cigüeña", "θiɣwˈeɲa"),
    ("es", "muchacho", "muʧˈaʧo"),
    ("es", "México", "mˈɛxiko"),
    ("es", "reloj", "relˈox"),
    ("es", "hielo", "ʝˈelo"),
    ("es", "un poco de agua", "ˈum pˈoko ðe ˈaɣwa"),
    ("it", "gnocchi", "ɲˈɔkːɪ"),
    ("it", "famiglia", "famˈiʎa"),
    ("it", "scienza", "ʃˈɛnʦa"),
    ("it", "città", "ʧitːˈa"),
    ("it", "telefono", "telˈɛfono"),
    ("it", "c'è", "ʧɛ"),
    ("it", "giardino", "ʤardˈino"),
    ("pt", "coração", "kˌoɾasˈɐ̃ʊ̃"),
    ("pt", "cidade", "sˌidˈaʤy"),
    ("pt", "filho", "fˈiljʊ"),
    ("pt", "carro", "kˈaxʊ"),
    ("pt", "brasil", "brazˈiʊ"),
    ("de", "Straße", "ʃtɾˈɑːsə"),
    ("de", "verstehen", "fɛɾʃtˈeːən"),
    ("de", "Mädchen", "mˈɛːtçən"),
    ("de", "Buch", "bˈuːx"),
    ("de", "Universität", "uːniːvɜziːtˈɛːt"),
    ("de", "ankommen", "ˈankˌɔmən"),
    ("de", "wichtig", "vˈɪçtɪç"),
    ("de", "schön", "ʃˈøːn"),
    ("de", "einundzwanzig", "ˌInʊntʦvˈanʦɪç"),
    ("fr", "maison", "mɛzˈɔ̃"),
    ("fr", "les enfants", "lez ɑ̃fˈɑ̃"),
    ("fr", "ils parlent", "il pˈaʁl"),
    ("fr", "fille", "fˈij"),
    ("fr", "ville", "vˈil"),
    ("fr", "attention", "atɑ̃sjˈɔ̃"),
    ("fr", "moment", "momˈɑ̃"),
    ("fr", "neuf heures", "nˈœv ˈœʁ"),
    ("fr", "la honte", "la ˈɔ̃t"),
    ("fr", "est-ce que", "ɛs kə"),
]


@pytest.mark.parametrize(("code", "text", "expected"), WORDS)
def test_words_are_pronounced(code: str, text: str, expected: str) -> None:
    assert language(code).pronounce(text) == expected


def test_initials_are_spelt() -> None:
    assert language("de").pronounce("BMW") == language("de").pronounce("beh emm weh")
    assert language("fr").pronounce("SNCF") == language("fr").pronounce("esse enne cé effe")


def test_foreign_latin_letters_lose_their_marks() -> None:
    assert language("es").pronounce("Łódź") == language("es").pronounce("Lódz")


def test_another_script_is_an_error_that_names_the_letter() -> None:
    with pytest.raises(ConfigError, match="Москва"):
        language("de").pronounce("Москва")


def test_a_symbol_that_kokoro_lacks_is_an_error() -> None:
    with pytest.raises(ConfigError, match="U\\+028F"):
        checked("mʏl", text="Müll")


def test_pauses_are_kept_and_clauses_joined() -> None:
    assert language("es").pronounce("Sí, claro… ¿no?") == "sˈi, klˈaɾo. nˈo?"
    assert language("es").pronounce("... !") == ""
