"""The shapes the packages agree on: what every anonymizer, pseudo-speaker, embedder and listener looks like."""

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

    @property
    def fingerprint(self) -> str:
        """The exact method: class, version, parameters and models (see ``core.fingerprint``)."""
        ...

    def __call__(self, audio: Audio, *, rng: np.random.Generator) -> Audio:
        """Anonymize one channel; every random choice is drawn from ``rng``."""
        ...


@runtime_checkable
class PseudoSpeaker(Protocol):
    """A generator fitted on a pool of speaker vectors: a speaker's vector [d] in, a pseudo-speaker's [d] out."""

    @property
    def fingerprint(self) -> str:
        """The exact generator: class, version, parameters and what it has learnt from the pool."""
        ...

    def __call__(
        self, vector: NDArray[np.float32], *, rng: np.random.Generator, gender: str | None = None
    ) -> NDArray[np.float32]:
        """Generate a pseudo-speaker."""
        ...


@runtime_checkable
class Embedder(Protocol):
    """Speech in, one speaker vector out; ``fingerprint`` names the exact model for caches."""

    @property
    def fingerprint(self) -> str:
        """The exact model, weights and version."""
        ...

    def __call__(self, batch: Sequence[Audio]) -> NDArray[np.float32]:
        """Embed a batch: float32 [len(batch), d], one row per Audio, at any sample rate."""
        ...


@runtime_checkable
class Listener(Protocol):
    """A batch of Audio in, one result (words, F0, a quality score ...) per Audio out."""

    def __call__(self, batch: Sequence[Audio]) -> Sequence[Any]:
        """Listen."""
        ...
