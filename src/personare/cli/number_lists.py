"""Lists of whole numbers as people type them: 1,3,30 or 1e6,1e9."""

from __future__ import annotations

from personare.core.errors import ConfigError


def whole_numbers(text: str, option: str) -> list[int]:
    """Read whole numbers from 1 on, with commas between them; sorted, each once.

    >>> whole_numbers("1e6,20,20", "--sizes")
    [20, 1000000]
    """
    numbers = []
    for word in text.split(","):
        try:
            number = float(word)
        except ValueError:
            number = 0.5
        if not (1 <= number <= 1e15 and number == int(number)):
            raise ConfigError(f"{option} {text}: '{word.strip()}' is no whole number from 1 on; write e.g. 1,3,30")
        numbers.append(int(number))
    return sorted(set(numbers))
