"""Words and names that tell who is who: ids of the originals in names and tables, identifiers in transcripts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

_NUMBER_WORDS = (
    "zero|oh|one|two|three|four|five|six|seven|eight|nine|null|eins|zwei|drei|vier|fünf|sechs|sieben|acht|neun|"
    "zéro|un|deux|trois|quatre|cinq|sept|huit|neuf"
)
SPOKEN: dict[str, re.Pattern[str]] = {
    "an e-mail address": re.compile(r"\b[\w.+-]+@[\w-]+\.[\w.]+\b|\b\w+ at \w+ dot (?:com|org|net|de|fr|eu)\b", re.I),
    "a long number": re.compile(r"(?<![\d.,])\+?\d(?:[ ./-]?\d){6,}(?![\d.,])"),
    "a number said digit by digit": re.compile(rf"\b(?:(?:{_NUMBER_WORDS})[ ,.-]+){{5,}}(?:{_NUMBER_WORDS})\b", re.I),
    "somebody who says a name": re.compile(
        r"\b(?:my name is|my name's|ich heiße|ich heisse|mein name ist|je m'appelle)\s+(?!the\b|a\b|not\b)\w+", re.I
    ),
    "an address": re.compile(r"\b\d{1,4}\s+\w+\s+(?:street|road|avenue|lane|drive)\b|\w+stra(?:ß|ss)e\s+\d+", re.I),
    "an account number": re.compile(r"\b[A-Z]{2}\d{2}(?: ?\w{4}){3,7}\b"),
}
_SHORTEST = 3


def spoken_identifiers(text: str) -> list[str]:
    """Name the kinds of identifiers that a transcript seems to hold; a person must look, no machine finds all.

    >>> spoken_identifiers("hello my name is anna call me at 0171 2345678")
    ['a long number', 'somebody who says a name']
    >>> spoken_identifiers("the birch canoe slid on the smooth planks")
    []
    """
    return [kind for kind, pattern in SPOKEN.items() if pattern.search(text)]


def names_within(texts: Iterable[str], names: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Give (text, name) for every text in which an id of the originals stands as a word of its own.

    Ids of fewer than three letters, and plain numbers below 100, say too little to be looked for.
    """
    wanted = sorted({n for n in names if len(n) >= _SHORTEST and not n.isspace()}, key=len, reverse=True)
    if not wanted:
        return
    known = {name.casefold() for name in wanted}
    for text in texts:
        folded = text.casefold()
        words = {*re.findall(r"[\w@+=-]+", folded), *re.findall(r"[^\W_]+", folded), *folded.split("/"), folded}
        words |= {word.rpartition(".")[0] for word in list(words) if "." in word}
        for word in sorted(words & known):
            yield text, word
