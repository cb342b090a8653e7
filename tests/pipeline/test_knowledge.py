"""Attackers of every knowledge level against one small corpus: each gets the speech it may have, and nothing else."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

from conftest import hum
from personare.attackers.knowledge import Knowledge
from personare.attackers.scoring import unit_rows
from personare.cli import app
from personare.core.audio import write
from personare.core.errors import ConfigError, LeakError
from personare.core.tables import Corpus
from personare.corpora import read_corpus
from personare.engine import Here
from personare.pipeline import old_knowledge as study
from personare.pipeline.hearing import hear
from personare.pipeline.jobs.anonymize import anonymize
from personare.pipeline.old_evaluate import read_pair
from personare.pipeline.old_knowledge_table import exposed_lines, table_rows
from personare.pipeline.system import System

pytestmark = pytest.mark.models
SYSTEM = System("mcadams", {"alpha": [0.6, 0.9]})


@pytest.fixture
def hidden(small_corpus: Path, tmp_path: Path) -> tuple[Path, Path]:
    anonymize(read_corpus(small_corpus).corpus, tmp_path / "anon", SYSTEM, engine=Here())
    return small_corpus, tmp_path / "anon"


@pytest.fixture
def others(tmp_path: Path) -> Path:
    """Six more speakers, and one who is also attacked."""
    folder, rows = tmp_path / "others", []
    for s, speaker in enumerate(["edda", "finn", "gisa", "hugo", "ines", "jens", "anna"]):
        for u in range(3):
            path = folder / speaker / f"x-{speaker}-{u}.wav"
            write(path, hum(500 + 10 * s + u, duration_s=0.5, f0_hz=90.0 + 20 * s))
            rows.append((f"x-{speaker}-{u}", speaker, str(path)))
    frame = pl.DataFrame(rows, schema=["utterance", "speaker", "audio"], orient="row")
    Corpus(frame).save(folder / "manifest.parquet")
    return folder


def test_every_level_hears_what_it_may(hidden: tuple[Path, Path], others: Path) -> None:
    pairs, system, _ = read_pair(*hidden, None)
    levels = [level for level in Knowledge if level is not Knowledge.SEMI_INFORMED]
    lesson = study.lesson_of(others, None, system)
    listening = study.plan(pairs, levels, system=system, embedder="ge2e", lesson=lesson)
    assert "anna" not in {sound.speaker for sound in listening.sounds["training"]}
    assert len({sound.speaker for sound in listening.sounds["training"]}) == 6
    draws = [d.draw for d in listening.disguises.values() if d]
    assert len(set(draws)) == len(draws) == 2 + study.DISGUISES
    found = study.attack(pairs, levels, listening, engine=Here())
    assert [o.attacker for o in found.outcomes] == [level.value for level in levels]
    again = study.attack(pairs, levels, listening, engine=Here())
    assert table_rows(found) == table_rows(again)
    for outcome in found.outcomes:
        assert all(np.isfinite(f.estimate.value) for f in outcome.findings)
    assert len(exposed_lines(found)) == 5


def test_a_semi_informed_attacker_has_another_system(hidden: tuple[Path, Path], others: Path) -> None:
    pairs, system, _ = read_pair(*hidden, None)
    for method, level in (("mcadams", Knowledge.INFORMED), (None, Knowledge.SEMI_INFORMED)):
        lesson = study.lesson_of(others, method, system)
        listening = study.plan(pairs, [level], system=system, embedder="ge2e", lesson=lesson)
        with pytest.raises(LeakError, match="system"):
            study.attack(pairs, [level], listening, engine=Here())
    lesson = study.lesson_of(others, "mcadams", system)
    listening = study.plan(pairs, [Knowledge.SEMI_INFORMED], system=system, embedder="ge2e", lesson=lesson)
    assert study.attack(pairs, [Knowledge.SEMI_INFORMED], listening, engine=Here()).outcomes


def test_what_an_attacker_lacks_is_one_line(hidden: tuple[Path, Path]) -> None:
    pairs, system, _ = read_pair(*hidden, None)
    with pytest.raises(ConfigError, match="name it with --train"):
        study.plan(pairs, [Knowledge.INFORMED], system=system, embedder="ge2e")
    with pytest.raises(ConfigError, match=r"anonymization\.json"):
        study.plan(pairs, [Knowledge.LAZY_INFORMED], system=None, embedder="ge2e")
    with pytest.raises(ConfigError, match="fewer than 2 speakers"):
        lesson = study.lesson_of(hidden[0], None, system)
        study.plan(pairs, [Knowledge.INFORMED], system=system, embedder="ge2e", lesson=lesson)


def test_the_command_prints_a_table_and_the_most_exposed(hidden: tuple[Path, Path], others: Path) -> None:
    words = ["attack", *map(str, hidden), "--knowledge", "original,vpc:semi-informed", "--train", str(others)]
    done = CliRunner().invoke(app, [*words, "--embedder", "ge2e"])
    assert done.exit_code == 0, done.output
    assert "informed" in done.stdout
    assert "EER (ROCCH)" in done.stdout
    assert "most exposed to the original attacker:" in done.stdout
    wrong = CliRunner().invoke(app, ["attack", *map(str, hidden), "--knowledge", "ignorrant"])
    assert "did you mean 'ignorant'" in str(wrong.exception)


def test_an_evaluation_lets_the_informed_attacker_join(hidden: tuple[Path, Path], others: Path, tmp_path: Path) -> None:
    words = ["evaluate", *map(str, hidden), "--train", str(others), "--embedder", "ge2e", "--lengths", "1,2"]
    done = CliRunner().invoke(app, [*words, "--out", str(tmp_path / "report")])
    assert done.exit_code == 0, done.output
    rows = json.loads((tmp_path / "report" / "findings.json").read_text(encoding="utf-8"))["findings"]
    lengths = {row["conditions"]["L"] for row in rows if row["conditions"]["attacker"] == "informed"}
    assert lengths == {1, 2}
    page = (tmp_path / "report" / "report.html").read_text(encoding="utf-8")
    assert "learnt from 6 speakers, 18 utterances" in page


def test_a_wrong_scorer_and_no_disguise_are_one_line(hidden: tuple[Path, Path]) -> None:
    wrong = CliRunner().invoke(app, ["attack", *map(str, hidden), "--scorer", "pdla"])
    assert "did you mean 'plda'" in str(wrong.exception)
    pairs, system, _ = read_pair(*hidden, None)
    with pytest.raises(ConfigError, match="at least once"):
        study.plan(pairs, [Knowledge.LAZY_INFORMED], system=system, embedder="ge2e", disguises=0)


def test_a_lazy_informed_attacker_enrols_the_mean_of_several_disguises(hidden: tuple[Path, Path]) -> None:
    pairs, system, _ = read_pair(*hidden, None)
    level = [Knowledge.LAZY_INFORMED]
    listening = study.plan(pairs, level, system=system, embedder="ge2e", disguises=3)
    heard = {n: hear(s, listening.works[n], engine=Here()) for n, s in listening.sounds.items()}
    sides = study._sides(Knowledge.LAZY_INFORMED, heard, listening)
    draws = [unit_rows(heard[f"enrolment anonymized {i}"].embeddings.vectors) for i in (1, 2, 3)]
    assert not np.allclose(draws[0], draws[1], atol=1e-3)
    np.testing.assert_allclose(sides.enroll.embeddings.vectors, np.mean(draws, axis=0), atol=1e-6)
    assert sides.enroll.disguise is not None and len({sides.enroll.disguise.draw, *sides.enroll.disguise.more}) == 3
