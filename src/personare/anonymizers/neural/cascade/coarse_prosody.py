"""How high and how loud each phrase was, in a few coarse steps against the rest of the recording: nothing finer passes.

F0 and loudness of a phrase are its distance from the median over all phrases of the recording, never a value of their
own: who speaks low or near the microphone all the time has the same steps as who does not. A recording of one phrase
has nothing to be compared with, and no steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from personare.anonymizers.neural.cascade.expression import SentenceSymbols
from personare.anonymizers.neural.words.transcript import SpokenPhrase
from personare.anonymizers.signal.retiming import stretch
from personare.core.audio import Audio, resample
from personare.core.loudness import integrated_lufs
from personare.encoders import swift

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

SEMITONE_STEP, MOST_SEMITONES = 1.0, 2.0
LEVEL_STEP_DB, MOST_DB = 2.0, 4.0
_F0_RANGE_HZ = (60.0, 500.0)
_LEAST_VOICED = 10  # frames of 16 ms: with fewer, a phrase has no F0
_PEAK = 0.5  # phrases are measured at one level: gates are absolute, and the source's level must not open them
_PIECE_S = 60.0  # a long result is measured in pieces, which bounds the memory


@dataclass(frozen=True)
class PhraseProsody:
    """How far a phrase lies above the recording as a whole, and the symbols that it is rendered with, if any."""

    semitones: float = 0.0
    level_db: float = 0.0
    expression: SentenceSymbols | None = None

    @property
    def gain(self) -> float:
        """What samples are multiplied by to be so much louder."""
        return float(10 ** (self.level_db / 20))


NEUTRAL = PhraseProsody()


def coarse_prosody(
    sound: Floats, spoken: Sequence[SpokenPhrase], *, text_words: Sequence[int]
) -> tuple[PhraseProsody, ...]:
    """Measure the phrases of 16 kHz samples; give the steps of texts that have so many of their words, in order."""
    pieces = [sound[one.phrase.start : one.phrase.end] for one in spoken]
    measured = [(phrase_f0_hz(piece), phrase_lufs(piece)) for piece in pieces]
    return prosody_steps(measured, phrase_words=[len(one.words) for one in spoken], text_words=text_words)


def prosody_steps(
    measured: Sequence[tuple[float, float]], *, phrase_words: Sequence[int], text_words: Sequence[int]
) -> tuple[PhraseProsody, ...]:
    """Turn F0 (Hz) and loudness (LUFS) of phrases, NaN where unknown, into steps of texts: the mean over their words.

    >>> steps = prosody_steps([(100.0, -20.0), (100.0, -20.0), (113.0, -15.0)], phrase_words=[4, 4, 4],
    ...                       text_words=[4, 4, 4])
    >>> steps[0] == steps[1] == NEUTRAL, steps[2]
    (True, PhraseProsody(semitones=2.0, level_db=4.0, expression=None))
    """
    f0_hz, lufs = np.array(measured, np.float64).reshape(-1, 2).T
    above = np.stack([_above_median(12 * np.log2(f0_hz)), _above_median(lufs)], axis=1)
    of_words = np.repeat(above, phrase_words, axis=0)
    ends = np.cumsum(text_words, dtype=np.intp)
    texts = [of_words[end - count : end] for count, end in zip(text_words, ends.tolist(), strict=True)]
    return tuple(_steps(*text.mean(axis=0).tolist()) if len(text) else NEUTRAL for text in texts)


def phrase_f0_hz(samples: Floats) -> float:
    """Give the median F0 of 16 kHz samples; NaN where hardly anything is voiced."""
    lowest_hz, highest_hz = _F0_RANGE_HZ
    f0_hz, confidence = swift.swift_track(_at_peak(samples)[0], lowest_hz=lowest_hz, highest_hz=highest_hz)
    voiced = f0_hz[confidence >= swift.VOICED_FROM]
    return float(np.median(voiced)) if len(voiced) >= _LEAST_VOICED else float("nan")


def phrase_lufs(samples: Floats) -> float:
    """Give the loudness of 16 kHz samples, however quiet they are; NaN for silence."""
    raised, peak = _at_peak(samples)
    lufs = integrated_lufs(raised.astype(np.float64), swift.RATE_HZ) if peak > 0 else -np.inf
    return float(lufs + 20 * np.log10(peak / _PEAK)) if np.isfinite(lufs) else float("nan")


def at_pitch(audio: Audio, semitones: float, *, rate_hz: int) -> Audio:
    """Make speech so much higher at another sample rate: longer first, then played as much faster, so that it lasts.

    Piper is not asked to speak slower instead: its sounds last whole frames, and a rate a little lower leaves them.
    """
    speed = 2 ** (semitones / 12)
    longer = stretch(audio, speed) if semitones else audio
    return resample(Audio(longer.samples, round(longer.rate_hz * speed)), rate_hz)


def at_loudness(whole: Floats, rate_hz: int, *, lufs: float) -> Floats:
    """Bring a recording of speech and digital silence to one loudness as a whole."""
    size = round(_PIECE_S * rate_hz)
    pieces = [whole[first : first + size] for first in range(0, len(whole), size)]
    measured = [(integrated_lufs(one.astype(np.float64), rate_hz), np.count_nonzero(one)) for one in pieces]
    sounding = sum(count for level, count in measured if np.isfinite(level))
    if not sounding:
        return whole
    power = sum(count * 10 ** (level / 10) for level, count in measured if np.isfinite(level)) / sounding
    return whole * np.float32(10 ** (lufs / 20) / np.sqrt(power))


def _above_median(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """How far values lie above their median; what is unknown lies on it."""
    known = np.isfinite(values)
    if not known.any():
        return np.zeros_like(values)
    above: NDArray[np.float64] = np.where(known, values - np.median(values[known]), 0.0)
    return above


def _steps(semitones: float, level_db: float) -> PhraseProsody:
    return PhraseProsody(
        _stepped(semitones, step=SEMITONE_STEP, most=MOST_SEMITONES),
        _stepped(level_db, step=LEVEL_STEP_DB, most=MOST_DB),
    )


def _stepped(value: float, *, step: float, most: float) -> float:
    return float(np.clip(step * round(value / step), -most, most))


def _at_peak(samples: Floats) -> tuple[Floats, float]:
    """Bring samples to one peak; the peak that they had."""
    peak = float(np.abs(samples).max(initial=0.0))
    return (np.asarray(samples * np.float64(_PEAK / peak), np.float32) if peak > 0 else samples), peak
