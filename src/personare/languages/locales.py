"""How each language writes and reads numbers, dates, times and abbreviations: one ``Locale`` per language."""

from __future__ import annotations

import re
from functools import lru_cache

from personare.languages.spoken import Locale, Unit
from personare.voices.numerals import whole_number


@lru_cache(maxsize=4096)
def _num2words(number: int, lang: str, to: str = "cardinal") -> str:
    from num2words import num2words

    words: str = num2words(number, lang=lang, to=to)
    return words.replace(",", "")


# English -------------------------------------------------------------------------------------------------------------
_EN_MONTHS = tuple("January February March April May June July August September October November December".split())


def _en_ordinal(number: int) -> str:
    return _num2words(number, "en", "ordinal").replace("-", " ").replace(" and ", " ")


def _en_year(year: int) -> str:
    if 1100 <= year < 2000 or 2010 <= year < 2100:
        first, rest = divmod(year, 100)
        tail = "hundred" if rest == 0 else f"oh {whole_number(rest)}" if rest < 10 else whole_number(rest)
        return f"{whole_number(first)} {tail}"
    return whole_number(year)


def _en_time(hour: int, minute: int) -> str:
    said = "o'clock" if minute == 0 else f"oh {whole_number(minute)}" if minute < 10 else whole_number(minute)
    return f"{whole_number(hour)} {said}"


def _en_ordinals(text: str) -> str:
    text = re.sub(
        rf"\b({'|'.join(_EN_MONTHS)}) (\d{{1,2}})(?:st|nd|rd|th)?,? (\d{{4}})\b",
        lambda m: f"{m[1]} {_en_ordinal(int(m[2]))} {_en_year(int(m[3]))}",
        text,
    )
    text = re.sub(
        rf"\b({'|'.join(_EN_MONTHS)}) (\d{{1,2}})\b(?![:.]\d)", lambda m: f"{m[1]} {_en_ordinal(int(m[2]))}", text
    )
    return re.sub(r"\b(\d{1,6})(?:st|nd|rd|th)\b", lambda m: _en_ordinal(int(m[1])), text)


ENGLISH = Locale(
    cardinal=lambda number, _: whole_number(number),
    decimal=".",
    thousands=",",
    point="point",
    months=_EN_MONTHS,
    date=lambda day, month, year, _: f"{month} {_en_ordinal(day)} {year}".strip(),
    time=_en_time,
    one=("one", "one"),
    units={
        "%": Unit("percent", "percent"),
        "km/h": Unit("kilometer per hour", "kilometers per hour"),
        "mph": Unit("mile per hour", "miles per hour"),
        "km": Unit("kilometer", "kilometers"),
        "cm": Unit("centimeter", "centimeters"),
        "mm": Unit("millimeter", "millimeters"),
        "m": Unit("meter", "meters"),
        "kg": Unit("kilogram", "kilograms"),
        "mg": Unit("milligram", "milligrams"),
        "lbs": Unit("pound", "pounds"),
        "g": Unit("gram", "grams"),
        "ml": Unit("milliliter", "milliliters"),
        "°C": Unit("degree Celsius", "degrees Celsius"),
        "°F": Unit("degree Fahrenheit", "degrees Fahrenheit"),
        "°": Unit("degree", "degrees"),
    },
    currencies={
        "$": Unit("dollar", "dollars", hundredth=("cent", "cents")),
        "£": Unit("pound", "pounds", hundredth=("penny", "pence")),
        "€": Unit("euro", "euros", hundredth=("cent", "cents")),
    },
    abbreviations={
        **{
            "Mr.": "Mister",
            "Mr": "Mister",
            "Mrs.": "Missus",
            "Mrs": "Missus",
            "Ms.": "Miz",
            "Dr.": "Doctor",
            "Dr": "Doctor",
        },
        **{"Prof.": "Professor", "e.g.": "for example", "i.e.": "that is", "etc.": "et cetera", "vs.": "versus"},
        **{"No. ": "number ", "a.m.": "A M", "p.m.": "P M"},
    },
    signs={"&": "and", "+": "plus", "=": "equals", "@": "at", "%": "percent", "#": "number"},
    money_and="and",
    range_word="to",
    ordinals=_en_ordinals,
    year=_en_year,
    decimals_as_digits=True,
    month_first=True,
)

