"""Curves over the number of people: each depends on its own attacker and L only; what cannot be measured is said."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from personare.core.errors import MetricError, TableError
from personare.core.tables import Embeddings
from personare.pipeline.curves import VectorPair, link_curves, single_out_curves


def vectors(name: str, *, people: int = 25, each: int = 8, noise: float = 1.0, seed: int = 0) -> Embeddings:
    voice = np.random.default_rng(99).standard_normal((people, 12))
    heard = np.repeat(voice, each, axis=0) + noise * np.random.default_rng(seed).standard_normal((people * each, 12))
    ids = tuple(f"{name}{i:03d}" for i in range(len(heard)))
    return Embeddings(ids, tuple(f"s{i:02d}" for i in range(people) for _ in range(each)), heard.astype(np.float32))


ONE = VectorPair(vectors("t", seed=1), vectors("e", seed=2))
TWO = VectorPair(vectors("t", seed=3, noise=4.0), vectors("e", seed=4))
PROTOCOL: dict[str, Any] = {"predicates": 10, "draws": 2, "folds": 4}


def test_another_attacker_or_length_changes_no_other_curve() -> None:
    alone = link_curves({"one": ONE}, lengths=[2], paper=True)
    both = link_curves({"two": TWO, "one": ONE}, lengths=[1, 2], paper=True)
    same = [f for f in both.findings if f.conditions["attacker"] == "one" and f.conditions["L"] == 2]
    assert list(alone.findings) == same
    single = single_out_curves({"one": ONE}, lengths=[2], **PROTOCOL)
    more = single_out_curves({"two": TWO, "one": ONE}, lengths=[1, 2], **PROTOCOL)
    assert list(single.findings) == [f for f in more.findings if f.conditions["attacker"] == "one"][-2:]


def test_the_order_of_rows_changes_nothing_and_the_seed_something() -> None:
    order = np.random.default_rng(5).permutation(len(ONE.test.ids))
    shuffled = VectorPair(ONE.test.rows(order), ONE.enroll.rows(order))
    for curves, how in ((link_curves, {"paper": True}), (single_out_curves, PROTOCOL)):
        first = curves({"one": ONE}, lengths=[1, 2], **how)
        assert curves({"one": shuffled}, lengths=[1, 2], **how) == first
        assert curves({"one": ONE}, lengths=[1, 2], seed=2, **how).findings != first.findings


def test_the_papers_sampling_is_one_test_each_and_another_number() -> None:
    exact, paper = (link_curves({"one": TWO}, lengths=[1], paper=paper).findings for paper in (False, True))
    assert [f.conditions["N"] for f in exact] == [f.conditions["N"] for f in paper] == [20, 25]
    assert {f.estimate.n for f in (*exact, *paper)} == {25}
    values = [f.estimate.value * 25 for f in paper]
    assert values[1] == pytest.approx(round(values[1])), "of 25 tests, so many were linked among all 25"
    assert exact[0].estimate.value != paper[0].estimate.value


def test_lengths_nobody_can_fill_are_notes_and_all_of_them_an_error() -> None:
    found = link_curves({"one": ONE}, lengths=[1, 30])
    assert found.notes == (
        "one, L = 30: not measured, needs a speaker, tested and enrolled, with 1 x L utterances under test",
    )
    with pytest.raises(MetricError, match="the most are 8"):
        link_curves({"one": ONE}, lengths=[30])
    with pytest.raises(MetricError, match="2 x L utterances"):
        single_out_curves({"one": ONE}, lengths=[5], **PROTOCOL)


def test_numbers_of_people_that_are_not_there_are_never_dropped_in_silence() -> None:
    with pytest.raises(MetricError, match="N = 26 is impossible, 25 speakers are enrolled"):
        link_curves({"one": ONE}, lengths=[1], sizes=[5, 26])
    fewer = VectorPair(ONE.test.rows(range(15 * 8)), ONE.enroll)  # 25 are enrolled, 15 of them tested
    found = single_out_curves({"one": fewer}, lengths=[1], sizes=[5, 20], **PROTOCOL)
    assert {f.conditions["N"] for f in found.findings} == {5}
    assert "one, L = 1: N = 20 is left out of Singling Out, 15 people have two tests" in found.notes


def test_a_forecast_that_cannot_be_made_leaves_the_measured_curve() -> None:
    clear = VectorPair(vectors("t", noise=0.01, seed=1), vectors("e", noise=0.01, seed=2))
    found = link_curves({"clear": clear}, lengths=[1], populations=[10**6])
    assert {f.metric.name for f in found.findings} == {"linkability"}
    assert "no forecast, because no test was beaten" in found.notes[0]
    forecast = link_curves({"two": TWO}, lengths=[1], populations=[10**6])
    assert forecast.findings[-1].metric.name == "population_linkability"
    too_few = "not checkable, fewer than 200 enrolled: too few speakers for an interval"
    assert f"{too_few}; supported up to 25 people" in forecast.notes[0]


def test_risks_name_every_tested_speaker_and_the_mean_of_them_is_the_number() -> None:
    found = link_curves({"one": TWO}, lengths=[1])
    assert sorted(found.risks[0].speakers) == [f"s{i:02d}" for i in range(25)]
    assert found.risks[0].people == 25
    assert np.mean(list(found.risks[0].speakers.values())) == pytest.approx(found.findings[-1].estimate.value)


def test_people_who_are_not_enrolled_cannot_be_linked_and_that_is_said() -> None:
    some = VectorPair(ONE.test, ONE.enroll.rows(range(20 * 8)))
    found = link_curves({"one": some}, lengths=[1])
    assert found.findings[-1].conditions["N"] == found.findings[-1].estimate.n == 20
    assert found.notes == ("one, L = 1: 5 tested speakers are not enrolled and cannot be linked",)
    nobody = replace(ONE.enroll, speakers=tuple(f"x{who}" for who in ONE.enroll.speakers))
    with pytest.raises(MetricError, match="needs a speaker, tested and enrolled"):
        link_curves({"one": VectorPair(ONE.test, nobody)}, lengths=[1])


def test_a_control_attacks_people_who_are_not_in_the_data() -> None:
    lone = single_out_curves({"one": ONE}, lengths=[1], control=True, **PROTOCOL)
    assert any("no number of people in common" in note for note in lone.notes)
    sized = single_out_curves({"one": ONE}, lengths=[1], sizes=[10], control=True, **PROTOCOL)
    assert any("(control): the data add" in note for note in sized.notes)
    without = single_out_curves({"one": ONE}, lengths=[1], sizes=[10], **PROTOCOL)
    assert without.findings == sized.findings, "the control changes nothing of the attack"


def test_pairs_that_do_not_fit_are_refused() -> None:
    with pytest.raises(TableError, match="must not share utterances; 200 utterances"):
        VectorPair(ONE.test, ONE.test)
    narrow = Embeddings(("x",), ("s00",), np.ones((1, 3), dtype=np.float32))
    with pytest.raises(TableError, match="12 dimensions, enrolment vectors 3"):
        VectorPair(ONE.test, narrow)
