"""Phrases: where long audio can be cut inaudibly, and excerpts that are enough to measure a voice on.

Places are counted in frames of 5 ms from the beginning of the sound, so that a piece is analysed on the same grid as
the whole would be. Cuts lie in the quietest place of the last five of every twenty seconds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from personare.core.audio import Audio
from personare.core.errors import AudioError
from personare.core.progress import advance

PERIOD_S = 0.005
FRAMES_PER_S = 200
LONGEST_S, SEARCH_S = 20, 5
_QUIET_FRAMES = 10
_EXCERPTS, _EXCERPT_S = 40, 15
_BLOCK = 1 << 20


def frames_of(audio: Audio) -> int:
    """Count the frames of a sound, one every 5 ms from its first sample on."""
    return int(len(audio.samples) / audio.rate_hz * FRAMES_PER_S) + 1 if len(audio.samples) else 0


def sample_at(frame: int, rate_hz: int) -> int:
    """Give the sample at which a frame lies.

    >>> sample_at(200, 11_025)
    11025
    """
    return round(frame * rate_hz / FRAMES_PER_S)


def phrases(audio: Audio) -> Iterator[tuple[int, int]]:
    """Give the first frame and the one after the last of stretches of at most twenty seconds, cut where it is quiet."""
    first, end = 0, frames_of(audio)
    while end - first > LONGEST_S * FRAMES_PER_S:
        latest = first + LONGEST_S * FRAMES_PER_S
        places = np.arange(latest - SEARCH_S * FRAMES_PER_S, latest, _QUIET_FRAMES)
        energies = [_energy(audio, int(place)) for place in places]
        last = int(places[np.argmin(energies)]) + _QUIET_FRAMES
        yield first, last
        first = last
    if first < end:
        yield first, end


def _energy(audio: Audio, frame: int) -> float:
    some = audio.samples[sample_at(frame, audio.rate_hz) : sample_at(frame + _QUIET_FRAMES, audio.rate_hz)]
    return float(np.square(some.astype(np.float64)).sum())


def excerpts(audio: Audio) -> Iterator[Audio]:
    """Give what a voice is measured on: all of a sound up to ten minutes, ten minutes spread evenly over a longer one.

    >>> hour = Audio(np.zeros(3600 * 8000, dtype=np.float32), 8_000)
    >>> sum(part.duration_s for part in excerpts(hour))
    600.0
    """
    step, count = _EXCERPT_S * audio.rate_hz, len(audio.samples)
    starts: Sequence[int] = range(0, count, step)
    if len(starts) > _EXCERPTS:
        starts = [int(start) for start in np.linspace(0, count - step, _EXCERPTS)]
    for start in starts:
        yield Audio(audio.samples[start : start + step], audio.rate_hz)


def measured(audio: Audio) -> Iterator[Audio]:
    """Give the same excerpts, and say after each how much of the sound they stand for."""
    every = list(excerpts(audio))
    for some in every:
        yield some
        advance(audio.duration_s / len(every))


def refuse_nan(audio: Audio) -> None:
    """Refuse samples that are not numbers before any library sees them."""
    for start in range(0, len(audio.samples), _BLOCK):
        fine = np.isfinite(audio.samples[start : start + _BLOCK])
        if not fine.all():
            first = start + int(np.argmin(fine))
            raise AudioError(f"NaN or infinite samples, the first at sample {first}; repair the sound first")
