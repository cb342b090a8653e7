"""The strong ear: ECAPA-TDNN trained on VoxCeleb (SpeechBrain's published weights), 192 numbers per recording."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from personare.attackers import ecapa_graph
from personare.core import weights
from personare.core.errors import ConfigError
from personare.encoders import graphs, mels
from personare.encoders.hearing import by_length, mean_of_pieces, pieces_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from personare.core.audio import Audio

NAME = "ecapa"
VERSION = 2  # raise it whenever the vectors change: features, graph or the cutting of long recordings
LONGEST_S = 30.0
# reflect padding of the widest layer needs 5 frames
SHORTEST = 5 * mels.HOP


@dataclass(frozen=True)
class Ecapa:
    """ECAPA-TDNN of desplanques2020ecapa with the weights spkrec-ecapa-voxceleb.

    Vectors are not length-normalised, as published. Any sample rate is resampled to 16 kHz.
    Deviations: recordings above 30 s are cut into equal pieces of at most 30 s, and the mean of their vectors, weighted
    by length, is given (memory stays bounded); below 50 ms they are padded with silence.

    Parameters
    ----------
    threads : processor threads of one call; more processes are faster than more threads.
    """

    paper: ClassVar[str] = "Desplanques et al., ECAPA-TDNN, 2020"

    threads: int = 1

    def __post_init__(self) -> None:
        if self.threads < 1:
            raise ConfigError(f"threads must be at least 1, not {self.threads}")

    @property
    def fingerprint(self) -> str:
        """The exact model, for caches."""
        return graphs.fingerprint_of(NAME, VERSION)

    def __call__(self, batch: Sequence[Audio]) -> NDArray[np.float32]:
        """Embed a batch: float32 [len(batch), 192]; a vector does not depend on what else is in the batch."""
        session = graphs.session(NAME, VERSION, ecapa_graph.build, self.threads, weights.home())
        cut = [pieces_of(audio, rate_hz=mels.RATE_HZ, longest_s=LONGEST_S, shortest=SHORTEST) for audio in batch]
        flat = [piece for pieces in cut for piece in pieces]
        vectors = np.empty((len(flat), ecapa_graph.N_DIMENSIONS), np.float32)
        for where in by_length(flat):
            features = np.stack([mels.decibel_mels(flat[i]) for i in where])
            vectors[where] = session.run(None, {"mels": features})[0]
        return mean_of_pieces(vectors, cut)
