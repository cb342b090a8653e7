"""The privacy gate: the unfavourable end decides, nothing measured is nothing kept, the exit code tells."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from personare.cli import app
from personare.core.findings import Estimate, Finding
from personare.metrics import card
from personare.pipeline.gate import judged
from personare.pipeline.study import Bound
from pipeline.tiny import write_study


def finding(low: float, value: float, high: float, **conditions: Any) -> Finding:
    given = {"anonymizer": "b2", "attacker": "lazy", "L": 1, "N": 20, **conditions}
    return Finding(card("linkability"), Estimate(value, low, high, 20), given)


def test_what_could_not_be_measured_is_no_proof_and_says_how_much_failed() -> None:
    nothing = Finding(card("linkability"), Estimate(math.nan, math.nan, math.nan, 0), {"anonymizer": "b2"}, failed=12)
    (verdict,) = judged([Bound("linkability", at_most=0.5)], [nothing])
    assert not verdict.held and verdict.sentence.endswith("not kept, because it could not be measured (12 failed)")


@pytest.mark.parametrize(
    ("bound", "held", "tested"),
    [
        (Bound("linkability", at_most=0.5), False, "high"),
        (Bound("linkability", at_most=0.6), True, "high"),
        (Bound("linkability", at_most=0.5, test="value"), True, "value"),
        (Bound("linkability", at_least=0.3), False, "low"),
        (Bound("linkability", at_least=0.2), True, "low"),
    ],
)
def test_the_unfavourable_end_is_tested(bound: Bound, held: bool, tested: str) -> None:
    (verdict,) = judged([bound], [finding(0.2, 0.4, 0.6)])
    assert (verdict.held, verdict.tested) == (held, tested)
    assert ("NOT kept" in verdict.sentence) != held and "b2" in verdict.sentence


def test_bounds_choose_their_findings() -> None:
    rows = [
        finding(0.1, 0.1, 0.1, anonymizer="original"),
        finding(0.1, 0.1, 0.1),
        finding(0.1, 0.1, 0.1, N=50),
        finding(0.9, 0.9, 0.9, gender="f"),
    ]
    assert [v.held for v in judged([Bound("linkability", at_most=0.5)], rows)] == [True, True]
    assert len(judged([Bound("linkability", at_most=0.5, N=50)], rows)) == 1
    assert [v.held for v in judged([Bound("linkability", at_most=0.5, gender="f")], rows)] == [False]
    assert len(judged([Bound("linkability", at_most=0.5, anonymizer="original")], rows)) == 1


def test_what_is_only_measured_within_genders_is_judged_in_each() -> None:
    rows = [
        Finding(card("deid"), Estimate(value, value, value, 9), {"anonymizer": "b2", "gender": gender})
        for gender, value in (("f", 0.9), ("m", 0.5))
    ]
    assert [v.held for v in judged([Bound("deid", at_least=0.7)], rows)] == [True, False]


def test_no_evidence_is_no_proof() -> None:
    (absent,) = judged([Bound("eer", at_least=0.3, attacker="lazy")], [])
    assert not absent.held and absent.finding is None and "nothing was measured for attacker lazy" in absent.sentence
    (unsure,) = judged([Bound("linkability", at_most=0.9)], [finding(math.nan, 0.1, math.nan)])
    assert not unsure.held and "interval is unknown" in unsure.sentence
    json.dumps([absent.as_row(), unsure.as_row()], allow_nan=False)


def test_the_exit_code_is_the_gate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PERSONARE_HOME", str(tmp_path / "home"))
    shape: dict[str, Any] = {
        "listeners": None,
        "metrics": ["linkability"],
        "attackers": {"ignorant": {"knowledge": "ignorant", "embedder": "trained:net.onnx"}},
        "clips": 0,
    }
    path = write_study(tmp_path, **shape, bounds=[{"metric": "linkability", "at_most": 1.0, "attacker": "ignorant"}])
    run = ["study", "run", str(path), "--out", str(tmp_path / "run")]
    kept = CliRunner().invoke(app, run)
    assert kept.exit_code == 0, kept.output
    write_study(tmp_path, **shape, bounds=[{"metric": "linkability", "at_most": 0.01, "N": 4}])
    broken = CliRunner().invoke(app, [*run, "--resume"])
    assert broken.exit_code == 1 and "NOT kept" in broken.output and "done now: 0" in broken.output
    rows = json.loads((tmp_path / "run" / "gate.json").read_text())
    assert [row["held"] for row in rows] == [False] and rows[0]["limit"] == 0.01 and rows[0]["tested"] == "high"
    assert rows[0]["finding"]["metric"] == "linkability" and rows[0]["bound"]["N"] == 4