# German --------------------------------------------------------------------------------------------------------------
_DE_MONTHS = tuple("Januar Februar März April Mai Juni Juli August September Oktober November Dezember".split())
_DE_WEAK = "am|im|vom|zum|dem|den|des|beim|bis|seit|ab|einem|einen|jeden|jedem|ihrem|seinem|meinem|zur|einer|der"
_DE_NAMED = "die|das|der"


def _de_ordinal(number: int, before: str) -> str:
    base = _num2words(number, "de", "ordinal")
    if before in ("der", "die", "das", "jede", "diese"):
        return base
    return base + ("n" if before in _DE_WEAK.split("|") else "r")


def _de_ordinals(text: str) -> str:
    months = "|".join(_DE_MONTHS)
    text = re.sub(
        rf"(?:\b(?P<before>[A-Za-zäöüß]+) )?(?<![\d.,])(?P<day>\d{{1,2}})\.\s?(?P<month>{months})\b",
        lambda m: (
            f"{m['before'] + ' ' if m['before'] else ''}"
            f"{_de_ordinal(int(m['day']), (m['before'] or '').lower())} {m['month']}"
        ),
        text,
    )
    text = re.sub(
        rf"\b(?P<before>{_DE_WEAK}|{_DE_NAMED}) (?P<n>\d{{1,3}})\.(?= [a-zA-ZÄÖÜäöü])",
        lambda m: f"{m['before']} {_de_ordinal(int(m['n']), m['before'].lower())}",
        text,
        flags=re.IGNORECASE,
    )
    return re.sub(r"§\s?(?=\d)", "Paragraf ", text)


def _de_time(hour: int, minute: int) -> str:
    hours = "ein" if hour == 1 else _num2words(hour, "de")
    return f"{hours} Uhr" + (f" {_num2words(minute, 'de')}" if minute else "")


