"""Held-out speech as a codec in training gives it back: with C0 alone, with the first residual level, with all."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from personare.core.audio import Audio

if TYPE_CHECKING:
    from personare.codecs.codec import Codec


def sounds_of(
    codec: Codec, utterances: Mapping[str, Audio], *, rng: np.random.Generator
) -> dict[str, dict[str, Audio]]:
    """Code held-out utterances and decode them with C0, with the first residual level, and with all."""
    found: dict[str, dict[str, Audio]] = {}
    for name, audio in utterances.items():
        tokens = codec.encode(audio)
        versions = {"original": audio}
        for levels in sorted({1, min(2, tokens.levels), tokens.levels}):
            label = "C0" if levels == 1 else f"C0:{levels - 1}"
            versions[label] = codec.decode(tokens.kept(levels), rng=rng)
        found[name] = versions
    return found
