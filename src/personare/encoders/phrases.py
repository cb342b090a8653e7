"""Prosody phrase by phrase, durations against the words, and intonation as a few symbols: what prosody tells.

Each function turns 16 kHz samples into a fixed number of plain statistics; ``statistics`` makes embedders of them.

phrases     F0 and level of every stretch of speech between pauses, and the contour of the whole sentence
durations   how long the words took, against how long words of so many syllables and letters usually take
symbols     the emotion label, F0 as 4 and as 8 points of three levels, the place of the strongest peak, and the final
            movement: what the method ``expressive`` transmits, encoded again from a sound by the same label maker
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from personare.encoders.contours import FRAME_S, PAUSE_DB, level_db
from personare.encoders.expression.labels import LABELS, numbers_of, shipped_labels
from personare.encoders.expression.measuring import f0_levels, final_movement, strongest_place, track_speech
from personare.encoders.prosody import TRACKED_HZ
from personare.encoders.swift import STEP_S, VOICED_FROM, swift_track
from personare.encoders.wording import words_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Flags = NDArray[np.bool_]

PAUSE_S = 0.15  # shorter silences are within a phrase
SHORTEST_PHRASE_S = 0.1
POINTS = 8
SYMBOL_POINTS = (4, 8)
PLACES = 8
LAGS = (1, 2, 4, 8, 16)
MODULATION_HZ = (0.4, 0.8, 1.5, 2.5, 4.0, 6.0, 9.0, 14.0)
_FEWEST_VOICED = 5
_PHRASE_NUMBERS = 10
N_PHRASES = 4 * _PHRASE_NUMBERS + 4 + 2 * (POINTS + len(LAGS)) + len(MODULATION_HZ) - 1
N_DURATIONS = 14
N_SYMBOLS = len(LABELS) + 3 * sum(SYMBOL_POINTS) + PLACES + 3
_VOWELS = frozenset("aeiouyäöüàáâèéêëìíîïòóôùúûœæ")


@dataclass(frozen=True, eq=False)
class SentenceTrack:
    """F0 (octaves from the median, interpolated) and level (dB) every 16 ms; which frames are voiced, and speech."""

    octaves: Floats
    level_db: Floats
    voiced: Flags
    speech: Flags


def sentence_track(samples: NDArray[np.float32]) -> SentenceTrack | None:
    """Follow 16 kHz samples; None where hardly anything is voiced."""
    f0_hz, confidence = swift_track(samples, lowest_hz=TRACKED_HZ[0], highest_hz=TRACKED_HZ[1])
    fine = level_db(samples)
    level = fine[np.minimum((np.arange(len(f0_hz)) * (STEP_S / FRAME_S)).astype(np.intp), len(fine) - 1)]
    speech = level > PAUSE_DB
    voiced = (confidence >= VOICED_FROM) & speech
    if voiced.sum() < _FEWEST_VOICED:
        return None
    octaves = np.log2(f0_hz[voiced])
    centred = octaves - np.median(octaves)
    places = np.flatnonzero(voiced)
    return SentenceTrack(np.interp(np.arange(len(f0_hz)), places, centred), level, voiced, speech)


def phrase_numbers(samples: NDArray[np.float32]) -> Floats:
    """77 numbers: of F0 and level the mean, spread, first and last over phrases; the sentence's points and movement."""
    track = sentence_track(samples)
    if track is None:
        return np.zeros(N_PHRASES)
    spans = _phrases(track.speech)
    each = np.array([_phrase(track, first, last) for first, last in spans])
    gaps = [(b[0] - a[1]) * STEP_S for a, b in itertools.pairwise(spans)]
    seconds = len(track.speech) * STEP_S
    f0, level = track.octaves[track.speech], track.level_db[track.speech]
    return np.concatenate(
        [
            each.mean(axis=0),
            each.std(axis=0),
            each[0],
            each[-1],
            [
                len(spans) / seconds,
                np.log(len(spans)),
                np.log(np.mean(gaps)) if gaps else np.log(STEP_S),
                np.log(seconds),
            ],
            _z_points(f0, POINTS),
            _autocorrelation(f0),
            _z_points(level, POINTS),
            _autocorrelation(level),
            _modulation(f0),
        ]
    )