GERMAN = Locale(
    cardinal=lambda number, _: _num2words(number, "de"),
    decimal=",",
    thousands=r"[. '’]",
    point="Komma",
    months=_DE_MONTHS,
    date=lambda day, month, year, before: f"{_de_ordinal(day, before)} {month} {year}".strip(),
    time=_de_time,
    one=("ein", "eine"),
    units={
        "%": Unit("Prozent", "Prozent"),
        "km/h": Unit("Stundenkilometer", "Stundenkilometer"),
        "km": Unit("Kilometer", "Kilometer"),
        "cm": Unit("Zentimeter", "Zentimeter"),
        "mm": Unit("Millimeter", "Millimeter"),
        "m²": Unit("Quadratmeter", "Quadratmeter"),
        "qm": Unit("Quadratmeter", "Quadratmeter"),
        "m": Unit("Meter", "Meter"),
        "kg": Unit("Kilogramm", "Kilogramm"),
        "mg": Unit("Milligramm", "Milligramm"),
        "g": Unit("Gramm", "Gramm"),
        "ml": Unit("Milliliter", "Milliliter"),
        "l": Unit("Liter", "Liter"),
        "°C": Unit("Grad Celsius", "Grad Celsius"),
        "°": Unit("Grad", "Grad"),
        "Std.": Unit("Stunde", "Stunden", feminine=True),
        "Min.": Unit("Minute", "Minuten", feminine=True),
        "Mio.": Unit("Million", "Millionen", feminine=True),
        "Mrd.": Unit("Milliarde", "Milliarden", feminine=True),
        "Uhr": Unit("Uhr", "Uhr"),
    },
    currencies={
        "€": Unit("Euro", "Euro", hundredth=("Cent", "Cent")),
        "EUR": Unit("Euro", "Euro", hundredth=("Cent", "Cent")),
        "$": Unit("Dollar", "Dollar", hundredth=("Cent", "Cent")),
        "CHF": Unit("Franken", "Franken", hundredth=("Rappen", "Rappen")),
        "£": Unit("Pfund", "Pfund", hundredth=("Pence", "Pence")),
    },
    abbreviations={
        **{
            "z. B.": "zum Beispiel",
            "d. h.": "das heißt",
            "u. a.": "unter anderem",
            "usw.": "und so weiter",
            "bzw.": "beziehungsweise",
        },
        **{"ca.": "circa", "evtl.": "eventuell", "ggf.": "gegebenenfalls", "vgl.": "vergleiche", "inkl.": "inklusive"},
        **{
            "Dr.": "Doktor",
            "Prof.": "Professor",
            "Hr.": "Herr",
            "Fr. ": "Frau ",
            "Nr.": "Nummer",
            "St. ": "Sankt ",
            "Tel.": "Telefon",
        },
        **{
            "Str.": "Straße",
            "str.": "straße",
            "o. Ä.": "oder Ähnliches",
            "u. U.": "unter Umständen",
            "i. d. R.": "in der Regel",
        },
        **{"s. o.": "siehe oben", "s. u.": "siehe unten", "Jh.": "Jahrhundert", "geb.": "geboren"},
    },
    signs={"&": "und", "+": "plus", "=": "gleich", "@": "at", "%": "Prozent", "§": "Paragraf"},
    money_and="",
    range_word="bis",
    decimals_as_digits=True,
    ordinals=_de_ordinals,
    year=lambda year: (
        _num2words(year, "de", "year") if 1100 <= year < 2000 else _num2words(year, "de").removeprefix("ein")
    ),
    times=r"(?P<h>[01]?\d|2[0-4])(?::(?=\d\d(?!\d))|\.(?=\d\d ?(?:Uhr|h)\b))(?P<m>[0-5]\d)(?: ?(?:Uhr|h)\b)?",
)

# French --------------------------------------------------------------------------------------------------------------
_FR_MONTHS = tuple("janvier février mars avril mai juin juillet août septembre octobre novembre décembre".split())


def _fr_cardinal(number: int, feminine: bool) -> str:
    words = _num2words(number, "fr")
    return re.sub(r"\bun$", "une", words) if feminine else words


def _fr_ordinal(number: int, feminine: bool = False) -> str:
    return ("première" if feminine else "premier") if number == 1 else _num2words(number, "fr", "ordinal")


def _fr_ordinals(text: str) -> str:
    text = re.sub(r"\b1(?:re|ère|ere)\b", "première", re.sub(r"\b1er\b", "premier", text))
    text = re.sub(r"\b(\d{1,3})(?:e|è|ème|ième|eme)\b", lambda m: _fr_ordinal(int(m[1])), text)
    return re.sub(r"\b([XVI]+)(?:e|ème)\b", lambda m: _fr_ordinal(roman(m[1])) if roman(m[1]) else m[0], text)


def _fr_time(hour: int, minute: int) -> str:
    said = f"{_fr_cardinal(hour, True)} heure{'s' if hour > 1 else ''}"
    return said + (f" {_num2words(minute, 'fr')}" if minute else "")


