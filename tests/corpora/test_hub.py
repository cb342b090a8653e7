from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from personare.core.errors import CorpusError
from personare.corpora import read_corpus

Sound = Callable[..., Path]
Text = Callable[[str, str], Path]


def test_metadata_csv(tmp_path: Path, sound: Sound, text: Text) -> None:
    sound("clips/u1.wav")
    sound("clips/u2.wav")
    sound("clips/stray.wav")
    text(
        "metadata.csv",
        'file_name,speaker_id,transcription,gender,dialect\nclips/u1.wav,7,"Yes, I do",F,north\nclips/u2.wav,8,No,M,\n',
    )
    reading = read_corpus(tmp_path)
    assert (reading.layout, reading.evidence) == ("hub", "metadata.csv with file_name")
    assert reading.corpus.frame.select("utterance", "speaker", "text", "gender", "dialect").rows() == [
        ("clips/u1", "7", "Yes, I do", "f", "north"),
        ("clips/u2", "8", "No", "m", None),
    ]
    assert [(p.kind, p.names) for p in reading.problems] == [("orphan-audio", ("clips/stray.wav",))]


def test_metadata_jsonl_in_splits(tmp_path: Path, sound: Sound, text: Text) -> None:
    for part in ("train", "test"):
        sound(f"{part}/u1.wav")
        row = {"file_name": "u1.wav", "speaker": 7 if part == "train" else "b", "text": "hi", "words": [{"w": "hi"}]}
        text(f"{part}/metadata.jsonl", json.dumps(row) + "\n")
    reading = read_corpus(tmp_path)
    assert reading.evidence == "test/metadata.jsonl and 1 more with file_name"
    assert reading.corpus.frame.select("utterance", "speaker", "part").rows() == [
        ("test/u1", "b", "test"),
        ("train/u1", "7", "train"),
    ]
    assert reading.notes == ("the same ids occur in several parts: the part is put before every id",)
    assert reading.problems == ()


def test_metadata_parquet_with_ids(tmp_path: Path, sound: Sound) -> None:
    sound("u1.wav")
    rows = {"file_name": ["u1.wav"], "id": [17], "speaker_id": [3], "duration": [0.05]}
    pl.DataFrame(rows).write_parquet(tmp_path / "metadata.parquet")
    assert read_corpus(tmp_path).corpus.frame.select("utterance", "speaker", "duration_s").rows() == [("17", "3", 0.05)]


def test_the_first_of_several_names_for_one_thing_is_taken(tmp_path: Path, sound: Sound, text: Text) -> None:
    sound("u1.wav")
    text("metadata.csv", "file_name,speaker_id,speaker,text,transcription\nu1.wav,7,Anna Real Name,raw,clean\n")
    frame = read_corpus(tmp_path).corpus.frame
    assert frame.select("speaker", "text").rows() == [("7", "clean")]


def test_nobody_is_named(tmp_path: Path, sound: Sound, text: Text) -> None:
    sound("u1.wav")
    text("metadata.csv", "file_name,label\nu1.wav,dog\n")
    with pytest.raises(CorpusError, match=r"no column says who speaks \(speaker_id, .*it has file_name, label"):
        read_corpus(tmp_path)


def test_a_broken_line(tmp_path: Path, text: Text) -> None:
    text("metadata.jsonl", '{"file_name": "u1.wav", "speaker": "a"}\n{"file_name": \n')
    with pytest.raises(CorpusError, match=r"metadata\.jsonl: line 2 is not JSON"):
        read_corpus(tmp_path)
