"""Kokoro as a reader: the sound is the synthesizer's own, and the lengths of symbols add up to it."""

# ruff: noqa: RUF001 - phonetic letters look like others on purpose

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray

from personare.core.audio import Audio
from personare.core.errors import ConfigError
from personare.corpora.voices.plan import PlannedUtterance
from personare.corpora.voices.reading_aloud import LONGEST, READERS, read_aloud
from personare.corpora.voices.speakers import Speaker
from personare.corpora.voices.synthesizer import NATIVE_RATE_HZ, style_of, synthesize
from personare.voices.kokoro import LOUDEST
from personare.voices.spelling import SYMBOLS

SPELLED = "ˈOpən, nˈW."
UNIT = 600  # samples of 24 kHz in a unit of 25 ms
VOWELS = "OəW"

pytestmark = pytest.mark.models


@cache
def read(reader: int, rate_hz: int = NATIVE_RATE_HZ) -> tuple[Audio, NDArray[np.int16]]:
    return read_aloud(SPELLED, reader=reader, rate_hz=rate_hz)


@pytest.mark.parametrize("reader", [0, 12])
def test_the_lengths_of_the_symbols_add_up_to_the_sound(reader: int) -> None:
    audio, lengths = read(reader)
    assert lengths.shape == (len(SPELLED) + 2,)
    assert lengths.dtype == np.int16
    assert lengths.min() >= 1
    assert abs(int(lengths.sum()) * UNIT - len(audio.samples)) <= UNIT
    assert audio.rate_hz == NATIVE_RATE_HZ


def test_the_sound_is_that_of_the_synthesizer() -> None:
    """Bit for bit: one more output changes nothing in the network."""
    speaker = Speaker("reader", "f", "american", (READERS[0],), share=1.0, pace=1.0)
    sound = synthesize(PlannedUtterance("u", speaker, "Open, now.", SPELLED), rate_hz=NATIVE_RATE_HZ)
    np.testing.assert_array_equal(read(0)[0].samples, sound.samples)


def test_vowels_sound_where_the_lengths_say_and_the_frame_is_silent() -> None:
    audio, lengths = read(0)
    levels = np.sqrt(np.square(audio.samples.astype(np.float64))[: int(lengths.sum()) * UNIT].reshape(-1, UNIT).mean(1))
    symbol = np.repeat(np.arange(len(lengths)), lengths)[: len(levels)]
    spoken = np.isin(symbol, [place for place, one in enumerate(SPELLED, start=1) if one in VOWELS])
    before = symbol == 0
    assert before.sum() > 4
    assert 20 * np.log10(levels[spoken].mean() / max(levels[before][:-2].mean(), 1e-9)) > 20


def test_another_rate_keeps_the_time_and_another_reader_another() -> None:
    (native, lengths), (low, again) = read(0), read(0, 16_000)
    np.testing.assert_array_equal(lengths, again)
    assert low.rate_hz == 16_000
    assert low.duration_s == pytest.approx(native.duration_s, abs=1e-3)
    assert np.abs(low.samples).max() <= LOUDEST + 1e-6
    other, others = read(12)
    assert lengths.tolist() != others.tolist()
    shared = min(len(native.samples), len(other.samples))
    assert not np.array_equal(native.samples[:shared], other.samples[:shared])


def test_all_readers_are_there_and_american() -> None:
    assert len(set(READERS)) == len(READERS)
    assert {name[:3] for name in READERS} == {"af_", "am_"}
    styles = [style_of(Speaker(name, "f", "american", (name,), share=1.0, pace=1.0), LONGEST) for name in READERS]
    assert len({style.tobytes() for style in styles}) == len(READERS)


def test_every_symbol_can_be_read_and_others_are_refused() -> None:
    _, lengths = read_aloud("".join(SYMBOLS), reader=0, rate_hz=16_000)
    assert len(lengths) == len(SYMBOLS) + 2
    with pytest.raises(ConfigError, match="Kokoro has no symbol 'ж'"):
        read_aloud("ˈoж", reader=0, rate_hz=16_000)
