"""Calls with one person per channel: attacked and listened to like files of their own, whoever made them anonymous."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import personare as pn
from personare.core.audio import Audio, read_channels, write
from personare.core.errors import AudioError, ConfigError
from personare.core.tables import Corpus
from personare.corpora import read_corpus
from personare.corpora.speaker_from import parse_rule
from pipeline.blends import answers, answers_in, blend, command
from pipeline.tiny import write_embedder

RULE = "{speaker1}_{speaker2}_{rest}"
FAST = ("--method", "mcadams", "--set", "alpha=[0.6, 0.9]")
DAYS = 4


def channel(speaker: int, day: int) -> Audio:
    """What one person says in one call; both people of a call are recorded for as long."""
    return Audio(np.resize(blend(speaker, day).samples, 8_000), 16_000)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Six people in twelve calls of two channels; the same speech once more, each channel in a file of its own."""
    folder = tmp_path_factory.mktemp("calls")
    rows = []
    for day in range(DAYS):
        for s in range(0, 6, 2):
            pair = (s, s + 1) if day % 2 else (s + 1, s)  # nobody is always on the first channel
            name = "_".join([*(f"p{one}" for one in pair), str(day)])
            tracks = [channel(one, day) for one in pair]
            write(folder / "calls" / f"{name}.wav", tracks)
            for c, (one, track) in enumerate(zip(pair, tracks, strict=True), 1):
                path = folder / "files" / f"p{one}-{day}.wav"
                write(path, track)
                rows.append((f"{name}/{c}", f"p{one}", str(path)))
    frame = pl.DataFrame(rows, schema=["utterance", "speaker", "audio"], orient="row")
    Corpus(frame).save(folder / "files" / "manifest.parquet")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PERSONARE_HOME", str(folder / "home"))
        write_embedder(folder / "net.onnx")
        key = ("--key", folder / "key")
        command("anonymize", folder / "calls", folder / "hidden", *FAST, *key, "--speaker-from", RULE)
        command("anonymize", folder / "files", folder / "hidden-files", *FAST, *key)
        yield folder


def run(place: Path, original: str, anonymized: str, out: Path, *words: object) -> Path:
    how = ("--embedder", f"trained:{place / 'net.onnx'}", "--lengths", "1", "--out", out, "--key", place / "key")
    command("evaluate", place / original, place / anonymized, *how, *words)
    return out


def test_a_channel_is_measured_like_a_file_of_its_own(place: Path, tmp_path: Path) -> None:
    """The rule by which the calls were read is noted in the private folder: nobody has to say it again."""
    calls = answers_in(run(place, "calls", "hidden", tmp_path / "calls"))
    files = answers_in(run(place, "files", "hidden-files", tmp_path / "files"))
    assert calls == files and {question[2] for question in calls} == {"original", "ignorant", "lazy-informed"}


def test_a_folder_that_another_tool_made_of_calls(place: Path, tmp_path: Path) -> None:
    for path in (place / "calls").iterdir():
        tracks = [Audio(one.samples[::-1].copy(), one.rate_hz) for one in read_channels(path)]
        write(place / "theirs" / path.name, tracks)
    found = answers_in(run(place, "calls", "theirs", tmp_path / "run", "--speaker-from", RULE))
    assert {question[2] for question in found} == {"original", "ignorant"}, "nobody knows how it was made"


def test_lists_embeddings_listeners_and_guesses_take_channels(place: Path, tmp_path: Path) -> None:
    command("corpus", "convert", place / "calls", tmp_path / "lists", "--to", "parquet", "--speaker-from", RULE)
    reading = read_corpus(tmp_path / "lists", person_channels=True)
    assert reading.corpus.speakers == [f"p{s}" for s in range(6)] and len(reading.corpus) == 24
    vectors, failures = pn.embed(reading.corpus, embedder=f"trained:{place / 'net.onnx'}")
    own, _ = pn.embed(place / "files", embedder=f"trained:{place / 'net.onnx'}")
    assert not failures and np.array_equal(vectors.vectors[np.argsort(vectors.ids)], own.vectors[np.argsort(own.ids)])
    key = place / "key"
    words = {"listeners": ["stoi"], "key": key}
    calls = pn.listen(tmp_path / "lists", place / "hidden", **words)  # type: ignore[arg-type]
    files = pn.listen(place / "files", place / "hidden-files", **words)  # type: ignore[arg-type]
    assert answers(calls) == answers(files)


def test_where_every_channel_is_somebody_else_nobody_can_be_recognised_again(place: Path, tmp_path: Path) -> None:
    how = ("--embedder", f"trained:{place / 'net.onnx'}", "--lengths", "1", "--out", tmp_path / "run")
    command("anonymize", place / "calls", tmp_path / "hidden", *FAST, "--speaker-from", "channel")
    rule = r"0 speakers are enrolled and tested; .* two utterances each.*--speaker-from"
    with pytest.raises(pn.PersonareError, match=rule):
        command("evaluate", place / "calls", tmp_path / "hidden", *how)


def test_a_rule_names_a_person_for_each_channel(tmp_path: Path) -> None:
    rule = parse_rule(RULE)
    assert rule.kind == "channel" and rule.channels == 2 and rule.speaker_of("a_b_c") == "a"
    assert rule.speaker_of("nobody") is None
    for text in ("{speaker1}_{rest}", "{speaker1}_{speaker2}_{speaker3}"):
        assert parse_rule(text).kind == "channel"
    for text in ("{speaker2}_{rest}", "{speaker}_{speaker1}", "{speaker1}_{speaker1}_{x}", "{speaker1}_{speaker3}"):
        with pytest.raises(ConfigError, match="one person per channel"):
            parse_rule(text)
    write(tmp_path / "a_b_1.wav", [channel(1, 1), channel(2, 1)])
    write(tmp_path / "a_b_2.wav", channel(1, 1))
    reading = read_corpus(tmp_path, speaker_from=RULE, person_channels=True)
    rows = reading.corpus.frame.select("utterance", "speaker", "person_channel").rows()
    assert rows == [("a_b_1/1", "a", 1), ("a_b_1/2", "b", 2)]
    assert [problem.kind for problem in reading.problems] == ["channel-count"]


def test_a_channel_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    from personare.core.audio import read_mono

    write(tmp_path / "one.wav", channel(1, 1))
    for wanted in (0, 2):
        with pytest.raises(AudioError, match=f"has no channel {wanted}; it has 1"):
            read_mono(tmp_path / "one.wav", channel=wanted)
