"""The shapes rooms agree on: what every anonymizer, pseudo-speaker, embedder, listener and engine looks like."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from personare.core.audio import Audio


@runtime_checkable
class Anonymizer(Protocol):
    """A frozen dataclass whose fields are its configuration: audio in, audio of the same length and rate out."""

    def __call__(self, audio: Audio, *, rng: np.random.Generator) -> Audio:
        """Hide the voice; all chance comes from ``rng``."""
        ...


@runtime_checkable
class PseudoSpeaker(Protocol):
    """Fitted on a pool of vectors: a speaker vector [d] in, an invented one [d] out."""

    def __call__(
        self, vector: NDArray[np.float32], *, rng: np.random.Generator, gender: str | None = None
    ) -> NDArray[np.float32]:
        """Invent a voice."""
        ...


@runtime_checkable
class Embedder(Protocol):
    """A hostile ear: speech in, one speaker vector out; ``fingerprint`` names the exact model for caches."""

    @property
    def fingerprint(self) -> str:
        """The exact model, weights and version."""
        ...

    def __call__(self, batch: Sequence[Audio]) -> NDArray[np.float32]:
        """Embed a batch: float32 [len(batch), d], one row per Audio, at any sample rate."""
        ...


@runtime_checkable
class Listener(Protocol):
    """A friendly ear: a batch of Audio in, what was heard out, one thing per Audio."""

    def __call__(self, batch: Sequence[Audio]) -> Sequence[Any]:
        """Listen."""
        ...