FRENCH = Locale(
    cardinal=_fr_cardinal,
    decimal=",",
    thousands=r"[. ]",
    point="virgule",
    months=_FR_MONTHS,
    date=lambda day, month, year, _: f"{'premier' if day == 1 else _num2words(day, 'fr')} {month} {year}".strip(),
    time=_fr_time,
    one=("un", "une"),
    units={
        "%": Unit("pour cent", "pour cent"),
        "km/h": Unit("kilomètre heure", "kilomètres heure"),
        "km": Unit("kilomètre", "kilomètres"),
        "cm": Unit("centimètre", "centimètres"),
        "mm": Unit("millimètre", "millimètres"),
        "m²": Unit("mètre carré", "mètres carrés"),
        "m": Unit("mètre", "mètres"),
        "kg": Unit("kilogramme", "kilogrammes"),
        "mg": Unit("milligramme", "milligrammes"),
        "g": Unit("gramme", "grammes"),
        "ml": Unit("millilitre", "millilitres"),
        "l": Unit("litre", "litres"),
        "°C": Unit("degré", "degrés"),
        "°": Unit("degré", "degrés"),
        "min": Unit("minute", "minutes", feminine=True),
        "heures": Unit("heure", "heures", feminine=True),
        "heure": Unit("heure", "heures", feminine=True),
        "minutes": Unit("minute", "minutes", feminine=True),
    },
    currencies={
        "€": Unit("euro", "euros", hundredth=("centime", "centimes")),
        "EUR": Unit("euro", "euros", hundredth=("centime", "centimes")),
        "$": Unit("dollar", "dollars", hundredth=("cent", "cents")),
        "£": Unit("livre", "livres", feminine=True),
        "CHF": Unit("franc", "francs", hundredth=("centime", "centimes")),
    },
    abbreviations={
        **{
            "MM.": "Messieurs",
            "M.": "Monsieur",
            "Mme.": "Madame",
            "Mme": "Madame",
            "Mmes": "Mesdames",
            "Mlle": "Mademoiselle",
        },
        **{
            "Dr.": "Docteur",
            "Dr": "Docteur",
            "Pr.": "Professeur",
            "Me ": "Maître ",
            "etc.": "et cetera",
            "p. ex.": "par exemple",
        },
        **{
            "c.-à-d.": "c'est-à-dire",
            "av.": "avenue",
            "bd.": "boulevard",
            "env.": "environ",
            "tél.": "téléphone",
            "n°": "numéro",
        },
        **{"N°": "numéro", "St-": "Saint-", "Ste-": "Sainte-"},
    },
    signs={"&": "et", "+": "plus", "=": "égale", "@": "arobase", "%": "pour cent"},
    money_and="",
    range_word="à",
    ordinals=_fr_ordinals,
    times=r"(?P<h>[01]?\d|2[0-4])(?: ?h ?|:(?=\d\d(?!\d)))(?P<m>[0-5]\d)?(?!\w)",
    minus="moins",
)

# Spanish -------------------------------------------------------------------------------------------------------------
_ES_MONTHS = tuple("enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre".split())


def _es_cardinal(number: int, feminine: bool) -> str:
    words = _num2words(number, "es")
    return re.sub("uno$", "una", re.sub("cientos", "cientas", words)) if feminine else words


def _es_ordinals(text: str) -> str:
    def ordinal(match: re.Match[str]) -> str:
        words = _num2words(int(match["n"]), "es", "ordinal")
        if match["end"] == "ª":
            return re.sub(r"o\b", "a", words)
        short = match["end"] == "er" or re.match(" [a-záéíóúñ]", match.string[match.end() :])
        return re.sub("(primer|tercer)o$", r"\1", words) if short else words

    text = re.sub(r"\b(?P<n>\d{1,3})\.?(?P<end>[ºª]|er)(?!\w)", ordinal, text)
    text = re.sub(r"\b(siglo) ([XVI]+)\b", lambda m: f"{m[1]} {_num2words(roman(m[2]), 'es')}", text, flags=re.I)
    return re.sub(r"\b(\d*(?:[02-9]|\b)1) (?!(?:km|kg|cm|mm|mg|ml|m|g|l|h|min)\b)(?=[a-záéíóúñ]+)", _es_one, text)


