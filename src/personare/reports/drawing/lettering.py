"""How wide words are: the widths of Helvetica, which every reader of SVG and PDF has or has something like it for."""

from __future__ import annotations

import unicodedata

LEADING = 1.2  # from one line to the next, in sizes of letters
ROOM = 1.15  # a browser may take a wider font than Helvetica: layout leaves this much more
_BOLD = 1.1
# thousandths of the size, for the characters from space to tilde (Adobe's font metrics, Helvetica)
_AFM = """
278 278 355 556 556 889 667 191 333 333 389 584 278 333 278 278
556 556 556 556 556 556 556 556 556 556 278 278 584 584 584 556
1015 667 667 722 722 667 611 778 722 278 500 667 556 833 722 778
667 778 722 667 611 722 667 944 667 667 611 278 278 278 469 556
333 556 556 500 556 556 278 556 556 222 222 500 222 833 556 556
556 556 333 500 278 556 500 722 500 500 500 334 260 334 584
"""
_WIDTHS = tuple(map(int, _AFM.split()))


def text_width(text: str, size: float, *, bold: bool = False) -> float:
    """Measure one line in points.

    >>> round(text_width("guessing", 10), 2)
    40.02
    """
    return size * sum(map(_letter_width, text)) / 1000 * (_BOLD if bold else 1.0)


def _letter_width(letter: str) -> int:
    if " " <= letter <= "~":
        return _WIDTHS[ord(letter) - 32]
    if unicodedata.combining(letter):
        return 0
    if unicodedata.east_asian_width(letter) in "WF":
        return 1000
    plain = unicodedata.normalize("NFKD", letter)[0]
    return _WIDTHS[ord(plain) - 32] if " " <= plain <= "~" else 600


def block_width(text: str, size: float, *, bold: bool = False) -> float:
    """Leave space for the widest line of a text, in whatever font it will be shown."""
    return ROOM * max((text_width(line, size, bold=bold) for line in text.split("\n")), default=0.0)


def wrapped(text: str, size: float, most: float, *, bold: bool = False) -> str:
    """Break a text into lines of at most ``most`` points: between words where that is possible, else inside them.

    >>> wrapped("speakers with at most this rank", 10, 90)
    'speakers with at\\nmost this rank'
    """
    lines: list[str] = []
    for paragraph in text.split("\n"):
        line = ""
        for word in paragraph.split(" "):
            longer = f"{line} {word}" if line else word
            if block_width(longer, size, bold=bold) <= most:
                line = longer
                continue
            if line:
                lines.append(line)
            line = word
            while len(line) > 1 and block_width(line, size, bold=bold) > most:
                cut = _cut(line, size, most, bold=bold)
                lines.append(line[:cut])
                line = line[cut:]
        lines.append(line)
    return "\n".join(lines)


def _cut(word: str, size: float, most: float, *, bold: bool) -> int:
    """Where to break a word that is too long for a line: after the last sign that fits, or where the line is full."""
    fits = max(1, *(i for i in range(len(word)) if block_width(word[:i], size, bold=bold) <= most))
    after_sign = max((i + 1 for i in range(fits) if word[i] in "-_/,;:.|"), default=0)
    return after_sign if after_sign > fits // 2 else fits
