"""Guessed attributes: they fill gaps only, are marked as predicted everywhere, and never decide what was noted."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

from personare.cli import app
from personare.core.audio import Audio, write
from personare.core.tables import Corpus
from personare.corpora import read_corpus
from personare.engine import Serial
from personare.pipeline.jobs.anonymize import anonymize
from personare.pipeline.jobs.guess_attributes import gender_notes, labels_of, predicted_counts, with_guesses
from personare.pipeline.system import System

pytest.importorskip("pyworld", reason="needs the extra 'pitch'")
pytest.importorskip("pystoi", reason="needs the extra 'quality'")


def frame_of(folder: Path) -> pl.DataFrame:
    return Corpus.load(folder / "manifest.parquet").frame


def test_gaps_are_filled_and_marked_and_what_was_noted_stays(small_corpus: Path) -> None:
    frame = frame_of(small_corpus)
    gaps = frame.with_columns(
        pl.when(pl.col("speaker").is_in(["anna", "bela"]) & (pl.col("utterance") != "bela-1"))
        .then(None)
        .otherwise("gender")
        .alias("gender")
    )
    gaps = gaps.with_columns(pl.when(pl.col("speaker") == "cora").then(pl.lit("x")).otherwise("gender").alias("gender"))
    guesses = with_guesses(gaps, engine=Serial(), kinds=("gender", "age_group"))
    people = {r["speaker"]: r for r in guesses.frame.iter_rows(named=True)}
    assert people["anna"]["gender"] in ("f", "m")
    assert people["anna"]["gender_predicted"]
    assert (people["bela"]["gender"], people["bela"]["gender_predicted"]) == ("m", False)  # noted in one utterance
    assert (people["cora"]["gender"], people["cora"]["gender_predicted"]) == ("x", False)
    assert guesses.frame["age_group_predicted"].all()
    assert guesses.speakers == {"gender": 1, "age_group": 4}
    assert "guessed by machine" in guesses.notes[0]
    assert sum(predicted_counts(guesses.frame, "gender").values()) == 1
    assert labels_of(guesses.frame, "gender")["anna-0"].endswith("(predicted)")
    assert labels_of(guesses.frame, "gender")["dirk-0"] == "m"
    Corpus(guesses.frame)


def test_a_voice_that_cannot_be_guessed_is_unknown_and_named(small_corpus: Path) -> None:
    frame = frame_of(small_corpus).drop("gender")
    for path in frame.filter(pl.col("speaker") == "anna")["audio"]:
        write(Path(path), Audio(np.zeros(12_800, np.float32), 16_000))
    guesses = with_guesses(frame, engine=Serial())
    assert [speaker for speaker, _ in guesses.failures] == ["anna"]
    assert "no guess" in guesses.failures[0][1]
    assert labels_of(guesses.frame, "gender")["anna-0"] == "unknown"


def test_listen_breaks_down_by_what_was_guessed(
    small_corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PERSONARE_HOME", str(tmp_path / "home"))
    Corpus(frame_of(small_corpus).drop("gender")).save(small_corpus / "manifest.parquet")
    arguments = ["listen", str(small_corpus), str(small_corpus), "--listeners", "stoi", "--by", "gender"]
    refused = CliRunner().invoke(app, arguments)
    assert "--guess" in str(refused.exception)
    told = json.loads(CliRunner().invoke(app, [*arguments, "--guess", "--json"]).stdout)
    whole, *parts = told["findings"]
    assert whole["n"] == 4
    assert sum(part["n"] for part in parts) == 4
    assert all(part["conditions"]["gender"].endswith("(predicted)") for part in parts)
    assert any("predicted" in note for note in told["notes"])
    shown = CliRunner().invoke(app, [*arguments, "--guess"]).stdout
    assert "(predicted)" in shown


def test_corpus_info_counts_guesses_apart(small_corpus: Path) -> None:
    Corpus(frame_of(small_corpus).drop("gender")).save(small_corpus / "manifest.parquet")
    told = json.loads(CliRunner().invoke(app, ["corpus", "info", str(small_corpus), "--guess", "--json"]).stdout)
    assert told["genders"] == {"unknown": 4}
    assert sum(told["predicted"]["gender"].values()) == 4
    assert "predicted" not in json.loads(
        CliRunner().invoke(app, ["corpus", "info", str(small_corpus), "--json"]).stdout
    )


def test_an_evaluation_says_that_genders_are_predicted(small_corpus: Path) -> None:
    frame = with_guesses(frame_of(small_corpus).drop("gender"), engine=Serial()).frame
    assert any("Genders of 4 speakers are predicted" in note for note in gender_notes(frame))
    as_text = frame.with_columns(pl.col("gender_predicted").cast(pl.String))  # as a .tsv has it
    assert list(gender_notes(as_text)) == list(gender_notes(frame))
    noted = frame_of(small_corpus)
    assert [*gender_notes(noted)] == [n for n in gender_notes(frame) if "predicted" not in n]
    nobody = noted.with_columns(gender=pl.lit(None, dtype=pl.String))
    assert [*gender_notes(nobody)] == ["Genders are unknown: all speakers were compared with all."]
    some = noted.with_columns(pl.when(pl.col("speaker") == "anna").then(None).otherwise("gender").alias("gender"))
    assert any("The gender of 1 speakers is not noted" in note for note in gender_notes(some))


@pytest.mark.models
def test_an_attack_compares_within_guessed_genders_and_says_so(small_corpus: Path, tmp_path: Path) -> None:
    """Four voices without a noted gender: 4 x 4 trials unguessed, fewer where the machine tells them apart."""
    Corpus(frame_of(small_corpus).drop("gender")).save(small_corpus / "manifest.parquet")
    anonymize(read_corpus(small_corpus).corpus, tmp_path / "anon", System("mcadams"), engine=Serial())
    words = ["attack", str(small_corpus), str(tmp_path / "anon"), "--knowledge", "ignorant", "--embedder", "ge2e"]
    plain = CliRunner().invoke(app, words)
    assert plain.exit_code == 0, plain.output
    assert "Genders are unknown" in plain.stdout
    guessed = CliRunner().invoke(app, [*words, "--guess-gender"])
    assert guessed.exit_code == 0, guessed.output
    assert "Genders of 4 speakers are predicted" in guessed.stdout
    assert "same gender only" in guessed.stdout
    filled = with_guesses(frame_of(small_corpus), engine=Serial()).frame
    assert filled["gender"].n_unique() == 2  # so that the trials differ
    assert plain.stdout.splitlines()[3:5] != guessed.stdout.splitlines()[3:5]
