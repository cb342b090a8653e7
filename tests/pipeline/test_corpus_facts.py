from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from personare.core.audio import Audio, AudioFacts, write
from personare.core.tables import Corpus
from personare.engine import Serial
from personare.pipeline.jobs.corpus_facts import MOST_BARS, facts_of, header_problems, histogram, probe_files


def corpus_of(**columns: list[object]) -> Corpus:
    return Corpus(pl.DataFrame(columns, strict=False))


def header(duration_s: float, *, rate_hz: int = 16_000, channels: int = 1) -> AudioFacts:
    return AudioFacts(rate_hz, channels, round(duration_s * rate_hz), "WAV PCM_16")


def test_hours_follow_segments_and_headers() -> None:
    corpus = corpus_of(
        utterance=["a", "b", "c"],
        speaker=["x", "x", "y"],
        audio=["long.wav", "long.wav", "short.wav"],
        start_s=[1.0, 4.0, None],
        end_s=[3.0, None, None],
    )
    headers = {"long.wav": header(10.0), "short.wav": header(5.0, rate_hz=8_000, channels=2)}
    facts = facts_of(corpus, headers)
    assert facts.hours == pytest.approx((2 + 6 + 5) / 3600)
    assert facts.hours_from == "headers"
    assert facts.files == 2
    assert facts.rates_hz == {8_000: 1, 16_000: 1}
    assert facts.channels == {1: 1, 2: 1}


def test_the_channels_of_a_call_run_at_the_same_time() -> None:
    call: dict[str, list[object]] = {"utterance": ["a", "b", "c"], "speaker": ["x", "y", "z"]}
    call |= {"audio": ["ab.wav", "ab.wav", "c.wav"], "person_channel": [1, 2, 1]}
    assert facts_of(corpus_of(**call), {"ab.wav": header(10.0, channels=2), "c.wav": header(5.0)}).hours == (
        pytest.approx(15 / 3600)
    )
    cut = corpus_of(**call, start_s=[0.0, 0.0, 0.0], end_s=[4.0, 3.0, 5.0])
    assert facts_of(cut, {"ab.wav": header(10.0, channels=2)}).hours == pytest.approx((4 + 3 + 5) / 3600)


def test_hours_without_headers_come_from_the_table_or_are_unknown() -> None:
    columns: dict[str, list[object]] = {"utterance": ["a", "b"], "speaker": ["x", "y"], "audio": ["a.wav", "b.wav"]}
    assert facts_of(corpus_of(**columns)).hours is None
    timed = facts_of(corpus_of(**columns, duration_s=[1.0, 2.0]))
    assert timed.hours == pytest.approx(3 / 3600)
    assert timed.hours_from == "table"
    assert facts_of(corpus_of(**columns, duration_s=[1.0, None])).hours is None


def test_speakers_are_counted_by_gender_and_part() -> None:
    facts = facts_of(
        corpus_of(
            utterance=["a", "b", "c", "d"],
            speaker=["x", "x", "y", "z"],
            audio=["a.wav", "b.wav", "c.wav", "d.wav"],
            gender=["f", None, "m", None],
            part=["train", "train", "eval", None],
            text=["one two", None, "three", None],
        )
    )
    assert facts.genders == {"f": 1, "m": 1, "unknown": 1}
    assert [(p.name, p.utterances, p.speakers) for p in facts.parts] == [
        ("eval", 1, 1),
        ("none", 1, 1),
        ("train", 2, 1),
    ]
    assert (facts.texts, facts.words) == (2, 3)
    assert (facts.least_per_speaker, facts.median_per_speaker, facts.most_per_speaker) == (1, 1, 2)


@given(st.lists(st.integers(1, 5_000), min_size=1, max_size=200))
def test_every_speaker_stands_in_one_bar(counts: list[int]) -> None:
    bars = histogram(counts)
    assert len(bars) <= MOST_BARS
    assert sum(b.speakers for b in bars) == len(counts)
    assert bars[0].low == min(counts) and bars[-1].high >= max(counts)
    assert all(b.speakers == sum(b.low <= n <= b.high for n in counts) for b in bars)
    assert all(left.high < right.low for left, right in itertools.pairwise(bars))


def test_files_that_cannot_be_read_and_segments_past_the_end(tmp_path: Path) -> None:
    good, bad = tmp_path / "good.wav", tmp_path / "bad.wav"
    write(good, Audio(np.full(16_000, 0.1, np.float32), 16_000))
    bad.write_bytes(b"nothing")
    corpus = corpus_of(
        utterance=["a", "b", "c"],
        speaker=["x"] * 3,
        audio=[str(good), str(good), str(bad)],
        start_s=[0.0, 0.5, 0.0],
        end_s=[0.5, 1.5, 9.0],
    )
    results = list(probe_files(corpus, Serial()))
    assert [r.ok for r in results] == [True, False]
    problems = header_problems(corpus, results)
    assert [(p.kind, p.count) for p in problems] == [("unreadable-audio", 1), ("segment-past-end", 1)]
    assert problems[0].names[0].startswith(f"{bad}: not audio")
    assert problems[1].names == ("b",)
    facts = facts_of(corpus, {r.item: r.value for r in results if r.value is not None})
    assert facts.rates_hz == {16_000: 1}


def test_an_empty_corpus_has_facts_too() -> None:
    frame = pl.DataFrame(schema={"utterance": pl.String, "speaker": pl.String, "audio": pl.String})
    facts = facts_of(Corpus(frame))
    assert (facts.utterances, facts.speakers, facts.hours, facts.histogram) == (0, 0, 0.0, ())
