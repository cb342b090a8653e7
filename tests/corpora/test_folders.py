from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from media_files import without_media
from personare.core.errors import CorpusError
from personare.corpora import read_corpus

Sound = Callable[..., Path]
Text = Callable[[str, str], Path]


def test_each_folder_is_a_speaker(tmp_path: Path, sound: Sound) -> None:
    sound("bela/day2/u1.flac")
    sound("anna/u2.wav")
    sound("anna/u1.wav")
    reading = read_corpus(tmp_path)
    assert reading.layout == "folders"
    assert "2 folders" in reading.evidence
    assert reading.corpus.frame.rows() == [
        ("anna/u1", "anna", str(tmp_path / "anna/u1.wav")),
        ("anna/u2", "anna", str(tmp_path / "anna/u2.wav")),
        ("bela/day2/u1", "bela", str(tmp_path / "bela/day2/u1.flac")),
    ]
    assert [p.line for p in reading.problems] == [
        f"{tmp_path}: 1 speaker's folder holds further folders (first: 'bela'); read as one person each; if each inner "
        "folder is a person, use --speaker-from last-folder"
    ]


def test_texts_and_genders_beside_the_recordings(tmp_path: Path, sound: Sound, text: Text) -> None:
    sound("anna/u1.wav")
    sound("anna/u2.wav")
    sound("bela/u1.wav")
    text("anna/u1.txt", "good\nmorning\n")
    text("anna/u2.txt", " \n")
    text("bela/u9.txt", "nobody said this")
    text("speakers.tsv", "speaker\tgender\nanna\tFemale\nbela\tmale\n")
    reading = read_corpus(tmp_path)
    assert reading.corpus.frame["text"].to_list() == ["good morning", None, None]
    assert reading.corpus.frame["gender"].to_list() == ["f", "f", "m"]
    assert [(p.kind, p.names) for p in reading.problems] == [
        ("orphan-entry", ("bela/u9.txt",)),
        ("empty-text", ("anna/u2", "bela/u1")),
    ]


def test_every_fault_of_a_tree_is_a_line(
    tmp_path: Path, sound: Sound, text: Text, monkeypatch: pytest.MonkeyPatch
) -> None:
    sound("anna/u1.wav")
    sound("anna/u1.flac")
    sound("stray.wav")
    sound("anna/.hidden.wav")
    sound(".trash/u1.wav")
    text("bela/notes.md", "no audio here")
    without_media(monkeypatch)
    text("anna/u7.m4a", "")
    (tmp_path / "anna" / "again").symlink_to(tmp_path, target_is_directory=True)
    reading = read_corpus(tmp_path)
    assert reading.corpus.frame["utterance"].to_list() == ["anna/u1"]
    assert [p.line for p in reading.problems] == [
        f"{tmp_path}: 1 link leads to a folder that is read already (first: 'anna/again'); not followed",
        f"{tmp_path}: 1 file needs the extra 'media' (first: 'anna/u7.m4a'); not read; "
        "install it with: pip install '.[media]' (in the source folder of personare)",
        f"{tmp_path}: 1 audio file has no entry (first: 'stray.wav'); not read",
        f"{tmp_path}: 1 listed speaker has no utterance (first: 'bela')",
        f"{tmp_path}: 1 utterance id occurs more than once (first: 'anna/u1'); only the first of each is kept",
    ]


def test_a_link_to_itself_hides_nothing(tmp_path: Path, sound: Sound) -> None:
    sound("anna/u1.wav")
    (tmp_path / "anna" / "a.wav").symlink_to(tmp_path / "anna" / "a.wav")
    (tmp_path / "aaa").symlink_to(tmp_path / "aaa")
    reading = read_corpus(tmp_path)
    assert reading.corpus.frame["utterance"].to_list() == ["anna/u1"]
    assert [p.kind for p in reading.problems] == ["missing-audio"]


def test_a_folder_that_cannot_be_opened(tmp_path: Path, sound: Sound, monkeypatch: pytest.MonkeyPatch) -> None:
    sound("anna/u1.wav")
    sound("bela/u1.wav")
    scandir = os.scandir

    def guarded(path: str | Path) -> Any:
        if str(path).endswith("bela"):
            raise PermissionError(13, "Permission denied")
        return scandir(path)

    monkeypatch.setattr(os, "scandir", guarded)
    reading = read_corpus(tmp_path)
    assert [(p.kind, p.names) for p in reading.problems] == [("closed-folder", ("bela",))]
    assert reading.corpus.speakers == ["anna"]


def test_a_transcript_that_is_not_utf8_is_reported(tmp_path: Path, sound: Sound, text: Text) -> None:
    sound("anna/u1.wav")
    sound("anna/u2.wav")
    text("anna/u1.txt", "good")
    (tmp_path / "anna" / "u2.txt").write_bytes(b"caf\xe9")
    reading = read_corpus(tmp_path)
    assert reading.corpus.frame["text"].to_list() == ["good", None]
    assert [p.kind for p in reading.problems] == ["unreadable-text", "empty-text"]


def test_links_to_folders_elsewhere_are_followed_on_request(tmp_path: Path, sound: Sound) -> None:
    sound("store/x7/u1.wav")
    (tmp_path / "corpus").mkdir()
    (tmp_path / "corpus" / "anna").symlink_to(tmp_path / "store" / "x7", target_is_directory=True)
    reading = read_corpus(tmp_path / "corpus", follow_links=True)
    assert reading.corpus.frame["utterance"].to_list() == ["anna/u1"]


@pytest.mark.skipif(os.name != "posix", reason="only POSIX file names can be invalid Unicode")
def test_a_name_that_is_not_unicode_is_reported(tmp_path: Path, sound: Sound) -> None:
    good = sound("anna/u1.wav")
    odd = os.fsencode(tmp_path / "anna") + b"/\xff.wav"
    Path(os.fsdecode(odd)).write_bytes(good.read_bytes())
    reading = read_corpus(tmp_path)
    assert len(reading.corpus) == 1
    assert [p.kind for p in reading.problems] == ["odd-name"]


def test_recordings_without_a_folder_have_no_speaker(tmp_path: Path, sound: Sound) -> None:
    sound("u1.wav")
    with pytest.raises(
        CorpusError,
        match=r"no known layout, audio files lie in it directly; say who speaks: --speaker-from",
    ):
        read_corpus(tmp_path)
