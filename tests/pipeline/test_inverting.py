"""The inverting attacker in studies and commands: stages by content, plain words where there is nothing to undo."""

from __future__ import annotations

from pathlib import Path

import pytest

import personare as pn
from conftest import Command
from personare.attackers.inversion import load_estimator
from personare.core.embedding_files import read_embeddings
from personare.pipeline.attack_sets import strongest_set
from personare.pipeline.check import _without_inverse
from personare.pipeline.check_speech import not_played_notes
from personare.pipeline.resolve import NOT_INVERTIBLE, ResolvedAnonymizer, resolve_attacker
from personare.pipeline.stages.invert import ESTIMATOR
from personare.pipeline.study import AttackerChoice, CorpusChoice, Study
from personare.pipeline.system import System
from pipeline.tiny import write_study

INVERTING = {"inverting": {"knowledge": "inverting", "embedder": "trained:net.onnx"}}
PLAIN = {"attackers": INVERTING, "listeners": [], "metrics": ["eer"], "clips": 0}


def test_a_study_learns_undoes_and_compares_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PERSONARE_HOME", str(tmp_path / "home"))
    study = write_study(tmp_path, **PLAIN)
    result = pn.run_study(study, tmp_path / "run")
    found = {f.conditions["anonymizer"] for f in result if f.conditions.get("attacker") == "inverting"}
    assert "b2" in found
    kinds = sorted(path.name.partition("-")[0] for path in (tmp_path / "run" / "stages").iterdir() if path.is_dir())
    assert kinds.count("estimate") == 1
    assert kinds.count("invert") == 2  # the trial speech, and the training speech that the back-end learns from
    estimator = load_estimator(next((tmp_path / "run" / "stages").glob(f"estimate-*/{ESTIMATOR}")))
    trial = {
        who for path in (tmp_path / "run" / "stages").glob("embed-*/*.npz") for who in read_embeddings(path).speakers
    }
    assert set(estimator.speakers) == {"s04", "s05"} < trial, "only people who are not attacked are learnt from"
    again = pn.run_study(study, tmp_path / "run", resume=True)
    assert [f.text for f in again] == [f.text for f in result]


def test_what_cannot_be_undone_is_said() -> None:
    other = ResolvedAnonymizer("other", "sound", System("xvector"))
    assert other.not_invertible() == NOT_INVERTIBLE
    assert not ResolvedAnonymizer("b2", "sound", System("mcadams")).not_invertible()
    assert "nobody says how" in ResolvedAnonymizer("given", "sound").not_invertible()
    plain, b2 = ResolvedAnonymizer("original", "none"), ResolvedAnonymizer("b2", "sound", System("mcadams"))
    who = resolve_attacker("undoes", AttackerChoice("inverting"), [], Path())
    assert list(_without_inverse([plain, other], [who])) == [
        f"attackers: undoes: has nothing to undo: {NOT_INVERTIBLE}; leave the attacker out"
    ]
    assert not list(_without_inverse([plain, other, b2], [who]))
    assert list(not_played_notes([plain, other, b2], [who])) == [
        f"attackers: undoes: not played on other: {NOT_INVERTIBLE}"
    ]


def test_the_strongest_set_undoes_what_can_be_undone() -> None:
    assert "inverting" not in strongest_set(attacked=20, learnt_from=20).attackers
    many, few = (strongest_set(attacked=20, learnt_from=n, invertible=True).attackers["inverting"] for n in (20, 4))
    assert (many.scorer, few.scorer) == ("chosen", "plda")


def test_the_command_names_it(personare: Command) -> None:
    assert "inverting" in personare("attack", "--help").stdout


@pytest.mark.slow
@pytest.mark.shared
@pytest.mark.models
def test_undoing_alpha_beats_not_knowing_it_on_real_speech(shared_folder: Path, tmp_path: Path) -> None:
    study = Study(
        "undone",
        {"speech": CorpusChoice(path=shared_folder / "corpus", speakers=16, utterances=4, one_sided="drop")},
        {"original": {}, "b2": {"method": "mcadams", "alpha": [0.6, 0.8]}},
        attackers={level: AttackerChoice(level, train_draws=1) for level in ("ignorant", "inverting")},
        metrics=("eer",),
        skip_impossible=True,
        clips=0,
    )
    result = pn.run_study(study, tmp_path / "run")
    errors = {
        f.conditions["attacker"]: f.estimate.value
        for f in result
        if f.metric.name == "eer" and f.conditions["anonymizer"] == "b2" and "gender" not in f.conditions
    }
    assert errors["inverting"] < errors["ignorant"]
