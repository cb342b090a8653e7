"""Values computed by other people's code (README.md), from a fresh clone: every line of expected.json is compared."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from personare import metrics
from personare.attackers.scoring import enrolled, score_all
from personare.core.findings import Estimate
from personare.core.tables import Embeddings
from personare.metrics.privacy.calibration import oracle_llrs
from personare.metrics.privacy.control import risk_over_control
from personare.metrics.privacy.detection import error_curve
from personare.metrics.privacy.gallery import GalleryDraw, gallery_of, isolation_in_galleries

FOLDER = Path(__file__).parent
INPUTS: dict[str, Any] = json.loads((FOLDER / "inputs.json").read_text(encoding="utf-8"))
EXPECTED: list[dict[str, Any]] = json.loads((FOLDER / "expected.json").read_text(encoding="utf-8"))


def scores_of(name: str) -> tuple[list[float], list[float]]:
    return INPUTS["scores"][name]["targets"], INPUTS["scores"][name]["nontargets"]


def eer(name: str, **options: Any) -> float:
    if name != "vectors":
        return metrics.eer(*scores_of(name)).value
    given, names = INPUTS["vectors"], tuple(INPUTS["vectors"]["speakers"])

    def side(what: str) -> Embeddings:
        return Embeddings(tuple(f"{what}{i}" for i in range(len(names))), names, np.array(given[what], np.float32))

    trials = score_all(side("test"), enrolled(side("enroll"), **options))
    return metrics.eer(trials.targets, trials.nontargets).value


def curve(name: str) -> list[list[float]]:
    found = error_curve(*scores_of(name))
    return [[s, m, f] for s, m, f in zip(found.thresholds, found.miss, found.false_alarm, strict=True)][:-1]


def linkability(name: str, *, L: int, N: int, unit_first: bool) -> float:
    given = INPUTS[name]
    sides = (given["test"], given["speakers"], given["enroll"], given["speakers"])
    return metrics.linkability(*sides, L=L, N=N, unit_first=unit_first).estimate.value


def singling_out(name: str) -> list[Any]:
    given = INPUTS[name]
    speakers = np.array([int(who[1:]) for who in given["speakers"]])
    gallery = gallery_of(np.array(given["test"]), speakers, most=4)
    draws = [
        GalleryDraw(np.array(d["order"]), np.argsort(d["order"]), np.array(d["place"], dtype=np.int16))
        for d in given["draws"]
    ]
    rows = enrolled(Embeddings(tuple(map(str, range(40))), tuple(given["speakers"]), np.array(given["enroll"])))
    outcomes = isolation_in_galleries(
        rows.vectors, gallery, draws, own=np.arange(10), rank=np.full(10, 3), sizes=(3, 7, 10)
    )
    found: list[Any] = outcomes.transpose(2, 0, 1, 3).tolist()
    return found


def ranks(name: str) -> list[float]:
    given, first = INPUTS[name], slice(None, None, 4)
    sides = (given["test"][first], given["speakers"][first], given["enroll"][first], given["speakers"][first])
    found: list[float] = metrics.ranks(*sides, tests=1).mean_ranks.tolist()
    return found


def similarity(measure: Callable[..., Estimate]) -> Callable[..., float]:
    return lambda name, **options: (
        measure(*(INPUTS[name][side] for side in ("test", "anonymized", "speakers")), **options).value
    )


def risk(name: str, *, attack: list[float], control: list[float]) -> list[float]:
    rates = [Estimate(value, value - error, value + error, 100) for value, error in (attack, control)]
    found = risk_over_control(*rates)
    return [found.value, found.low, found.high]


def wilson(name: str, **options: Any) -> list[float]:
    found = metrics.wilson(options["successes"], options["n"], level=options["level"])
    return [found.low, found.high]


def of_scores(measure: Callable[..., Estimate], **fixed: Any) -> Callable[..., float]:
    return lambda name, **options: measure(*scores_of(name), **fixed, **options).value


def of_sides(measure: Callable[..., Estimate], *sides: str) -> Callable[..., float]:
    return lambda name, **options: measure(*(INPUTS[name][side] for side in sides), **options).value


OURS: dict[str, Callable[..., Any]] = {
    "eer": eer,
    "eer_kaldi": of_scores(metrics.eer, definition="kaldi"),
    "cllr": of_scores(metrics.cllr),
    "min_cllr": of_scores(metrics.min_cllr),
    "min_dcf": of_scores(metrics.min_dcf),
    "d_ece": of_scores(metrics.d_ece),
    "log10_l": of_scores(metrics.log10_l),
    "dsys_reference": of_scores(metrics.dsys, estimator="reference"),
    "error_curve": curve,
    "oracle_llrs": lambda name: np.concatenate(oracle_llrs(*scores_of(name))).tolist(),
    "linkability": linkability,
    "singling_out": singling_out,
    "ranks": ranks,
    "deid": similarity(metrics.deid),
    "g_vd": similarity(metrics.g_vd),
    "wilson": wilson,
    "risk_over_control": risk,
    "wer": of_sides(metrics.wer, "references", "hypotheses"),
    "cer": of_sides(metrics.cer, "references", "hypotheses"),
    "ccc": of_sides(metrics.ccc, "before", "after"),
    "uar": of_sides(metrics.uar, "truth", "predicted"),
    "f0_spearman": of_sides(metrics.f0_spearman, "original", "anonymized"),
    "voicing_error": of_sides(metrics.voicing_error, "original", "anonymized"),
    "pitch_correlation": of_sides(metrics.pitch_correlation, "original", "anonymized"),
}


def name_of(row: dict[str, Any]) -> str:
    return " ".join([row["metric"], row["set"], *map(str, row.get("options", {}).values()), row["by"].split()[0]])


@pytest.mark.parametrize("row", EXPECTED, ids=name_of)
def test_ours_is_theirs(row: dict[str, Any]) -> None:
    ours = np.array(OURS[row["metric"]](row["set"], **row.get("options", {})), dtype=np.float64)
    theirs = np.array(row["value"], dtype=np.float64)
    assert ours.shape == theirs.shape
    np.testing.assert_allclose(ours, theirs, rtol=row["tolerance"], atol=row["tolerance"], err_msg=row["by"])


def test_every_metric_has_a_reference_and_every_set_is_used() -> None:
    assert {row["metric"] for row in EXPECTED} == set(OURS)
    assert {row["set"] for row in EXPECTED} == {*INPUTS["scores"], *INPUTS} - {"scores", "seed"}
    named = {"llreval", "lir", "scikit-learn", "scipy", "audmetric", "statsmodels", "werpy", "anonymeter"}
    assert named <= {row["by"].split()[0] for row in EXPECTED}
    own = {"d_ece", "log10_l", "eer_kaldi", "linkability", "singling_out", "ranks", "deid", "g_vd"}
    assert {row["metric"] for row in EXPECTED if row["by"].startswith("a plain loop")} == own, "README.md says so"


def test_the_inputs_are_those_of_the_seed() -> None:
    from golden.recompute import SEED, draw_inputs

    assert json.loads(json.dumps(draw_inputs(SEED))) == INPUTS


def test_the_sets_hold_ties_errors_of_both_kinds_and_a_raw_mean_that_differs() -> None:
    t, n = scores_of("tied")
    assert len({*t, *n}) < 12 and set(t) & set(n)
    values = {(r["metric"], r["set"], str(r.get("options"))): r["value"] for r in EXPECTED}
    assert values["eer", "vectors", "{'unit_first': True}"] != values["eer", "vectors", "{'unit_first': False}"]
    assert math.isclose(values["eer", "separated", "None"], 0.0) and values["eer", "inverted", "None"] == 0.5
