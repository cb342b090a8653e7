"""Which of many findings a sentence, table or figure shows: everybody, the largest gallery, the strongest attacker."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Literal

from personare.core.findings import Finding, without_breakdowns
from personare.reports.run import ORIGINAL, Run

Risk = Literal["voice", "words"]
RISKS: tuple[Risk, ...] = ("voice", "words")
GENDERS = {"f": "female", "m": "male", "x": "other"}


def of_risk(findings: Iterable[Finding], risk: Risk) -> list[Finding]:
    """Keep what attackers reach by the voice (everything that is heard), or by the words alone."""
    return [f for f in findings if f.conditions.get("risk", "voice") == risk]


def overall(findings: Iterable[Finding], metric: str | None = None) -> list[Finding]:
    """Keep findings about everybody, not about one gender or speaker; of DeID and G_VD, those of each gender."""
    return [
        f
        for f in without_breakdowns(findings)
        if "speaker" not in f.conditions
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
    grouped: dict[tuple[str, ...], list[Finding]] = {}
    for finding in findings:
        grouped.setdefault(tuple(condition(name)(finding) for name in names), []).append(finding)
    return grouped


def is_original(finding: Finding) -> bool:
    """Whether the speech under test is original speech: nothing protects it, whoever attacks."""
    return ORIGINAL in (finding.conditions.get("anonymizer"), finding.conditions.get("knowledge"))


def protected(findings: Iterable[Finding]) -> list[Finding]:
    """Leave original speech out."""
    return [f for f in findings if not is_original(f)]


def of_each_corpus(findings: Iterable[Finding], number: Callable[[Finding], int]) -> str:
    """Give the largest number of each corpus, e.g. how many were attacked: "300 and 30"; "" where there is none."""
    largest = [max(map(number, some)) for some in groups(findings, "corpus").values()]
    return " and ".join(f"{most:,}" for most in largest if most)


def people(finding: Finding) -> int:
    """Give how many people a finding is about."""
    return finding.estimate.n


def gallery_size(finding: Finding) -> int:
    """Give N, among how many people the attacker searches; 0 where there is no gallery."""
    return int(finding.conditions.get("N", 0))


def utterances(finding: Finding) -> int:
    """Give L, how many utterances the attacker has of the same person at once."""
    return int(finding.conditions.get("L", 1))


def largest_gallery(findings: Sequence[Finding]) -> list[Finding]:
    """Keep those measured with the most people."""
    most = max(map(gallery_size, findings), default=0)
    return [f for f in findings if gallery_size(f) == most]


def fewest_utterances(findings: Sequence[Finding]) -> list[Finding]:
    """Keep those with the fewest utterances at once."""
    fewest = min(map(utterances, findings), default=1)
    return [f for f in findings if utterances(f) == fewest]


def risk_above_chance(finding: Finding) -> float:
    """Give how far an attack gets on its way from guessing to a perfect attack: 0 by guessing, 1 if always right.

    (value - chance) / (perfect - chance), e.g. (linkability - 1/N) / (1 - 1/N), or 1 - EER / chance: the one scale by
    which an attack is called the strongest. NaN where the number or its chance level is unknown.

    >>> from personare.core.findings import Estimate, MetricCard
    >>> eer = MetricCard("eer", "", "higher", (0, 0.5), 0.5, "")
    >>> linked = MetricCard("linkability", "", "lower", (0, 1), None, "")
    >>> risk_above_chance(Finding(eer, Estimate(0.25, 0, 0, 9)))
    0.5
    >>> round(risk_above_chance(Finding(linked, Estimate(0.6, 0, 1, 9), chance=0.2)), 3)
    0.5
    """
    perfect = finding.metric.bounds[1 if finding.metric.better == "lower" else 0]
    chance = finding.chance_level
    if chance is None or not math.isfinite(perfect) or perfect == chance:
        return math.nan
    return (finding.estimate.value - chance) / (perfect - chance)


def strongest(findings: Sequence[Finding], *, every: Iterable[Finding] = ()) -> Finding | None:
    """Give the attack with the highest risk above chance among those with the largest gallery, by one metric.

    Equal results are decided by the EER of the same attack, where ``every`` finding of the run has one, then by the end
    of the interval that is worse for the attacker, then by fewer utterances. Unknown values never win over a number;
    of nothing, None.
    """
    known = [f for f in largest_gallery(findings) if not math.isnan(f.estimate.value)]
    rates = {_attack(f): f.estimate.value for f in overall(every, "eer")}
    return max(known, key=lambda f: _strength(f, rates.get(_attack(f), math.inf)), default=None)


def strongest_attack(findings: Sequence[Finding], others: Iterable[str] = ()) -> Finding | None:
    """Give the attack with the highest risk above chance, of all attackers and lengths: the strongest, everywhere.

    By linkability; by EER among equals, and where linkability was not measured. ``others`` are metrics that decide, in
    this order, where neither was.
    """
    names = dict.fromkeys(("linkability", "eer", *others))
    by_metric = [[f for f in findings if f.metric.name == name] for name in names]
    return next((best for group in by_metric if (best := strongest(group, every=findings)) is not None), None)


def _attack(finding: Finding) -> tuple[str, ...]:
    return tuple(condition(name)(finding) for name in ("corpus", "anonymizer", "attacker", "L"))


def _strength(finding: Finding, error_rate: float) -> tuple[float, float, float, int]:
    e = finding.estimate
    sign = 1.0 if finding.metric.better == "lower" else -1.0  # lower is more privacy: the attacker wants it high
    end = e.low if finding.metric.better == "lower" else e.high
    risk = risk_above_chance(finding)
    value = sign * e.value if math.isnan(risk) else risk
    return value, -error_rate, -math.inf if math.isnan(end) else sign * end, -utterances(finding)


class SeriesColours:
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

    def titled(self, corpus: str, title: str) -> str:
        """Put the corpus before a title where there are several."""
        return f"{corpus}: {title}" if len(self.corpora) > 1 and corpus else title


def method_label(name: str) -> str:
    """Call a method as the page does: original speech has no protection."""
    return "no protection" if name == ORIGINAL else name


def slug(text: str) -> str:
    """Make a name for files and ids.

    >>> slug("Lazy informed (ge2e)")
    'lazy-informed-ge2e'
    """
    kept = "".join(c if c.isalnum() and c.isascii() else "-" for c in text.lower())
    return "-".join(part for part in kept.split("-") if part) or "x"
