"""The preview of a long recording: the six seconds with most speech, read without holding the rest in memory."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import soundfile

from conftest import hum
from personare.api.inspection import PREVIEW_S, preview_recording
from personare.core.audio import write
from personare.core.errors import AudioError
from personare.core.tables import Corpus
from personare.core.utterances import Utterance

RATE_HZ, LENGTH_S, SPEECH_S = 16_000, 1200, 931.0
WHOLE_BYTES, MOST_BYTES = 4 * 2 * RATE_HZ * LENGTH_S, 32e6  # the bound is a few blocks, whatever the length
assert WHOLE_BYTES > 4 * MOST_BYTES


@pytest.fixture(scope="module")
def call(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twenty minutes of faint noise on two channels; a voice on the second from 931 s on."""
    path = tmp_path_factory.mktemp("call") / "call.flac"
    voice = hum(1, duration_s=PREVIEW_S, f0_hz=150.0).samples
    rng = np.random.default_rng(1)
    with soundfile.SoundFile(path, "w", RATE_HZ, 2) as file:
        for second in range(0, LENGTH_S, 10):
            block = 1e-3 * rng.standard_normal((10 * RATE_HZ, 2)).astype(np.float32)
            first = round((SPEECH_S - second) * RATE_HZ)
            if 0 <= first < len(block):
                block[first : first + len(voice), 1] += voice[: len(block) - first]
            file.write(block)
    return path


def corpus_of(path: Path, *, channels: tuple[int, ...] = (), start_s: float | None = None) -> Corpus:
    rows: list[tuple[str, str, str, int | None, float | None]]
    rows = [(f"u{c}", f"person {c}", str(path), c, start_s) for c in channels] or [("u", "s", str(path), None, start_s)]
    schema = {"utterance": str, "speaker": str, "audio": str, "person_channel": pl.Int64, "start_s": pl.Float64}
    frame = pl.DataFrame(rows, schema=schema, orient="row")
    return Corpus(frame if channels else frame.drop("person_channel"))


@pytest.mark.parametrize(("channels", "name"), [((), "u"), ((1, 2), "u2")])
def test_a_long_recording_is_not_held_in_memory(call: Path, channels: tuple[int, ...], name: str) -> None:
    corpus = corpus_of(call, channels=channels)
    preview_recording(corpus, name, method="mcadams")  # what is loaded once does not count
    tracemalloc.start()
    try:
        shown = preview_recording(corpus, name, method="mcadams")
        assert tracemalloc.get_traced_memory()[1] < MOST_BYTES
    finally:
        tracemalloc.stop()
    first = round(SPEECH_S * RATE_HZ)
    expected, _ = soundfile.read(call, start=first, frames=round(PREVIEW_S * RATE_HZ), dtype="float32")
    np.testing.assert_array_equal(shown.before.samples, expected[:, 1])
    assert not shown.whole and shown.after.duration_s == pytest.approx(PREVIEW_S, abs=0.1)


def test_a_segment_is_looked_at_alone(call: Path) -> None:
    corpus = corpus_of(call, channels=(1, 2), start_s=SPEECH_S - 40.0)
    shown = preview_recording(corpus, "u2", method="mcadams")
    expected, _ = soundfile.read(call, start=round(SPEECH_S * RATE_HZ), frames=100, dtype="float32")
    np.testing.assert_array_equal(shown.before.samples[:100], expected[:, 1])


def test_a_channel_that_is_not_there_is_an_error(call: Path) -> None:
    with pytest.raises(AudioError, match="has no channel 3; it has 2"):
        preview_recording(corpus_of(call, channels=(3,)), "u3", method="mcadams")


def test_the_beginning_of_an_utterance_is_that_of_the_whole(call: Path, tmp_path: Path) -> None:
    one = Utterance("u", "s", call, start_s=2.0, end_s=30.0, person_channel=2)
    for utterance in (one, replace(one, person_channel=None)):
        np.testing.assert_array_equal(utterance.read_beginning(3.5).samples, utterance.read().samples[:56_000])
    write(tmp_path / "short.wav", hum(2, duration_s=0.5))
    short = Utterance("u", "s", tmp_path / "short.wav")
    np.testing.assert_array_equal(short.read_beginning(20.0).samples, short.read().samples)
    with pytest.raises(AudioError, match="has no channel 2; it has 1"):
        replace(short, person_channel=2).read_beginning(1.0)
