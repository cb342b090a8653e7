"""Two risks in every verdict, by voice and by words; and marks that never promise more than the whole verdict does."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from personare.api.results import Findings, Results
from personare.core.findings import WORDS_NOT_MEASURED, Estimate, Finding
from personare.metrics import card
from personare.reports.blocks import Statements
from personare.reports.comparison import comparison_rows
from personare.reports.palette import LIGHT
from personare.reports.protection import linked_every_time
from personare.reports.report import page_of_run
from personare.reports.run import read_run
from personare.reports.sections.choosing import risk_above_chance, strongest, strongest_attack
from personare.reports.summary import summary_rows
from personare.reports.verdict_figure import COLOURS
from personare.reports.verdicts import MethodVerdict, judged_methods
from reports.runs import write_evaluation
from reports.test_verdicts import INFORMED, UNKNOWN, UNPROTECTED, at, finding

WORDS: dict[str, Any] = {"attacker": "words", "knowledge": "ignorant", "risk": "words"}


def judged(*attacks: Finding, notes: tuple[str, ...] = ()) -> MethodVerdict:
    (found,) = judged_methods([*UNPROTECTED, *attacks], notes)
    return found


def always(attack: Finding, linked: int, guessed: float) -> Finding:
    return replace(attack, conditions={**attack.conditions, "always_linked": linked, "always_guessed": guessed})


def test_words_never_change_the_verdict_on_the_voice() -> None:
    for share in (0.0, 0.3, 0.9):
        alone = judged(at(share, **INFORMED))
        both = judged(at(share, **INFORMED), at(0.99, **WORDS))
        assert (alone.protection, alone.sentence) == (both.protection, both.sentence)
        assert not alone.words.identifies and both.words.identifies
        assert alone.label == f"b2: voice {alone.protection}"
        assert both.label == f"{alone.label}, words identify people"
    assert judged(at(0.0, **INFORMED)).tone == "not-shown"
    assert judged(at(0.0, **INFORMED), at(0.0, **WORDS)).tone == "not-shown"
    exposed = judged(at(0.0, **INFORMED), at(0.99, **WORDS))
    assert exposed.protection == "protected" and exposed.tone == exposed.statement.tone == "partly", "not green"


def test_both_numbers_have_their_attacker_interval_chance_and_size() -> None:
    found = judged(at(0.0, **INFORMED), at(0.9, L=3, **WORDS), at(0.5, **WORDS))
    assert found.words.sentence == (
        "By words: from 3 utterances the attacker 'words' picks the right person out of 20 in 86.0 % [82.0, 90.0] of "
        "cases; guessing gives 5.0 %. Anonymizing the voice does not change the words."
    )
    assert found.both_risks.startswith("By voice: nobody who was played (informed)")
    row = found.as_row()
    assert row["by_voice"]["attacker"] == "informed" and row["by_voice"]["chance"] == 0.05
    known = {name: row["by_words"][name] for name in ("measured", "attacker", "L", "N", "shown")}
    assert known == {"measured": True, "attacker": "words", "L": 3, "N": 20, "shown": "exposed"}
    assert row["by_words"]["low"] < row["by_words"]["value"] < row["by_words"]["high"]
    assert json.loads(json.dumps(row, allow_nan=False)) == row
    assert "no change of the voice hides" in found.next_step


@pytest.mark.parametrize(
    ("notes", "reason"),
    [
        ((), "no attacker read the words."),
        ((f"A. {WORDS_NOT_MEASURED} the corpus has no texts. B.",), "the corpus has no texts."),
    ],
)
def test_words_that_nobody_read_are_said_with_the_reason(notes: tuple[str, ...], reason: str) -> None:
    found = judged(at(0.0, **INFORMED), notes=notes)
    assert found.words.sentence == f"{WORDS_NOT_MEASURED} {reason}" and found.words.sentence in found.text
    assert found.as_row()["by_words"]["measured"] is False


def test_a_voice_that_nobody_heard_is_not_decided() -> None:
    found = judged(at(0.9, **WORDS))
    assert found.protection == "not decided" and found.strongest is None and found.words.identifies
    assert "No attacker heard the voice." in found.sentence and found.as_row()["by_voice"]["measured"] is False


def test_people_who_are_linked_every_time_are_never_protected() -> None:
    average = at(0.0, **INFORMED)
    assert judged(always(average, 2, 1.0)).protection == "protected", "as many as guessing links"
    exposed = judged(always(average, 6, 1.0))
    assert exposed.protection == "partly protected" and exposed.tone == "partly"
    assert "On average nobody" in exposed.sentence and "6 of 20 people are linked every time." in exposed.sentence
    assert judged(always(at(0.9), 1, 0.01)).sentence.endswith("1 of 20 people is linked every time.")


@pytest.mark.parametrize(("people", "tested"), [(8, 8), (20, 20), (100, 20)])
def test_a_guesser_is_rarely_said_to_link_people_every_time(people: int, tested: int) -> None:
    """All tests of a person are guessed alike, as one pseudo-speaker makes them: at most 2.5 % of runs are alarms."""
    rng = np.random.default_rng(5)
    linked = [int((rng.permutation(people)[:tested] == np.arange(tested)).sum()) for _ in range(4000)]
    found = [linked_every_time([always(at(0.0), count, tested / people)]) for count in linked]
    assert np.mean([bool(one) for one in found]) <= 0.025
    assert linked_every_time([always(at(0.0), tested // 2 + 2, tested / people)]), "half of them are beyond it"


SHARES = st.sampled_from([0.0, 0.3, 0.6, 1.0])
WIDTHS = st.sampled_from([0.04, 0.3, 0.6])


@given(
    SHARES, WIDTHS, st.sampled_from([0, 1, 6, 20]), st.sampled_from([0.1, 1.0]), SHARES, WIDTHS, *[st.booleans()] * 3
)
@settings(max_examples=300)
def test_marks_and_words_of_any_verdict(
    voice: float,
    voice_wide: float,
    linked: int,
    guessed: float,
    words: float,
    words_wide: float,
    learned: bool,
    read: bool,
    unknown: bool,
) -> None:
    attacks = [always(at(voice, half_wide=voice_wide, **(INFORMED if learned else {})), linked, guessed)]
    attacks += [at(words, half_wide=words_wide, **WORDS)] if read else []
    attacks += [UNKNOWN] if unknown else []
    found = judged(*attacks)
    everything = " ".join([found.text, found.statement.sentence, json.dumps(found.as_row())])
    if found.protection in ("protected", "not decided"):
        assert "every time" not in everything
    if "every time" in everything:
        assert found.protection in ("partly protected", "not protected")
        assert "voice protected" not in found.label
    green = found.protection == "protected" and not found.words.identifies
    assert (found.tone == "not-shown") == green == (COLOURS[found.tone] == LIGHT["good"])
    if found.protection == "not decided":
        assert found.tone == "undecided" and COLOURS[found.tone] == LIGHT["soft"]
    assert ("words identify people" in found.label) == found.words.identifies
    answer = comparison_rows([*UNPROTECTED, *attacks])[1][1 + read]
    assert (answer[2 if read else 1] in ("yes", "so far")) == (found.protection == "protected")


@pytest.mark.parametrize("known", [0.0, 0.02, 0.1, 0.3, 1.2])
@pytest.mark.parametrize("wide", [0.02, 0.1, 0.5])
def test_no_green_mark_below_a_verdict_that_is_not_green(tmp_path: Path, known: float, wide: float) -> None:
    folder = write_evaluation(tmp_path, left={"ignorant": known, "lazy-informed": known})
    run = read_run(folder)
    wider = [replace(f, estimate=_widened(f.estimate, wide)) for f in run.findings]
    run = replace(run, findings=tuple(wider))
    (verdict,) = judged_methods(run.findings)
    page = page_of_run(run, sounds="none")
    tones = {one.tone for block in page.blocks() if isinstance(block, Statements) for one in block.statements}
    assert ("not-shown" in tones) == (verdict.tone == "not-shown")
    text = " ".join(one.sentence for b in page.blocks() if isinstance(b, Statements) for one in b.statements)
    assert "every time" not in text or verdict.protection in ("partly protected", "not protected")


def _widened(estimate: Estimate, by: float) -> Estimate:
    return replace(estimate, low=min(estimate.low, estimate.value - by), high=max(estimate.high, estimate.value + by))


# -- strongest: one scale, everywhere


def test_the_risk_above_chance_is_zero_by_guessing_and_one_for_a_perfect_attack() -> None:
    assert risk_above_chance(finding("linkability", 0.05, 0.05)) == pytest.approx(0.0)
    assert risk_above_chance(finding("linkability", 1.0, 1.0)) == pytest.approx(1.0)
    assert risk_above_chance(finding("eer", 0.46, 0.46)) == pytest.approx(0.0)
    assert risk_above_chance(finding("eer", 0.0, 0.0)) == pytest.approx(1.0)
    assert risk_above_chance(finding("eer", 0.23, 0.23)) == pytest.approx(0.5)
    assert np.isnan(risk_above_chance(Finding(card("linkability"), Estimate(0.5, 0, 1, 9))))


def test_the_strongest_is_compared_above_its_own_chance() -> None:
    """An EER of 38 % where guessing gives 39 % is weaker than one of 40 % where guessing gives 48 %."""
    few = replace(finding("eer", 0.38, 0.38, L=3), chance=0.39)
    many = replace(finding("eer", 0.40, 0.40, L=1), chance=0.48)
    assert strongest([few, many]) is many and strongest_attack([many, few]) is many


def test_every_place_names_the_same_strongest_attack_of_each_risk() -> None:
    attacks = [
        *(at(0.2, attacker="lazy"), at(0.4, L=3, attacker="lazy"), at(0.3, **INFORMED)),
        *(at(0.7, **WORDS), at(0.9, L=3, **WORDS), at(0.6, attacker="words, trained", risk="words")),
    ]
    found = judged(*attacks)
    results = Findings((*UNPROTECTED, *attacks))
    assert found.strongest is results.strongest() is attacks[1]
    assert found.words.strongest is results.strongest(by="words") is attacks[4]
    marked = [row[:2] for row in summary_rows([*UNPROTECTED, *attacks])[1] if row[0].endswith("*")]
    assert marked == [["lazy *", "3"], ["words *", "3"]]
    rows = comparison_rows([*UNPROTECTED, *attacks])[1]
    assert [row[1:5] for row in rows[2:]] == [["voice", "partly", "lazy", "3"], ["words", "no", "words", "3"]]
    told = Results((*UNPROTECTED, *attacks), Path()).to_json()["verdicts"][0]
    assert (told["by_voice"]["attacker"], told["by_words"]["attacker"]) == ("lazy", "words")
