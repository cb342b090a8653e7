"""One rule decides whether voices are exposed: one-sided, over all attackers and metrics, whatever the order."""

from __future__ import annotations

import itertools
import math
from typing import Any

import pytest

from personare.core.findings import Estimate, Finding
from personare.metrics import card
from personare.reports.sections.choosing import strongest
from personare.reports.summary import other_rows, strongest_attack, summary_rows
from personare.reports.verdicts import (
    Outcome,
    evidence,
    method_sentence,
    method_verdicts,
    outcome,
    risk_statement,
    verdict,
)

CHANCE = {"eer": 0.46, "linkability": 0.05, "singling_out": 0.37, "rank_link_p50": 6.5, "risk_over_control": 0.0}


def finding(metric: str, low: float, high: float, **conditions: Any) -> Finding:
    where: dict[str, Any] = {"anonymizer": "b2", "attacker": "lazy", "knowledge": "lazy-informed", "L": 1} | conditions
    value = (low + high) / 2 if not math.isnan(low) else CHANCE[metric]
    return Finding(card(metric), Estimate(value, low, high, 20), where, chance=CHANCE[metric])


@pytest.mark.parametrize(
    ("metric", "low", "high", "expected"),
    [
        ("linkability", 0.06, 0.2, "exposed"),
        ("linkability", 0.05, 0.2, "not shown"),
        ("linkability", 0.0, 0.1, "not shown"),
        ("linkability", 0.0, 0.04, "below chance"),
        ("eer", 0.3, 0.45, "exposed"),
        ("eer", 0.3, 0.46, "not shown"),
        ("eer", 0.47, 0.5, "below chance"),
        ("rank_link_p50", 2.0, 6.0, "exposed"),
        ("rank_link_p50", 7.0, 9.0, "below chance"),
        ("risk_over_control", 0.1, 0.3, "exposed"),
        ("linkability", math.nan, math.nan, "undecided"),
    ],
)
def test_only_better_than_chance_is_exposed(metric: str, low: float, high: float, expected: Outcome) -> None:
    assert outcome(finding(metric, low, high)) == expected


def test_without_a_chance_level_nothing_is_decided() -> None:
    unknown = Finding(card("linkability"), Estimate(0.9, 0.8, 1.0, 20), {"attacker": "lazy", "anonymizer": "b2"})
    assert outcome(unknown) == "undecided" and not evidence([unknown])


EXPOSED_EER, SAFE_EER, BELOW_EER = ("eer", 0.2, 0.3), ("eer", 0.4, 0.5), ("eer", 0.47, 0.5)
EXPOSED_LINK, SAFE_LINK, BELOW_LINK = ("linkability", 0.1, 0.3), ("linkability", 0.0, 0.2), ("linkability", 0.0, 0.04)
NO_INTERVAL = ("linkability", math.nan, math.nan)


@pytest.mark.parametrize(
    ("results", "expected"),
    [
        ([EXPOSED_EER, SAFE_LINK], "exposed"),
        ([SAFE_EER, EXPOSED_LINK], "exposed"),
        ([EXPOSED_EER, BELOW_LINK], "exposed"),
        ([EXPOSED_EER, NO_INTERVAL], "exposed"),
        ([SAFE_EER, SAFE_LINK], "not shown"),
        ([SAFE_EER, BELOW_LINK], "not shown"),
        ([BELOW_EER, BELOW_LINK], "below chance"),
        ([SAFE_EER, NO_INTERVAL], "undecided"),
        ([BELOW_EER, NO_INTERVAL], "undecided"),
        ([], "undecided"),
    ],
)
def test_one_verdict_over_all_metrics(results: list[tuple[str, float, float]], expected: Outcome) -> None:
    findings = [finding(*result) for result in results]
    for order in itertools.permutations(findings):
        assert verdict(order) == expected
    sentence = method_sentence("b2", findings)
    assert ("does not hide" in sentence) == (expected == "exposed")
    assert ("worse than guessing" in sentence) == (expected == "below chance")
    assert "above chance" not in sentence


def test_a_verdict_rests_on_everybody_and_the_largest_gallery_of_anonymized_speech_alone() -> None:
    kept = [finding("linkability", 0.0, 0.2, N=20), finding("eer", 0.4, 0.5), finding("eer", 0.4, 0.5, L=3)]
    left_out = [
        finding("linkability", 0.6, 0.9, N=2),
        finding("linkability", 0.6, 0.9, N=20, gender="f"),
        finding("linkability", 0.6, 0.9, N=20, speaker="anna"),
        finding("linkability", 0.9, 1.0, N=20, anonymizer="original"),
        finding("linkability", 0.9, 1.0, N=20, knowledge="original", attacker="original"),
        Finding(card("d_ece"), Estimate(0.3, 0.2, 0.4, 20), dict(kept[0].conditions), chance=0.01),
        Finding(card("wer"), Estimate(0.3, 0.2, 0.4, 20), {"anonymizer": "b2", "listener": "x"}, chance=0.01),
    ]
    for order in ([*kept, *left_out], [*left_out, *kept]):
        assert {id(f) for f in evidence(order)} == {id(f) for f in kept}
        assert [(s.sentence, s.tone) for s in method_verdicts(order)] == [(method_sentence("b2", kept), "not-shown")]


