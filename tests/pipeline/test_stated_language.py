"""A language that the corpus states overrides identification for that recording; the user's choice overrides both."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from conftest import Command
from personare.core.audio import write
from personare.core.errors import RejectedSpeechError
from personare.pipeline.jobs.target import private_folder
from personare.pipeline.system import System
from pipeline.test_speaker_survey import sound

METHOD = ("--method", "pipeline.plugins:Speaking")


def test_a_system_takes_the_language_of_a_recording() -> None:
    assert System("cascade").in_language("en").parameters == {"language": "en"}
    for other in (System("cascade", {"language": "auto"}), System("mcadams")):
        assert other.in_language("de") is other
    assert System("cascade").in_language(None) == System("cascade")
    with pytest.raises(RejectedSpeechError, match=r"the corpus says that this is Dutch \(nl\)"):
        System("cascade").in_language("nl")


@pytest.fixture
def recordings(tmp_path: Path) -> Path:
    """Two recordings that sound like German; the corpus says that one is English."""
    rows = []
    for name, language in (("stated", "en"), ("silent", None)):
        write(tmp_path / "in" / f"{name}.wav", sound(0.9, duration_s=2.0))
        rows.append({"utterance": name, "speaker": "anna", "audio": f"{name}.wav", "language": language})
    pl.DataFrame(rows).write_parquet(tmp_path / "in" / "manifest.parquet")
    return tmp_path / "in"


def test_the_corpus_states_the_language_of_each_recording(recordings: Path, tmp_path: Path, personare: Command) -> None:
    done = personare("anonymize", recordings, tmp_path / "out", *METHOD, "--json")
    assert done.code == 1 and json.loads(done.stdout)["done"] == 1
    _, row = (private_folder(tmp_path / "out") / "failures.tsv").read_text().splitlines()
    assert row.startswith("silent\trejected\t")
    overridden = personare("anonymize", recordings, tmp_path / "auto", *METHOD, "--language", "auto", "--json")
    assert json.loads(overridden.stdout)["failed"] == 2, "auto identifies every recording"
    wrong = personare("anonymize", recordings, tmp_path / "no", *METHOD, "--language", "englsh")
    assert wrong.code == 2 and "did you mean 'en' (English)" in wrong.stderr and wrong.stderr.count("\n") == 1


def test_the_language_comes_along_with_a_method_that_transcribes_nothing(
    recordings: Path, tmp_path: Path, personare: Command
) -> None:
    done = personare("anonymize", recordings, tmp_path / "out", "--strength", "fast", "--names", "keep")
    assert done.code == 0, done.stderr
    frame = pl.read_parquet(tmp_path / "out" / "manifest.parquet").sort("utterance")
    assert frame.select("utterance", "language").rows() == [("silent", None), ("stated", "en")]


def test_a_corrected_language_makes_the_recording_again(recordings: Path, tmp_path: Path, personare: Command) -> None:
    assert personare("anonymize", recordings, tmp_path / "out", *METHOD).code == 1
    frame = pl.read_parquet(recordings / "manifest.parquet").with_columns(pl.lit("en").alias("language"))
    frame.write_parquet(recordings / "manifest.parquet")
    again = personare("anonymize", recordings, tmp_path / "out", *METHOD, "--json")
    assert again.code == 0 and json.loads(again.stdout)["done"] == 2, again.stderr
