from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from personare.core.errors import ConfigError
from personare.corpora import read_corpus

Sound = Callable[..., Path]
Text = Callable[[str, str], Path]
PEOPLE = (
    "ID  AGE  GENDER  ACCENTS  REGION COMMENTS \n"
    "p225  23  F    English    Southern  England\n"
    "p280  25  F    French   France   (mic2 files unavailable)\n"
    "s5    18  M    British\n"
)


@pytest.fixture
def vctk(sound: Sound, text: Text, tmp_path: Path) -> Path:
    for name in ("p225/p225_001_mic1", "p225/p225_001_mic2", "p225/p225_002_mic1", "p280/p280_001_mic1"):
        sound(f"wav48_silence_trimmed/{name}.flac", rate_hz=48_000)
    text("txt/p225/p225_001.txt", "Please call Stella.\n")
    text("txt/p225/p225_009.txt", "Never recorded.\n")
    text("txt/p280/p280_001.txt", "Ask her.\n")
    text("speaker-info.txt", PEOPLE)
    return tmp_path


def test_one_microphone_is_read(vctk: Path) -> None:
    reading = read_corpus(vctk)
    assert (reading.layout, reading.evidence) == ("vctk", "speaker-info.txt beside wav48_silence_trimmed")
    assert reading.corpus.frame.drop("audio").rows() == [
        ("p225_001", "p225", "Please call Stella.", "f"),
        ("p225_002", "p225", None, "f"),
        ("p280_001", "p280", "Ask her.", "f"),
    ]
    assert reading.corpus.frame["audio"][0].endswith("p225_001_mic1.flac")
    assert reading.notes == ("1 recordings by the other microphone are not read (read: mic1)",)
    assert {p.kind: p.names for p in reading.problems} == {
        "orphan-entry": ("p225/p225_009.txt",),
        "idle-speaker": ("s5",),
        "empty-text": ("p225_002",),
    }


def test_the_other_microphone(vctk: Path) -> None:
    reading = read_corpus(vctk, layout="vctk", mic="mic2")
    assert reading.corpus.frame["audio"].str.ends_with("p225_001_mic2.flac").all()
    assert {p.kind: p.names for p in reading.problems}["idle-speaker"] == ("p280", "s5")
    with pytest.raises(ConfigError, match="vctk: mic: 'mic3' is not allowed"):
        read_corpus(vctk, layout="vctk", mic="mic3")


def test_the_older_release(sound: Sound, text: Text, tmp_path: Path) -> None:
    sound("wav48/p225/p225_001.wav")
    sound("wav48/p225/noise.wav")
    text("speaker-info.txt", "ID  AGE  GENDER  ACCENTS  REGION \n225  23  F    English    Southern  England\n")
    reading = read_corpus(tmp_path)
    assert reading.corpus.frame.drop("audio").rows() == [("p225_001", "p225", "f")]
    assert [(p.kind, p.names) for p in reading.problems] == [("orphan-audio", ("p225/noise.wav",))]
