"""A listener of somebody else goes all the way: named in a study, observed in a stage, measured, reported."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

from personare import api
from personare.cli import app
from personare.core.errors import PersonareError
from personare.engine import ProcessPool, Serial
from personare.listeners import LISTENERS
from personare.pipeline.run import run_study
from personare.pipeline.stages.listen import OBSERVATIONS
from personare.pipeline.study import read_study
from pipeline.tiny import write_study

MODULE = "listeners_beside_a_study"
SCALED = {"listener": f"{MODULE}:Likeness", "parameters": {"scale": 0.5}}


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a module of the user's own beside the study; it is not on the path by itself."""
    monkeypatch.setenv("PERSONARE_HOME", str(tmp_path / "home"))
    code = (Path(__file__).resolve().parents[1] / "listener_plugins.py").read_text(encoding="utf-8")
    (tmp_path / f"{MODULE}.py").write_text(code, encoding="utf-8")
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, MODULE, raising=False)
    return tmp_path


def findings(place: Path, out: str, *, jobs: int = 1, resume: bool = False, **changes: object) -> pl.DataFrame:
    path = write_study(place, **{"attackers": None, "metrics": ["stoi"], "clips": 0, **changes})
    engine = Serial() if jobs == 1 else ProcessPool(jobs)
    ran = run_study(read_study(path), place / out, engine=engine, written="", home=place, resume=resume)
    assert not ran.outcome.failures, ran.outcome.failures
    return pl.read_parquet(place / out / "findings.parquet")


def test_a_class_beside_the_study_is_observed_and_measured(place: Path) -> None:
    table = findings(place, "run", listeners={"like": SCALED, "stoi": {"listener": "stoi"}})
    by = {row["listener"]: row for row in table.iter_rows(named=True)}
    assert set(by) == {"like", "stoi"} and {row["anonymizer"] for row in by.values()} == {"b2"}
    rows = [
        json.loads(line)
        for path in (place / "run" / "stages").glob(f"listen-*/{OBSERVATIONS}")
        for line in path.read_text(encoding="utf-8").splitlines()
    ]
    scores = [row["sides"]["both"]["values"]["likeness"] for row in rows if "likeness" in str(row)]
    assert len(scores) == 8 and by["like"]["value"] == pytest.approx(sum(scores) / 8)
    notes = json.loads((place / "run" / "findings.json").read_text(encoding="utf-8"))["notes"]
    assert any(note.endswith("like: by hand") for note in notes)
    again = findings(place, "two workers", jobs=2, listeners={"like": SCALED, "stoi": {"listener": "stoi"}})
    assert again.equals(table)


def test_a_setting_is_part_of_what_was_observed(place: Path) -> None:
    half = findings(place, "run", listeners={"like": SCALED})["value"].to_list()
    other = {**SCALED, "parameters": {"scale": 1.0}}
    whole = findings(place, "run", resume=True, listeners={"like": other})["value"].to_list()
    assert whole == [pytest.approx(2 * value) for value in half]


def test_a_registered_class_and_a_recognizer_of_ones_own(place: Path) -> None:
    from listener_plugins import Likeness, Spelling

    before = dict(LISTENERS.registered)
    try:
        api.register_listener("likeness", Likeness)
        api.register_listener("spelling", Spelling)
        table = findings(place, "run", listeners=["likeness", "spelling"], metrics=["stoi", "wer"])
    finally:
        LISTENERS.registered.clear()
        LISTENERS.registered.update(before)
    assert set(table["listener"]) == {"likeness", "spelling"}
    words = table.filter((pl.col("metric") == "wer") & (pl.col("anonymizer") == "b2"))
    assert words["value"].item() > 0.5 and words["listener_trained_on"].item() == "original"


def test_mistakes_are_one_line_each(place: Path) -> None:
    def problems(**listeners: object) -> str:
        path = write_study(place, attackers=None, metrics=["stoi"], listeners={**listeners})
        done = CliRunner().invoke(app, ["study", "check", str(path)])
        assert isinstance(done.exception, PersonareError), done.output
        return str(done.exception)

    assert "Stranger must extend personare.core.protocols.Listener" in problems(a={"listener": f"{MODULE}:Stranger"})
    assert "has no class 'Likness'; did you mean 'Likeness'?" in problems(a={"listener": f"{MODULE}:Likness"})
    assert "no parameter 'scal'; did you mean 'scale'?" in problems(a={**SCALED, "parameters": {"scal": 1}})
    old = problems(a={"listener": "affect:a.onnx", "outputs": ["arousal"]})
    assert "the key 'outputs' is called 'parameters: {outputs: ...}' now" in old


def test_the_command_listens_with_a_class_of_ones_own(
    small_corpus: Path, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(place)
    words = ["listen", str(small_corpus), str(small_corpus), "--json", "--listeners", f"{MODULE}:Likeness"]
    (plain,) = json.loads(CliRunner().invoke(app, words).stdout)["findings"]
    (scaled,) = json.loads(CliRunner().invoke(app, [*words, "--set", f"{MODULE}:Likeness.scale=3"]).stdout)["findings"]
    assert (plain["metric"], plain["value"]) == ("stoi", pytest.approx(1))
    assert scaled["value"] == pytest.approx(3)
