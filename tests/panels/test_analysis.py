"""Simulated evaluators of known habits: the analysis finds what they do, and names who does not listen."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from panels.pools import Habit, silent_panel, simulate
from personare.core.errors import ConfigError, MetricError
from personare.core.findings import Finding
from personare.panels.folder import PlannedTrial, read_panel
from personare.pipeline.jobs.panel_analysis import AnalyzedPanel, analyze_panel, export_panel
from personare.reports.report import write_run_report
from personare.reports.run import read_run

# how alike target speech sounds, and how natural speech is, on a scale from 1 to 10; other speech sounds alike by 3
SIMILAR = {"original": 8.0, "b1": 3.0, "b2": 5.5}
NATURAL = {"original": 8.0, "b1": 4.0, "b2": 6.0}
FOUND = {"original": 0.61, "b1": 0.51, "b2": 0.55}


def rater(habit: float) -> Habit:
    """Somebody who rates everything higher, or lower, than others do."""

    def answer(trial: PlannedTrial, rng: np.random.Generator) -> dict[str, Any]:
        alike = SIMILAR[trial.system] if trial.target else 3.0
        alike = {"same recording": 10.0, "other gender": 1.0}.get(trial.check, alike)
        means = {"similarity": alike, "naturalness": NATURAL[trial.system], "intelligibility": NATURAL[trial.system]}
        spread = 0.0 if trial.check else 1.5
        return {k: int(np.clip(round(m + habit + spread * rng.standard_normal()), 1, 10)) for k, m in means.items()}

    return answer


def chooser(trial: PlannedTrial, rng: np.random.Generator) -> dict[str, Any]:
    right = bool(trial.check) or rng.random() < FOUND[trial.system]
    return {"choice": trial.answer if right else "AB".replace(trial.answer, "")}


def clusterer(trial: PlannedTrial, rng: np.random.Generator) -> dict[str, Any]:
    """Puts original speech together without a mistake, and guesses about anonymized speech."""
    speakers = sorted({s.speaker for s in trial.stimuli})
    right = {s.token: 1 + speakers.index(s.speaker) for s in trial.stimuli}
    guessed = {s.token: int(rng.integers(1, 5)) for s in trial.stimuli}
    moves = 0 if trial.system == "original" else 8
    return {"clusters": right if trial.system == "original" else guessed, "moves": moves}


def opinion(trial: PlannedTrial, rng: np.random.Generator) -> dict[str, Any]:
    if trial.check == "noise":
        return {"naturalness": 1, "intelligibility": 1}
    mean = {"original": 4.5, "b1": 3.15, "b2": 3.76}[trial.system]
    return {k: int(np.clip(np.floor(mean + rng.random()), 1, 5)) for k in ("naturalness", "intelligibility")}


def only(found: AnalyzedPanel, metric: str, system: str, **where: str) -> Finding:
    same = [
        f
        for f in found.findings
        if f.metric.name == metric
        and f.conditions["anonymizer"] == system
        and all(f.conditions.get(k) == v for k, v in where.items())
    ]
    assert len(same) == 1, (metric, system, where, len(same))
    return same[0]


def test_unified_recovers_what_evaluators_of_different_habits_hear(tmp_path: Path) -> None:
    panel = silent_panel(tmp_path, "unified", sessions=10)
    simulate(panel, [rater(habit) for habit in np.linspace(-1, 1, 30)])
    found = analyze_panel(tmp_path)
    assert not found.inattentive and not found.notes
    eers = {s: only(found, "eer_people", s).estimate for s in SIMILAR}
    assert eers["original"].high < eers["b2"].low < eers["b2"].high < eers["b1"].low, "unlike, less alike, alike"
    assert eers["b1"].value > 0.44 and eers["original"].value < 0.15 and eers["b1"].n == 30
    # the truth for two normal curves 5 and 2.5 apart with spread 1.5, roughly: Phi(-5/3) and Phi(-2.5/3)
    assert eers["original"].value == pytest.approx(0.048, abs=0.035) and eers["b2"].value == pytest.approx(
        0.2, abs=0.05
    )
    above = {s: only(found, "rated_above", s, scale="naturalness") for s in ("b1", "b2")}
    assert above["b1"].estimate.high < above["b2"].estimate.value < above["b2"].estimate.high < 0.5
    assert float(above["b1"].conditions["p"]) < 1e-6
    ranks = [only(found, "naturalness", s).estimate.value for s in ("b1", "b2", "original")]
    assert ranks == sorted(ranks)
    least = {s: only(found, "min_cllr_people", s).estimate for s in SIMILAR}
    assert least["original"].high < least["b2"].low < least["b2"].high < least["b1"].value <= 1.0
    for system in SIMILAR:  # someone else's formula, on the very ranks
        rated = pl.read_parquet(found.folder / "artefacts" / "ratings.parquet").filter(
            (pl.col("scale") == "similarity") & (pl.col("anonymizer") == system)
        )
        t, n = (rated.filter(pl.col("target") == target)["rank"].to_numpy() for target in (True, False))
        by_hand = (np.log2(1 + np.exp(-t)).mean() + np.log2(1 + np.exp(n)).mean()) / 2
        assert only(found, "cllr_people", system).estimate.value == pytest.approx(by_hand, abs=1e-12)
    similarity = [only(found, "similarity", s, trials="nontarget").estimate.value for s in SIMILAR]
    assert max(similarity) - min(similarity) < 0.06, "other people sound unlike in any case"


def test_abx_recovers_the_probabilities_of_the_paper(tmp_path: Path) -> None:
    panel = silent_panel(tmp_path, "abx", sessions=20)
    simulate(panel, [chooser] * 120)
    found = analyze_panel(tmp_path)
    for system, truth in FOUND.items():
        estimate = only(found, "abx", system).estimate
        assert estimate.value == pytest.approx(truth, abs=0.04) and estimate.low < truth < estimate.high
    assert only(found, "abx", "original").differs_from_chance and not only(found, "abx", "b1").differs_from_chance


def test_expression_tells_a_system_that_keeps_it_from_one_that_keeps_words(tmp_path: Path) -> None:
    """People who find the rendering of b1 in 80 % and guess with b2."""

    def matcher(trial: PlannedTrial, rng: np.random.Generator) -> dict[str, Any]:
        right = rng.random() < {"b1": 0.8, "b2": 0.5}.get(trial.system, 1.0)
        return {"choice": trial.answer if right else "BA"["AB".index(trial.answer)]}

    panel = silent_panel(tmp_path, "expression", sessions=20)
    simulate(panel, [matcher] * 60)
    found = analyze_panel(tmp_path)
    assert not found.inattentive
    kept, words = (only(found, "expression_found", system) for system in ("b1", "b2"))
    assert kept.estimate.value == pytest.approx(0.8, abs=0.05) and kept.differs_from_chance
    assert words.estimate.value == pytest.approx(0.5, abs=0.05) and not words.differs_from_chance
    assert [f.metric.name for f in found.findings] == ["expression_found"] * 2


def test_clustering_tells_perfect_from_guessed(tmp_path: Path) -> None:
    panel = silent_panel(tmp_path, "clustering", sessions=6)
    simulate(panel, [clusterer] * 18)
    found = analyze_panel(tmp_path)
    assert not found.inattentive
    for metric in ("purity", "clustering_f1"):
        assert only(found, metric, "original").estimate.value == 1.0
        for system in ("b1", "b2"):
            guess = only(found, metric, system)
            assert guess.chance is not None and guess.estimate.value == pytest.approx(guess.chance, abs=0.05)
            assert float(guess.conditions["p"]) < 0.001, "the Mann-Whitney test of section 4.2.3"
    assert only(found, "classification_change", "b1").estimate.value == 0.5


def biased_clusterer(lost: dict[tuple[str, bool], float], *, native: bool) -> Habit:
    """Somebody who puts original speech together rightly, and of anonymized speech a known share into wrong groups."""

    def answer(trial: PlannedTrial, rng: np.random.Generator) -> dict[str, Any]:
        speakers = sorted({s.speaker for s in trial.stimuli})
        placed = {s.token: 1 + speakers.index(s.speaker) for s in trial.stimuli}
        share = 0.0 if trial.system == "original" else lost[trial.gender, native]
        if trial.system != "original":
            for token in list(placed)[: round(share * len(placed))]:
                placed[token] = 1 + placed[token] % len(speakers)
        moves = 4 if trial.system == "original" else 4 + 8 * (trial.gender == "f") + int(rng.integers(0, 2))
        return {"clusters": placed, "moves": moves}

    return answer


def test_groups_of_listeners_and_speakers_are_told_apart_as_in_figure_18(tmp_path: Path) -> None:
    """Non-native listeners lose more F1 whoever speaks; minds are changed more often about anonymized women."""
    panel = silent_panel(tmp_path, "clustering", sessions=8)
    lost = {("f", True): 0.1, ("m", True): 0.1, ("f", False): 0.4, ("m", False): 0.4}
    habits = [biased_clusterer(lost, native=number // 8 % 2 == 0) for number in range(32)]
    simulate(panel, habits, native=lambda number: number // 8 % 2 == 0)
    found = analyze_panel(tmp_path)
    assert not found.inattentive
    table = pl.read_parquet(found.folder / "artefacts" / "differences.parquet")
    assert len(table) == 3 * 32 and set(table["gender"]) == {"f", "m"}

    def mean(metric: str, **where: str) -> float:
        part = table.filter(pl.col("metric") == metric, *(pl.col(k) == v for k, v in where.items()))
        return float(part["difference"].mean())  # type: ignore[arg-type]

    assert mean("clustering_f1", language="native") < 0.2 < mean("clustering_f1", language="non-native")
    # 4 changes of 16 before, 12 or 13 and 4 or 5 of 16 after
    assert mean("classification_change", gender="f") == pytest.approx(-8.5 / 16, abs=1 / 32)
    assert mean("classification_change", gender="m") == pytest.approx(-0.5 / 16, abs=1 / 32)
    effects = pl.read_parquet(found.folder / "artefacts" / "effects.parquet")
    p = {(row["metric"], row["effect"]): row["p"] for row in effects.iter_rows(named=True)}
    assert p["clustering_f1", "language"] < 1e-6 < 0.01 < p["clustering_f1", "gender"]
    assert p["classification_change", "gender"] < 1e-6 < 0.01 < p["classification_change", "language"]
    assert ("clustering_f1", "system x language x gender") in p
    every = [only(found, "clustering_f1_difference", s).estimate for s in ("b1", "b2")]
    assert sum(e.value * e.n for e in every) / 32 == pytest.approx(mean("clustering_f1"))
    page, *files = write_run_report(found.folder)
    assert {"groups-language", "groups-gender", "groups-all"} <= {f.stem for f in files}, "figure 18"
    assert "Analysis of variance" in page.read_text(encoding="utf-8")


def test_mos_recovers_the_means_of_table_8(tmp_path: Path) -> None:
    panel = silent_panel(tmp_path, "mos", sessions=4)
    simulate(panel, [opinion] * 40)
    found = analyze_panel(tmp_path)
    for system, truth in {"b1": 3.15, "b2": 3.76}.items():
        estimate = only(found, "mos_naturalness", system).estimate
        assert estimate.value == pytest.approx(truth, abs=0.06) and estimate.n == 40


def test_who_does_not_listen_is_named_and_left_out_only_on_request(tmp_path: Path) -> None:
    panel = silent_panel(tmp_path, "unified", sessions=4)

    def careless(trial: PlannedTrial, rng: np.random.Generator) -> dict[str, Any]:
        return {"similarity": 5, "naturalness": 5, "intelligibility": 5}

    simulate(panel, [rater(0.0), rater(0.5), careless])
    kept, left = analyze_panel(tmp_path), analyze_panel(tmp_path, attentive_only=True)
    assert len(kept.inattentive) == 1 and kept.inattentive == left.inattentive
    token, why = next(iter(kept.inattentive.items()))
    assert why == ["same recording"] and any(token in note and "kept" in note for note in kept.notes)
    assert any(token in note and "left out" in note for note in left.notes)
    assert only(kept, "naturalness", "b1").estimate.n == 3 and only(left, "naturalness", "b1").estimate.n == 2


@pytest.mark.parametrize("wrong", ["abx", "mos", "clustering"])
def test_every_test_has_a_check_that_can_fail(tmp_path: Path, wrong: Any) -> None:
    panel = silent_panel(tmp_path, wrong, sessions=1)

    def never(trial: PlannedTrial, rng: np.random.Generator) -> dict[str, Any]:
        if wrong == "abx":
            return {"choice": "AB".replace(trial.answer, "")}
        if wrong == "mos":
            return {"naturalness": 5, "intelligibility": 5}
        return {"clusters": {s.token: 1 for s in trial.stimuli}, "moves": 0}

    simulate(panel, [never])
    assert len(analyze_panel(tmp_path).inattentive) == 1


def test_export_has_one_row_for_every_answer_with_its_timing(tmp_path: Path) -> None:
    panel = silent_panel(tmp_path, "clustering", sessions=2)
    simulate(panel, [clusterer] * 2)
    assert export_panel(tmp_path, tmp_path / "a.csv") == (8, "csv")
    assert export_panel(tmp_path, tmp_path / "a.parquet") == (8, "parquet")
    frame = pl.read_parquet(tmp_path / "a.parquet")
    assert frame["evaluator"].n_unique() == 2 and frame["page_ms"].to_list() == [5000] * 8
    assert frame["clusters"].str.split(" ").list.len().to_list().count(16) == 6
    with pytest.raises(ConfigError, match=r"\.csv or \.parquet"):
        export_panel(tmp_path, tmp_path / "a.xlsx")


def test_no_answers_is_one_plain_line(tmp_path: Path) -> None:
    silent_panel(tmp_path, "abx", sessions=1)
    with pytest.raises(MetricError, match="nobody has answered"):
        analyze_panel(tmp_path)
    (tmp_path / "panel.json").write_text("{")
    with pytest.raises(ConfigError, match="not JSON"):
        read_panel(tmp_path)


def test_the_report_draws_the_figures_of_the_paper(tmp_path: Path) -> None:
    panel = silent_panel(tmp_path, "unified", sessions=2)
    simulate(panel, [rater(habit) for habit in (-1, -0.5, 0.5, 1)])
    found = analyze_panel(panel.path)
    page, *files = write_run_report(found.folder)
    names = {f.stem for f in files if f.suffix == ".svg"}
    assert {"violin-naturalness", "violin-intelligibility", "violin-similarity-target"} <= names, "figure 16"
    assert {"det-naturalness", "det-intelligibility", "det-similarity-target", "det-similarity-nontarget"} <= names
    assert {"people-ignorant", "people-min-cllr-ignorant"} <= names, "figure 20"
    assert {"utility-naturalness-pocketsphinx", "utility-intelligibility-pocketsphinx"} <= names, "figure 21"
    text = page.read_text(encoding="utf-8")
    assert "Listening panel" in text and "anna" not in text and "4 evaluators" in text
    again = json.loads((found.folder / "findings.json").read_text())
    assert len(again["findings"]) == len(found.findings) == len(read_run(found.folder).findings)


def test_the_report_of_clusters_draws_figure_19(tmp_path: Path) -> None:
    panel = silent_panel(tmp_path, "clustering", sessions=2)
    simulate(panel, [clusterer] * 4)
    _, *files = write_run_report(analyze_panel(tmp_path).folder)
    names = {f.stem for f in files}
    assert {"purity", "purity-cumulative"} <= names
    assert "groups-language" not in names, "nobody was asked for a language"
