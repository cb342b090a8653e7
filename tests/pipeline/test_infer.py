"""Attributes are guessed from anonymized voices: beside majority and control, with a risk that has an interval."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

from conftest import hum
from personare.cli import app
from personare.core.audio import write
from personare.core.errors import ConfigError
from personare.core.tables import Corpus, write_frame
from personare.corpora import read_corpus
from personare.engine import Here, Pool
from personare.pipeline import old_infer as study
from personare.pipeline.jobs.anonymize import anonymize
from personare.pipeline.old_evaluate import read_pair
from personare.pipeline.old_knowledge import lesson_of
from personare.pipeline.system import System

SYSTEM = System("mcadams", {"alpha": [0.6, 0.9]})


def _people(folder: Path, prefix: str, *, count: int) -> Path:
    """Speakers of two towns, with other resonances in each; one comes from nowhere we know."""
    rows = []
    for s in range(count):
        town = ("upper", "lower")[s % 2]
        for u in range(2):
            path = folder / f"{prefix}{s}" / f"{prefix}{s}-{u}.wav"
            write(path, hum(s % 2, duration_s=0.6 + 0.05 * u, f0_hz=100.0 + 7 * s))
            rows.append((f"{prefix}{s}-{u}", f"{prefix}{s}", str(path), town if s else None))
    Corpus(pl.DataFrame(rows, schema=["utterance", "speaker", "audio", "town"], orient="row")).save(
        folder / "manifest.parquet"
    )
    return folder


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path, Path]:
    attacked, others = _people(tmp_path / "a", "a", count=9), _people(tmp_path / "o", "o", count=8)
    anonymize(read_corpus(attacked).corpus, tmp_path / "anon", SYSTEM, engine=Here())
    return attacked, tmp_path / "anon", others


@pytest.mark.models
def test_a_column_of_the_manifest_is_guessed(folders: tuple[Path, Path, Path]) -> None:
    attacked, hidden, others = folders
    words = ["infer", str(attacked), str(hidden), "--train", str(others), "--embedder", "ge2e", "-a", "town"]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    assert "lower, upper" in done.stdout and "town:" in done.stdout
    pairs, system, source = read_pair(attacked, hidden, None)
    towns = study.attribute_of("town", (attacked, source), (others, read_corpus(others).corpus))
    listening = study.plan(pairs, system=system, lesson=lesson_of(others, None, system), embedder="ge2e")
    assert {sound.speaker[0] for sound in listening.sounds["training"]} == {"o"}
    (found,) = study.infer({"town": towns}, listening, engine=Here()).betrayed
    assert (found.inferred.attempts, found.inferred.unknown) == (8, 1)
    assert found.inferred.successes >= 7 and found.risk.risk.low <= found.risk.risk.value <= found.risk.risk.high


def test_attributes_come_from_speakers_tsv_too_and_mistakes_are_one_line(tmp_path: Path) -> None:
    folder = _people(tmp_path / "a", "a", count=3)
    rows = {"speaker": ["a0", "a1", "a2"], "age_group": ["child", "adult", None], "age": [str(i) for i in range(3)]}
    write_frame(pl.DataFrame(rows), folder / "speakers.tsv")
    corpus = read_corpus(folder).corpus
    assert study.attribute_of("age_group", (folder, corpus)) == {"a0": "child", "a1": "adult", "a2": None}
    with pytest.raises(ConfigError, match="did you mean 'town'"):
        study.attribute_of("tonw", (folder, corpus))
    many = corpus.frame.with_columns(pl.col("utterance").alias("town"))
    with pytest.raises(ConfigError, match="speaker 'a0' has more than one town"):
        study.attribute_of("town", (folder, Corpus(many)))
    crowd = pl.DataFrame({c: [f"{c}{i}" for i in range(30)] for c in ("utterance", "speaker", "audio", "village")})
    with pytest.raises(ConfigError, match="30 values, too many"):
        study.attribute_of("village", (tmp_path, Corpus(crowd)))


@pytest.mark.slow
@pytest.mark.shared
@pytest.mark.models
def test_mcadams_lets_gender_and_accent_through(shared_folder: Path, tmp_path: Path) -> None:
    """86 people, 140 others to learn from; which corpus is accent and recording conditions at once. -s prints it."""
    folder = shared_folder / "corpus"
    frame = read_corpus(folder).corpus.frame.group_by("speaker", maintain_order=True).head(3)
    parts = {}
    for part in ("eval", "train"):
        parts[part] = tmp_path / part
        Corpus(frame.filter(pl.col("part") == part)).save(parts[part] / "manifest.parquet")
    people = pl.read_csv(folder / "speakers.tsv", separator="\t").select("speaker", "age_group")
    write_frame(people.filter(pl.col("age_group").is_not_null()), tmp_path / "speakers.tsv")
    anonymize(read_corpus(parts["eval"]).corpus, tmp_path / "anon", SYSTEM, engine=Pool(2))
    pairs, system, source = read_pair(parts["eval"], tmp_path / "anon", None)
    teachers = read_corpus(parts["train"]).corpus
    both = (tmp_path, source), (tmp_path, teachers)
    attributes = {name: study.attribute_of(name, *both) for name in ("gender", "age_group", "corpus")}
    listening = study.plan(pairs, system=system, lesson=lesson_of(parts["train"], None, system), embedder="ge2e")
    found = study.infer(attributes, listening, engine=Pool(2))
    for row in study.table_rows(found)[1]:
        print(*row, sep=" | ")
    by = {one.attribute: one for one in found.betrayed}
    assert by["gender"].inferred.attempts == by["corpus"].inferred.attempts == 86
    assert by["gender"].risk.proves_something and by["gender"].risk.beats_control
    assert by["corpus"].risk.attack.value > by["corpus"].risk.control.value
