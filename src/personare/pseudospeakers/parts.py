"""Different voices for the two halves of synthesis: the sound of the mouth (envelope) and of the throat (source).

M1c3 gives the invented vector to the envelope (SS AM) and the speaker's own to the source (NSF); M1c4 the reverse; they
show which half gives a speaker away                                            [tomashenko2022voiceprivacy, sec. 3.2.1]
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from personare.core.protocols import PseudoSpeaker

Own = Literal["neither", "source", "envelope", "both"]


@dataclass(frozen=True, eq=False)
class PartVectors:
    """The vectors a synthesizer is given: for the ``envelope`` and for the ``source``, each [d]."""

    envelope: NDArray[np.float32]
    source: NDArray[np.float32]


def for_parts(
    generator: PseudoSpeaker,
    vector: NDArray[np.float32],
    *,
    rng: np.random.Generator,
    gender: str | None = None,
    own: Own = "neither",
) -> PartVectors:
    """Invent a voice and say which parts keep the speaker's own: source (M1c3), envelope (M1c4), both (M1c2)."""
    invented = generator(vector, rng=rng, gender=gender)
    return PartVectors(
        envelope=vector if own in ("envelope", "both") else invented,
        source=vector if own in ("source", "both") else invented,
    )
