"""Who speaks, by a rule: each rule on real folders, patterns that cannot run away, and one line for each mistake."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import personare as pn
from personare.core.errors import ConfigError, CorpusError
from personare.corpora import read_corpus
from personare.corpora.speaker_from import parse_rule

Sound = Callable[..., Path]

FITS = [
    ("file", "a/b", "a/b"),
    ("folder", "anna/day1/u1", "anna"),
    ("folder", "u1", None),
    ("channel", "call-1", "call-1"),
    ("{speaker}_{rest}", "anna_2024_03", "anna"),
    ("{speaker}_{rest}", "deep/down/käthe_1", "käthe"),
    ("{speaker}_{rest}", "anna", None),
    ("{speaker}_{rest}", "_1", None),
    ("{rest}-{speaker}", "2024-anna-b", "anna-b"),
    ("call {day} {speaker}", "call 3 anna maria", "anna maria"),
    ("call {day} {speaker}", "talk 3 anna", None),
    ("{year}/{speaker}/{file}", "2024/anna/u1", "anna"),
    ("{year}/{speaker}/{file}", "2024/anna/day/u1", None),
    ("{date}.{speaker}.x", "1.anna.x", "anna"),
    ("{date}.{speaker}.x", "1.anna.y", None),
]


@pytest.mark.parametrize(("rule", "stem", "speaker"), FITS)
def test_each_rule_names_the_speaker(rule: str, stem: str, speaker: str | None) -> None:
    assert parse_rule(rule).speaker_of(stem) == speaker


BAD = {
    "fil": "is none of file, folder, last-folder, channel, or a pattern such as {speaker}_{rest}; did you mean 'file'",
    "": "is none of file",
    "{speakr}_{rest}": "name the field {speaker} once",
    "{speaker}_{speaker}": "name the field {speaker} once",
    "{speaker}{rest}": "write a sign between them",
    "{speaker}_{": "letters between braces",
    "{spea ker}": "letters between braces",
    "(a+)+{speaker": "letters between braces",
}


@pytest.mark.parametrize("rule", BAD)
def test_what_is_no_rule_is_one_line(rule: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_rule(rule)
    assert BAD[rule] in str(caught.value) and "\n" not in str(caught.value)


def test_no_pattern_runs_away() -> None:
    """What would take a backtracking matcher years is linear here."""
    rule = parse_rule("{a}x{b}x{c}x{d}x{e}x{f}x{speaker}y")
    began = time.monotonic()
    assert rule.speaker_of("x" * 200_000) is None
    assert time.monotonic() - began < 5.0


@given(st.text("ab_-", min_size=1, max_size=12), st.text("ab_-", min_size=1, max_size=12))
def test_what_is_joined_by_a_slash_comes_apart_again(speaker: str, rest: str) -> None:
    assert parse_rule("{speaker}/{rest}").speaker_of(f"{speaker}/{rest}") == speaker


def test_a_flat_folder_is_read_by_its_names(tmp_path: Path, sound: Sound) -> None:
    for name in ("anna_1.wav", "anna_2.flac", "köbi_1.wav", "stray.wav"):
        sound(name)
    (tmp_path / "anna_1.txt").write_text("good morning")
    reading = read_corpus(tmp_path, speaker_from="{speaker}_{rest}")
    assert reading.layout == "files" and reading.corpus.speakers == ["anna", "köbi"]
    assert reading.corpus.frame["text"].to_list() == ["good morning", None, None]
    assert [(p.kind, p.names) for p in reading.problems] == [
        ("no-speaker-in-name", ("stray.wav",)),
        ("empty-text", ("anna_2", "köbi_1")),
    ]
    assert len(read_corpus(tmp_path, speaker_from="file").corpus.speakers) == 4
    with pytest.warns(pn.CorpusWarning, match="do not fit the rule|does not fit the rule"):
        assert pn.read_corpus(tmp_path, speaker_from="{speaker}_{rest}").speakers == ["anna", "köbi"]


def test_each_channel_can_be_a_person(tmp_path: Path, sound: Sound) -> None:
    sound("call-1.wav", channels=2)
    sound("call-2.wav", channels=1)
    (tmp_path / "broken.wav").write_bytes(b"words")
    reading = read_corpus(tmp_path, speaker_from="channel", person_channels=True)
    rows = reading.corpus.frame.select("utterance", "speaker", "person_channel").rows()
    assert rows == [
        ("broken", "broken", None),
        ("call-1/1", "call-1/1", 1),
        ("call-1/2", "call-1/2", 2),
        ("call-2/1", "call-2/1", 1),
    ]
    with pytest.raises(CorpusError, match="each channel of a file is another person, and this command listens to one"):
        read_corpus(tmp_path, speaker_from="channel")


def test_a_call_that_cannot_be_read_is_still_that_of_the_people_it_names(tmp_path: Path, sound: Sound) -> None:
    sound("anna_bela_1.wav", channels=2)
    (tmp_path / "bela_anna_2.wav").write_bytes(b"words")
    reading = read_corpus(tmp_path, speaker_from="{speaker1}_{speaker2}_{rest}", person_channels=True)
    assert reading.corpus.frame.select("utterance", "speaker", "person_channel").rows() == [
        ("anna_bela_1/1", "anna", 1),
        ("anna_bela_1/2", "bela", 2),
        ("bela_anna_2/1", "bela", 1),
        ("bela_anna_2/2", "anna", 2),
    ], "nobody is made of two people's names"


def test_a_pattern_can_say_which_part_it_is(tmp_path: Path, sound: Sound) -> None:
    for name in ("train/anna/u1.wav", "train/bela/u1.wav", "eval/cora/u1.wav"):
        sound(name)
    frame = read_corpus(tmp_path, speaker_from="{part}/{speaker}/{rest}").corpus.frame
    assert sorted(frame.select("speaker", "part").rows()) == [("anna", "train"), ("bela", "train"), ("cora", "eval")]
    assert "part" not in read_corpus(tmp_path, speaker_from="{set}/{speaker}/{rest}").corpus.frame.columns


def test_folders_that_cannot_be_read_by_a_rule(tmp_path: Path, sound: Sound) -> None:
    (tmp_path / "empty").mkdir()
    one = sound("flat/anna.wav")
    for folder, rule, line in (
        (tmp_path / "empty", "file", "no recording lies in it"),
        (tmp_path / "flat", "{speaker}_{rest}", r"fits no file name \(first: 'anna\.wav'\)"),
        (tmp_path / "flat", "folder", "fits no file name"),
        (one, "file", "is for a folder of recordings"),
    ):
        with pytest.raises(CorpusError, match=line):
            read_corpus(folder, speaker_from=rule)
    with pytest.raises(CorpusError, match="leave out --layout, or --speaker-from"):
        read_corpus(tmp_path / "flat", speaker_from="file", layout="folders")


def test_folders_inside_a_speakers_folder_are_pointed_out(tmp_path: Path, sound: Sound) -> None:
    sound("team/anna/u1.wav")
    sound("team/bela/u1.wav")
    for reading in (read_corpus(tmp_path), read_corpus(tmp_path, speaker_from="folder")):
        assert reading.corpus.speakers == ["team"]
        assert [p.line.partition("; ")[2] for p in reading.problems] == [
            "read as one person each; if each inner folder is a person, use --speaker-from last-folder"
        ]
    for rule in ("last-folder", "{team}/{speaker}/{file}"):  # what the warning recommends works
        reading = read_corpus(tmp_path, speaker_from=rule)
        assert reading.corpus.speakers == ["anna", "bela"] and not reading.problems


def test_the_last_folder_is_the_speaker_however_deep_it_lies(tmp_path: Path, sound: Sound) -> None:
    for name in ("2023/anna/u1.wav", "2024/may/anna/u2.wav", "bela/u1.wav", "stray.wav"):
        sound(name)
    reading = read_corpus(tmp_path, speaker_from="last-folder")
    assert sorted(reading.corpus.frame.select("utterance", "speaker").rows()) == [
        ("2023/anna/u1", "anna"),
        ("2024/may/anna/u2", "anna"),
        ("bela/u1", "bela"),
    ]
    told = {problem.kind: problem.names for problem in reading.problems}
    assert told == {"no-speaker-in-name": ("stray.wav",), "repeated-folder": ("anna",)}, "perhaps two people"