def _es_one(match: re.Match[str]) -> str:
    """Shorten uno before a noun: 21 años, 31 personas."""
    following = re.match("[a-záéíóúñ]+", match.string[match.end() :])
    number, noun = int(match[1]), following[0] if following else ""
    if noun in ("de", "y", "o", "a", "por", "en", "al", "del", "que"):
        return match[0]
    words = _num2words(number, "es")
    if noun.endswith(("a", "as", "ción", "ciones", "dad", "dades")):
        return words.removesuffix("uno") + "una "
    return (
        (words.removesuffix("uno") + ("ún " if words.endswith("veintiuno") else "un "))
        if words.endswith("uno")
        else match[0]
    )


def _es_time(hour: int, minute: int) -> str:
    return _es_cardinal(hour, True) + (f" y {_num2words(minute, 'es')}" if minute else "")


SPANISH = Locale(
    cardinal=_es_cardinal,
    decimal=",",
    thousands=r"[. ]",
    point="coma",
    months=_ES_MONTHS,
    date=lambda day, month, year, _: (
        f"{'uno' if day == 1 else _num2words(day, 'es')} de {month}" + (f" de {year}" if year else "")
    ),
    time=_es_time,
    one=("un", "una"),
    units={
        "%": Unit("por ciento", "por ciento"),
        "km/h": Unit("kilómetro por hora", "kilómetros por hora"),
        "km": Unit("kilómetro", "kilómetros"),
        "cm": Unit("centímetro", "centímetros"),
        "mm": Unit("milímetro", "milímetros"),
        "m²": Unit("metro cuadrado", "metros cuadrados"),
        "m": Unit("metro", "metros"),
        "kg": Unit("kilo", "kilos"),
        "mg": Unit("miligramo", "miligramos"),
        "g": Unit("gramo", "gramos"),
        "ml": Unit("mililitro", "mililitros"),
        "l": Unit("litro", "litros"),
        "°C": Unit("grado", "grados"),
        "°": Unit("grado", "grados"),
        "h": Unit("hora", "horas", feminine=True),
        "min": Unit("minuto", "minutos"),
    },
    currencies={
        "€": Unit("euro", "euros", hundredth=("céntimo", "céntimos")),
        "EUR": Unit("euro", "euros", hundredth=("céntimo", "céntimos")),
        "$": Unit("dólar", "dólares", hundredth=("centavo", "centavos")),
        "£": Unit("libra", "libras", feminine=True),
    },
    abbreviations={
        **{
            "Sr.": "señor",
            "Sra.": "señora",
            "Srta.": "señorita",
            "Sres.": "señores",
            "Dr.": "doctor",
            "Dra.": "doctora",
        },
        **{
            "D. ": "don ",
            "Dña.": "doña",
            "Ud.": "usted",
            "Uds.": "ustedes",
            "etc.": "etcétera",
            "p. ej.": "por ejemplo",
        },
        **{
            "EE. UU.": "Estados Unidos",
            "Av.": "avenida",
            "Avda.": "avenida",
            "C/": "calle ",
            "núm.": "número",
            "n.º": "número",
        },
        **{
            "pág.": "página",
            "tel.": "teléfono",
            "a. m.": "de la mañana",
            "p. m.": "de la tarde",
            "aprox.": "aproximadamente",
        },
    },
    signs={"&": "y", "+": "más", "=": "igual a", "@": "arroba", "%": "por ciento"},
    money_and="con",
    range_word="a",
    ordinals=_es_ordinals,
    times=r"(?P<h>[01]?\d|2[0-4])[:.](?P<m>[0-5]\d)(?!\d)(?: ?h\b)?(?!\s?(?:%|€|\$|km|kg))",
    minus="menos",
)

# Italian -------------------------------------------------------------------------------------------------------------
_IT_MONTHS = tuple(
    "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre".split()
)


def _it_ordinals(text: str) -> str:
    def ordinal(match: re.Match[str]) -> str:
        words = _num2words(int(match["n"]), "it", "ordinal")
        return words[:-1] + "a" if match["end"] == "ª" else words

    text = re.sub(r"\b(?P<n>\d{1,3})(?P<end>[º°](?= [a-z])|[ºª])(?!\w)", ordinal, text)
    return re.sub(
        r"\b([XVI]+) secolo\b",
        lambda m: f"{_num2words(roman(m[1]), 'it', 'ordinal')} secolo" if roman(m[1]) else m[0],
        text,
    )


