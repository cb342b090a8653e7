from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from personare.corpora import read_corpus

Sound = Callable[..., Path]
Text = Callable[[str, str], Path]
HEAD = "client_id\tpath\tsentence\tup_votes\tdown_votes\tage\tgender\taccents\tlocale\tsegment\n"


@pytest.fixture
def voices(sound: Sound, text: Text, tmp_path: Path) -> Path:
    for number in range(4):
        sound(f"clips/cv_{number}.mp3.wav").rename(tmp_path / f"clips/cv_{number}.mp3")
    one = 'c1\tcv_0.mp3\tSay "hi\t2\t0\ttwenties\tmale_masculine\t\tde\t\n'
    two = "c2\tcv_1.mp3\tGuten Tag\t2\t0\t\tfemale_feminine\t\tde\t\n"
    three = "c2\tcv_9.mp3\tWeg\t2\t0\t\tfemale_feminine\t\tde\t\n"
    text("validated.tsv", HEAD + one + two + three)
    text("train.tsv", HEAD + one)
    text("test.tsv", HEAD + two)
    text("other.tsv", HEAD + "c3\tcv_2.mp3\tUngeprüft\t0\t0\t\t\t\tde\t\n")
    text("clip_durations.tsv", "clip\tduration[ms]\ncv_0.mp3\t1500\ncv_1.mp3\t2500\n")
    text("reported.tsv", "sentence_id\tsentence\tlocale\treason\n")
    return tmp_path


def test_validated_clips_with_parts_and_durations(voices: Path) -> None:
    reading = read_corpus(voices)
    assert reading.layout == "commonvoice"
    frame = reading.corpus.frame
    assert frame.select("utterance", "speaker", "text", "gender", "part", "duration_s").rows() == [
        ("cv_0", "c1", 'Say "hi', "m", "train", 1.5),
        ("cv_1", "c2", "Guten Tag", "f", "test", 2.5),
    ]
    assert {p.kind: p.names for p in reading.problems} == {
        "orphan-audio": ("cv_3.mp3",),
        "missing-audio": (f"cv_9 -> {voices / 'clips/cv_9.mp3'}",),
    }


def test_a_client_is_not_a_person_and_the_note_says_so(voices: Path) -> None:
    notes = read_corpus(voices).notes
    assert "not a person" in notes[0]
    assert notes[1] == "read: validated.tsv; not read: train.tsv, test.tsv, other.tsv"


def test_one_table_can_be_named(voices: Path) -> None:
    reading = read_corpus(voices / "other.tsv")
    assert reading.layout == "commonvoice"
    assert reading.corpus.speakers == ["c3"]


def test_without_validated_the_parts_are_joined(voices: Path) -> None:
    (voices / "validated.tsv").unlink()
    assert read_corpus(voices).corpus.frame["part"].to_list() == ["train", "test"]
