"""Tables check what they hold: columns, types, repeated keys, empty cells; and survive a trip to disk."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from personare.core.errors import TableError
from personare.core.tables import Corpus, Embeddings, Scores, Trials


def corpus_of(**columns: list[str | None]) -> pl.DataFrame:
    least: dict[str, list[str | None]] = {"utterance": ["u1", "u2"], "speaker": ["a", "b"]}
    return pl.DataFrame(least | {"audio": ["u1.wav", "u2.wav"]} | columns)


@pytest.mark.parametrize("suffix", ["parquet", "tsv"])
def test_a_corpus_survives_the_disk_with_relative_audio(tmp_path: Path, suffix: str) -> None:
    inside, outside = str(tmp_path / "audio" / "u1.wav"), "/elsewhere/u2.wav"
    corpus = Corpus(corpus_of(audio=[inside, outside], gender=["f", None], text=["two words", None]))
    corpus.save(tmp_path / f"manifest.{suffix}")
    back = Corpus.load(tmp_path / f"manifest.{suffix}")
    assert back.frame.equals(corpus.frame) and back.speakers == ["a", "b"]
    if suffix == "tsv":
        assert str(tmp_path) not in (tmp_path / "manifest.tsv").read_text()


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (corpus_of().drop("speaker"), "needs a column 'speaker'"),
        (corpus_of().rename({"speaker": "speakr"}), "did you mean 'speakr'"),
        (corpus_of(utterance=["u", "u"]), r"utterance must not repeat; 2 rows do \(first: 'u'\)"),
        (corpus_of(speaker=["a", None]), "column 'speaker' is empty in 1 rows"),
        (corpus_of(speaker=["a", ""]), "column 'speaker' is empty in 1 rows"),
        (corpus_of(gender=["f", "female"]), "gender 'female' is none of f, m, x"),
        (corpus_of(speaker=["a", "a"], gender=["f", "m"]), "speaker 'a' has more than one gender"),
        (corpus_of(start_s=["0", "soon"]), "wrong type"),
    ],
)
def test_bad_corpora_are_refused(frame: pl.DataFrame, message: str) -> None:
    with pytest.raises(TableError, match=message):
        Corpus(frame)


def test_trials_and_scores_are_closed_and_unique(tmp_path: Path) -> None:
    rows = {"enroll": ["a", "a"], "test": ["u1", "u2"], "target": [True, False]}
    Trials(pl.DataFrame(rows)).save(tmp_path / "t.parquet")
    assert Trials.load(tmp_path / "t.parquet").frame["target"].to_list() == [True, False]
    assert len(Scores(pl.DataFrame(rows | {"score": [1, 2]}))) == 2
    with pytest.raises(TableError, match="needs a column 'score'"):
        Scores(pl.DataFrame(rows | {"scroe": [1.0, 2.0]}))
    with pytest.raises(TableError, match=r"enroll \+ test must not repeat"):
        Trials(pl.DataFrame(rows | {"test": ["u1", "u1"]}))


def test_bad_files(tmp_path: Path) -> None:
    (tmp_path / "x.parquet").write_bytes(b"not parquet")
    for name in ("absent.parquet", "x.parquet", "x.docx"):
        with pytest.raises(TableError) as caught:
            Corpus.load(tmp_path / name)
        assert "\n" not in str(caught.value)
    with pytest.raises(TableError, match="unknown kind of table"):
        Corpus(corpus_of()).save(tmp_path / "m.csv")


def test_embeddings_check_shapes_and_values() -> None:
    good = np.zeros((2, 3), np.float32)
    assert Embeddings(("u", "v"), ("a", "b"), good).vectors is good
    for ids, vectors in [(("u",), good), (("u", "u"), good), (("u", "v"), good[0]), (("u", "v"), good + np.nan)]:
        with pytest.raises(TableError):
            Embeddings(ids, ("a", "b"), vectors)
