"""Prosody attackers: phrases, durations given the words, and symbols move with what they are named after."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from personare.attackers.cache import EmbedWork
from personare.core.audio import Audio, write
from personare.core.utterances import Utterance
from personare.encoders import phrases
from personare.encoders.expression.labels import LABELS
from personare.encoders.statistics import DurationStatistics, scales
from personare.pipeline.attack_sets import EMBEDDERS, PROSODY
from personare.pipeline.stages.embed import only_reads, reads_text

RATE = 16_000


def spoken(f0_hz: NDArray[np.float64], *, pauses_s: float = 0.0) -> NDArray[np.float32]:
    """A voice whose F0 follows a contour, with a pause in the middle."""
    phase = 2 * np.pi * np.cumsum(f0_hz) / RATE
    sound = np.sum([np.sin(k * phase) / k for k in range(1, 10)], axis=0) * 0.1
    half = len(sound) // 2
    both = np.concatenate([sound[:half], np.zeros(round(pauses_s * RATE)), sound[half:]])
    return both.astype(np.float32)


def test_slow_speech_takes_longer_for_the_same_words() -> None:
    text = "good morning everybody"
    quick, slow = (phrases.duration_numbers(spoken(np.full(RATE * n, 150.0)), text) for n in (1, 2))
    np.testing.assert_allclose(slow[:5] - quick[:5], np.log(2), atol=0.05)
    longer = phrases.duration_numbers(spoken(np.full(RATE, 150.0)), f"{text} {text}")
    assert (longer[:5] < quick[:5]).all(), "more words in the same time"
    paused = phrases.duration_numbers(spoken(np.full(RATE, 150.0), pauses_s=0.5), text)
    assert paused[6] > quick[6] + 0.1 and paused[7] > quick[7]


@pytest.mark.parametrize("text", ["", "123", "..."])
def test_without_words_durations_tell_nothing(text: str) -> None:
    one, other = (phrases.duration_numbers(spoken(np.full(RATE * n, 150.0)), text) for n in (1, 2))
    np.testing.assert_array_equal(one, other)


def test_an_embedder_that_hears_and_reads_gets_both(tmp_path: Path) -> None:
    assert reads_text("durations") and not only_reads("durations") and reads_text("energy+durations")
    write(tmp_path / "a.wav", Audio(spoken(np.full(RATE, 150.0)), RATE))
    work = EmbedWork("durations", folder=tmp_path / "cache")
    few, many, none = (
        work(Utterance("u", "s", tmp_path / "a.wav", text=text)) for text in ("yes", "a much longer sentence", None)
    )
    assert not np.array_equal(few, many) and not np.array_equal(few, none)
    np.testing.assert_array_equal(none, DurationStatistics()([Audio(spoken(np.full(RATE, 150.0)), RATE)])[0])


def test_prosody_is_in_the_usual_set_of_attackers() -> None:
    assert {"phrases", "durations", "symbols"} <= set(PROSODY) <= set(EMBEDDERS)
    sizes = {"phrases": phrases.N_PHRASES, "durations": phrases.N_DURATIONS, "symbols": phrases.N_SYMBOLS}
    for name, size in sizes.items():
        mean, spread = scales(name)
        assert mean.shape == spread.shape == (size,) and (spread > 0).all()


@pytest.mark.models
def test_phrases_are_counted_and_level_does_not_matter() -> None:
    whole, cut = (phrases.phrase_numbers(spoken(np.full(2 * RATE, 150.0), pauses_s=pause)) for pause in (0.0, 0.5))
    count = 4 * 10 + 1  # the logarithm of the number of phrases
    assert whole[count] == 0 and cut[count] == pytest.approx(np.log(2))
    sound = spoken(np.linspace(120, 200, 2 * RATE))
    np.testing.assert_allclose(phrases.phrase_numbers(sound * np.float32(0.5)), phrases.phrase_numbers(sound), atol=0.3)
    assert not phrases.phrase_numbers(np.zeros(RATE, np.float32)).any()


@pytest.mark.models
def test_symbols_say_where_f0_is_high_and_nothing_else() -> None:
    rising, falling = np.linspace(120, 240, 2 * RATE), np.linspace(240, 120, 2 * RATE)
    up, down = (phrases.symbol_numbers(spoken(f0)) for f0 in (rising, falling))
    label, first = len(LABELS), slice(len(LABELS), len(LABELS) + 12)
    assert set(up) <= {0.0, 1.0} and up[:label].sum() == 1 and up.sum() == 1 + 4 + 8 + 1 + 1
    shape = up[first].reshape(4, 3).argmax(axis=1)
    assert shape[0] == 0 and shape[-1] == 2, "low, then high"
    np.testing.assert_array_equal(down[first].reshape(4, 3).argmax(axis=1), shape[::-1])
    higher = phrases.symbol_numbers(spoken(1.5 * rising))
    np.testing.assert_array_equal(higher[first], up[first])
    assert not phrases.symbol_numbers(np.zeros(RATE, np.float32)).any()
