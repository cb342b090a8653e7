"""Speaker segmentation and the check for several speakers on one channel (pyannote segmentation 3.0).

The network labels every 16.9 ms of a 10 s window with one of seven classes: silence, one of three speakers, or two of
them at once (powerset classes, plaquet2023powerset). Its speakers are local: the first speaker of one window need not
be the first of the next. A recording has several speakers if, in one window, two local speakers talk for at least
``LEAST_SPEECH_S`` each and a speaker embedding of their speech says that they are two people: noise or another tone of
voice of one person often gets a label of its own, but stays near that person.

Deviations: neighbouring windows overlap by half and are judged by themselves; no clustering over windows.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from personare.core import weights
from personare.core.audio import Audio
from personare.core.sessions import Session, open_session
from personare.encoders.ecapa import Ecapa
from personare.encoders.ge2e import Ge2e
from personare.encoders.graphs import PublishedEmbedder
from personare.encoders.segments import samples_at

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Embed = Callable[[Sequence[Audio]], NDArray[np.float32]]

RATE_HZ = 16_000
WINDOW, STEP = 10 * RATE_HZ, 5 * RATE_HZ
FRAME_SAMPLES = 270  # 16.9 ms
SPEAKERS_OF_CLASS = np.array(
    [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0], [1, 0, 1], [0, 1, 1]], dtype=np.bool_
)
LEAST_SPEECH_S = 1.5
# below this cosine two stretches of speech come from two people; chosen on the training part, see
# benchmarks/several_speakers.py
DIFFERENT_BELOW: dict[str, float] = {"ecapa": 0.3, "ge2e": 0.7}
_EMBEDDERS: dict[str, Callable[[], Embed]] = {"ecapa": Ecapa, "ge2e": Ge2e}


@dataclass(frozen=True)
class Segmentation(PublishedEmbedder):
    """Pyannote segmentation 3.0: who of up to three local speakers talks in each frame of each 10 s window."""

    paper: ClassVar[str] = "Plaquet and Bredin, Powerset multi-class cross entropy loss for speaker diarization, 2023"

    MODEL: ClassVar[str] = "segmentation"
    VERSION: ClassVar[int] = 1

    def __call__(self, samples: NDArray[np.float32]) -> Iterator[tuple[int, NDArray[np.bool_]]]:
        """Give (first sample, activity [frames, 3]) of each window of 16 kHz samples."""
        session = _session(self.threads, weights.home())
        (name,) = (one.name for one in session.get_inputs())
        for start in window_starts(len(samples)):
            window = np.zeros((1, 1, WINDOW), np.float32)
            part = samples[start : start + WINDOW]
            window[0, 0, : len(part)] = part
            classes = session.run(None, {name: window})[0][0].argmax(axis=1)
            yield start, SPEAKERS_OF_CLASS[classes]

    def speech(self, samples: NDArray[np.float32]) -> NDArray[np.bool_]:
        """Tell of each of 16 kHz samples whether anybody speaks."""
        spoken = np.zeros(len(samples), np.bool_)
        for start, active in self(samples):
            frames = np.repeat(active.any(axis=1), FRAME_SAMPLES)
            part = spoken[start : start + WINDOW]
            frames = np.pad(frames, (0, max(0, len(part) - len(frames))), mode="edge")[: len(part)]
            np.logical_or(part, frames, out=part)
        return spoken


def window_starts(n_samples: int) -> list[int]:
    """First samples of the windows: every 5 s, the last one aligned with the end.

    >>> [start / RATE_HZ for start in window_starts(23 * RATE_HZ)]
    [0.0, 5.0, 10.0, 13.0]
    """
    return [0] if n_samples <= WINDOW else [*range(0, n_samples - WINDOW, STEP), n_samples - WINDOW]


@dataclass(frozen=True)
class LocalPair:
    """Two local speakers of one window: when it starts, how long each talks alone, and how similar they sound."""

    start_s: float
    speech_s: tuple[float, float]
    similarity: float


def local_pairs(audio: Audio, embed: Embed, *, least_s: float = LEAST_SPEECH_S) -> Iterator[LocalPair]:
    """Give every two local speakers of a window who talk for at least ``least_s`` each while nobody else does."""
    samples = samples_at(audio, rate_hz=RATE_HZ)
    for start, active in Segmentation()(samples):
        alone = active & (active.sum(axis=1) == 1)[:, None]
        speech_s = alone.sum(axis=0) * FRAME_SAMPLES / RATE_HZ
        speakers = [k for k in range(alone.shape[1]) if speech_s[k] >= least_s]
        if len(speakers) < 2:
            continue
        window = samples[start : start + WINDOW]
        vectors = {k: embed([Audio(_stretches(window, alone[:, k]), RATE_HZ)])[0] for k in speakers}
        for a, b in itertools.combinations(speakers, 2):
            yield LocalPair(start / RATE_HZ, (float(speech_s[a]), float(speech_s[b])), _cosine(vectors[a], vectors[b]))


def several_speakers(audio: Audio) -> bool | None:
    """Whether more than one person speaks on this channel; None where a model for it is not fetched."""
    embedder = usable_embedder()
    if embedder is None:
        return None
    limit = DIFFERENT_BELOW[embedder]
    return any(pair.similarity < limit for pair in local_pairs(audio, _embedder(embedder)))


def usable_embedder() -> str | None:
    """Name the speaker embedder that confirms; None where it or the segmentation model is not fetched."""
    if weights.missing(Segmentation.MODEL):
        return None
    return next((name for name in _EMBEDDERS if not weights.missing(name)), None)


def _stretches(window: NDArray[np.float32], frames: NDArray[np.bool_]) -> NDArray[np.float32]:
    """Join the samples of the chosen frames; what lies beyond the recording's end is none."""
    chosen = np.repeat(frames, FRAME_SAMPLES)
    chosen = np.pad(chosen, (0, max(0, len(window) - len(chosen))))[: len(window)]
    return window[chosen]


def _cosine(a: NDArray[np.float32], b: NDArray[np.float32]) -> float:
    return float(a @ b / max(float(np.linalg.norm(a) * np.linalg.norm(b)), 1e-12))


@functools.lru_cache(maxsize=2)
def _embedder(name: str) -> Embed:
    return _EMBEDDERS[name]()


@functools.lru_cache(maxsize=2)
def _session(threads: int, _cache: Path) -> Session:
    (path,) = weights.files_of(Segmentation.MODEL).values()
    return open_session(path, threads=threads)
