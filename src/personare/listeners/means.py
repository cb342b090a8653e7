"""From numbers of single utterances to findings: means over utterances, with intervals over speakers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from personare.core.findings import Estimate, Finding
from personare.core.observations import ObservedUtterance, Side, SummaryContext
from personare.metrics import card
from personare.metrics.utility.quality import mean_estimate


@dataclass(frozen=True)
class MeanOf:
    """One mean: of which observed value, on which side, reported as which metric under which conditions."""

    metric: str
    value: str
    side: Side = "both"
    conditions: Mapping[str, str] = field(default_factory=dict)


def mean_findings(
    rows: Sequence[ObservedUtterance], context: SummaryContext, means: Sequence[MeanOf]
) -> tuple[Finding, ...]:
    """Average each value over the utterances it could be computed for; the others count as failed."""
    return tuple(_finding(rows, context, mean) for mean in means)


def _finding(rows: Sequence[ObservedUtterance], context: SummaryContext, mean: MeanOf) -> Finding:
    values = {
        row.utterance: row.sides[mean.side].values[mean.value]
        for row in rows
        if mean.side in row.sides and mean.value in row.sides[mean.side].values
    }
    estimate = no_estimate()
    if values:
        speakers = [context.speakers[u] for u in values]
        estimate = mean_estimate(list(values.values()), speakers=speakers, bounds=card(mean.metric).bounds)
    return Finding(card(mean.metric), estimate, dict(mean.conditions), failed=context.total - len(values))


def no_estimate() -> Estimate:
    """Say that nothing could be measured: a finding with all utterances failed, not a missing row and not a zero.

    >>> no_estimate().n
    0
    """
    return Estimate(math.nan, math.nan, math.nan, 0)
