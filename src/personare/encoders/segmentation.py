"""Speaker segmentation and the check for several speakers on one channel (pyannote segmentation 3.0, WeSpeaker).

The network labels every 16.9 ms of a 10 s window with one of seven classes: silence, one of three speakers, or two of
them at once (powerset classes, plaquet2023powerset). Its speakers are local to a window, and it often gives two people
of one gender the same label. So its labels only cut the speech into turns: stretches of one local speaker without a
longer pause. A speaker embedding of each turn decides: turns are clustered by the cosine of their embeddings
(agglomerative, centroids weighted by length), and two clusters with enough speech are two people.

Deviations: windows do not overlap; turns below 1 s are not used; of a long recording ``MOST_TURNS`` turns, spread over
its length, are embedded.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from personare.core import weights
from personare.core.audio import Audio
from personare.core.sessions import Session, open_session
from personare.encoders.graphs import PublishedEmbedder
from personare.encoders.published import WeSpeaker
from personare.encoders.segments import samples_at

if TYPE_CHECKING:
    from numpy.typing import NDArray

RATE_HZ = 16_000
WINDOW = 10 * RATE_HZ
FRAME = 270  # samples, 16.9 ms
PAUSE_FRAMES = 15  # a shorter pause does not end a turn: 0.25 s
SHORTEST_TURN_S, LONGEST_TURN_S, MOST_TURNS = 1.0, 5.0, 24
# chosen on the part "train" of the corpus of benchmarks/several_speakers.py; its part "eval" gives the published rates
SAME_FROM, SAME_FROM_SHORT = 0.52, 0.45  # cosine from which two clusters are one person; where one is short
SHORT_S = 2.0  # of speech in a cluster: its embedding is uncertain
LEAST_S, LEAST_SHARE = 1.25, 0.1  # speech that a second person must have, and its share of all
NEEDS = ("segmentation", "wespeaker")
SPEAKERS_OF_CLASS = np.array(
    [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0], [1, 0, 1], [0, 1, 1]], dtype=np.bool_
)


@dataclass(frozen=True)
class Segmentation(PublishedEmbedder):
    """Pyannote segmentation 3.0: which of up to three local speakers talk in each frame of each 10 s window."""

    paper: ClassVar[str] = "Plaquet and Bredin, Powerset multi-class cross entropy loss for speaker diarization, 2023"

    MODEL: ClassVar[str] = "segmentation"
    VERSION: ClassVar[int] = 1

    def __call__(self, samples: NDArray[np.float32]) -> Iterator[tuple[int, NDArray[np.bool_]]]:
        """Give (first sample, activity [frames, 3]) of each window of 16 kHz samples."""
        session = _session(self.threads, weights.home())
        (name,) = (one.name for one in session.get_inputs())
        for start in range(0, max(1, len(samples)), WINDOW):
            window = np.zeros((1, 1, WINDOW), np.float32)
            part = samples[start : start + WINDOW]
            window[0, 0, : len(part)] = part
            yield start, SPEAKERS_OF_CLASS[session.run(None, {name: window})[0][0].argmax(axis=1)]

    def speech(self, samples: NDArray[np.float32]) -> NDArray[np.bool_]:
        """Tell of each of 16 kHz samples whether anybody speaks."""
        spoken = np.zeros(len(samples), np.bool_)
        for start, active in self(samples):
            part = spoken[start : start + WINDOW]
            frames = np.repeat(active.any(axis=1), FRAME)
            part[:] = np.pad(frames, (0, max(0, len(part) - len(frames))), mode="edge")[: len(part)]
        return spoken


def several_speakers(audio: Audio) -> bool | None:
    """Whether more than one person speaks on this channel; None where a model for it is not fetched."""
    if weights.missing(*NEEDS):
        return None
    if len(audio.samples) < 2 * LEAST_S * audio.rate_hz:  # too short for two people with enough speech each
        return False
    samples = samples_at(audio, rate_hz=RATE_HZ)
    found = [turn for start, active in Segmentation()(samples) for turn in turns(active, start)]
    found = [(first, min(last, len(samples))) for first, last in found if last - first >= SHORTEST_TURN_S * RATE_HZ]
    if len(found) > MOST_TURNS:
        found = [found[i] for i in np.linspace(0, len(found) - 1, MOST_TURNS).round().astype(int)]
    if len(found) < 2:
        return False
    sounds = [samples[first : min(last, first + round(LONGEST_TURN_S * RATE_HZ))] for first, last in found]
    vectors = WeSpeaker()([Audio(sound, RATE_HZ) for sound in sounds])
    return people_in(vectors, [len(sound) / RATE_HZ for sound in sounds]) > 1


def turns(active: NDArray[np.bool_], start: int) -> list[tuple[int, int]]:
    """Give (first, last + 1) sample of every turn of one window: one local speaker, no pause of 0.25 s or more.

    >>> active = np.zeros((200, 3), bool); active[10:60, 0] = active[65:100, 0] = active[150:180, 1] = True
    >>> [(first // FRAME, last // FRAME) for first, last in turns(active, 0)]
    [(10, 100), (150, 180)]
    """
    alone = active.sum(axis=1) == 1
    labels = np.where(alone, active.argmax(axis=1), -1)
    found: list[list[int]] = []  # label, first frame, last frame + 1
    for label, frames in itertools.groupby(range(len(labels)), key=lambda i: int(labels[i])):
        run = list(frames)
        if label < 0:
            continue
        if found and found[-1][0] == label and run[0] - found[-1][2] < PAUSE_FRAMES:
            found[-1][2] = run[-1] + 1
        else:
            found.append([label, run[0], run[-1] + 1])
    return [(start + first * FRAME, start + last * FRAME) for _, first, last in found]


def people_in(vectors: NDArray[np.float32], seconds: Sequence[float]) -> int:
    """Count the clusters of turns with enough speech: at least ``LEAST_S``, and ``LEAST_SHARE`` of all.

    >>> anna, bela = [1.0, 0.0], [0.0, 1.0]
    >>> people_in(np.array([anna, bela, anna], np.float32), [2.0, 2.0, 2.0])
    2
    >>> people_in(np.array([anna, anna, bela], np.float32), [30.0, 30.0, 1.0])
    1
    """
    units = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    sums = [unit * length for unit, length in zip(units, seconds, strict=True)]
    lengths = list(seconds)
    while len(sums) > 1:
        centres = np.stack([one / max(float(np.linalg.norm(one)), 1e-12) for one in sums])
        short = np.minimum.outer(lengths, lengths) < SHORT_S
        above = centres @ centres.T - np.where(short, SAME_FROM_SHORT, SAME_FROM) - 3.0 * np.eye(len(sums))
        a, b = sorted(divmod(int(above.argmax()), len(sums)))
        if above[a, b] < 0:
            break
        sums[a], lengths[a] = sums[a] + sums.pop(b), lengths[a] + lengths.pop(b)
    least = max(LEAST_S, LEAST_SHARE * sum(lengths))
    return sum(length >= least for length in lengths)


@functools.lru_cache(maxsize=2)
def _session(threads: int, _cache: Path) -> Session:
    (path,) = weights.files_of(Segmentation.MODEL).values()
    return open_session(path, threads=threads)