def _it_time(hour: int, minute: int) -> str:
    hours = "una" if hour == 1 else _num2words(hour, "it")
    return hours + (f" e {_num2words(minute, 'it')}" if minute else "")


ITALIAN = Locale(
    cardinal=lambda number, _: _num2words(number, "it"),
    decimal=",",
    thousands=r"[. ']",
    point="virgola",
    months=_IT_MONTHS,
    date=lambda day, month, year, _: f"{'primo' if day == 1 else _num2words(day, 'it')} {month} {year}".strip(),
    time=_it_time,
    one=("un", "una"),
    units={
        "%": Unit("per cento", "per cento"),
        "km/h": Unit("chilometro orario", "chilometri orari"),
        "km": Unit("chilometro", "chilometri"),
        "cm": Unit("centimetro", "centimetri"),
        "mm": Unit("millimetro", "millimetri"),
        "m²": Unit("metro quadrato", "metri quadrati"),
        "mq": Unit("metro quadrato", "metri quadrati"),
        "m": Unit("metro", "metri"),
        "kg": Unit("chilo", "chili"),
        "mg": Unit("milligrammo", "milligrammi"),
        "g": Unit("grammo", "grammi"),
        "ml": Unit("millilitro", "millilitri"),
        "l": Unit("litro", "litri"),
        "°C": Unit("grado", "gradi"),
        "°": Unit("grado", "gradi"),
        "min": Unit("minuto", "minuti"),
    },
    currencies={
        "€": Unit("euro", "euro", hundredth=("centesimo", "centesimi")),
        "EUR": Unit("euro", "euro", hundredth=("centesimo", "centesimi")),
        "$": Unit("dollaro", "dollari", hundredth=("centesimo", "centesimi")),
        "£": Unit("sterlina", "sterline", feminine=True),
    },
    abbreviations={
        **{
            "Sig.ra": "signora",
            "Sig.na": "signorina",
            "Sigg.": "signori",
            "Sig.": "signor",
            "sig.ra": "signora",
            "sig.": "signor",
        },
        **{
            "Dott.ssa": "dottoressa",
            "Dott.": "dottor",
            "dott.ssa": "dottoressa",
            "dott.": "dottor",
            "Dr.": "dottor",
            "Prof.ssa": "professoressa",
        },
        **{
            "Prof.": "professor",
            "Avv.": "avvocato",
            "Ing.": "ingegner",
            "ecc.": "eccetera",
            "es.": "esempio",
            "ca.": "circa",
        },
        **{
            "n.": "numero",
            "pag.": "pagina",
            "tel.": "telefono",
            "p.za": "piazza",
            "S. ": "San ",
            "a.C.": "avanti Cristo",
            "d.C.": "dopo Cristo",
        },
    },
    signs={"&": "e", "+": "più", "=": "uguale a", "@": "chiocciola", "%": "per cento"},
    money_and="e",
    range_word="a",
    ordinals=_it_ordinals,
    times=r"(?P<h>[01]?\d|2[0-4])[:.](?P<m>[0-5]\d)(?!\d)(?!\s?(?:%|€|\$|km|kg))",
    minus="meno",
)

# Portuguese ----------------------------------------------------------------------------------------------------------
_PT_MONTHS = tuple("janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro".split())


def _pt_cardinal(number: int, feminine: bool) -> str:
    words = _num2words(number, "pt_BR")
    if not feminine:
        return words
    return re.sub(r"\bdois$", "duas", re.sub(r"\bum$", "uma", re.sub(r"entos\b", "entas", words)))


