from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from media_files import without_media
from personare.core.errors import CorpusError
from personare.corpora import read_corpus

Sound = Callable[..., Path]
Text = Callable[[str, str], Path]
FIRST = "VoxCeleb1 ID\tVGGFace1 ID\tGender\tNationality\tSet\nid10270\tA_Name\tm\tUK\ttest\nid10271\tB\tf\tUK\ttest\n"
SECOND = "VoxCeleb2 ID ,VGGFace2 ID ,Gender ,Set \nid00012 ,n000012 ,f ,dev \nid00099 ,n000099 ,m ,dev \n"


def test_the_first_with_trials(tmp_path: Path, sound: Sound, text: Text) -> None:
    for name in ("id10270/v1/00001", "id10270/v2/00001", "id10271/v3/00007"):
        sound(f"test/wav/{name}.wav")
    sound("test/wav/readme.wav")
    text("vox1_meta.csv", FIRST)
    text(
        "veri_test.txt",
        "1 id10270/v1/00001.wav id10270/v2/00001.wav\n0 id10270/v1/00001.wav id10271/v3/00007.wav\n"
        "0 id10270/v1/00001.wav id10309/x/1.wav\nperhaps\n",
    )
    text("veri_test2.txt", "1 id10270/v1/00001.wav id10270/v2/00001.wav\n")
    reading = read_corpus(tmp_path)
    assert (reading.layout, reading.evidence) == ("voxceleb", "test/wav/id10270/v1/")
    assert reading.corpus.frame.drop("audio").rows() == [
        ("id10270/v1/00001", "id10270", "test", "m"),
        ("id10270/v2/00001", "id10270", "test", "m"),
        ("id10271/v3/00007", "id10271", "test", "f"),
    ]
    assert reading.trials is not None
    assert reading.trials.frame["target"].to_list() == [True, False]
    assert {p.kind: p.names for p in reading.problems} == {
        "orphan-audio": ("test/wav/readme.wav",),
        "bad-line": ("perhaps",),
        "bad-trial": ("id10270/v1/00001 id10309/x/1",),
    }
    assert reading.notes == ("trials are read from veri_test.txt, not from veri_test2.txt",)
    chosen = read_corpus(tmp_path, layout="voxceleb", trial_list="veri_test2.txt")
    assert chosen.trials is not None and len(chosen.trials) == 1


def test_the_second_with_its_own_list_of_people(
    tmp_path: Path, sound: Sound, text: Text, monkeypatch: pytest.MonkeyPatch
) -> None:
    sound("dev/aac/id00012/v1/00001.wav")
    without_media(monkeypatch)
    text("dev/aac/id00012/v1/00002.m4a", "")
    text("vox2_meta.csv", SECOND)
    reading = read_corpus(tmp_path)
    assert reading.corpus.frame.drop("audio").rows() == [("id00012/v1/00001", "id00012", "dev", "f")]
    assert {p.kind: p.names for p in reading.problems} == {
        "unsupported-format": ("dev/aac/id00012/v1/00002.m4a",),
        "idle-speaker": ("id00099",),
    }


def test_files_that_need_an_extra_say_which(tmp_path: Path, text: Text, monkeypatch: pytest.MonkeyPatch) -> None:
    without_media(monkeypatch)
    text("dev/aac/id00012/v1/00002.m4a", "")
    with pytest.raises(CorpusError, match=r"no utterance is left .*00002\.m4a.*pip install '\.\[media\]'"):
        read_corpus(tmp_path)


def test_a_trial_list_that_is_not_there(tmp_path: Path, sound: Sound) -> None:
    sound("wav/id10270/v1/00001.wav")
    assert "genders are unknown" in read_corpus(tmp_path).notes[0]
    with pytest.raises(CorpusError, match=r"no trial list 'veri\.txt'"):
        read_corpus(tmp_path, layout="voxceleb", trial_list="veri.txt")
