"""ECAPA before its last layer: 6144 statistics over time, from which an attacker may learn another last layer.

The published last layer turns them into 192 numbers that tell original voices apart, and throws the rest away. What an
anonymizer leaves of a person may lie in what is thrown away.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from personare.core import weights
from personare.core.checkpoint import load_tensors
from personare.core.sessions import Session, open_session
from personare.encoders import ecapa_graph, graphs
from personare.encoders.ecapa import embed_segments

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from personare.core.audio import Audio

NAME = "ecapa-pooled"
MODEL = "ecapa"
VERSION = 2  # raise it whenever the vectors change
POOLED = 6144


@dataclass(frozen=True)
class EcapaPooled(graphs.PublishedEmbedder):
    """The attentive statistics of ECAPA-TDNN (desplanques2020ecapa, sec. 3.3), normalised as its last layer takes them.

    The last number is constant: scaling a vector to length 1, as comparisons do, then loses nothing of the others, and
    the published last layer is a matrix. Meant for the scorer ``adapted``: 6145 numbers are too many for PLDA.
    Deviations: as of ``Ecapa``.
    """

    paper: ClassVar[str] = "Desplanques et al., ECAPA-TDNN, 2020"

    MODEL: ClassVar[str] = MODEL
    MODELS: ClassVar[tuple[str, ...]] = (MODEL,)
    VERSION: ClassVar[int] = VERSION
    DIMENSIONS: ClassVar[int] = POOLED + 1

    @property
    def fingerprint(self) -> str:
        """The exact model, for caches."""
        return f"pooled-{graphs.fingerprint_of(self.MODEL, self.VERSION)}"

    def __call__(self, batch: Sequence[Audio]) -> NDArray[np.float32]:
        """Embed a batch: float32 [len(batch), 6145]; a vector does not depend on what else is in the batch."""
        pooled = embed_segments(_session(self.threads, weights.home()), batch, dimensions=POOLED)
        constant = np.full((len(pooled), 1), np.sqrt(POOLED), np.float32)
        return np.concatenate([pooled, constant], axis=1)


@functools.lru_cache(maxsize=2)
def _session(threads: int, _cache: Path) -> Session:
    """Build the graph from the checked weights; ``_cache`` so that a changed folder is never served stale."""
    return open_session(ecapa_graph.build_pooled(_tensors(_cache)), threads=threads, where=NAME)


@functools.lru_cache(maxsize=1)
def _tensors(_cache: Path) -> dict[str, NDArray[np.float32]]:
    (checkpoint,) = weights.files_of(MODEL).values()
    return load_tensors(checkpoint)


def last_layer() -> NDArray[np.float64]:
    """Give the published last layer as a matrix [192, 6145]: times a vector of ``EcapaPooled``, it gives Ecapa's."""
    tensors = _tensors(weights.home())
    weight = tensors["fc.conv.weight"][:, :, 0].astype(np.float64)
    bias = tensors["fc.conv.bias"].astype(np.float64) / np.sqrt(POOLED)
    return np.concatenate([weight, bias[:, None]], axis=1)
