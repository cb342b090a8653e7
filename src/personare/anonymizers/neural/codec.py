"""Speech through a codec and back: what a voice is when only some levels of tokens are kept.

``usc`` hides: of the universal speech codec only C0 is kept, which holds what is said and how it is intoned (relative
F0, pace, emphasis); timbre, pitch and room are in the levels that are thrown away, and the decoder speaks in a voice of
its own. ``codec`` is the round trip through any codec with any number of levels, to compare them by: with all levels it
hides nothing. [turavecino2025usc, tables 1 and 2]
Deviations: the level of the recording is kept (one number), and what was digital silence is silent again.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np

from personare.anonymizers.signal.frames import limit_peaks
from personare.anonymizers.signal.loudness import k_weighted
from personare.anonymizers.signal.phrases import refuse_nan
from personare.codecs.codec import CODECS, Codec
from personare.codecs.usc import features
from personare.codecs.usc.codec import Usc
from personare.codecs.usc.trained import NO_VOICE, SHIPPED, open_trained
from personare.core.audio import Audio
from personare.core.errors import ConfigError
from personare.core.fingerprint import Fingerprinted
from personare.core.progress import part

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

DRAWN = "drawn"
_EVENNESS = 0.6  # of the Dirichlet distribution that mixtures of voices are drawn from
_CODING = 0.8  # roughly the share of the work that coding is, as opposed to decoding
_SILENCE_S = 0.02  # digital silence that lasts so long is silent again
_PAPER = "Tura-Vecino et al., Universal semantic disentangled privacy-preserving speech representation learning, 2025"


@dataclass(frozen=True)
class UscAnonymizer(Fingerprinted):
    """The words and the intonation, by the codec's semantic tokens alone (USC C0), in a voice of the decoder.

    Parameters
    ----------
    voice : ``drawn`` mixes a voice from the codec's own by ``rng``; a name of the card speaks all with that one;
        ``none`` leaves the voice open, as the paper does.
    weights : ``shipped``, or the folder of a codec trained by ``personare train usc``.
    """

    paper: ClassVar[str] = _PAPER
    VERSION: ClassVar[int] = 1
    MODELS: ClassVar[tuple[str, ...]] = features.MODELS

    voice: str = DRAWN
    weights: Path | None = field(default=None, compare=False)
    built: Usc = field(init=False, repr=False)
    """The codec: what the method is compared by."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "weights", _own_folder(self.weights))
        weights = SHIPPED if self.weights is None else str(self.weights)
        object.__setattr__(self, "built", Usc(weights, NO_VOICE if self.voice == DRAWN else self.voice))

    def __call__(self, audio: Audio, *, rng: np.random.Generator) -> Audio:
        """Hide the voice of one channel."""
        refuse_nan(audio)
        if not audio.samples.any():
            return Audio(np.zeros_like(audio.samples), audio.rate_hz)
        vector = self._drawn(rng) if self.voice == DRAWN else None
        with part(_CODING):
            tokens = self.built.encode(audio).kept(1)
        return as_loud(audio, self.built.decode(tokens, rng=rng, vector=vector))

    def _drawn(self, rng: np.random.Generator) -> Floats:
        """Mix the codec's voices by shares drawn from ``rng``; of length 1."""
        voices = open_trained(self.built.weights).voices
        shares = rng.dirichlet(np.full(len(voices), _EVENNESS))
        mixed = sum(share * voices[name] for share, name in zip(shares, sorted(voices), strict=True))
        return np.asarray(mixed / np.linalg.norm(mixed), np.float32)


@dataclass(frozen=True)
class CodecRoundTrip(Fingerprinted):
    """The same speech from some or all tokens of a codec: to compare codecs and levels; with all levels nothing hides.

    Parameters
    ----------
    codec : a name of ``personare codec info``, or ``module:Class``.
    levels : how many levels are kept, the first first; all without.
    weights : the file or folder of the codec's weights; without, what it brings along.
    parameters : of the codec, e.g. ``{voice: voice-1}``.
    """

    paper: ClassVar[str] = _PAPER
    VERSION: ClassVar[int] = 1
    OFFERED: ClassVar[bool] = False  # as it is, it keeps all levels: the voice is not hidden

    codec: str = field(default="usc", compare=False)
    levels: int | None = None
    weights: Path | None = field(default=None, compare=False)
    parameters: dict[str, Any] = field(default_factory=dict)
    built: Codec = field(init=False, repr=False)
    """The codec: what the method is compared by."""

    def __post_init__(self) -> None:
        if self.levels is not None and self.levels < 1:
            raise ConfigError(f"codec: levels must be at least 1, not {self.levels}")
        object.__setattr__(self, "weights", _own_folder(self.weights))
        given = {} if self.weights is None else {"weights": str(self.weights)}
        object.__setattr__(self, "built", cast(Codec, CODECS.make(self.codec, **{**self.parameters, **given})))

    def __call__(self, audio: Audio, *, rng: np.random.Generator) -> Audio:
        """Code one channel and decode what is kept of it."""
        refuse_nan(audio)
        if not audio.samples.any():
            return Audio(np.zeros_like(audio.samples), audio.rate_hz)
        with part(_CODING):
            tokens = self.built.encode(audio)
        return as_loud(audio, self.built.decode(tokens if self.levels is None else tokens.kept(self.levels), rng=rng))


def _own_folder(weights: Path | None) -> Path | None:
    return None if weights is None or str(weights) == SHIPPED else Path(weights)


def as_loud(original: Audio, made: Audio) -> Audio:
    """Bring a sound to the loudness of the original (one gain for all of it); silent where that is digital silence."""
    rate_hz = original.rate_hz
    sound = np.where(_silent(original), np.float32(0), made.samples)
    target, measured = (
        float(np.square(k_weighted(samples.astype(np.float64), rate_hz)).sum()) for samples in (original.samples, sound)
    )
    gain = np.sqrt(target / measured) if target > 0 and measured > 0 else 1.0
    louder = np.asarray(sound * np.float32(gain), np.float32)
    return Audio(limit_peaks(louder, hop=max(1, round(0.01 * rate_hz))), rate_hz)


def _silent(audio: Audio) -> NDArray[np.bool_]:
    """Stretches of at least 20 ms without any sound at all."""
    still = (audio.samples == 0).astype(np.int8)
    edges = np.flatnonzero(np.diff(np.concatenate([[0], still, [0]])))
    silent = np.zeros(len(still), bool)
    for first, last in zip(edges[::2], edges[1::2], strict=True):
        if last - first >= _SILENCE_S * audio.rate_hz:
            silent[first:last] = True
    return silent
