"""From a run to a panel by the command line: real stages, real sounds, invitations, simulated answers, the report."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from conftest import Command
from panels.pools import simulate
from panels.test_analysis import chooser
from personare.core.findings import Estimate, Finding
from personare.metrics import card
from personare.panels import TESTS
from personare.panels.folder import PlannedTrial, read_panel
from personare.pipeline.folder import STAGES
from personare.pipeline.jobs.panel import _objective
from pipeline.tiny import write_corpus, write_study


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with two systems, enough people for all tests but clustering."""
    from personare import run_study

    folder = tmp_path_factory.mktemp("run")
    write_corpus(folder / "corpus", speakers=8, utterances=6, train=0)
    ways = {"original": {}, "b1": {"method": "mcadams", "alpha": 0.8}, "b2": {"method": "mcadams", "alpha": [0.5, 0.6]}}
    study = write_study(
        folder,
        corpora={"hums": {"path": "corpus"}},
        anonymizers=ways,
        attackers={"ignorant": {"knowledge": "ignorant", "embedder": "trained:net.onnx"}},
        listeners={"words": {"listener": "listener_plugins:Spelling"}},
        metrics=["eer", "min_cllr", "wer"],
        gallery_sizes=None,
        clips=0,
    )
    before = os.umask(0o022)  # as most systems have it
    try:
        run_study(study, folder / "run")
    finally:
        os.umask(before)
    return folder / "run"


def open_to_others(folder: Path) -> list[str]:
    """What anybody but the owner could read, write or enter."""
    return [str(path) for path in (folder, *folder.rglob("*")) if path.stat().st_mode & 0o077]


def test_run_and_panel_folders_are_their_owners_only(run: Path, tmp_path: Path, personare: Command) -> None:
    """Both hold original speech; a run names speakers, a panel knows the correct answers."""
    assert any(run.rglob("*.flac")) and open_to_others(run) == []
    before = os.umask(0o022)
    try:
        panel = tmp_path / "new" / "panel"
        assert personare("panel", "make", run, panel, "--test", "mos", "--sessions", "2").code == 0
        assert personare("panel", "invite", panel, "--count", "2").code == 0
        simulate(read_panel(panel), [lambda trial, rng: {"naturalness": 3, "intelligibility": 1}] * 2)
        assert personare("panel", "export", panel, tmp_path / "answers.csv").code == 0
        assert personare("panel", "export", panel, tmp_path / "answers.parquet").code == 0
        assert personare("panel", "analyze", panel, "--out", tmp_path / "analysis").code == 0
        assert personare("report", run, "--out", tmp_path / "page").code == 0
    finally:
        os.umask(before)
    assert (panel / "answers.sqlite").is_file() and open_to_others(panel) == []
    assert open_to_others(tmp_path / "answers.csv") == open_to_others(tmp_path / "answers.parquet") == []
    assert (tmp_path / "analysis").stat().st_mode & 0o077 == 0
    assert (tmp_path / "new").stat().st_mode & 0o777 == 0o755, "only the folder that was asked for"
    assert (tmp_path / "page" / "report.html").stat().st_mode & 0o777 == 0o644, "a report is meant to be given away"


def answer(trial: PlannedTrial, rng: Any) -> dict[str, Any]:
    low = trial.system != "original" or trial.check == "other gender"
    return {
        "similarity": 10 if trial.check == "same recording" else 2 if low else 8,
        "naturalness": 5,
        "intelligibility": 5,
    }


def test_what_machines_reached_is_kept_once_each() -> None:
    def found(metric: str, value: float, *, system: str = "b1", **about: str | int) -> Finding:
        return Finding(card(metric), Estimate(value, value, float("nan"), 3), {"anonymizer": system, **about})

    kept = list(
        _objective(
            [
                found("eer", 0.3, attacker="lazy"),
                found("eer", 0.2, attacker="lazy", L=3),
                found("eer", 0.1, attacker="lazy", gender="f"),
                found("min_cllr", 0.8, attacker="lazy"),
                found("wer", 0.1, system="original", listener="words"),
                found("wer", 0.4, listener="words"),
                found("wer", 0.5, listener="words", gender="m"),
                found("pesq", 2.0, listener="quality"),
            ]
        )
    )
    assert [(one.metric, one.system, one.attacker, one.value) for one in kept] == [
        ("eer", "b1", "lazy", 0.3),
        ("min_cllr", "b1", "lazy", 0.8),
        ("wer", "original", "words", 0.1),
        ("wer", "b1", "words", 0.4),
    ]
    assert kept[0].low == 0.3 and kept[0].high is None


