"""Methods side by side: one row each, the strongest attack's own numbers, and the price in words and quality."""

from __future__ import annotations

from typing import Any

from personare.core.findings import Estimate, Finding
from personare.metrics import card
from personare.reports.comparison import comparison_rows


def _finding(metric: str, method: str, value: float, chance: float | None = None, **conditions: Any) -> Finding:
    wide = Estimate(value, value - 0.02, value + 0.02, 20)
    return Finding(card(metric), wide, {"corpus": "voices", "anonymizer": method} | conditions, chance=chance)


def _attacks(method: str, attacker: str, length: int, linked: float, eer: float) -> list[Finding]:
    who: dict[str, Any] = {"attacker": attacker, "knowledge": attacker, "L": length}
    return [
        _finding("linkability", method, linked, 0.05, N=20, **who),
        _finding("linkability", method, 0.99, 0.5, N=2, **who),
        _finding("eer", method, eer, 0.46, **who),
    ]


FINDINGS = [
    *_attacks("good", "ignorant", 1, 0.06, 0.20),
    *_attacks("good", "lazy-informed", 3, 0.30, 0.30),
    *_attacks("bad", "ignorant", 1, 0.90, 0.08),
    *_attacks("bad", "lazy-informed", 1, 0.80, 0.04),
    *_attacks("original", "ignorant", 1, 1.0, 0.01),
    *_attacks("original", "ignorant", 3, 0.99, 0.02),
    _finding("wer", "good", 0.2, listener="moonshine"),
    _finding("wer", "original", 0.1, listener="moonshine"),
]


def test_the_row_shows_the_strongest_attack_with_its_own_error_rate_and_the_price() -> None:
    head, rows = comparison_rows(FINDINGS)
    assert [" ".join(name.split()) for name in head] == [
        *(
            "method",
            "protected",
            "strongest attacker",
            "L",
            "linked, of 20 chance 5.0 % [95 %]",
            "EER [95 %]",
            "words wrong",
        ),
    ]
    assert rows == [
        ["unprotected", "-", "ignorant", "1", "100.0 % [98.0, 102.0]", "1.0 % [-1.0, 3.0]", "10.0 %"],
        ["good", "partly", "lazy-informed", "3", "30.0 % [28.0, 32.0]", "30.0 % [28.0, 32.0]", "20.0 %"],
        ["bad", "no", "ignorant", "1", "90.0 % [88.0, 92.0]", "8.0 % [6.0, 10.0]", "-"],
    ], "original first; the error rate of the attack that links most, not the best of any other"


def test_who_was_attacked_by_nobody_who_had_learnt_is_protected_only_so_far() -> None:
    def answer(attacker: str) -> str:
        _, rows = comparison_rows(
            [*_attacks("good", attacker, 1, 0.05, 0.46), *_attacks("original", "ignorant", 1, 1, 0)]
        )
        return rows[1][1]

    assert answer("lazy-informed") == "so far"
    assert answer("informed") == "yes"


def test_several_corpora_stand_in_front_and_a_method_nobody_attacked_has_a_row() -> None:
    elsewhere = [_finding("wer", "good", 0.5, corpus="calls", listener="moonshine")]
    head, rows = comparison_rows([*FINDINGS, *elsewhere])
    assert head[0] == "corpus"
    assert ["calls", "good", "-", "-", "-", "-", "-", "50.0 %"] in rows
