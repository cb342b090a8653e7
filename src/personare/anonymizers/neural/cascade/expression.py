"""Expression as symbols of a sentence, and how a pseudo-speaker renders them: F0, durations, level, spectral balance.

A sentence has an emotion label, an F0 shape of a few points and three levels, the number of its strongest word and
a final movement; each may be left out. Nothing else about the source is known here. Everything that is rendered is a
function of these symbols and of the pseudo-speaker's own speech, on the time axis of that speech.

``RECIPE`` is the one table of what a label changes; docs/reference/expression.md says where its rows are from. The F0
level of anger is lower than actors raise it, because judges then take it for happiness. Articulation and lost voicing
were added because judges of real speech rely on them: spectra of angry speech vary more, and sad speech is less voiced.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from personare.core import bands
from personare.core.audio import Audio
from personare.core.errors import ConfigError, did_you_mean
from personare.encoders.prosody import PredictedProsody

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]
    Doubles = NDArray[np.float64]

ANGER, HAPPINESS, SADNESS, FEAR, NEUTRAL_LABEL = "anger", "happiness", "sadness", "fear", "neutral"
LABELS = (ANGER, HAPPINESS, SADNESS, FEAR, NEUTRAL_LABEL)
LEVELS = "lmh"  # of a point of the F0 shape: low, middle, high
POINTS = (4, 8)
FINALS = ("fall", "level", "rise")
PLACES = 8  # of the strongest word: a longer sentence has only so many words that can be the strongest
LEVEL_Z = {"l": -0.9, "m": 0.0, "h": 0.9}  # where a level lies, in standard deviations of the sentence's F0
SPEECH_DB = -30.0  # softer frames are pauses: shapes have no points there
_EMPHASIS_Z, _EMPHASIS_DB = 1.3, 4.0  # how much higher and louder the strongest word is
_FINAL_SHARE, _FINAL_Z = 0.2, {"fall": -1.6, "level": 0.0, "rise": 1.8}
_GAINS_HZ = (140.0, 350.0, 700.0, 1200.0, 1800.0, 2650.0, 3800.0, 5200.0, 6900.0)
_UNVOICED_SHARE = 0.5  # of the spectral gain, in unvoiced frames
_FFT = 512
_VOICED_HZ = 40.0


@dataclass(frozen=True)
class SentenceSymbols:
    """The symbols of one sentence.

    Parameters
    ----------
    label : one of ``LABELS``.
    f0 : 4 or 8 of the letters l, m and h, in time order over the speech of the sentence; empty: the voice's own.
    strongest : number of the strongest word, 1 is the first; 0: none.
    final : how the sentence ends, one of ``FINALS``; empty: as the voice ends it.
    """

    label: str = NEUTRAL_LABEL
    f0: str = ""
    strongest: int = 0
    final: str = ""

    def __post_init__(self) -> None:
        if self.label not in LABELS:
            raise ConfigError(f"no label '{self.label}'; {did_you_mean(self.label, LABELS)}")
        if self.f0 and (len(self.f0) not in POINTS or set(self.f0) - set(LEVELS)):
            raise ConfigError(f"f0 must be 4 or 8 of the letters l, m and h, e.g. mhml, not '{self.f0}'")
        if self.final and self.final not in FINALS:
            raise ConfigError(f"no final movement '{self.final}'; {did_you_mean(self.final, FINALS)}")
        if self.strongest < 0:
            raise ConfigError(f"strongest is the number of a word, 1 is the first, not {self.strongest}")


PLAIN = SentenceSymbols()


@dataclass(frozen=True)
class Manner:
    """What a label changes of the pseudo-speaker's neutral speech.

    Parameters
    ----------
    semitones : of the F0 level.
    f0_range : factor of the F0 range, around the median.
    duration : factor of all durations.
    level_db : of the sentence, against neutral ones of the same recording.
    gains_db : spectral gains at 140, 350, 700, 1200, 1800, 2650, 3800, 5200 and 6900 Hz.
    articulation : factor of the distance of voiced frames from their mean spectrum (voice neural).
    devoiced : share of the voiced frames, the softest, that lose their voice (voice neural).
    """

    semitones: float = 0.0
    f0_range: float = 1.0
    duration: float = 1.0
    level_db: float = 0.0
    gains_db: tuple[float, ...] = (0.0,) * len(_GAINS_HZ)
    articulation: float = 1.0
    devoiced: float = 0.0


RECIPE: dict[str, Manner] = {
    ANGER: Manner(3.0, 1.8, 0.88, 3.0, (-8.0, -6.0, 1.0, 8.0, 12.0, 12.0, 11.0, 7.0, 4.0), articulation=1.4),
    HAPPINESS: Manner(9.0, 1.6, 1.05, 2.0, (-4.0, -3.0, 2.0, 3.0, 7.0, 3.0, -3.0, -5.0, -5.0), articulation=1.2),
    SADNESS: Manner(0.0, 0.85, 1.4, -3.0, (5.0, 0.0, -8.0, -10.0, -8.0, -5.0, -3.0, 3.0, 1.0), 0.9, devoiced=0.3),
    FEAR: Manner(7.0, 1.0, 0.9, 0.0, (-4.0, -2.0, -2.0, 0.0, 3.0, 3.0, 2.0, 4.0, 3.0), 1.1, devoiced=0.15),
    NEUTRAL_LABEL: Manner(),
}


@dataclass(frozen=True)
class SentencePart:
    """Words of a sentence that are spoken at a time, between marks: its symbols, and which of its words they are.

    Parameters
    ----------
    word_sizes : how long the words of this part are against each other.
    first_word, words : how many words of the sentence come before, and how many it has.
    """

    expression: SentenceSymbols
    word_sizes: tuple[float, ...]
    first_word: int
    words: int

    @property
    def manner(self) -> Manner:
        """What the label changes."""
        return RECIPE[self.expression.label]


def word_sizes(text: str) -> tuple[float, ...]:
    """Estimate how long the words of a text are against each other, by their letters.

    >>> word_sizes("a bird.")
    (2.0, 5.0)
    """
    return tuple(1.0 + sum(letter.isalnum() for letter in word) for word in text.split())


def sentence_parts(texts: Sequence[str], expression: SentenceSymbols | None) -> list[SentencePart | None]:
    """Give the part that each text is of the sentence that they make; None without an expression, or without words."""
    sizes = [word_sizes(text) for text in texts]
    firsts = np.cumsum([0, *map(len, sizes)]).tolist()
    return [
        None if expression is None or not some else SentencePart(expression, some, first, firsts[-1])
        for some, first in zip(sizes, firsts, strict=False)
    ]


def shaped(predicted: PredictedProsody, part: SentencePart) -> PredictedProsody:
    """Impose F0 shape, strongest word and final movement on a predicted contour."""
    expression, sizes = part.expression, part.word_sizes
    first_word, words = part.first_word, part.words
    speech = predicted.energy_db > SPEECH_DB
    count = int(speech.sum())
    if count < max(POINTS):
        return predicted
    contour = predicted.contour[speech].astype(np.float64)
    energy_db = predicted.energy_db.copy()
    last_word = first_word + len(sizes)
    changed = contour
    if expression.f0:
        points = _part_of(expression.f0, first_word / words, last_word / words)
        changed = towards(changed, points)
    spread = max(float(contour.std()), 0.2)
    if first_word < expression.strongest <= last_word:
        bump = _word_window(sizes, expression.strongest - 1 - first_word, count)
        changed = changed + _EMPHASIS_Z * spread * bump
        energy_db[speech] += (_EMPHASIS_DB * bump).astype(np.float32)
    if expression.final and last_word == words:
        changed = _with_final(changed, expression.final, spread)
    voiced = predicted.voiced
    if part.manner.devoiced and voiced.any():
        voiced = voiced & (energy_db > np.quantile(energy_db[voiced], part.manner.devoiced))
    whole = predicted.contour + np.interp(np.arange(len(speech)), np.flatnonzero(speech), changed - contour)
    return replace(predicted, contour=whole.astype(np.float32), voiced=voiced, energy_db=energy_db)


def towards(contour: Doubles, points: Sequence[float]) -> Doubles:
    """Move a contour so that its parts have these means, in standard deviations; mean and deviation stay the same.

    >>> moved = towards(np.sin(np.arange(100.0)), [-0.9, 0.0, 0.9, 0.0])
    >>> means = [float(part.mean()) for part in np.array_split(moved, 4)]
    >>> means[0] < means[1] < means[2] and means[3] < means[2]
    True
    """
    mean, spread = float(contour.mean()), max(float(contour.std()), 0.2)
    wanted = mean + spread * np.array(points)
    centres = (np.arange(len(points)) + 0.5) * len(contour) / len(points) - 0.5
    moved = contour.astype(np.float64)
    for _ in range(3):
        means = np.array([part.mean() for part in np.array_split(moved, len(points))])
        moved = moved + np.interp(np.arange(len(moved)), centres, wanted - means)
    scaled: Doubles = (moved - moved.mean()) * (spread / max(float(moved.std()), 1e-6)) + mean
    return scaled


def _part_of(f0: str, begin: float, end: float) -> list[float]:
    """The points of a part of a sentence: as many as the whole has, read off between ``begin`` and ``end``."""
    values = [LEVEL_Z[letter] for letter in f0]
    middles = (np.arange(len(values)) + 0.5) / len(values)
    places = begin + middles * (end - begin)
    return np.interp(places, middles, values).tolist() if (begin, end) != (0.0, 1.0) else values


def _word_window(sizes: Sequence[float], number: int, count: int) -> Doubles:
    """Rise and fall over one word of several, and a little around it: [count], at most 1."""
    ends = np.cumsum(sizes) / sum(sizes) * count
    begin, end = (float(ends[number - 1]) if number else 0.0), float(ends[number])
    half = max((end - begin) / 2 * 1.25, count / 20)
    distance = np.abs(np.arange(count) + 0.5 - (begin + end) / 2) / half
    window: Doubles = np.where(distance < 1, np.cos(np.minimum(distance, 1) * np.pi / 2) ** 0.7, 0.0)
    return window


def _with_final(contour: Doubles, final: str, spread: float) -> Doubles:
    size = max(int(_FINAL_SHARE * len(contour)), 2)
    tail, ramp = contour[-size:], np.linspace(0.0, 1.0, size)
    slope = np.polyfit(ramp, tail, 1)[0]
    return np.concatenate([contour[:-size], tail + (_FINAL_Z[final] * spread - slope) * ramp])


@lru_cache(maxsize=len(LABELS))
def band_gains(label: str) -> tuple[Floats, Floats]:
    """Spectral gains of a label as natural logarithms, of the harmonic and of the noise bands of the neural voice."""
    top = 2595 * np.log10(1 + bands.RATE_HZ / 2 / 700)
    gains = []
    for count in (bands.HARMONIC_BANDS, bands.NOISE_BANDS):
        centres_hz = 700 * (10 ** (np.linspace(0, top, count) / 2595) - 1)
        gains.append((_gain_db(label, centres_hz) * (np.log(10) / 20)).astype(np.float32))
    return gains[0], gains[1]


def changed_bands(log_bands: Floats, label: str, voiced: NDArray[np.bool_]) -> Floats:
    """Render a label on the log-strengths of the neural voice's bands [frames, 120]: balance and articulation.

    Unvoiced frames get half of the spectral gain. Articulation moves voiced frames away from their mean spectrum, or
    towards it; the level of every frame stays.
    """
    manner = RECIPE[label]
    voiced = voiced[: len(log_bands)]
    share = np.where(voiced, 1.0, _UNVOICED_SHARE).astype(np.float32)
    changed: Floats = log_bands + share[:, None] * np.concatenate(band_gains(label))[None]
    if manner.articulation == 1.0 or not voiced.any():
        return changed
    harmonic = changed[voiced, : bands.HARMONIC_BANDS]
    distance = harmonic - harmonic.mean(axis=0)
    distance -= distance.mean(axis=1, keepdims=True)
    changed[voiced, : bands.HARMONIC_BANDS] += np.float32(manner.articulation - 1.0) * distance
    return changed


def changed_f0(f0_hz: Floats, part: SentencePart) -> Floats:
    """Render a part on the F0 curve of a synthesizer that has voiced frames where it is above 40 Hz; [frames]."""
    voiced = f0_hz > _VOICED_HZ
    if voiced.sum() < max(POINTS):
        return f0_hz
    octaves = np.log2(np.maximum(f0_hz, _VOICED_HZ)).astype(np.float64)
    median = float(np.median(octaves[voiced]))
    reach = max(float(octaves[voiced].std()), 0.02)
    energy_db = np.where(voiced, 0.0, 2 * SPEECH_DB).astype(np.float32)
    curve = shaped(PredictedProsody(((octaves - median) / reach).astype(np.float32), voiced, energy_db), part)
    moved = median + part.manner.semitones / 12 + curve.contour * reach * part.manner.f0_range
    return np.where(voiced, np.exp2(moved), f0_hz).astype(np.float32)


def filtered(audio: Audio, label: str, voiced: NDArray[np.bool_], *, step: int) -> Audio:
    """Filter finished speech by a label's spectral gains; half of it in unvoiced frames of ``step`` samples."""
    if not any(RECIPE[label].gains_db) or not len(audio.samples):
        return audio
    hop = _FFT // 4
    padded = np.pad(audio.samples.astype(np.float64), (_FFT, _FFT + hop))
    window = np.sin(np.pi * (np.arange(_FFT) + 0.5) / _FFT)
    count = (len(padded) - _FFT) // hop + 1
    centres = np.arange(count) * hop + _FFT // 2 - _FFT
    share = np.where(voiced[np.clip(centres // step, 0, len(voiced) - 1)], 1.0, _UNVOICED_SHARE)
    share = np.convolve(np.pad(share, 2, mode="edge"), np.full(5, 0.2), mode="valid")
    hz = np.fft.rfftfreq(_FFT, 1 / audio.rate_hz).astype(np.float64)
    gains = 10 ** (share[:, None] * _gain_db(label, hz)[None] / 20)
    frames = np.lib.stride_tricks.sliding_window_view(padded, _FFT)[::hop][:count] * window
    parts = np.fft.irfft(np.fft.rfft(frames, axis=1) * gains, _FFT, axis=1) * window / 2
    whole = np.zeros((count + 3) * hop)
    for quarter in range(4):
        whole[quarter * hop : quarter * hop + count * hop] += parts[:, quarter * hop : (quarter + 1) * hop].reshape(-1)
    return Audio(whole[_FFT : _FFT + len(audio.samples)].astype(np.float32), audio.rate_hz)


def _gain_db(label: str, hz: NDArray[np.float64]) -> Doubles:
    """The gain at each frequency, interpolated on a logarithmic axis."""
    return np.interp(np.log(np.maximum(hz, 20.0)), np.log(_GAINS_HZ), RECIPE[label].gains_db)