def test_the_strongest_is_the_strongest_wherever_it_stands() -> None:
    weak, strong = finding("linkability", 0.1, 0.2, N=20), finding("linkability", 0.5, 0.7, N=20, attacker="informed")
    few, unknown = finding("linkability", 0.9, 1.0, N=2), finding("linkability", math.nan, math.nan, N=20)
    unknown = Finding(unknown.metric, Estimate(math.nan, math.nan, math.nan, 0), unknown.conditions, chance=0.05)
    low_eer = finding("eer", 0.0, 0.1, attacker="ignorant")
    for order in itertools.permutations([weak, strong, few, unknown]):
        assert strongest(order) is strong
        assert strongest_attack([low_eer, *order]) is strong, "linking decides, EER where nobody linked"
    for pair in ([low_eer, finding("eer", 0.2, 0.3)], [finding("eer", 0.2, 0.3), low_eer]):
        assert strongest(pair) is low_eer and strongest_attack(pair) is low_eer, "a low EER is a strong attacker"
    equal = finding("linkability", 0.5, 0.7, N=20, attacker="ignorant")
    assert strongest_attack([strong, finding("eer", 0.2, 0.3, attacker="informed"), equal, low_eer]) is equal
    short = finding("linkability", 0.5, 0.7, N=20)
    for pair in ([short, finding("linkability", 0.5, 0.7, N=20, L=3)], [strong, short]):
        assert strongest(pair) in (short, strong)
    assert strongest([finding("linkability", 0.5, 0.7, N=20, L=3), short]) is short, "of equals, from fewer utterances"
    assert strongest([]) is None and strongest([unknown]) is None


def attack(who: str, length: int, eer: tuple[float, float], link: tuple[float, float], **more: Any) -> list[Finding]:
    where: dict[str, Any] = {"attacker": who, "knowledge": who, "L": length, "corpus": "c"} | more
    return [finding("eer", *eer, **where), finding("linkability", *link, **where, N=20)]


ONE = [
    *attack("original", 1, (0.0, 0.16), (0.84, 1.0), anonymizer="original"),
    *attack("lazy-informed", 1, (0.08, 0.2), (0.68, 0.95)),
    *attack("ignorant", 1, (0.40, 0.48), (0.0, 0.12)),
    *attack("ignorant", 3, (0.20, 0.30), (0.0, 0.12)),
]
GOLDEN = """\
attacker (* strongest) | L | EER [95 %] | chance | linkability [95 %] | N | chance | verdict
original | 1 | 8.0 % [0.0, 16.0] | 46.0 % | 92.0 % [84.0, 100.0] | 20 | 5.0 % | unprotected
lazy-informed * | 1 | 14.0 % [8.0, 20.0] | 46.0 % | 81.5 % [68.0, 95.0] | 20 | 5.0 % | exposed
ignorant | 1 | 44.0 % [40.0, 48.0] | 46.0 % | 6.0 % [0.0, 12.0] | 20 | 5.0 % | not shown
ignorant | 3 | 25.0 % [20.0, 30.0] | 46.0 % | 6.0 % [0.0, 12.0] | 20 | 5.0 % | exposed
"""


def table(findings: list[Finding]) -> str:
    head, rows = summary_rows(findings)
    return "".join(f"{' | '.join(' '.join(cell.split()) for cell in row)}\n" for row in (head, *rows))


def test_the_table_of_attackers_as_it_is_printed() -> None:
    assert table(ONE) == GOLDEN


def test_original_speech_is_one_row_whatever_the_study_calls_it() -> None:
    same = attack("original", 1, (0.0, 0.16), (0.84, 1.0), knowledge="original")
    assert table([*same, *ONE[2:]]) == GOLDEN, "an attacker of originals under the method's own label"
    three = [f for who in ("ignorant", "lazy") for f in attack(who, 1, (0.0, 0.1), (0.9, 1.0), anonymizer="original")]
    assert [row[0] for row in summary_rows(three)[1]] == ["original"]


def test_several_methods_and_corpora_have_columns_in_front_and_a_strongest_each() -> None:
    other = attack("ignorant", 1, (0.1, 0.2), (0.3, 0.5), anonymizer="b1")
    head, rows = summary_rows([*ONE, *other])
    assert head[:2] == ["method", "attacker\n(* strongest)"] and [row[0] for row in rows][-1] == "b1"
    assert [row[1] for row in rows if row[1].endswith("*")] == ["lazy-informed *", "ignorant *"]
    there = attack("ignorant", 1, (0.1, 0.2), (0.3, 0.5), corpus="d")
    assert summary_rows([*ONE, *there])[0][0] == "corpus"
    assert [s.sentence.partition(":")[0] for s in method_verdicts([*ONE, *there])] == ["On c", "On d"]


def test_a_missing_metric_is_a_dash_and_the_rest_has_its_own_table() -> None:
    alone = finding("eer", 0.1, 0.2)
    assert summary_rows([alone])[1] == [["lazy *", "1", "15.0 % [10.0, 20.0]", "46.0 %", "-", "-", "-", "exposed"]]
    single = [finding("singling_out", 0.3, 0.5, N=n, L=length) for n in (5, 20) for length in (1, 3)]
    head, rows = other_rows([alone, *single])
    assert rows == [["b2", "lazy", "Singling Out (legal)", "L=1 N=20", "40.0 % [30.0, 50.0]", "37.0 %", "20", "0"]]
    assert len(head) == len(rows[0]) and other_rows([alone])[1] == []


def test_a_risk_below_chance_is_said_as_such() -> None:
    below = risk_statement(finding("linkability", 0.0, 0.04, N=20))
    assert below.tone == "not-shown" and below.sentence.endswith("5.0 %: below chance, I do worse than guessing.”")
    few = risk_statement(finding("linkability", math.nan, math.nan, N=20))
    assert few.tone == "undecided" and "too few speakers for an interval" in few.sentence
