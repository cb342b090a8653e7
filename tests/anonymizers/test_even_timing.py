"""Even timing: what is said decides how long it lasts, not who says it; pauses are drawn, not kept."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from personare.anonymizers import anonymizer
from personare.anonymizers.neural.xvector.even_timing import (
    APART_S,
    CLOSURE_S,
    FRAME_S,
    MOST_CHANGE,
    even_places,
    quiet_frames,
)
from personare.core.audio import Audio, read_mono
from personare.core.seeding import Key, rng_for
from personare.corpora import read_corpus
from personare.encoders.grid import PAIR


def content_of(seed: int, frames: int, *, every: int = 6) -> np.ndarray:
    """Content that goes from one random sound to the next, a new one every so many frames."""
    rng = np.random.default_rng(seed)
    sounds = rng.normal(size=(frames // every + 2, 288))
    at = np.arange(frames) / every
    below = at.astype(int)
    share = (at - below)[:, None]
    content: np.ndarray = (sounds[below] * (1 - share) + sounds[below + 1] * share).astype(np.float32)
    return content


def places(content: np.ndarray, quiet: np.ndarray, *, seed: int = 1, reach: float = 0.0) -> np.ndarray:
    return even_places(content, quiet, reach=reach, tempo=1.0, rng=np.random.default_rng(seed))


@given(st.integers(0, 99), st.integers(1, 400), st.sampled_from([0.0, 0.3]), st.floats(0.0, 1.0))
def test_places_rise_within_the_source(seed: int, frames: int, reach: float, silence: float) -> None:
    quiet = np.random.default_rng(seed).random(frames) < silence
    found = places(content_of(seed, frames), quiet, seed=seed, reach=reach)
    assert len(found) >= 1 and found.min() >= 0 and found.max() <= frames - 1
    assert (np.diff(found) >= 0).all()
    assert len(found) <= 3 * MOST_CHANGE * frames + 60


def test_how_long_somebody_pauses_does_not_reach_the_result() -> None:
    """The same sounds around a pause of 0.3, 1 and 3 s: the same length, the same drawn pause."""
    first, second = content_of(1, 250), content_of(2, 250)
    lengths = set()
    for pause_s in (0.3, 1.0, 3.0):
        count = round(pause_s / FRAME_S)
        still = np.repeat(first[-1:], count, axis=0)
        content = np.concatenate([first, still, second])
        quiet = np.r_[np.zeros(250, bool), np.ones(count, bool), np.zeros(250, bool)]
        lengths.add(len(places(content, quiet)))
    assert max(lengths) - min(lengths) <= 1


def test_pauses_come_no_more_often_than_drawn() -> None:
    """Somebody who stops after every word sounds like somebody who does not."""
    count, word, stop = 24, 40, 25
    content = content_of(3, count * (word + stop))
    quiet = np.tile(np.r_[np.zeros(word, bool), np.ones(stop, bool)], count)
    found = places(content, quiet)
    silent = quiet[np.rint(found).astype(int)]
    lengths = [FRAME_S * len(list(run)) for is_silent, run in itertools.groupby(silent) if is_silent]
    longer = [length for length in lengths if length > CLOSURE_S + 2 * FRAME_S]
    spoken_s = FRAME_S * float((~silent).sum())
    assert 1 <= len(longer) <= spoken_s / APART_S[0]


def test_slow_speech_becomes_shorter_and_quick_speech_longer() -> None:
    none = np.zeros(600, bool)
    ratios = [len(places(content_of(4, 600, every=every), none)) / 600 for every in (3, 6, 12, 24)]
    assert ratios == sorted(ratios, reverse=True) and ratios[0] > ratios[-1]
    assert all(1 / MOST_CHANGE - 0.02 <= ratio <= MOST_CHANGE + 0.02 for ratio in ratios)


def test_the_level_says_where_nobody_speaks() -> None:
    level = np.repeat(np.array([-20, -25, -60, -22], np.float32), PAIR)
    assert quiet_frames(level, 4).tolist() == [False, False, True, False]


@pytest.mark.models
def test_a_voice_keeps_its_tempo_and_long_speech_is_joined() -> None:
    """Several phrases follow each other without a gap; the words of all are there, so it is about as long."""
    rng = np.random.default_rng(5)
    sound = Audio((0.1 * rng.normal(size=45 * 16_000)).astype(np.float32), 16_000)
    made = anonymizer("xvector", timing="even")(sound, rng=np.random.default_rng(1))
    assert np.isfinite(made.samples).all() and made.samples.any()
    assert 0.3 < made.duration_s / sound.duration_s < 2.5


@pytest.mark.slow
@pytest.mark.models
@pytest.mark.shared
def test_the_rate_of_real_speakers_is_hardly_left(shared_folder: Path) -> None:
    """Letters a second of 30 people who read English as a foreign language, before and after."""
    frame = read_corpus(shared_folder / "corpus").corpus.frame
    frame = frame.filter((frame["corpus"] == "speechocean762") & frame["speaker"].is_first_distinct()).head(30)
    methods = [anonymizer("xvector", timing=timing) for timing in ("moved", "even")]
    rates: list[list[float]] = [[], [], []]
    for who, path, text in frame.select("speaker", "audio", "text").iter_rows():
        audio, letters = read_mono(Path(path)), len(text.replace(" ", ""))
        rates[0].append(letters / audio.duration_s)
        for own, method in zip(rates[1:], methods, strict=True):
            own.append(letters / method(audio, rng=rng_for(Key.from_seed(1), who)).duration_s)
    before, moved, even = np.log(rates)
    assert np.corrcoef(before, even)[0, 1] < np.corrcoef(before, moved)[0, 1] - 0.1
