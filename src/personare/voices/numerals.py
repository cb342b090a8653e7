"""Digits as English words: whole numbers, years, ordinals, decimals, money, shares and times of day."""

from __future__ import annotations

import re

_ONES = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"),
    *("thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"),
)
_TENS = ("", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_GROUPS = ((10**12, "trillion"), (10**9, "billion"), (10**6, "million"), (1000, "thousand"), (100, "hundred"))
_IRREGULAR_ORDINALS = {
    **{"one": "first", "two": "second", "three": "third", "five": "fifth", "eight": "eighth", "nine": "ninth"},
    **{"twelve": "twelfth"},
}
_MONEY = {"$": "dollar", "£": "pound", "€": "euro"}
_LONGEST = 15  # digits that are one number; longer ones are read digit by digit
_NUMBER = re.compile(
    r"(?P<money>[$£€])?(?P<whole>\d{1,3}(?:,\d{3})+|\d+)"
    r"(?:\.(?P<part>\d+)|:(?P<minutes>[0-5]\d)(?!\d))?"
    r"(?P<ordinal>(?:st|nd|rd|th)\b)?(?P<share>\s?%)?",
    re.IGNORECASE,
)


def spell_numbers(text: str) -> str:
    """Replace every number of a text by words.

    >>> spell_numbers("In 1984 he paid $3.50 for 21 of the 1,200 on the 3rd.")
    'In nineteen eighty four he paid three dollars fifty for twenty one of the one thousand two hundred on the third.'
    >>> spell_numbers("2.05 % at 7:05"), spell_numbers("0049")
    ('two point zero five percent at seven oh five', 'zero zero four nine')
    """
    return _NUMBER.sub(_words, text)


def whole_number(number: int) -> str:
    """Spell a whole number from 0 on.

    >>> whole_number(1_002_019), whole_number(100)
    ('one million two thousand nineteen', 'one hundred')
    """
    if number < len(_ONES):
        return _ONES[number]
    if number < 100:
        rest = number % 10
        return _TENS[number // 10] + (f" {_ONES[rest]}" if rest else "")
    size, name = next(group for group in _GROUPS if number >= group[0])
    count, rest = divmod(number, size)
    return f"{whole_number(count)} {name}" + (f" {whole_number(rest)}" if rest else "")


def _words(match: re.Match[str]) -> str:
    digits = match["whole"].replace(",", "")
    if match["money"]:
        words = _money(match["money"], digits, match["part"])
    elif match["minutes"]:
        words = _time(int(digits), int(match["minutes"]))
    elif match["part"]:
        words = f"{_cardinal(digits)} point {_digit_by_digit(match['part'])}"
    elif match["ordinal"]:
        words = _ordinal(_cardinal(digits))
    else:
        words = _year(digits) if "," not in match["whole"] and _is_year(digits) else _cardinal(digits)
    before = match.string[match.start() - 1 : match.start()]
    after = match.string[match.end() : match.end() + 1]
    spaced = f"{' ' if before.isalnum() else ''}{words}{' percent' if match['share'] else ''}"
    return spaced + (" " if after.isalnum() else "")


def _cardinal(digits: str) -> str:
    is_code = len(digits) > _LONGEST or (len(digits) > 1 and digits.startswith("0"))
    return _digit_by_digit(digits) if is_code else whole_number(int(digits))


def _digit_by_digit(digits: str) -> str:
    return " ".join(_ONES[int(digit)] for digit in digits)


def _is_year(digits: str) -> bool:
    return len(digits) == 4 and (1100 <= int(digits) <= 1999 or 2010 <= int(digits) <= 2099)


def _year(digits: str) -> str:
    first, last = int(digits[:2]), int(digits[2:])
    if last == 0:
        return f"{whole_number(first)} hundred"
    return f"{whole_number(first)} {'oh ' if last < 10 else ''}{whole_number(last)}"


def _ordinal(words: str) -> str:
    *others, last = words.split()
    regular = f"{last[:-1]}ieth" if last.endswith("y") else f"{last}th"
    return " ".join([*others, _IRREGULAR_ORDINALS.get(last, regular)])


def _time(hour: int, minute: int) -> str:
    if minute == 0:
        return f"{whole_number(hour)} o'clock" if 1 <= hour <= 12 else f"{whole_number(hour)} hundred"
    return f"{whole_number(hour)} {'oh ' if minute < 10 else ''}{whole_number(minute)}"


def _money(sign: str, digits: str, part: str | None) -> str:
    unit = _MONEY[sign]
    words = f"{_cardinal(digits)} {unit}{'' if digits == '1' else 's'}"
    if part is None:
        return words
    if len(part) == 2:
        return words if part == "00" else f"{words} {whole_number(int(part))}"
    return f"{_cardinal(digits)} point {_digit_by_digit(part)} {unit}s"
