"""What a study finds: a number with its interval, the card that explains it, the conditions it holds under."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from personare.core.text import interval_text, number_text


@dataclass(frozen=True)
class Estimate:
    """A number with its interval; only Estimates reach a report.

    Parameters
    ----------
    value : the number itself.
    low, high : ends of its confidence interval (95 % unless the maker says otherwise).
    n : how many independent things it rests on (speakers, trials, words; the card says which).

    >>> print(Estimate(0.25, 0.125, 0.5, 20))
    0.250 [0.125, 0.500] (n=20)
    """

    value: float
    low: float
    high: float
    n: int

    def to_dict(self) -> dict[str, float | int]:
        """Give the four numbers by name.

        >>> Estimate(0.25, 0.125, 0.5, 20).to_dict()
        {'value': 0.25, 'low': 0.125, 'high': 0.5, 'n': 20}
        """
        return asdict(self)

    def __post_init__(self) -> None:
        if self.n < 0:
            raise ValueError(f"an estimate rests on n >= 0 things, not {self.n}")
        if not math.isnan(self.low) and not math.isnan(self.high) and self.low > self.high:
            raise ValueError(f"interval is upside down: [{self.low}, {self.high}]")

    def text(self, unit: str = "") -> str:
        """Write value and interval as every table and page does.

        >>> Estimate(0.25, 0.125, 0.5, 20).text("%")
        '25.0 % [12.5, 50.0]'
        """
        return interval_text(self.value, self.low, self.high, unit)

    def __str__(self) -> str:
        return f"{self.text()} (n={self.n})"


@dataclass(frozen=True)
class MetricCard:
    """What a metric is, who defined it, how to read it, and when not to trust it.

    Parameters
    ----------
    name : the key used in tables and files, e.g. ``"eer"``.
    title : what a person reads, with the definition named, e.g. ``"EER (ROCCH)"``.
    better : which direction means more privacy (or, for a utility metric, more use).
    bounds : smallest and largest possible value.
    chance : value reached by an attacker who guesses, or None where it depends on the data.
    cite : citation key of the paper and equation that define it.
    reading : one sentence on how to read it; caution : when not to trust it.
    """

    name: str
    title: str
    better: Literal["lower", "higher"]
    bounds: tuple[float, float]
    chance: float | None
    cite: str
    reading: str = ""
    caution: str = ""
    unit: str = ""


LEVEL_OF_PROOF = 0.025
"""A result counts as better than guessing when guessing reaches it in at most so many cases; likewise worse."""


WORDS_NOT_MEASURED = "Risk by words: not measured, because"
"""How the note of a run begins that says why nobody read the words; verdicts and reports repeat it."""


@dataclass(frozen=True)
class Finding:
    """One estimate under named conditions (attacker, anonymizer, L, N, ...).

    Parameters
    ----------
    failed : how many items were left out.
    chance : what guessing gives here; without, the card's level holds.
    p_better, p_worse : how likely a guesser does at least as well, and at least as badly, where a test tells: None
        where there is none, NaN where so few speakers cannot prove anything.
    """

    metric: MetricCard
    estimate: Estimate
    conditions: Mapping[str, str | int | float] = field(default_factory=dict)
    failed: int = 0
    chance: float | None = None
    p_better: float | None = None
    p_worse: float | None = None

    @property
    def chance_level(self) -> float | None:
        """The guesser's value for this very finding, else the card's."""
        return self.metric.chance if self.chance is None else self.chance

    @property
    def differs_from_chance(self) -> bool | None:
        """Whether a test, or without one the interval, excludes guessing; None where nothing can tell."""
        level = self.chance_level
        if level is not None and self.p_better is not None and self.p_worse is not None:
            least = min(self.p_better, self.p_worse)
            return None if math.isnan(least) else least <= LEVEL_OF_PROOF
        if level is None or math.isnan(self.estimate.low) or math.isnan(self.estimate.high):
            return None
        return not self.estimate.low <= level <= self.estimate.high

    @property
    def text(self) -> str:
        """Value and interval in the metric's unit, e.g. ``12.3 % [9.8, 15.1]``; in words where everything failed.

        >>> card = MetricCard("wer", "WER", "lower", (0, 1), None, "", unit="%")
        >>> print(Finding(card, Estimate(math.nan, math.nan, math.nan, 0), failed=12).text)
        not measured: all 12 failed
        """
        if math.isnan(self.estimate.value) and self.failed:
            return f"not measured: {'all' if self.estimate.n == 0 else 'with'} {self.failed:,} failed"
        return self.estimate.text(self.metric.unit)

    @property
    def value_text(self) -> str:
        """The value alone, in the metric's unit."""
        return number_text(self.estimate.value, self.metric.unit)

    @property
    def chance_text(self) -> str:
        """The guesser's value in the metric's unit; a dash where there is none."""
        return number_text(self.chance_level, self.metric.unit)

    def __str__(self) -> str:
        """Name the metric, its value with interval, and the chance level.

        >>> card = MetricCard("eer", "EER (ROCCH)", "higher", (0, 0.5), 0.5, "", unit="%")
        >>> print(Finding(card, Estimate(0.123, 0.098, 0.151, 20), chance=0.46))
        EER (ROCCH): 12.3 % [9.8, 15.1], chance 46.0 %
        """
        chance = "" if self.chance_level is None else f", chance {self.chance_text}"
        return f"{self.metric.title}: {self.text}{chance}"

    def as_row(self) -> dict[str, Any]:
        """Flatten to one row for JSON or a table; NaN becomes None."""
        numbers = {k: None if isinstance(v, float) and math.isnan(v) else v for k, v in asdict(self.estimate).items()}
        return {
            "metric": self.metric.name,
            "title": self.metric.title,
            **numbers,
            "chance": self.chance_level,
            "differs_from_chance": self.differs_from_chance,
            "p_better": _known(self.p_better),
            "p_worse": _known(self.p_worse),
            "failed": self.failed,
            "cite": self.metric.cite,
            "conditions": dict(self.conditions),
        }


BREAKDOWNS = frozenset({"gender", "trial_list"})
ATTACK_OR_LISTENER = ("corpus", "anonymizer", "attacker", "listener", "listener_trained_on", "embedder", "L")


def without_breakdowns(findings: Iterable[Finding]) -> list[Finding]:
    """Drop the rows of single genders and single trial lists where a row for everybody exists.

    DeID and G_VD are measured within each gender: their rows stay, as there is no row for everybody.

    >>> card = MetricCard("eer", "EER", "higher", (0, 0.5), 0.5, "")
    >>> rows = [Finding(card, Estimate(0.1, 0, 0.2, 9), {"L": 1, **more}) for more in ({}, {"gender": "f"})]
    >>> [len(without_breakdowns(some)) for some in (rows, rows[1:])]
    [1, 1]
    """
    kept = list(findings)
    everybody = {_place(f) for f in kept if not BREAKDOWNS & f.conditions.keys()}
    return [f for f in kept if not BREAKDOWNS & f.conditions.keys() or _place(f) not in everybody]


def _place(finding: Finding) -> tuple[object, ...]:
    return (finding.metric.name, *(finding.conditions.get(name) for name in ATTACK_OR_LISTENER))


def _known(value: float | None) -> float | None:
    return None if value is None or math.isnan(value) else value
