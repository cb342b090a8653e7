"""Numbers as people read and type them: one form for a value with its unit and interval, and lists such as 1,3,30.

The form is ``12.3 % [9.8, 15.1]``: the value, its unit, the ends of its 95 % interval. Shares are percentages with one
digit behind the point, other numbers have three digits; what would read as zero gets more. A dash is what is unknown.
"""

from __future__ import annotations

import math

from personare.core.errors import ConfigError

UNKNOWN = "-"
MOST_DECIMALS = 4


def number_text(value: float | None, unit: str = "") -> str:
    """Write one number; with the unit ``%`` it is a share.

    >>> [number_text(share, "%") for share in (0.0731, 0.0, 0.000012, 1e-9)]
    ['7.3 %', '0.0 %', '0.0012 %', '1e-07 %']
    >>> number_text(1.5), number_text(-0.25, "dB"), number_text(12345.6), number_text(0.0), number_text(3e-6)
    ('1.50', '-0.250 dB', '12,346', '0.00', '3e-06')
    >>> number_text(None), number_text(float("nan"), "%"), number_text(float("-inf"), "dB")
    ('-', '-', 'minus infinity')
    """
    if value is None or math.isnan(value):
        return UNKNOWN
    text = _digits(_shown(value, unit), _decimals(value, unit))
    return f"{text} {unit}".rstrip() if math.isfinite(value) else text


def interval_text(value: float | None, low: float, high: float, unit: str = "") -> str:
    """Write a number with its interval; the ends have as many digits behind the point as the value.

    >>> interval_text(0.123, 0.098, 0.151, "%"), interval_text(9.8, 8.51, 11.24), interval_text(0.6, 0.0004, 0.9, "bit")
    ('12.3 % [9.8, 15.1]', '9.80 [8.51, 11.24]', '0.600 bit [0.0004, 0.900]')
    >>> interval_text(0.123, float("nan"), float("nan"), "%"), interval_text(1.2, 0.4, float("inf"))
    ('12.3 % [-]', '1.20 [0.40, infinity]')
    >>> interval_text(None, 0.1, 0.2)
    '-'
    """
    if value is None or math.isnan(value):
        return UNKNOWN
    if math.isnan(low) or math.isnan(high):
        return f"{number_text(value, unit)} [{UNKNOWN}]"
    decimals = _decimals(value if math.isfinite(value) and value else max(low, high, key=abs), unit)
    first = _digits(_shown(value, unit), decimals)
    ends = ", ".join(_digits(_shown(end, unit), decimals) for end in (low, high))
    return f"{first}{f' {unit}' if unit and math.isfinite(value) else ''} [{ends}]"


def _shown(value: float, unit: str) -> float:
    return 100 * value if unit == "%" else value


def _decimals(value: float, unit: str) -> int:
    """Count the digits behind the point: one of a percentage, else what makes three digits in all."""
    if unit == "%":
        return 1
    if not math.isfinite(value) or value == 0:
        return 2
    return min(MOST_DECIMALS, max(0, 2 - math.floor(math.log10(abs(value)))))


def _digits(value: float, decimals: int) -> str:
    if math.isinf(value):
        return "infinity" if value > 0 else "minus infinity"
    text = f"{value:,.{decimals}f}"
    return f"{value:.2g}" if value and not text.strip("-0.") else text


def whole_numbers(text: str, option: str) -> list[int]:
    """Read whole numbers from 1 on, with commas between them; sorted, each once.

    >>> whole_numbers("1e6,20,20", "--sizes")
    [20, 1000000]
    """
    numbers = []
    for part in text.split(","):
        try:
            number = float(part)
        except ValueError:
            number = 0.5
        if not (1 <= number <= 1e15 and number == int(number)):
            raise ConfigError(f"{option} {text}: '{part.strip()}' is no whole number from 1 on; write e.g. 1,3,30")
        numbers.append(int(number))
    return sorted(set(numbers))