def test_make_invite_analyze_export(run: Path, tmp_path: Path, personare: Command) -> None:
    made = personare("panel", "make", run, tmp_path / "p", "--sessions", "2", "--trials", "8", "--language", "Hum")
    assert made.code == 0, made.stderr
    assert "2 sessions of 10 trials" in made.stdout
    panel = read_panel(tmp_path / "p")
    assert panel.settings.systems == ("b1", "b2") and panel.settings.language == "Hum"
    beside = {(one.metric, one.attacker) for one in panel.settings.objective}
    assert beside == {("eer", "ignorant"), ("min_cllr", "ignorant"), ("wer", "words")}
    assert {one.system for one in panel.settings.objective if one.metric == "wer"} == {"original", "b1", "b2"}
    heard = set(panel.design["heard"])
    assert heard == {"original", "b1", "b2"} and panel.design["seconds"].min() > 0.3  # type: ignore[operator]
    invited = personare("panel", "invite", tmp_path / "p", "--count", "3", "--address", "https://x.example")
    links = invited.stdout.split()
    assert len(set(links)) == 3 and all(link.startswith("https://x.example/#") for link in links)
    simulate(panel, [answer] * 3)
    found = personare("panel", "analyze", tmp_path / "p")
    assert found.code == 0 and "EER of rated similarity" in found.stdout
    page = (tmp_path / "p" / "analysis" / "report" / "report.html").read_text(encoding="utf-8")
    assert "min Cllr of people, against the ignorant attacker" in page, "figure 20"
    assert "against the words of words" in page, "figure 21"
    assert personare("report", tmp_path / "p" / "analysis").code == 0, "a run folder like any other"
    assert personare("panel", "export", tmp_path / "p", tmp_path / "a.parquet").code == 0
    assert len(pl.read_parquet(tmp_path / "a.parquet")) == 30


def test_every_step_is_told_as_json_where_asked(run: Path, tmp_path: Path, personare: Command) -> None:
    folder = tmp_path / "p"
    made = json.loads(personare("panel", "make", run, folder, "--sessions", "2", "--trials", "8", "--json").stdout)
    assert (made["sessions"], made["trials"]) == (2, 10)
    assert sum(row["trials"] for row in made["dealt"]) == 16, "two of each session are checks"
    assert len(json.loads(personare("panel", "invite", folder, "--count", "2", "--json").stdout)["links"]) == 2
    simulate(read_panel(folder), [answer] * 3)
    found = json.loads(personare("panel", "analyze", folder, "--json").stdout)
    assert found["findings"] and Path(found["report"]).is_file()
    assert json.loads(personare("panel", "export", folder, tmp_path / "a.csv", "--json").stdout)["answers"] == 30


def test_triplets_come_from_the_scores_of_the_run(run: Path, tmp_path: Path, personare: Command) -> None:
    assert personare("panel", "make", run, tmp_path / "p", "--test", "abx", "--sessions", "2").code == 0
    panel = read_panel(tmp_path / "p")
    assert len(panel.sessions[1]) == 8 + 2, "as many triplets as there are speakers, and two checks"
    simulate(panel, [chooser] * 2)
    assert personare("panel", "analyze", tmp_path / "p").code == 0


def test_mistakes_are_one_line(run: Path, tmp_path: Path, personare: Command) -> None:
    for words, why in (
        ((run, tmp_path / "p", "--test", "abxx"), "did you mean 'abx'"),
        ((run, tmp_path / "p", "--test", "clustering"), "clustering test needs at least 8 speakers of one gender"),
        ((tmp_path / "nowhere", tmp_path / "p"), "is no run folder"),
        ((run, run), "exists and is not an empty folder"),
    ):
        ended = personare("panel", "make", *words)
        assert ended.code == 2 and why in ended.stderr and ended.stderr.count("\n") == 1, ended.stderr
    assert "unified" in TESTS


def test_a_run_without_stages_says_so(run: Path, tmp_path: Path, personare: Command) -> None:
    copy = tmp_path / "copy"
    copy.mkdir()
    for file in run.iterdir():
        if file.is_file():
            (copy / file.name).write_bytes(file.read_bytes())
    assert not (copy / STAGES).exists()
    ended = personare("panel", "make", copy, tmp_path / "p")
    assert ended.code == 2 and "run the study again" in ended.stderr
