"""The codec as an anonymizer: speech is coded, only C0 is kept, and the decoder speaks it in a voice of its own.

C0 holds what is said and how it is intoned (relative F0, pace, emphasis); timbre, pitch and room are in the levels that
are thrown away. The voice is not the speaker's: it is one of the codec's own, or a mixture of them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from personare.codecs.usc.codec import Usc
from personare.codecs.usc.trained import NO_VOICE, SHIPPED, open_trained
from personare.core.audio import Audio
from personare.core.errors import AudioError

DRAWN = "drawn"
_EVENNESS = 0.6  # of the Dirichlet distribution that mixtures of voices are drawn from


@dataclass(frozen=True)
class UscAnonymizer:
    """The words and the intonation, by the codec's semantic tokens alone (USC C0), in a voice of the decoder.

    Parameters
    ----------
    voice : ``drawn`` mixes a voice from the codec's own by ``rng``; a name of the card speaks all with that one;
        ``none`` leaves the voice open, as the paper does.
    weights : ``shipped``, or the folder of an exported codec.
    """

    voice: str = DRAWN
    weights: str = SHIPPED

    def __call__(self, audio: Audio, *, rng: np.random.Generator) -> Audio:
        """Hide the voice of one channel."""
        if not np.isfinite(audio.samples).all():
            raise AudioError("a recording holds NaN or infinite samples; repair or remove it")
        if not audio.samples.any():
            return Audio(np.zeros_like(audio.samples), audio.rate_hz)
        codec = Usc(weights=self.weights, voice=NO_VOICE if self.voice == DRAWN else self.voice)
        tokens = codec.encode(audio)
        semantic = replace(tokens.kept(1), level_db=tokens.level_db)  # as loud as the recording was
        vector = self._drawn(rng) if self.voice == DRAWN else None
        return codec.decode(semantic, rng=rng, vector=vector)

    def _drawn(self, rng: np.random.Generator) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
        """Mix the codec's voices by shares drawn from ``rng``; of length 1."""
        voices = open_trained(self.weights).voices
        shares = rng.dirichlet(np.full(len(voices), _EVENNESS))
        mixed = sum(share * voices[name] for share, name in zip(shares, sorted(voices), strict=True))
        return np.asarray(mixed / np.linalg.norm(mixed), np.float32)