def duration_numbers(samples: NDArray[np.float32], text: str) -> Floats:
    """14 numbers: seconds of speech and pauses against syllables, letters and words; as if silent without words."""
    words = words_of(text)
    syllables, letters = sum(_syllables(word) for word in words), sum(len(word) for word in words)
    level = level_db(samples)
    speech = level > PAUSE_DB
    inside = np.flatnonzero(speech)
    if not words or not len(inside):
        return np.zeros(N_DURATIONS)
    spans = _phrases(speech, frame_s=FRAME_S)
    spoken_s, whole_s = speech.sum() * FRAME_S, (inside[-1] - inside[0] + 1) * FRAME_S
    phrase_s = np.array([(last - first) * FRAME_S for first, last in spans])
    paused_s = max(whole_s - phrase_s.sum(), 0.0)
    fixed = 0.2 + 0.18 * syllables  # seconds that reading takes, roughly: what remains is the speaker's tempo
    return np.array(
        [
            np.log(spoken_s / syllables),
            np.log(spoken_s / letters),
            np.log(whole_s / syllables),
            np.log(whole_s / letters),
            np.log(whole_s / fixed),
            np.log(spoken_s / whole_s + 1e-3),
            paused_s / len(words),
            (len(spans) - 1) / len(words),
            np.log(phrase_s.mean()),
            np.log(phrase_s.max()),
            np.log(phrase_s.max() / (syllables / len(spans))),
            np.log1p(paused_s),
            np.log(inside[0] * FRAME_S + 0.02),
            np.log((len(level) - 1 - inside[-1]) * FRAME_S + 0.02),
        ]
    )


def symbol_numbers(samples: NDArray[np.float32]) -> Floats:
    """52 numbers, each 0 or 1: label, F0 as 4 and as 8 points of three levels, strongest place, final movement."""
    track = track_speech(samples)
    if track is None:
        return np.zeros(N_SYMBOLS)
    place = min(int(PLACES * strongest_place(track)), PLACES - 1)
    return np.concatenate(
        [
            np.eye(len(LABELS))[LABELS.index(shipped_labels().label(numbers_of(track)))],
            *(
                np.eye(3)[["lmh".index(level) for level in f0_levels(track, points)]].ravel()
                for points in SYMBOL_POINTS
            ),
            np.eye(PLACES)[place],
            np.eye(3)[("fall", "level", "rise").index(final_movement(track))],
        ]
    )


def _phrases(speech: Flags, *, frame_s: float = STEP_S) -> list[tuple[int, int]]:
    """Find stretches of speech between pauses, as (first, after the last) frames; at least one."""
    spoken = np.flatnonzero(speech)
    if not len(spoken):
        return [(0, len(speech))]
    breaks = np.flatnonzero(np.diff(spoken) * frame_s > PAUSE_S)
    firsts = spoken[np.concatenate([[0], breaks + 1])]
    lasts = spoken[np.concatenate([breaks, [len(spoken) - 1]])] + 1
    spans = [(int(a), int(b)) for a, b in zip(firsts, lasts, strict=True)]
    long = [(a, b) for a, b in spans if (b - a) * frame_s >= SHORTEST_PHRASE_S]
    return long or spans[:1]


def _phrase(track: SentenceTrack, first: int, last: int) -> list[float]:
    f0, level, voiced = track.octaves[first:last], track.level_db[first:last], track.voiced[first:last]
    quarter = max(1, len(f0) // 4)
    low, high = np.quantile(f0, (0.1, 0.9))
    return [
        float(np.log(len(f0) * STEP_S)),
        float(np.median(f0)),
        float(high - low),
        _slope(f0),
        float(f0[-quarter:].mean() - f0[:quarter].mean()),
        float(level.mean()),
        float(level.std()),
        _slope(level),
        float(voiced.mean()),
        float(np.abs(np.diff(f0)).mean()) if len(f0) > 1 else 0.0,
    ]


def _slope(values: Floats) -> float:
    return float(np.polyfit(np.linspace(0, 1, len(values)), values, 1)[0]) if len(values) > 2 else 0.0


def _z(values: Floats) -> Floats:
    centred: Floats = (values - values.mean()) / max(float(values.std()), 1e-3)
    return centred


def _z_points(values: Floats, count: int) -> Floats:
    """Means of ``count`` equal stretches, in standard deviations of the whole."""
    edges = np.linspace(0, len(values), count + 1)
    integral = np.interp(edges, np.arange(len(values) + 1), np.concatenate([[0.0], np.cumsum(_z(values))]))
    means: Floats = np.diff(integral) * count / len(values)
    return means


def _autocorrelation(values: Floats) -> Floats:
    z = _z(values)
    return np.array([float((z[lag:] * z[:-lag]).mean()) if len(z) > lag + 2 else 0.0 for lag in LAGS])


def _modulation(values: Floats) -> Floats:
    centred = (values - values.mean()) * np.hanning(len(values) + 2)[1:-1]
    size = max(256, len(centred))
    power = np.abs(np.fft.rfft(centred, size)) ** 2 / len(values)
    hz = np.fft.rfftfreq(size, STEP_S)
    return np.array(
        [np.log(power[(hz >= low) & (hz < high)].sum() + 1e-4) for low, high in itertools.pairwise(MODULATION_HZ)]
    )


def _syllables(word: str) -> int:
    """Count groups of vowels, at least one."""
    flags = [letter in _VOWELS for letter in word]
    return max(1, sum(now and not before for before, now in zip([False, *flags], flags, strict=False)))
