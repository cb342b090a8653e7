"""The privacy gate: are the acceptable risks that a study states kept? By default the unfavourable end is tested.

A bound holds when the far end of the interval keeps it: the upper end for ``at_most``, the lower for ``at_least``. A
bound that nothing was measured for, or whose interval is unknown, is not kept: no evidence is no proof.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Sequence
from typing import Any, Literal

from personare.core.findings import Finding, without_breakdowns
from personare.pipeline.measured import finite
from personare.pipeline.study import ORIGINAL, Bound

CONDITIONS = ("corpus", "anonymizer", "attacker", "listener", "gender", "L", "N")
Tested = Literal["high", "low", "value"]


@dataclasses.dataclass(frozen=True)
class Verdict:
    """One bound on one finding (None: nothing was measured that it speaks of)."""

    bound: Bound
    finding: Finding | None
    tested: Tested
    value: float | None
    held: bool

    @property
    def limit(self) -> float:
        """The number that must not be crossed."""
        limit = self.bound.at_most if self.bound.at_most is not None else self.bound.at_least
        assert limit is not None
        return limit

    @property
    def sentence(self) -> str:
        """The verdict in words."""
        rule = f"{self.bound.metric} {'at most' if self.bound.at_most is not None else 'at least'} {self.limit:g}"
        if self.finding is None:
            asked = ", ".join(f"{k} {v}" for k, v in _asked(self.bound).items())
            return f"{rule}: not kept, because nothing was measured for {asked or 'it'}"
        where = ", ".join(f"{k} {self.finding.conditions[k]}" for k in CONDITIONS if k in self.finding.conditions)
        if self.value is None and math.isnan(self.finding.estimate.value) and self.finding.failed:
            return f"{rule} ({where}): not kept, because it could not be measured ({self.finding.failed:,} failed)"
        if self.value is None:
            return f"{rule} ({where}): not kept, because its interval is unknown (too few speakers)"
        words = {"high": "upper end of the interval", "low": "lower end of the interval", "value": "value"}
        return f"{rule} ({where}): {'kept' if self.held else 'NOT kept'}, {words[self.tested]} {self.value:.4g}"

    def as_row(self) -> dict[str, Any]:
        """Flatten for gate.json."""
        stated = {k: v for k, v in dataclasses.asdict(self.bound).items() if v is not None}
        return {
            "bound": stated,
            "finding": None if self.finding is None else row_of(self.finding),
            "tested": self.tested,
            "value": self.value,
            "limit": self.limit,
            "held": self.held,
            "sentence": self.sentence,
        }


def row_of(finding: Finding) -> dict[str, Any]:
    """Flatten a finding for JSON: numbers that JSON cannot say become null."""
    row = finding.as_row()
    return {k: finite(v) if isinstance(v, float) else v for k, v in row.items()} | {
        "conditions": {k: finite(v) if isinstance(v, float) else v for k, v in row["conditions"].items()},
        "better": finding.metric.better,
        "unit": finding.metric.unit,
    }


def judged(bounds: Sequence[Bound], findings: Iterable[Finding]) -> list[Verdict]:
    """Judge every bound on every finding it speaks of; original speech only where it is named."""
    found = list(findings)
    verdicts: list[Verdict] = []
    for bound in bounds:
        fitting = [f for f in found if _speaks_of(bound, f)]
        if bound.gender is None:  # a breakdown is judged where it is asked for, or where there is nothing else
            fitting = without_breakdowns(fitting)
        verdicts += [_verdict(bound, f) for f in fitting] or [Verdict(bound, None, _end(bound), None, False)]
    return verdicts


def _asked(bound: Bound) -> dict[str, Any]:
    return {name: getattr(bound, name) for name in CONDITIONS if getattr(bound, name) is not None}


def _speaks_of(bound: Bound, finding: Finding) -> bool:
    if finding.metric.name != bound.metric:
        return False
    conditions = finding.conditions
    if bound.anonymizer is None and conditions.get("anonymizer") == ORIGINAL:
        return False
    return all(conditions.get(name) == value for name, value in _asked(bound).items())


def _end(bound: Bound) -> Tested:
    if bound.test == "value":
        return "value"
    return "high" if bound.at_most is not None else "low"


def _verdict(bound: Bound, finding: Finding) -> Verdict:
    tested = _end(bound)
    value = float(getattr(finding.estimate, tested))
    if math.isnan(value):
        return Verdict(bound, finding, tested, None, False)
    held = value <= bound.at_most if bound.at_most is not None else value >= (bound.at_least or 0.0)
    return Verdict(bound, finding, tested, value, held)