def _pt_ordinals(text: str) -> str:
    def ordinal(match: re.Match[str]) -> str:
        words = _num2words(int(match["n"]), "pt_BR", "ordinal")
        return re.sub(r"o\b", "a", words) if match["end"] == "ª" else words

    text = re.sub(r"\b(?P<n>\d{1,3})\.?(?P<end>[ºª°](?!\s?C))(?!\w)", ordinal, text)
    text = re.sub(r"\b(século) ([XVI]+)\b", lambda m: f"{m[1]} {_num2words(roman(m[2]), 'pt_BR')}", text, flags=re.I)
    return re.sub(
        r"\b([12]) (?=(?:[a-zçãõáéíóú]+(?:as?|ções|ção|dades?)\b))",
        lambda m: _pt_cardinal(int(m[1]), True) + " ",
        text,
    )


def _pt_time(hour: int, minute: int) -> str:
    hours = _pt_cardinal(hour, True)
    return f"{hours} e {_num2words(minute, 'pt_BR')}" if minute else f"{hours} hora{'s' if hour != 1 else ''}"


PORTUGUESE = Locale(
    cardinal=_pt_cardinal,
    decimal=",",
    thousands=r"[. ]",
    point="vírgula",
    months=_PT_MONTHS,
    date=lambda day, month, year, _: (
        f"{'primeiro' if day == 1 else _num2words(day, 'pt_BR')} de {month}" + (f" de {year}" if year else "")
    ),
    time=_pt_time,
    one=("um", "uma"),
    units={
        "%": Unit("por cento", "por cento"),
        "km/h": Unit("quilômetro por hora", "quilômetros por hora"),
        "km": Unit("quilômetro", "quilômetros"),
        "cm": Unit("centímetro", "centímetros"),
        "mm": Unit("milímetro", "milímetros"),
        "m²": Unit("metro quadrado", "metros quadrados"),
        "m": Unit("metro", "metros"),
        "kg": Unit("quilo", "quilos"),
        "mg": Unit("miligrama", "miligramas"),
        "g": Unit("grama", "gramas"),
        "ml": Unit("mililitro", "mililitros"),
        "l": Unit("litro", "litros"),
        "°C": Unit("grau", "graus"),
        "°": Unit("grau", "graus"),
        "min": Unit("minuto", "minutos"),
    },
    currencies={
        "R$": Unit("real", "reais", hundredth=("centavo", "centavos")),
        "€": Unit("euro", "euros", hundredth=("centavo", "centavos")),
        "US$": Unit("dólar", "dólares", hundredth=("centavo", "centavos")),
        "$": Unit("dólar", "dólares", hundredth=("centavo", "centavos")),
        "£": Unit("libra", "libras", feminine=True),
    },
    abbreviations={
        **{
            "Sr.": "senhor",
            "Sra.": "senhora",
            "Srta.": "senhorita",
            "Dr.": "doutor",
            "Dra.": "doutora",
            "Prof.": "professor",
        },
        **{
            "Profa.": "professora",
            "D. ": "dona ",
            "Av.": "avenida",
            "R. ": "rua ",
            "etc.": "etcétera",
            "p. ex.": "por exemplo",
        },
        **{
            "nº": "número",
            "pág.": "página",
            "tel.": "telefone",
            "Cia.": "companhia",
            "aprox.": "aproximadamente",
            "vc": "você",
        },
    },
    signs={"&": "e", "+": "mais", "=": "igual a", "@": "arroba", "%": "por cento"},
    money_and="e",
    range_word="a",
    ordinals=_pt_ordinals,
    times=r"(?P<h>[01]?\d|2[0-4])(?: ?h ?|:(?=\d\d(?!\d)))(?P<m>[0-5]\d)?(?:min)?(?!\w)",
    minus="menos",
)

_ROMAN = {"I": 1, "V": 5, "X": 10}


def roman(letters: str) -> int:
    """Read a Roman numeral up to 39.

    >>> roman("XIX"), roman("IV")
    (19, 4)
    """
    values = [_ROMAN[letter] for letter in letters]
    following = [*values[1:], 0]
    return sum(-value if value < after else value for value, after in zip(values, following, strict=True))
