"""Networks that their publishers give as ONNX already: WeSpeaker's ResNet34 and the small distilled HuBERT.

They hear other things than ECAPA and GE2E do: one is convolutional over time and frequency, the other was trained on
speech without speakers. Errors of different families differ, so that attackers who use several err less.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from personare.core import weights
from personare.core.sessions import Session, open_session
from personare.encoders import fbank
from personare.encoders.graphs import PublishedEmbedder
from personare.encoders.segments import by_length, mean_of_segments, segments_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from personare.core.audio import Audio

MAX_SEGMENT_S = 30.0
RESNET_MIN_SAMPLES = fbank.WINDOW + 15 * fbank.HOP  # 16 frames: the network halves time three times
HUBERT_MIN_SAMPLES = 1600  # 5 frames of 20 ms


@dataclass(frozen=True)
class WeSpeaker(PublishedEmbedder):
    """ResNet34 of wang2023wespeaker, trained on VoxCeleb: 256 numbers, not length-normalised, as published.

    Deviations: recordings above 30 s are cut into equal pieces of at most 30 s, whose vectors are averaged by length;
    below 175 ms they are padded with silence; no dither.
    """

    paper: ClassVar[str] = "Wang et al., WeSpeaker: a research and production oriented speaker embedding toolkit, 2023"

    MODEL: ClassVar[str] = "wespeaker"
    VERSION: ClassVar[int] = 1
    DIMENSIONS: ClassVar[int] = 256

    def __call__(self, batch: Sequence[Audio]) -> NDArray[np.float32]:
        """Embed a batch: float32 [len(batch), 256]; a vector does not depend on what else is in the batch."""
        session = _session(self.MODEL, self.threads, weights.home())
        recordings = [
            segments_of(audio, rate_hz=fbank.RATE_HZ, longest_s=MAX_SEGMENT_S, min_samples=RESNET_MIN_SAMPLES)
            for audio in batch
        ]
        flat = [segment for segments in recordings for segment in segments]
        vectors = np.empty((len(flat), self.DIMENSIONS), np.float32)
        for positions in by_length(flat):
            for i in positions:  # one by one: the last digits of this network depend on the size of a batch
                vectors[i] = session.run(None, {"feats": fbank.log_mels(flat[i])[None]})[0][0]
        return mean_of_segments(vectors, recordings)


@dataclass(frozen=True)
class WakeHubert(PublishedEmbedder):
    """HuBERT distilled to 0.6 million weights (WakeHuBERT tiny): mean and spread over time of its 128 features.

    Deviations: the network gives features of speech, not of speakers; that their mean and spread stand for a speaker is
    this project's use of it.
    """

    paper: ClassVar[str] = "Hsu et al., HuBERT, 2021 (distilled)"

    MODEL: ClassVar[str] = "wakehubert"
    VERSION: ClassVar[int] = 1
    DIMENSIONS: ClassVar[int] = 256

    def __call__(self, batch: Sequence[Audio]) -> NDArray[np.float32]:
        """Embed a batch: float32 [len(batch), 256]; a vector does not depend on what else is in the batch."""
        session = _session(self.MODEL, self.threads, weights.home())
        recordings = [
            segments_of(audio, rate_hz=fbank.RATE_HZ, longest_s=MAX_SEGMENT_S, min_samples=HUBERT_MIN_SAMPLES)
            for audio in batch
        ]
        vectors = np.empty((sum(map(len, recordings)), self.DIMENSIONS), np.float32)
        for i, segment in enumerate(segment for segments in recordings for segment in segments):
            features = np.asarray(session.run(None, {"waveform": segment[None]})[0][0], np.float64)
            vectors[i] = np.concatenate([features.mean(0), features.std(0)])
        return mean_of_segments(vectors, recordings)


@functools.lru_cache(maxsize=4)
def _session(model: str, threads: int, _cache: Path) -> Session:
    """Open a model's one file, which is checked; ``_cache`` so that a changed folder is never served stale."""
    (path,) = weights.files_of(model).values()
    return open_session(path, threads=threads)
