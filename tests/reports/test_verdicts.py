"""One rule decides whether voices are exposed, one whether a method protects: over all attackers, in any order."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from personare.api.results import Findings
from personare.core.errors import UnknownNameError
from personare.core.findings import Estimate, Finding
from personare.metrics import card
from personare.reports.outcomes import Outcome, outcome, risk_statement
from personare.reports.protection import Protection, evidence, remaining, verdict
from personare.reports.sections.choosing import strongest, strongest_attack
from personare.reports.summary import other_rows, summary_rows
from personare.reports.verdicts import PROTECTION_TONES, MethodVerdict, judged_methods, method_verdicts

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
    for judged in judged_methods(findings):
        assert ("not protected" in judged.label) == (expected == "exposed"), (
            "without originals nothing is known to be left"
        )
        assert ("worse than guessing" in judged.sentence) == (expected == "below chance")
        assert "above chance" not in judged.sentence


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
        (judged,) = judged_methods(order)
        assert {id(f) for f in judged.attacks} == {id(f) for f in kept}
        assert [(s.label, s.tone) for s in method_verdicts(order)] == [
            ("b2: voice protected against those who were played", "not-shown")
        ]


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


def test_the_strongest_of_a_result_compares_within_one_metric_only() -> None:
    link, other = finding("linkability", 0.2, 0.4, N=20), finding("linkability", 0.5, 0.7, N=20, attacker="informed")
    eer, single = finding("eer", 0.0, 0.1), finding("singling_out", 0.8, 0.9, N=20)
    wer = Finding(card("wer"), Estimate(2.0, 1.9, 2.1, 20), {"anonymizer": "b2", "listener": "x"})
    bare = finding("linkability", 0.9, 1.0, N=20, anonymizer="original")
    for order in itertools.permutations([link, other, eer, single, wer, bare]):
        assert Findings(order).strongest() is other, "linkability decides among several metrics"
    assert Findings((eer, single, wer)).strongest() is eer, "EER where nobody linked"
    assert Findings((single, wer)).strongest() is single and Findings((bare, wer)).strongest() is bare
    ranks = tuple(finding(name, 0.2, 0.4) for name in ("rank_link_p50", "singling_out"))
    several = r"choose a metric to compare attackers by: .* of rank_link_p50, singling_out"
    with pytest.raises(UnknownNameError, match=several):
        Findings(ranks).strongest()
    with pytest.raises(UnknownNameError, match="no attack was measured"):
        Findings((wer,)).strongest()


def test_what_failed_for_every_utterance_is_said_in_words() -> None:
    where = {"anonymizer": "b2", "listener": "moonshine"}
    nothing = Finding(card("wer"), Estimate(math.nan, math.nan, math.nan, 0), where, failed=12)
    unknown = Finding(card("dnsmos"), Estimate(math.nan, math.nan, math.nan, 0), where)
    printed = str(Findings((nothing, unknown)))
    assert "not measured: all 12 failed" in printed and "nan" not in printed.lower()
    (row,) = other_rows([unknown])[1]
    assert row[4] == "-", "nothing failed and nothing was measured: unknown"


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
attacker (* strongest) | L | EER [95 %] | EER chance | linkability [95 %] | N | linked chance | verdict
lazy-informed * | 1 | 14.0 % [8.0, 20.0] | 46.0 % | 81.5 % [68.0, 95.0] | 20 | 5.0 % | exposed
ignorant | 3 | 25.0 % [20.0, 30.0] | 46.0 % | 6.0 % [0.0, 12.0] | 20 | 5.0 % | exposed
ignorant | 1 | 44.0 % [40.0, 48.0] | 46.0 % | 6.0 % [0.0, 12.0] | 20 | 5.0 % | not shown
original | 1 | 8.0 % [0.0, 16.0] | 46.0 % | 92.0 % [84.0, 100.0] | 20 | 5.0 % | unprotected
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
    assert head[:2] == ["method", "attacker\n(* strongest)"] and [row[0] for row in rows][-2:] == ["b1", "original"]
    assert [row[1] for row in rows if row[1].endswith("*")] == ["lazy-informed *", "ignorant *"]
    there = attack("ignorant", 1, (0.1, 0.2), (0.3, 0.5), corpus="d")
    assert summary_rows([*ONE, *there])[0][0] == "corpus"
    assert [s.label.partition(":")[0] for s in method_verdicts([*ONE, *there])] == ["b2 on c", "b2 on d"]


def test_a_missing_metric_is_a_dash_and_the_rest_has_its_own_table() -> None:
    alone = finding("eer", 0.1, 0.2)
    assert summary_rows([alone])[1] == [["lazy *", "1", "15.0 % [10.0, 20.0]", "46.0 %", "-", "-", "-", "exposed"]]
    single = [finding("singling_out", 0.3, 0.5, N=n, L=length) for n in (5, 20) for length in (1, 3)]
    head, rows = other_rows([alone, *single])
    assert rows == [["b2", "lazy", "Singling Out (legal)", "L=1 N=20", "40.0 % [30.0, 50.0]", "37.0 %", "20", "0"]]
    assert len(head) == len(rows[0]) and other_rows([alone])[1] == []


def test_a_risk_below_chance_is_said_as_such() -> None:
    below = risk_statement(finding("linkability", 0.0, 0.04, N=20))
    assert below.tone == "unproven" and below.sentence.endswith("5.0 %: below chance, I do worse than guessing.”")
    few = risk_statement(finding("linkability", math.nan, math.nan, N=20))
    assert few.tone == "undecided" and "too few speakers for an interval" in few.sentence


# -- is a method protected? The rule at the top of verdicts.py, as laws


def at(share: float, *, half_wide: float = 0.04, metric: str = "linkability", **conditions: Any) -> Finding:
    """An attack that keeps this share of the unprotected risk; guessing is 0, ``BARE`` is 1."""
    chance, bare = CHANCE[metric], BARE[metric]
    value = chance + share * (bare - chance)
    where = {"N": 20} if metric == "linkability" else {}
    return finding(metric, value - half_wide, value + half_wide, **(where | conditions))


BARE = {"linkability": 0.95, "eer": 0.04}
UNPROTECTED = [
    finding("linkability", 0.95, 0.95, N=20, anonymizer="original", knowledge="original", L=length) for length in (1, 3)
] + [finding("eer", 0.04, 0.04, anonymizer="original", knowledge="original", L=length) for length in (1, 3)]


def judged(*attacks: Finding, originals: list[Finding] = UNPROTECTED) -> MethodVerdict:
    (found,) = judged_methods([*originals, *attacks])
    return found


INFORMED: dict[str, Any] = {"attacker": "informed", "knowledge": "informed"}
UNKNOWN = finding("linkability", math.nan, math.nan, N=20)


@pytest.mark.parametrize(
    ("attacks", "expected", "learned"),
    [
        ([at(0.0)], "protected", False),
        ([at(0.0), at(0.0, **INFORMED)], "protected", True),
        ([at(0.0), at(0.0, attacker="s", knowledge="semi-informed")], "protected", True),
        ([at(-0.05, half_wide=0.001)], "protected", False),
        ([at(0.0), UNKNOWN], "not decided", False),
        ([UNKNOWN], "not decided", False),
        ([at(0.2, half_wide=0.26)], "protected", False),  # of the unprotected risk less than half may remain
        ([at(0.2, half_wide=0.28)], "not decided", False),  # 51 %: nothing is shown, and nothing is shown to be hidden
        ([at(0.3, half_wide=0.15, metric="eer", **INFORMED)], "not decided", True),
        ([at(0.3)], "partly protected", False),
        ([at(0.49), at(0.0, **INFORMED)], "partly protected", True),
        ([at(0.51)], "not protected", False),
        ([at(0.51), UNKNOWN], "not protected", False),
        ([at(0.3, metric="eer")], "partly protected", False),
        ([at(0.7, metric="eer")], "not protected", False),
        ([at(0.0), at(0.7, metric="eer")], "not protected", False),
        ([at(0.2), at(0.7, metric="eer")], "partly protected", False),  # linking decides where it works
        ([at(1.02)], "not protected", False),
    ],
)
def test_a_method_is_protected_partly_or_not(attacks: list[Finding], expected: Protection, learned: bool) -> None:
    for order in itertools.permutations(attacks):
        found = judged(*order)
        assert (found.protection, found.learned) == (expected, learned)
        assert found.statement.tone == PROTECTION_TONES[expected]
        assert found.label.startswith(f"b2: voice {expected}") and found.text.startswith(f"{found.label}. ")
        assert ("was not played" in found.sentence) == (expected == "protected" and not learned)
        assert found.text.endswith(".") and ".." not in found.text.replace("...", "")


def test_few_people_prove_no_protection() -> None:
    found = judged(at(0.2, half_wide=0.29))
    assert found.sentence.startswith(
        "Nobody who was played (lazy) is shown to do better than guessing, but so few people were attacked that up to "
        "52.2 % of the unprotected risk may remain."
    )
    assert found.next_step.startswith("attack more people")
    assert judged(at(0.2, half_wide=0.29), originals=[]).protection == "protected", "nothing to compare with"


@given(st.floats(0.0, 1.1), st.floats(0.0, 1.1), st.booleans())
def test_a_stronger_attack_never_makes_a_method_safer(one: float, two: float, exact: bool) -> None:
    order = ("protected", "partly protected", "not protected")
    wide = 0.0 if exact else 0.04
    alone = judged(at(one, half_wide=wide))
    both = judged(at(one, half_wide=wide), at(two, half_wide=wide, **INFORMED))
    assert alone.protection == "protected" or both.protection != "protected"
    if both.protection != "not decided":  # one attack more makes a result that is just beyond chance less certain
        assert order.index(both.protection) >= order.index(alone.protection)


@given(st.floats(0.0, 1.0), st.sampled_from(["linkability", "eer"]))
def test_what_remains_is_nothing_at_chance_and_all_without_protection(share: float, metric: str) -> None:
    bare = next(f for f in UNPROTECTED if f.metric.name == metric)
    assert remaining(at(share, metric=metric), bare) == pytest.approx(share, abs=1e-9)
    mirrored = remaining(at(share, metric=metric), bare, value=CHANCE[metric])
    assert mirrored == 0.0


def test_without_unprotected_speech_any_success_means_not_protected() -> None:
    found = judged(at(0.1, half_wide=0.01), originals=[])
    assert found.protection == "not protected" and found.unprotected is None and math.isnan(found.share)
    assert "without protection" not in found.sentence
    other = [finding("linkability", 0.95, 0.95, N=20, anonymizer="original", L=9)]
    assert judged(at(0.1, half_wide=0.01), originals=other).unprotected is None, "compared at the same L and N only"
    easy = [finding("linkability", 0.01, 0.03, N=20, anonymizer="original")]
    assert judged(at(0.1, half_wide=0.01), originals=easy).protection == "not protected", (
        "nothing to lose is no measure"
    )


def test_the_words_name_whom_and_every_number() -> None:
    found = judged(at(0.7, L=3, **INFORMED), at(0.2), at(0.0, attacker="ignorant", knowledge="ignorant"))
    assert found.better == ["informed", "lazy"] and found.played == ["informed", "lazy", "ignorant"]
    assert found.sentence == (
        "Better than guessing: informed and lazy; not shown to be: ignorant. From 3 utterances the informed attacker "
        "picks the right person out of 20 in 68.0 % [64.0, 72.0] of cases; guessing gives 5.0 %, speech without "
        "protection 95.0 %. Of the unprotected risk 70.0 % remains."
    )
    assert "--strength strong" in found.next_step and "--strength balanced" in found.next_step
    (best,) = judged_methods([at(0.9, anonymizer="balanced")])
    assert "--strength strong" in best.next_step and "balanced" not in best.next_step, "nobody is sent where they are"
    for name in ("strong", "cascade"):
        (last,) = judged_methods([at(0.9, anonymizer=name)])
        assert "--strength" not in last.next_step and "fewer utterances" in last.next_step
    assert "fewer utterances" in judged(at(0.3)).next_step and "--train" in judged(at(0.0)).next_step
    assert "more people" in judged(UNKNOWN).next_step and "more people" in judged(at(0.0, **INFORMED)).next_step


def test_original_speech_is_something_to_compare_with_not_a_failure() -> None:
    said = risk_statement(UNPROTECTED[0])
    assert said.tone == "plain" and said.heading == "To compare with" and said.sentence.startswith("Without protection")
    assert not judged_methods(UNPROTECTED)


def by_test(p: float, attacker: str, metric: str = "eer") -> Finding:
    """An attack whose test says how likely a guesser does as well."""
    plain = finding(metric, 0.3, 0.5, attacker=attacker)
    return replace(plain, p_better=p, p_worse=1 - p)


def test_the_test_decides_where_there_is_one() -> None:
    assert [outcome(by_test(p, "lazy")) for p in (0.025, 0.026, 0.976)] == ["exposed", "not shown", "below chance"]
    assert outcome(by_test(math.nan, "lazy")) == "undecided"


def test_the_strongest_of_many_attacks_is_judged_among_all_of_them() -> None:
    """0.02 is beyond 0.025 by itself, and not among four: 0.025 / 4; Holm lets a second one follow a first."""
    others = [by_test(0.5, name) for name in ("a", "b", "c")]
    (alone,) = judged_methods([by_test(0.02, "lazy")])
    assert alone.protection == "not protected" and alone.better == ["lazy"]
    (among,) = judged_methods([by_test(0.02, "lazy"), *others])
    assert among.protection == "not decided" and among.better == []
    assert "By itself an attack of lazy does better than guessing, but 4 attacks" in among.sentence
    assert verdict([by_test(0.02, "lazy"), *others]) == "undecided"
    (strong,) = judged_methods([by_test(0.006, "lazy"), by_test(0.008, "d"), *others[:2]])
    assert strong.better == ["lazy", "d"], "0.025 / 4, then 0.025 / 3"
    (weak,) = judged_methods([by_test(0.006, "lazy"), by_test(0.009, "d"), *others[:2]])
    assert weak.better == ["lazy"]
