"""Several embedders as one: ``ecapa+wespeaker+energy`` hears what each of them hears.

The vectors of the parts, each scaled to length 1, stand one after the other. Every mean of such vectors is then the
mean of each part by itself, and their cosine is the mean of the parts' cosines; scorers who learn take the parts apart
again by their ``widths``.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from personare.attackers import EMBEDDERS
from personare.attackers import embedder as make_embedder
from personare.core.audio import Audio
from personare.core.errors import ConfigError
from personare.core.vectors import unit_rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from personare.core.protocols import Embedder

JOINT = "+"
_PROBE_HZ = 16_000


@dataclass(frozen=True)
class FusedEmbedder:
    """Several embedders at once: their vectors side by side, each scaled to length 1."""

    paper: ClassVar[str] = ""

    names: tuple[str, ...]

    def __post_init__(self) -> None:
        if len(set(self.names)) < max(2, len(self.names)):
            raise ConfigError(f"a fusion joins different embedders, not '{JOINT.join(self.names)}'")

    @cached_property
    def parts(self) -> tuple[Embedder, ...]:
        """The embedders."""
        return tuple(make_embedder(name) for name in self.names)

    @property
    def fingerprint(self) -> str:
        """The exact models, for caches."""
        joined = " ".join(part.fingerprint for part in self.parts)
        return f"fused-{hashlib.sha256(joined.encode()).hexdigest()[:16]}"

    @cached_property
    def widths(self) -> tuple[int, ...]:
        """How many numbers each part gives: declared, or asked with a second of silence."""
        silence = Audio(np.zeros(_PROBE_HZ, np.float32), _PROBE_HZ)
        return tuple(getattr(part, "DIMENSIONS", None) or part([silence]).shape[1] for part in self.parts)

    def check(self, attacked: Iterable[str]) -> None:
        """Refuse speakers that one of the parts was trained on."""
        attacked = list(attacked)
        for part in self.parts:
            if hasattr(part, "check"):
                part.check(attacked)

    def __call__(self, batch: Sequence[Audio]) -> NDArray[np.float32]:
        """Embed a batch: float32 [len(batch), sum of widths]."""
        return joined([part(batch) for part in self.parts])


def joined(vectors: Sequence[NDArray[np.float32]]) -> NDArray[np.float32]:
    """Put the parts' vectors [n, d] of the same recordings side by side, each scaled to length 1."""
    return np.concatenate([unit_rows(one, dtype=np.float32) for one in vectors], axis=1)


def parts_of(name: str) -> tuple[str, ...]:
    """Name the parts of a fusion; an embedder by itself is its own one part.

    >>> parts_of("ecapa+energy"), parts_of("trained:a+b.onnx")
    (('ecapa', 'energy'), ('trained:a+b.onnx',))
    """
    pieces = tuple(piece.strip() for piece in name.split(JOINT))
    known = EMBEDDERS.names()
    is_fusion = len(pieces) > 1 and all(piece in known or ":" in piece for piece in pieces[1:])
    return pieces if is_fusion else (name,)


def label_of(name: str) -> str:
    """Name an embedder in tables: without the file or the class after a colon.

    >>> label_of("ecapa+trained:/data/a.onnx"), label_of("my_module:Mine")
    ('ecapa+trained', 'my_module')
    """
    return JOINT.join(part.partition(":")[0] for part in parts_of(name))


def widths_of(name: str) -> tuple[int, ...]:
    """Give how many numbers each part of a fusion gives; nothing for an embedder by itself."""
    parts = parts_of(name)
    return FusedEmbedder(parts).widths if len(parts) > 1 else ()
