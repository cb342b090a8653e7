"""Which of many findings a sentence or a picture shows: the whole crowd, the strongest attacker, the same colour."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence

from personare.core.findings import Finding
from personare.reports.run import ORIGINAL, Run

RECOGNIZED = ("wer", "cer")


def overall(findings: Iterable[Finding], metric: str | None = None) -> list[Finding]:
    """Keep findings about everybody, not about one gender or speaker."""
    return [
        f
        for f in findings
        if "gender" not in f.conditions
        and "speaker" not in f.conditions
        and f.conditions.get("frames") != "all"
        and (metric is None or f.metric.name == metric)
    ]


def condition(name: str) -> Callable[[Finding], str]:
    """Give a function that reads one condition as text."""
    return lambda finding: str(finding.conditions.get(name, ""))


def values(findings: Iterable[Finding], name: str) -> list[str]:
    """List the values of a condition in the order of the run."""
    return [v for v in dict.fromkeys(condition(name)(f) for f in findings) if v]


def groups(findings: Iterable[Finding], *names: str) -> dict[tuple[str, ...], list[Finding]]:
    """Put findings with the same conditions together, in the order of the run."""
    found: dict[tuple[str, ...], list[Finding]] = {}
    for finding in findings:
        found.setdefault(tuple(condition(name)(finding) for name in names), []).append(finding)
    return found


def hidden(findings: Iterable[Finding]) -> list[Finding]:
    """Leave original speech out."""
    return [f for f in findings if f.conditions.get("anonymizer") != ORIGINAL]


def largest_crowd(findings: Sequence[Finding]) -> list[Finding]:
    """Keep those measured with the most people."""
    most = max((int(f.conditions.get("N", 0)) for f in findings), default=0)
    return [f for f in findings if int(f.conditions.get("N", 0)) == most]


def strongest(findings: Sequence[Finding]) -> Finding | None:
    """Give the attacker's best result among those with the most people; None of nothing.

    Forecasts and unknown values are never chosen before a number.
    """
    known = [f for f in largest_crowd(findings) if not math.isnan(f.estimate.value)]
    if not known:
        return None
    sign = 1.0 if known[0].metric.better == "lower" else -1.0
    return max(known, key=lambda f: sign * f.estimate.value)


def shortest(findings: Sequence[Finding]) -> list[Finding]:
    """Keep those with the fewest utterances heard at once."""
    least = min((int(f.conditions.get("L", 1)) for f in findings), default=1)
    return [f for f in findings if int(f.conditions.get("L", 1)) == least]


class Palette:
    """The same method and the same attacker have the same colour all over a report; original speech is grey."""

    def __init__(self, run: Run) -> None:
        every = [*values(run.findings, "anonymizer"), *(str(a.conditions.get("anonymizer", "")) for a in run.artefacts)]
        self.anonymizers = [name for name in dict.fromkeys(every) if name and name != ORIGINAL]
        self.attackers = values(run.findings, "attacker")
        self.listeners = values(run.findings, "listener")
        self.corpora = values(run.findings, "corpus")

    def method(self, name: str) -> int | None:
        """Number a method's colour."""
        return None if name == ORIGINAL or name not in self.anonymizers else self.anonymizers.index(name)

    def attacker(self, name: str) -> int:
        """Number an attacker's colour."""
        return self.attackers.index(name) if name in self.attackers else 0

    def listener(self, name: str) -> int:
        """Number a listener's colour."""
        return self.listeners.index(name) if name in self.listeners else 0

    def titled(self, corpus: str, words: str) -> str:
        """Put the corpus before a title where there are several."""
        return f"{corpus}: {words}" if len(self.corpora) > 1 and corpus else words


def word(text: str) -> str:
    """Make a name for files and ids.

    >>> word("Lazy informed (ge2e)")
    'lazy-informed-ge2e'
    """
    kept = "".join(c if c.isalnum() and c.isascii() else "-" for c in text.lower())
    return "-".join(part for part in kept.split("-") if part) or "x"
