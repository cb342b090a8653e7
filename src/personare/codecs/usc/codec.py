"""The universal speech codec at use: speech to six levels of tokens at 25 Hz, and tokens to speech.

C0 (16,384 codes, 0.35 kbit/s) says what is said and how it is intoned; C1-C5 (1,024 codes each, 1.6 kbit/s with C0) add
how it sounded. From C0 alone the decoder speaks in one of its own voices. [turavecino2025usc]
Deviations (config ``small``): C0 is made from a recognizer's content frames and relative prosody instead of the wave,
C1-C5 from a mel spectrum; residual levels are Euclidean and start by PCA and k-means; the decoder drives a source and
filter; with C0 alone it is given a voice. Why, and what each brought: the codec's card.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from personare.codecs.tokens import TokenError, Tokens, bit_rate
from personare.codecs.usc import features, sound
from personare.codecs.usc.trained import NO_VOICE, SHIPPED, open_trained
from personare.core.audio import Audio, resample
from personare.core.errors import AudioError
from personare.core.progress import advance
from personare.core.sessions import check_threads
from personare.core.weights import require
from personare.training.usc import grid

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

LONGEST_S, SEARCH_S = 20, 5  # longer speech is coded in pieces, cut in the quietest frame of the last 5 of 20 s
_SILENT_POWER = 1e-10
_PEAK = np.float32(0.99)


@dataclass(frozen=True)
class Usc:
    """The universal speech codec, small configuration: 16 kHz, 25 frames per second, six levels.

    Parameters
    ----------
    weights : ``shipped``, or the folder of an exported codec.
    voice : the decoder's voice for C0 alone: a name of the card, or ``none`` for no voice in particular.
    threads : processor threads of one call.
    """

    MODELS: ClassVar[tuple[str, ...]] = features.MODELS

    weights: str = SHIPPED
    voice: str = NO_VOICE
    threads: int = 1

    def __post_init__(self) -> None:
        check_threads(self.threads)

    @property
    def fingerprint(self) -> str:
        """The exact codec: its files and how speech is measured."""
        trained = open_trained(self.weights, threads=self.threads)
        return f"{int(trained.fingerprint, 16) ^ features.VERSION:016x}"

    @property
    def rate_hz(self) -> int:
        """16 kHz."""
        return grid.RATE_HZ

    @property
    def frame_rate_hz(self) -> float:
        """25 frames per second."""
        return grid.FRAME_RATE_HZ

    @property
    def code_counts(self) -> tuple[int, ...]:
        """Codes per level."""
        return open_trained(self.weights, threads=self.threads).quantizers.code_counts

    @property
    def voices(self) -> tuple[str, ...]:
        """Names of the decoder's voices for C0 alone."""
        return tuple(sorted(open_trained(self.weights, threads=self.threads).voices))

    def bit_rate(self, levels: int) -> float:
        """Bits per second of the first ``levels`` levels."""
        return bit_rate(self.code_counts[:levels], self.frame_rate_hz)

    def encode(self, audio: Audio) -> Tokens:
        """Code one channel at any sample rate, with all levels."""
        if not len(audio.samples):
            raise AudioError("a recording without samples cannot be coded; remove it")
        if not np.isfinite(audio.samples).all():
            raise AudioError("a recording holds NaN or infinite samples; repair or remove it")
        require(*features.MODELS)
        trained = open_trained(self.weights, threads=self.threads)
        samples = resample(audio, grid.RATE_HZ).samples
        samples = samples if len(samples) else np.zeros(1, np.float32)
        gain = features.level_gain(samples)
        level_db = round(features.LEVEL_DB - 20 * math.log10(gain), 2) if gain != 1.0 else math.nan
        samples = samples * np.float32(gain)
        parts = []
        for first, last in pieces(samples):
            found = features.measure(samples[first:last])
            parts.append(trained.encoded(found.content, found.prosody, found.mels, found.absolute))
            advance((last - first) / grid.RATE_HZ)
        codes = np.concatenate(parts)
        return Tokens(codes, self.code_counts, self.fingerprint, audio.rate_hz, len(audio.samples), level_db)

    def decode(self, tokens: Tokens, *, rng: np.random.Generator, vector: Floats | None = None) -> Audio:
        """Make sound from tokens with any number of levels; the noise of the sound comes from ``rng``.

        ``vector`` [256] is a voice for C0 alone that has no name; it goes before ``voice``.
        """
        if tokens.fingerprint != self.fingerprint:
            mine, theirs = self.fingerprint, tokens.fingerprint
            raise TokenError(f"tokens of the codec {theirs} cannot be decoded by {mine}; name its weights")
        trained = open_trained(self.weights, threads=self.threads)
        made = trained.decoded(tokens.codes, trained.voice_named(self.voice) if vector is None else vector)
        samples = sound.synthesize(made[:, : grid.BANDS], made[:, -2], rng=rng)
        if not math.isnan(tokens.level_db):
            samples = samples * np.float32(10 ** ((tokens.level_db - features.LEVEL_DB) / 20))
        back = resample(Audio(np.ascontiguousarray(samples), grid.RATE_HZ), tokens.rate_hz).samples
        back = np.pad(back[: tokens.samples], (0, max(0, tokens.samples - len(back))))
        peak = float(np.abs(back).max(initial=0.0))
        return Audio(back if peak <= _PEAK else back * (_PEAK / np.float32(peak)), tokens.rate_hz)


def pieces(samples: Floats) -> Iterator[tuple[int, int]]:
    """First sample and the one after the last of stretches of at most 20 s, cut between frames where it is quiet."""
    first, end = 0, len(samples)
    while end - first > LONGEST_S * grid.RATE_HZ:
        latest = first + LONGEST_S * grid.RATE_HZ
        begin = latest - SEARCH_S * grid.RATE_HZ
        power = np.square(samples[begin:latest].reshape(-1, grid.HOP), dtype=np.float64).sum(axis=1)
        last = begin + int(power.argmin()) * grid.HOP
        yield first, last
        first = last
    if end > first:
        yield first, end
