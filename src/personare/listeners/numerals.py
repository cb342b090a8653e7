"""Writing numbers the way they are read aloud in English: 1862, 3rd, $5.20, 10:30, 50 %, 1990s."""

from __future__ import annotations

import re

_ONES = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
_ONES += ["thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"]
_TENS = ["zero", "ten", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
_SCALES = (
    (10**15, "quadrillion"),
    (10**12, "trillion"),
    (10**9, "billion"),
    (10**6, "million"),
    (1000, "thousand"),
    (100, "hundred"),
)
_ODD_ORDINALS = {
    "one": "first",
    "two": "second",
    "three": "third",
    "five": "fifth",
    "eight": "eighth",
    "nine": "ninth",
    "twelve": "twelfth",
}
_MONEY = {"$": ("dollar", "cent"), "£": ("pound", "pence"), "€": ("euro", "cent")}
NUMBER_WORDS = frozenset(_ONES + _TENS + [word for _, word in _SCALES])


def cardinal(number: int) -> str:
    """Read a whole number, without "and"; from 10^18 on digit by digit.

    >>> cardinal(1205)
    'one thousand two hundred five'
    """
    if number < 0:
        return f"minus {cardinal(-number)}"
    if number >= 10**18:
        return digits(str(number))
    for scale, word in _SCALES:
        if number >= scale:
            head, rest = divmod(number, scale)
            return f"{cardinal(head)} {word}" + (f" {cardinal(rest)}" if rest else "")
    if number < 20:
        return _ONES[number]
    tens, ones = divmod(number, 10)
    return _TENS[tens] + (f" {_ONES[ones]}" if ones else "")


def ordinal(number: int) -> str:
    """Read a rank.

    >>> ordinal(21), ordinal(30)
    ('twenty first', 'thirtieth')
    """
    *head, last = cardinal(number).split()
    regular = last[:-1] + "ieth" if last.endswith("y") else last + "th"
    return " ".join([*head, _ODD_ORDINALS.get(last, regular)])


def digits(text: str) -> str:
    """Read digit by digit.

    >>> digits("007")
    'zero zero seven'
    """
    return " ".join(_ONES[int(d)] for d in text)


def year(number: int) -> str:
    """Read a number from 1100 to 2099 the way years are read.

    >>> year(1862), year(1905), year(1900), year(2003), year(2026)
    ('eighteen sixty two', 'nineteen oh five', 'nineteen hundred', 'two thousand three', 'twenty twenty six')
    """
    century, rest = divmod(number, 100)
    if 2000 <= number < 2010:
        return cardinal(number)
    if rest == 0:
        return f"{cardinal(century)} hundred"
    return f"{cardinal(century)} " + (f"oh {_ONES[rest]}" if rest < 10 else cardinal(rest))


def _plural(words: str) -> str:
    return words[:-1] + "ies" if words.endswith("y") else words + ("es" if words.endswith("x") else "s")


def _plain(text: str) -> str:
    """Read digits with optional thousands commas and decimals."""
    whole, _, decimals = text.replace(",", "").partition(".")
    spoken = whole_number(whole, grouped="," in text or bool(decimals))
    return f"{spoken} point {digits(decimals)}" if decimals else spoken


def whole_number(text: str, *, grouped: bool = False) -> str:
    """Read a run of digits: digit by digit after a leading zero, 1100 to 2099 as a year unless ``grouped``."""
    if len(text) > 1 and text.startswith("0"):
        return digits(text)
    number = int(text)
    if len(text) == 4 and 1100 <= number <= 2099 and not grouped:
        return year(number)
    return cardinal(number)


def _money(match: re.Match[str]) -> str:
    unit, small = _MONEY[match[1]]
    whole, _, cents = match[2].replace(",", "").partition(".")
    scale = f" {match[3]}" if match[3] else ""
    if scale:  # $2.5 million: the scale is said before the unit
        return f" {_plain(match[2])}{scale} {unit}s "
    words = f"{cardinal(int(whole))} {unit}" + ("" if whole == "1" else "s")
    if len(cents) == 2 and int(cents):
        words += f" {cardinal(int(cents))} {small}" + ("" if small == "pence" or cents == "01" else "s")
    return f" {words} "


def _clock(match: re.Match[str]) -> str:
    minute = match[2]
    spoken = "" if minute == "00" else (f"oh {_ONES[int(minute)]}" if minute[0] == "0" else cardinal(int(minute)))
    return f" {cardinal(int(match[1]))} {spoken or ('' if match[3] else 'o' + chr(39) + 'clock')} "


def _fraction(match: re.Match[str]) -> str:
    top, bottom = int(match[1]), int(match[2])
    if (top, bottom) == (1, 2):
        return " one half "
    part = "quarter" if bottom == 4 else ("half" if bottom == 2 else ordinal(bottom))
    many = "" if top == 1 else ("halves" if bottom == 2 else _plural(part))
    return f" {cardinal(top)} {many or part} "


_NUMBER = r"\d+(?:,\d{3})*(?:\.\d+)?"
_RULES = (
    (re.compile(rf"([$£€])\s?({_NUMBER})(?:\s(hundred|thousand|million|billion|trillion)\b)?"), _money),
    (re.compile(r"(?<!\d)(\d{1,2}):(\d{2})(?!\d)(?=(\s?[ap]\.?m\b)?)"), _clock),
    (re.compile(r"(?<![\d/])(\d{1,2})/([2-9]|1\d|20)(?![\d/])"), _fraction),
    (re.compile(r"(?<!\d)(\d+(?:,\d{3})*)(?:st|nd|rd|th)\b"), lambda m: f" {ordinal(int(m[1].replace(',', '')))} "),
    (re.compile(r"(?<!\d)(\d{2}|\d{4})'?s\b"), lambda m: f" {_plural(whole_number(m[1]))} "),
    (re.compile(rf"({_NUMBER})\s?%"), lambda m: f" {_plain(m[1])} percent "),
    (re.compile(r"(?<![\w.])-(?=\d)"), " minus "),
    (re.compile(_NUMBER), lambda m: f" {_plain(m[0])} "),
)


def spell_out(text: str) -> str:
    """Replace every number in lower-case text by its words.

    >>> " ".join(spell_out("in 1862 the 3rd of 1,000 men had $5.20 at 10:30").split())
    'in eighteen sixty two the third of one thousand men had five dollars twenty cents at ten thirty'
    """
    for pattern, spoken in _RULES:
        text = pattern.sub(spoken, text)
    return text
