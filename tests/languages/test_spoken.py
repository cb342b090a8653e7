"""Numbers, dates, times, money, units and abbreviations as native speakers write and say them."""

from __future__ import annotations

import pytest

from personare.languages import language

SPOKEN = [
    (
        "en",
        "On 10/3/2024 Dr. Lee paid $12.50.",
        "On October third twenty twenty four Doctor Lee paid twelve dollars and fifty cents.",
    ),
    (
        "en",
        "In 1984 it was 3.14 % of 1,200.",
        "In nineteen eighty four it was three point one four percent of one thousand two hundred.",
    ),
    ("en", "The 21st at 7:05", "The twenty first at seven oh five"),
    ("de", "am 3.10.2024 um 14:30 Uhr", "am dritten Oktober zweitausendvierundzwanzig um vierzehn Uhr dreißig"),
    (
        "de",
        "Dr. Weber zahlte 12,50 € für 1.200 Stück, z. B. Schrauben.",
        "Doktor Weber zahlte zwölf Euro fünfzig Cent für eintausendzweihundert Stück, zum Beispiel Schrauben.",
    ),
    (
        "de",
        "Der 2. Mai war der 1. Tag mit 21,5 °C.",
        "Der zweite Mai war der erste Tag mit einundzwanzig Komma fünf Grad Celsius.",
    ),
    ("de", "Er ist 30. Das war 1984.", "Er ist dreißig. Das war neunzehnhundertvierundachtzig."),
    ("de", "1 Std., 1 km, -5 °C, 5-10 %", "eine Stunde, ein Kilometer, minus fünf Grad Celsius, fünf bis zehn Prozent"),
    ("de", "Hr. Meier, ca. 8 Uhr", "Herr Meier, circa acht Uhr"),
    (
        "fr",
        "Le 1/3/2024 à 14h30, M. Dupont",
        "Le premier mars deux mille vingt-quatre à quatorze heures trente, Monsieur Dupont",
    ),
    ("fr", "Mme Martin, 2e étage, 21h", "Madame Martin, deuxième étage, vingt et une heures"),
    ("fr", "12,50 € et 1 200 pièces, 5 %", "douze euros cinquante centimes et mille deux cents pièces, cinq pour cent"),
    ("fr", "au XXe siècle, 21,5 °C", "au vingtième siècle, vingt et un virgule cinq degrés"),
    ("es", "El 3/10/2024 a las 14:30", "El tres de octubre de dos mil veinticuatro a las catorce y treinta"),
    (
        "es",
        "El Sr. López tiene 21 años y la Sra. Gil 31.",
        "El señor López tiene veintiún años y la señora Gil treinta y uno.",
    ),
    (
        "es",
        "12,50 €, 21 km, 3,14 y 5 %",
        "doce euros con cincuenta céntimos, veintiún kilómetros, tres coma catorce y cinco por ciento",
    ),
    ("es", "el 3.º piso, la 2.ª puerta, siglo XXI", "el tercer piso, la segunda puerta, siglo veintiuno"),
    (
        "it",
        "Il 3/10/2024 alle 14:30 il Sig. Rossi",
        "Il tre ottobre duemilaventiquattro alle quattordici e trenta il signor Rossi",
    ),
    ("it", "12,50 €, 1.200 pezzi, ecc.", "dodici euro e cinquanta centesimi, milleduecento pezzi, eccetera"),
    ("it", "al 3° piano, 1 kg, 20 °C", "al terzo piano, un chilo, venti gradi"),
    ("pt", "No dia 1/3/2024, às 14h30", "No dia primeiro de março de dois mil e vinte e quatro, às catorze e trinta"),
    ("pt", "O Sr. Silva pagou R$ 12,50.", "O senhor Silva pagou doze reais e cinquenta centavos."),
    ("pt", "no 2º andar, 2 horas, 1 semana, 5 %", "no segundo andar, duas horas, uma semana, cinco por cento"),
]

NORMALIZED = [
    ("de", "Z. B. kostet's 12,50 Euro – schön!", "de", "z b kostet s zwölf euro fünfzig cent schön"),
    ("fr", "L'été, 12,50 euros !", "fr", "l été douze euros cinquante centimes"),
    ("es", "¿Qué tal, Sr. Núñez?", "es", "qué tal señor núñez"),
    ("it", "Perché no? È l'ora.", "it", "perché no è l ora"),
    ("pt", "Não, às 8h!", "pt", "não às oito horas"),
    ("en", "Mr. Smith wasn't there at 7.", "en", "mister smith was not there at 7"),
]


@pytest.mark.parametrize(("code", "text", "expected"), SPOKEN)
def test_written_forms_are_spoken_as_words(code: str, text: str, expected: str) -> None:
    assert language(code).spoken(text) == expected


@pytest.mark.parametrize(("code", "text", "_", "expected"), NORMALIZED)
def test_words_are_counted_without_case_punctuation_and_digits(code: str, text: str, _: str, expected: str) -> None:
    assert language(code).normalize(text) == expected


def test_decomposed_letters_are_composed() -> None:
    assert language("fr").normalize("e\u0301te\u0301") == "été"


@pytest.mark.parametrize("code", ["de", "fr", "es", "it", "pt"])
def test_long_numbers_and_leading_zeros_are_read_digit_by_digit(code: str) -> None:
    row = language(code)
    assert len(row.spoken("0301").split()) == 4
    assert len(row.spoken("1" * 16).split()) == 16


@pytest.mark.parametrize("code", ["de", "fr", "es", "it", "pt"])
def test_impossible_dates_are_read_as_numbers(code: str) -> None:
    assert language(code).spoken("45/67/2024").count("/") == 2
