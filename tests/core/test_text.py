"""One form for a number with its interval: no digit too many, nothing that reads as zero and is not, no silent gap."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from personare.core.errors import ConfigError
from personare.core.findings import Estimate, Finding, MetricCard
from personare.core.text import interval_text, number_text, whole_numbers

NAN, INF = math.nan, math.inf


@pytest.mark.parametrize(
    ("value", "low", "high", "unit", "text"),
    [
        (0.123, 0.098, 0.151, "%", "12.3 % [9.8, 15.1]"),
        (1.0, 0.839, 1.0, "%", "100.0 % [83.9, 100.0]"),
        (0.0, 0.0, 0.161, "%", "0.0 % [0.0, 16.1]"),
        (0.000012, 0.0, 0.0004, "%", "0.0012 % [0.0, 0.04]"),
        (3.14159, 2.5, 3.9, "", "3.14 [2.50, 3.90]"),
        (-4.0, -4.6, -3.4, "dB", "-4.00 dB [-4.60, -3.40]"),
        (0.0, -0.2, 0.3, "", "0.000 [-0.200, 0.300]"),
        (1234.5, 900.0, 2000.0, "", "1,234 [900, 2,000]"),
        (0.5, NAN, NAN, "%", "50.0 % [-]"),
        (NAN, 0.1, 0.2, "%", "-"),
        (INF, 1.5, INF, "bit", "infinity [1.50, infinity]"),
        (1.5, -INF, 2.0, "", "1.50 [minus infinity, 2.00]"),
    ],
)
def test_a_number_with_its_interval(value: float, low: float, high: float, unit: str, text: str) -> None:
    assert interval_text(value, low, high, unit) == text
    assert Estimate(value, low, high, 9).text(unit) == text
    assert text.startswith(number_text(value, unit)) or value == 0.0 or math.isinf(value)


def test_a_finding_is_written_in_its_unit() -> None:
    card = MetricCard("risk", "Risk", "lower", (0.0, 1.0), None, "nobody2026", unit="%")
    finding = Finding(card, Estimate(0.123, 0.098, 0.151, 20), chance=0.05)
    assert str(finding) == "Risk: 12.3 % [9.8, 15.1], chance 5.0 %"
    assert (finding.value_text, finding.text, finding.chance_text) == ("12.3 %", "12.3 % [9.8, 15.1]", "5.0 %")
    assert Finding(card, finding.estimate).chance_text == "-" and str(Finding(card, finding.estimate)).endswith("15.1]")


@given(value=st.floats(-1e300, 1e300), unit=st.sampled_from(["", "%", "dB"]))
def test_only_zero_reads_as_zero_and_the_sign_stays(value: float, unit: str) -> None:
    text = number_text(value, unit).removesuffix(unit).replace(",", "").strip()
    assert (float(text) == 0) == (value == 0)
    assert value == 0 or math.copysign(1, float(text)) == math.copysign(1, value)


@pytest.mark.parametrize("text", ["", "1,,3", "0", "2.5", "-1", "many", "1e16"])
def test_a_list_of_whole_numbers_is_refused_in_one_line(text: str) -> None:
    with pytest.raises(ConfigError, match=r"--lengths .* is no whole number from 1 on; write e.g. 1,3,30"):
        whole_numbers(text, "--lengths")
