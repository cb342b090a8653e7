"""Findings: estimates that cannot lie about their interval, and the statement whether a value differs from chance."""

from __future__ import annotations

import json
import math

import pytest

from personare.core.findings import Estimate, Finding, MetricCard

CARD = MetricCard("risk", "Risk", "lower", (0.0, 1.0), 0.5, "nobody2026")


def test_an_interval_must_stand_upright() -> None:
    with pytest.raises(ValueError, match="upside down"):
        Estimate(0.5, 0.6, 0.4, 3)
    with pytest.raises(ValueError, match="n >= 0"):
        Estimate(0.5, 0.4, 0.6, -1)


@pytest.mark.parametrize(
    ("low", "high", "chance", "differs"),
    [
        (0.4, 0.6, None, False),
        (0.51, 0.6, None, True),
        (0.1, 0.49, None, True),
        (0.5, 0.6, None, False),
        (0.4, 0.6, 0.1, True),
        (math.nan, math.nan, None, None),
    ],
)
def test_differs_from_chance(low: float, high: float, chance: float | None, differs: bool | None) -> None:
    assert Finding(CARD, Estimate(0.5, low, high, 9), chance=chance).differs_from_chance is differs


def test_a_row_is_plain_json_and_nan_becomes_null() -> None:
    finding = Finding(CARD, Estimate(math.nan, math.nan, math.nan, 0), {"attacker": "x", "L": 3}, failed=2)
    row = json.loads(json.dumps(finding.as_row(), allow_nan=False))
    assert row["value"] is None and row["failed"] == 2 and row["conditions"] == {"attacker": "x", "L": 3}
