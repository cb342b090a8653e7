"""Which pseudo-speaker a speaker gets: under a secret key, and for which component of a synthesizer.

M1c3 gives the pseudo-speaker's vector to the envelope (SS AM) and the speaker's own to the source (NSF); M1c4 the
reverse; they show which component gives a speaker away                         [tomashenko2022voiceprivacy, sec. 3.2.1]
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from personare.core.protocols import PseudoSpeaker
from personare.core.seeding import Key, rng_for

OwnComponents = Literal["neither", "source", "envelope", "both"]


def for_speaker(
    generator: PseudoSpeaker,
    vector: NDArray[np.float32],
    *,
    key: Key,
    speaker: str,
    gender: str | None = None,
    side: str = "",
) -> NDArray[np.float32]:
    """Give the pseudo-speaker that belongs to a speaker under a secret key, by any generator.

    ``side`` (``enroll``, ``test``) gives the two sides of an evaluation different vectors, as the challenges do.
    """
    return generator(vector, rng=rng_for(key, "pseudospeaker", side, speaker), gender=gender)


@dataclass(frozen=True, eq=False)
class SynthesisVectors:
    """The vectors a synthesizer is given: for the ``envelope`` and for the ``source``, each [d]."""

    envelope: NDArray[np.float32]
    source: NDArray[np.float32]


def for_synthesis(
    generator: PseudoSpeaker,
    vector: NDArray[np.float32],
    *,
    rng: np.random.Generator,
    gender: str | None = None,
    own: OwnComponents = "neither",
) -> SynthesisVectors:
    """Generate a pseudo-speaker; ``own`` says what keeps the speaker's vector: source (M1c3), envelope (M1c4), both."""
    generated = generator(vector, rng=rng, gender=gender)
    return SynthesisVectors(
        envelope=vector if own in ("envelope", "both") else generated,
        source=vector if own in ("source", "both") else generated,
    )
