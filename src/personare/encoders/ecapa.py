"""The strong speaker embedder: ECAPA-TDNN trained on VoxCeleb (SpeechBrain's weights), 192 numbers per recording."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from personare.core import weights
from personare.encoders import ecapa_graph, graphs, mels
from personare.encoders.segments import by_length, mean_of_segments, segments_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from personare.core.audio import Audio
    from personare.core.sessions import Session

NAME = "ecapa"
VERSION = 3  # raise it whenever the vectors change: features, graph or the cutting of long recordings
GRAPH_SHA256 = "63f4ba12ef5ca2a24f3279ba03dc1037d8da8151494e97f487d33821dabb3d04"  # of what the pinned weights give
MAX_SEGMENT_S = 30.0
MIN_SAMPLES = 5 * mels.HOP  # reflect padding of the widest layer needs 5 frames


@dataclass(frozen=True)
class Ecapa(graphs.PublishedEmbedder):
    """ECAPA-TDNN of desplanques2020ecapa with the weights spkrec-ecapa-voxceleb.

    Vectors are not length-normalised, as published. Any sample rate is resampled to 16 kHz.
    Deviations: recordings above 30 s are cut into equal pieces of at most 30 s, and the mean of their vectors, weighted
    by length, is given (memory stays bounded); below 50 ms they are padded with silence.
    """

    paper: ClassVar[str] = "Desplanques et al., ECAPA-TDNN, 2020"

    MODEL: ClassVar[str] = NAME
    VERSION: ClassVar[int] = VERSION
    DIMENSIONS: ClassVar[int] = ecapa_graph.N_DIMENSIONS

    def __call__(self, batch: Sequence[Audio]) -> NDArray[np.float32]:
        """Embed a batch: float32 [len(batch), 192]; a vector does not depend on what else is in the batch."""
        session = graphs.session(NAME, VERSION, ecapa_graph.build, self.threads, weights.home(), GRAPH_SHA256)
        return embed_segments(session, batch, dimensions=ecapa_graph.N_DIMENSIONS)


def embed_segments(session: Session, batch: Sequence[Audio], *, dimensions: int) -> NDArray[np.float32]:
    """Embed a batch with a network that takes decibel mels: float32 [len(batch), dimensions]."""
    recordings = [
        segments_of(audio, rate_hz=mels.RATE_HZ, longest_s=MAX_SEGMENT_S, min_samples=MIN_SAMPLES) for audio in batch
    ]
    flat = [segment for segments in recordings for segment in segments]
    vectors = np.empty((len(flat), dimensions), np.float32)
    for positions in by_length(flat):
        features = np.stack([mels.decibel_mels(flat[i]) for i in positions])
        vectors[positions] = session.run(None, {"mels": features})[0]
    return mean_of_segments(vectors, recordings)
