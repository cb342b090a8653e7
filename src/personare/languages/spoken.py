"""Text as it is spoken: numbers, dates, times, ordinals, money, units and abbreviations written as words.

One function for all languages; what differs is in a ``Locale`` (``locales.py``). Numbers come from num2words.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

LONGEST_NUMBER = 15  # digits; longer ones are read digit by digit
_SPACES = re.compile(r"[\u00a0\u2007\u202f]")


@dataclass(frozen=True)
class Unit:
    """The word for a unit or currency: for one, for several, its gender, and the word for its hundredth part."""

    one: str
    many: str
    feminine: bool = False
    hundredth: tuple[str, str] = ("", "")


@dataclass(frozen=True)
class Locale:
    """How a language writes and reads numbers, dates, times and abbreviations."""

    cardinal: Callable[[int, bool], str]
    """Number and whether it counts a feminine noun -> words."""
    decimal: str
    thousands: str
    """Marks between groups of three digits, as a regular expression class."""
    point: str
    """The word between the whole number and its decimals."""
    months: tuple[str, ...]
    date: Callable[[int, str, str, str], str]
    """Day, month name, year in words (or nothing), the word before -> words."""
    time: Callable[[int, int], str]
    one: tuple[str, str]
    """The number 1 before a masculine and before a feminine noun."""
    units: Mapping[str, Unit]
    currencies: Mapping[str, Unit]
    abbreviations: Mapping[str, str]
    signs: Mapping[str, str]
    money_and: str
    """The word between euros and cents."""
    range_word: str
    ordinals: Callable[[str], str] = field(default=lambda text: text)
    """Rewrites written ordinals (1st, 3.º, 2ème)."""
    year: Callable[[int], str] | None = None
    month_first: bool = False
    decimals_as_digits: bool = False
    """Whether 3.14 is "three point one four" instead of "tres coma catorce"."""
    times: str = r"(?P<h>[01]?\d|2[0-4])(?::(?P<m>[0-5]\d)(?::[0-5]\d)?)(?!\d)"
    minus: str = "minus"


def spoken(text: str, locale: Locale) -> str:
    """Write a text as it is spoken; text without digits, signs and abbreviations is returned unchanged."""
    plain = _ascii_digits(_SPACES.sub(" ", unicodedata.normalize("NFC", text)))
    plain = _abbreviations(plain, locale)
    plain = _dates(plain, locale)
    plain = re.sub(rf"(?<![\d:.,]){locale.times}", lambda m: _time(m, locale), plain)
    plain = locale.ordinals(plain)
    plain = re.sub(r"(?<=\d)\s?[-–]\s?(?=\d)", f" {locale.range_word} ", plain)
    plain = _amounts(plain, locale)
    plain = _numbers(plain, locale)
    for sign, word in locale.signs.items():
        plain = plain.replace(sign, f" {word} ")
    return re.sub(r" +(?=[,.;:!?](?:\s|$))", "", re.sub(r"\s+", " ", plain)).strip()


def _ascii_digits(text: str) -> str:
    """Write digits of all scripts as 0 to 9; superscripts of units stay."""
    return "".join(
        str(unicodedata.digit(one)) if one not in "²³¹0123456789" and unicodedata.digit(one, None) is not None else one
        for one in text
    )


def _abbreviations(text: str, locale: Locale) -> str:
    for short, full in locale.abbreviations.items():
        pattern = re.escape(short).replace(r"\ ", r"\s?")
        end = "" if short.endswith(".") else r"(?!\w)"
        text = re.sub(rf"(?<![\w.]){pattern}{end}", full, text)
    return text


def _year(digits: str, locale: Locale) -> str:
    number = int(digits)
    return locale.year(number) if locale.year else locale.cardinal(number, False)


def _dates(text: str, locale: Locale) -> str:
    def read(before: str, day: int, month: int, year: str) -> str | None:
        if not (1 <= day <= 31 and 1 <= month <= 12):
            return None
        said = _year(year, locale) if len(year) == 4 else locale.cardinal(int(year), False) if year else ""
        return before + locale.date(day, locale.months[month - 1], said, before.strip().lower())

    def numeric(match: re.Match[str]) -> str:
        first, second = int(match["a"]), int(match["b"])
        day, month = (second, first) if locale.month_first and "." not in match[0] else (first, second)
        return read(match["before"] or "", day, month, match["y"] or "") or match[0]

    def iso(match: re.Match[str]) -> str:
        return read(match["before"] or "", int(match["d"]), int(match["m"]), match["y"]) or match[0]

    before = r"(?P<before>(?<!\w)[^\W\d_]+ )?"
    text = re.sub(before + r"(?<![\d.,/-])(?P<y>\d{4})-(?P<m>\d\d)-(?P<d>\d\d)(?![\d-])", iso, text)
    return re.sub(
        before + r"(?<![\d.,/-])(?P<a>\d{1,2})(?P<s>[./])\s?(?P<b>\d{1,2})(?P=s)\s?(?P<y>\d{4}|\d\d)(?![\d/])",
        numeric,
        text,
    )


def _time(match: re.Match[str], locale: Locale) -> str:
    return locale.time(int(match["h"]), int(match["m"] or 0))


def _amounts(text: str, locale: Locale) -> str:
    """Write numbers with a unit or currency as words, so that gender and plural fit."""
    number = _number_pattern(locale)
    signs = "|".join(re.escape(one) for one in sorted(_currency_names(locale), key=len, reverse=True))
    units = "|".join(re.escape(one) for one in sorted(locale.units, key=len, reverse=True))
    text = re.sub(rf"(?<![\w.,])(?P<sign>{signs})\s?(?P<number>{number})(?![\d])", lambda m: _money(m, locale), text)
    text = re.sub(rf"(?<![\w.,])(?P<number>-?{number})\s?(?P<sign>{signs})(?!\w)", lambda m: _money(m, locale), text)
    return re.sub(
        rf"(?<![\w.,])(?P<number>-?{number})\s?(?P<unit>{units})(?![\w²³])", lambda m: _measure(m, locale), text
    )


def _currency_names(locale: Locale) -> dict[str, Unit]:
    """Give currencies by sign and by name: 12,50 € and 12,50 euros are read alike."""
    names = {name: unit for unit in locale.currencies.values() for name in (unit.one, unit.many)}
    return {**names, **locale.currencies}


def _number_pattern(locale: Locale) -> str:
    return rf"(?:\d{{1,3}}(?:{locale.thousands}\d{{3}})+(?!\d)|\d+)(?:{re.escape(locale.decimal)}\d+)?"


def _split(number: str, locale: Locale) -> tuple[str, str]:
    whole, _, part = number.partition(locale.decimal)
    return re.sub(r"\D", "", whole), part


def _counted(whole: str, unit: Unit, locale: Locale) -> str:
    count = int(whole)
    if count == 1:
        return f"{locale.one[unit.feminine]} {unit.one}"
    return f"{_cardinal(whole, locale, feminine=unit.feminine, counted=True)} {unit.many}"


def _money(match: re.Match[str], locale: Locale) -> str:
    unit = _currency_names(locale)[match["sign"]]
    minus = f"{locale.minus} " if match["number"].startswith("-") else ""
    whole, part = _split(match["number"].lstrip("-"), locale)
    if not part or not int(part):
        return minus + _counted(whole, unit, locale)
    if len(part) != 2 or not unit.hundredth[0]:
        return f"{minus}{_decimal(whole, part, locale)} {unit.many}"
    cents = _counted(part, Unit(*unit.hundredth), locale)
    return minus + f"{_counted(whole, unit, locale)} {locale.money_and} {cents}".replace("  ", " ")


def _measure(match: re.Match[str], locale: Locale) -> str:
    unit = locale.units[match["unit"]]
    minus = f"{locale.minus} " if match["number"].startswith("-") else ""
    whole, part = _split(match["number"].lstrip("-"), locale)
    return minus + (f"{_decimal(whole, part, locale)} {unit.many}" if part else _counted(whole, unit, locale))


def _numbers(text: str, locale: Locale) -> str:
    def read(match: re.Match[str]) -> str:
        minus = f"{locale.minus} " if match["minus"] else ""
        whole, part = _split(match["number"], locale)
        if part:
            return f" {minus}{_decimal(whole, part, locale)} "
        if locale.year and len(match["number"]) == 4 and match["number"].isdigit() and 1100 <= int(whole) < 2000:
            return f" {locale.year(int(whole))} "
        return f" {minus}{_cardinal(whole, locale)} "

    return re.sub(rf"(?P<minus>(?<![\w])[-−](?=\d))?(?P<number>{_number_pattern(locale)})", read, text)


def _decimal(whole: str, part: str, locale: Locale) -> str:
    digits = " ".join(locale.cardinal(int(one), False) for one in part)
    one_by_one = locale.decimals_as_digits or len(part) > 2 or part.startswith("0")
    said = digits if one_by_one else _cardinal(part, locale)
    return f"{_cardinal(whole, locale)} {locale.point} {said}"


def _cardinal(digits: str, locale: Locale, *, feminine: bool = False, counted: bool = False) -> str:
    if (len(digits) > 1 and digits.startswith("0")) or len(digits) > LONGEST_NUMBER:
        return " ".join(locale.cardinal(int(one), False) for one in digits)
    words = locale.cardinal(int(digits), feminine)
    if counted and locale.one[0] == "un" and words.endswith("uno"):  # veintiún euros, ventun chili
        return words.removesuffix("uno") + ("ún" if words.endswith("veintiuno") else "un")
    return words
