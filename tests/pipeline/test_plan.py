"""A plan names every stage, times a little of each kind of work, writes nothing, and knows what is done."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from personare.engine import Serial
from personare.pipeline.check import check_study
from personare.pipeline.estimate import Planned, StudyPlan, plan_study
from personare.pipeline.run import Ran, run_study
from personare.pipeline.study import read_study
from pipeline.tiny import write_corpus, write_study

needs_torch = pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="needs the extra 'neural'")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("plan")
    write_corpus(folder / "corpus", speakers=8, train=4)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PERSONARE_HOME", str(folder / "home"))
        yield folder


def planned(path: Path, out: str, *, probe: bool = True) -> StudyPlan:
    return plan_study(read_study(path), path.parent / out, home=path.parent, probe=probe)


def ran(path: Path, out: str) -> Ran:
    text = path.read_text(encoding="utf-8")
    return run_study(read_study(path), path.parent / out, engine=Serial(), written=text, home=path.parent)


def test_every_stage_is_listed_and_timed_and_nothing_is_written(place: Path) -> None:
    path = write_study(place)
    found = planned(path, "never")
    assert not (place / "never").exists()
    kinds = [stage.kind for stage in found.stages]
    assert {kind: kinds.count(kind) for kind in kinds} == {"anonymize": 2, "embed": 4, "listen": 1, "measure": 7}
    assert not found.unknown and not [stage.trouble for stage in found.stages if stage.trouble]
    assert all(s.seconds_each is not None and s.left == s.items for s in found.stages)
    assert found.seconds(1) > 0 and found.seconds(2) == pytest.approx(found.seconds(1) / 2)


def test_what_needs_several_utterances_of_several_people_is_timed_by_two(place: Path) -> None:
    """A probe has a couple of utterances, perhaps of one person: the work is the same as with enough of them."""
    found = planned(write_study(place, utterances_per_trial=[2], metrics=["linkability"], listeners=None), "never")
    assert {stage.kind for stage in found.stages} == {"anonymize", "embed", "measure"}
    assert not found.unknown and all(stage.seconds_each is not None for stage in found.stages)


def test_without_a_probe_times_are_unknown(place: Path) -> None:
    found = planned(write_study(place), "never", probe=False)
    assert found.unknown == ["anonymize", "embed", "listen", "measure"] and found.seconds(1) == 0


def test_what_is_done_is_not_planned_again(place: Path) -> None:
    ran(write_study(place), "run")
    assert all(stage.done for stage in planned(place / "study.yaml", "run").stages)
    path = write_study(place, metrics=["eer", "linkability", "stoi", "singling_out"])
    left = [stage.label for stage in planned(path, "run").stages if not stage.done]
    assert len(left) == 3 and all("singling out" in label for label in left)


def taught(place: Path, **plan: Any) -> Path:
    """Write a study that trains two recognizers, as figure 12 of VoicePrivacy 2020 does."""
    settings = {
        "shape": {"width": 16, "blocks": 1, "kernel": 5},
        "plan": {"steps": 6, "validate_every": 3, "warm_up": 2, **plan},
        "batch": 4,
        "held_out": {"speakers": 2, "utterances": 2},
    }
    (place / "ctc.yaml").write_text(yaml.safe_dump(settings), encoding="utf-8")
    listeners = {
        "plain": {"listener": "ctc", "config": "ctc.yaml"},
        "hidden": {"listener": "ctc", "trained_on": "b2", "config": "ctc.yaml"},
    }
    return write_study(place, listeners=listeners, metrics=["cer"], attackers=None)


def schooling(found: StudyPlan) -> list[Planned]:
    return [stage for stage in found.stages if stage.kind == "train"]


@needs_torch
def test_the_teaching_of_recognizers_is_timed_by_a_few_of_its_steps(place: Path) -> None:
    short, long = (schooling(planned(taught(place, steps=steps), "never")) for steps in (6, 6000))
    assert [stage.label for stage in short] == ["train hums plain on original", "train hums hidden on b2"]
    for a, b in zip(short, long, strict=True):
        assert a.seconds_each and b.seconds_each and b.seconds_each > 20 * a.seconds_each
    found = planned(taught(place), "never")
    assert not found.unknown and not [s.trouble for s in found.stages if s.trouble]


@needs_torch
def test_recognizers_learn_from_original_and_from_hidden_speech(place: Path) -> None:
    found = ran(taught(place), "taught").outcome
    told = [(f.conditions["anonymizer"], f.conditions["listener"]) for f in found.findings]
    assert sorted(told) == [(a, b) for a in ("b2", "original") for b in ("hidden", "plain")]
    assert {f.conditions["listener_trained_on"] for f in found.findings} == {"original", "b2"}
    assert not found.failures and {f.metric.name for f in found.findings} == {"cer"}


@needs_torch
def test_recognizers_learn_from_a_corpus_that_nobody_is_attacked_in(place: Path) -> None:
    """Hours of speech for a recognizer, which neither attackers nor other listeners ever see."""
    path = taught(place)
    study = yaml.safe_load(path.read_text(encoding="utf-8"))
    own = study["corpora"]["hums"]
    study["corpora"] = {
        "hums": {k: v for k, v in own.items() if k != "parts"},
        "lessons": {"path": own["path"], "split": "train", "parts": {"train": "train"}},
    }
    for listener in study["listeners"].values():
        listener["learns_from"] = "lessons"
    path.write_text(yaml.safe_dump(study), encoding="utf-8")
    found = ran(path, "lessons").outcome
    assert {f.conditions["corpus"] for f in found.findings} == {"hums"} and len(found.findings) == 4
    stages = planned(path, "never", probe=False).stages
    trained = {s.label for s in stages if s.kind == "train"}
    assert trained == {"train lessons plain on original", "train lessons hidden on b2"}
    hidden = [s.label for s in stages if s.kind == "anonymize"]
    assert sorted(hidden) == ["anonymize hums trial by b2 (owner)", "anonymize lessons train by b2 (training)"]
    del study["corpora"]["lessons"]["parts"]
    for listener in study["listeners"].values():
        listener["learns_from"] = "lesson"
    path.write_text(yaml.safe_dump(study), encoding="utf-8")
    problems = check_study(read_study(path), place / "stages", home=place).problems
    assert any("learns_from names a corpus with split: train; did you mean 'lessons'" in line for line in problems)
    assert any("lessons: listeners would learn from 4 attacked speakers of 'hums'" in line for line in problems)
