from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from personare.core.errors import CorpusError, TableError
from personare.corpora import read_corpus

Sound = Callable[..., Path]
Text = Callable[[str, str], Path]


def test_the_table_names_everything(tmp_path: Path, sound: Sound, text: Text) -> None:
    sound("audio/a/u1.ogg")
    sound("audio/b/u2.ogg")
    text(
        "manifest.tsv",
        "utterance\tspeaker\tgender\taudio\tseconds\ttext\tcorpus\tpart\n"
        'u1\ta\tFEMALE\taudio/a/u1.ogg\t0.05\tSAY "HI"\tmine\ttrain\n'
        "u2\tb\tmale_masculine\taudio/b/u2.ogg\t0.05\tYES\tmine\teval\n",
    )
    reading = read_corpus(tmp_path)
    frame = reading.corpus.frame
    assert (reading.layout, reading.problems, reading.notes) == ("manifest", (), ())
    assert frame["gender"].to_list() == ["f", "m"]
    assert frame["audio"].to_list() == [str(tmp_path / "audio/a/u1.ogg"), str(tmp_path / "audio/b/u2.ogg")]
    assert frame["duration_s"].to_list() == [0.05, 0.05]
    assert frame["text"].to_list() == ['SAY "HI"', "YES"]
    assert frame["part"].to_list() == ["train", "eval"]
    assert frame["corpus"].to_list() == ["mine", "mine"]


def test_our_parquet_comes_back_as_it_was_saved(tmp_path: Path, sound: Sound, text: Text) -> None:
    sound("anna/u1.wav")
    sound("bela/u1.wav")
    corpus = read_corpus(tmp_path).corpus
    corpus.save(tmp_path / "manifest.parquet")
    reading = read_corpus(tmp_path)
    assert reading.layout == "manifest"  # it lies inside a folder per speaker, and wins
    assert reading.corpus.frame.equals(corpus.frame)
    assert read_corpus(tmp_path / "manifest.parquet").corpus.frame.equals(corpus.frame)


def test_every_fault_of_a_manifest_is_a_line(tmp_path: Path, sound: Sound, text: Text) -> None:
    for name in ("u1", "u2", "u5", "stray"):
        sound(f"{name}.wav")
    rows = [
        "u1\ta\tf\tu1.wav\t",
        "u2\tb\tfeminin-ish\tu2.wav\thello",
        "u2\tb\tm\tu2.wav\thello",
        "u3\ta\tm\tgone.wav\tx",
        "u4\t\tm\tu1.wav\tx",
        "\ta\tm\tu1.wav\tx",
        "u5\ta\tm\tu5.wav\tx",
        "u6\tc\tm\tu5.wav\tx",
        "../../u7\tc\tm\tu5.wav\tx",
    ]
    text("manifest.tsv", "\n".join(["utterance\tspeaker\tgender\taudio\ttext", *rows]) + "\n")
    text("speakers.tsv", "speaker\tage\na\t9\nb\t8\nc\t7\nzoe\t6\n")
    reading = read_corpus(tmp_path)
    assert {p.kind: p.names for p in reading.problems} == {
        "orphan-audio": ("stray.wav",),
        "idle-speaker": ("zoe",),
        "no-utterance": (str(tmp_path / "u1.wav"),),
        "no-speaker": ("u4",),
        "unsafe-name": ("../../u7",),
        "duplicate-utterance": ("u2",),
        "missing-audio": (f"u3 -> {tmp_path / 'gone.wav'}",),
        "duplicate-file": (str(tmp_path / "u5.wav"),),
        "empty-text": ("u1",),
        "mixed-gender": ("a",),
    }
    assert reading.notes == ("gender 'feminin-ish' (1 row) is not known as f, m or x and is left empty",)
    assert reading.corpus.frame["utterance"].to_list() == ["u1", "u2", "u5", "u6"]


def test_segments_that_cannot_be_and_that_overlap(tmp_path: Path, sound: Sound) -> None:
    sound("long.wav", duration_s=1.0)
    frame = pl.DataFrame(
        {
            "utterance": ["a", "b", "c", "d", "e"],
            "speaker": ["s"] * 5,
            "audio": ["long.wav"] * 5,
            "start_s": [0.0, 0.4, 0.8, -1.0, 0.5],
            "end_s": [0.5, 0.6, None, 0.2, 0.5],
        }
    )
    frame.write_parquet(tmp_path / "manifest.parquet")
    reading = read_corpus(tmp_path)
    assert reading.corpus.frame["utterance"].to_list() == ["a", "b", "c"]
    assert {p.kind: p.names for p in reading.problems} == {
        "bad-segment": ("d", "e"),
        "overlapping-segment": ("b",),
    }


def test_paths_may_climb_for_reading(tmp_path: Path, sound: Sound, text: Text) -> None:
    sound("elsewhere/u1.wav")
    text("here/manifest.tsv", "utterance\tspeaker\taudio\nu1\ta\t../elsewhere/u1.wav\n")
    assert read_corpus(tmp_path / "here").corpus.frame["audio"].to_list() == [str(tmp_path / "elsewhere/u1.wav")]


@pytest.mark.parametrize(
    ("content", "error", "words"),
    [
        ("utterance\tspeaker\nu1\ta\n", CorpusError, "needs the column 'audio'"),
        ("utterance\tspeaker\taudio\nu1\ta\tgone.wav\n", CorpusError, "no utterance is left .*1 entry names an audio"),
        ("utterance\tspeaker\taudio\tseconds\nu1\ta\tx.wav\tlong\n", TableError, "times and channels must be numbers"),
        ("", TableError, "cannot be read"),
    ],
)
def test_a_manifest_nothing_can_be_made_of(
    tmp_path: Path, text: Text, content: str, error: type[Exception], words: str
) -> None:
    text("manifest.tsv", content)
    with pytest.raises(error, match=words) as caught:
        read_corpus(tmp_path, layout="manifest")
    assert "\n" not in str(caught.value)


@pytest.mark.shared
def test_the_shared_corpus_is_what_its_readme_says(shared_folder: Path) -> None:
    reading = read_corpus(shared_folder / "corpus")
    assert (reading.layout, reading.problems, reading.notes) == ("manifest", (), ())
    assert len(reading.corpus.speakers) == 226
    assert len(reading.corpus) == 2_502
    assert round(reading.corpus.frame["duration_s"].sum() / 3600, 1) == 3.4
