"""Legal curves: a curve depends on its own attacker and length only; what cannot be measured is said, not dropped."""

from __future__ import annotations

import numpy as np
import pytest

from personare.core.errors import MetricError, PersonareError, TableError
from personare.core.tables import Embeddings
from personare.pipeline.legal_curves import Pair, link_curves, single_out_curves
from personare.reports.risk_curves import save_curves


def heard(name: str, *, people: int = 25, each: int = 8, noise: float = 1.0, seed: int = 0) -> Embeddings:
    voice = np.random.default_rng(99).standard_normal((people, 12))
    vectors = np.repeat(voice, each, axis=0) + noise * np.random.default_rng(seed).standard_normal((people * each, 12))
    ids = tuple(f"{name}{i}" for i in range(len(vectors)))
    return Embeddings(ids, tuple(f"s{i:02d}" for i in range(people) for _ in range(each)), vectors.astype(np.float32))


ONE = Pair(heard("t", seed=1), heard("e", seed=2))
TWO = Pair(heard("t", seed=3, noise=4.0), heard("e", seed=4))
PROTOCOL = {"predicates": 10, "draws": 2, "folds": 4}


def test_another_attacker_or_length_changes_no_other_curve() -> None:
    alone = link_curves({"one": ONE}, lengths=[2], paper=True)
    both = link_curves({"two": TWO, "one": ONE}, lengths=[1, 2], paper=True)
    same = [f for f in both.findings if f.conditions["attacker"] == "one" and f.conditions["L"] == 2]
    assert list(alone.findings) == same
    single = single_out_curves({"one": ONE}, lengths=[2], **PROTOCOL)  # type: ignore[arg-type]
    more = single_out_curves({"two": TWO, "one": ONE}, lengths=[1, 2], **PROTOCOL)  # type: ignore[arg-type]
    assert list(single.findings) == [f for f in more.findings if f.conditions["attacker"] == "one"][-2:]


def test_lengths_nobody_can_fill_are_notes_and_all_of_them_an_error() -> None:
    found = link_curves({"one": ONE}, lengths=[1, 30])
    assert found.notes == (
        "one, L = 30: not measured, needs a speaker, tested and enrolled, with 1 x L utterances under test",
    )
    with pytest.raises(MetricError, match="the most are 8"):
        link_curves({"one": ONE}, lengths=[30])
    with pytest.raises(MetricError, match="2 x L utterances"):
        single_out_curves({"one": ONE}, lengths=[5], **PROTOCOL)  # type: ignore[arg-type]


def test_a_forecast_that_cannot_be_made_leaves_the_measured_curve() -> None:
    clear = Pair(heard("t", noise=0.01, seed=1), heard("e", noise=0.01, seed=2))
    found = link_curves({"clear": clear}, lengths=[1], populations=[10**6])
    assert {f.metric.name for f in found.findings} == {"linkability"}
    assert "no forecast, because no test was beaten" in found.notes[0]
    foretold = link_curves({"two": TWO}, lengths=[1], populations=[10**6])
    assert foretold.findings[-1].metric.name == "population_linkability"
    assert "not checkable, fewer than 200 enrolled; supported up to 25 people" in foretold.notes[0]


def test_risks_name_every_tested_speaker() -> None:
    found = link_curves({"one": ONE}, lengths=[1])
    assert sorted(found.risks[0].speakers) == [f"s{i:02d}" for i in range(25)]
    assert found.risks[0].people == 25


def test_a_control_without_common_sizes_says_so() -> None:
    found = single_out_curves({"one": ONE}, lengths=[1], control=True, **PROTOCOL)  # type: ignore[arg-type]
    assert any("no number of people in common" in note for note in found.notes)


def test_pairs_that_do_not_fit_are_refused() -> None:
    with pytest.raises(TableError, match="must not share utterances; 200 utterances"):
        Pair(ONE.test, ONE.test)
    narrow = Embeddings(("x",), ("s00",), np.ones((1, 3), dtype=np.float32))
    with pytest.raises(TableError, match="12 dimensions, enrolment vectors 3"):
        Pair(ONE.test, narrow)


def test_the_plot_of_nothing_is_refused(tmp_path_factory: pytest.TempPathFactory) -> None:
    with pytest.raises(PersonareError, match="nothing to draw"):
        save_curves([], tmp_path_factory.mktemp("plots") / "a.png", title="x")
