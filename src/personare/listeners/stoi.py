"""STOI and ESTOI: how much of the words' envelope survives, judged beside the original.

Correlation of short-time envelopes in third-octave bands (15 bands, 384 ms)           [taal2011stoi; jensen2016estoi]
1 is the original itself, about 0 is unrelated. ``extended`` correlates over bands as well (ESTOI).
Deviation of the wrapped library: it says 0.00001 when less than 0.4 s of speech remain; here that is an error. It
adds random noise of the size of rounding errors; here the noise is the same for every pair.
"""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from personare.core.audio import Audio
from personare.core.errors import AudioError, MissingExtraError
from personare.core.requirements import Requirements
from personare.listeners.pairs import PairScore, matched

RATE_HZ = 10_000  # what the definition is written for
SHORTEST_S = 0.4


@dataclass(frozen=True)
class Stoi(PairScore):
    """Judge intelligibility: a batch of (original, anonymized) in, one number each out."""

    paper: ClassVar[str] = (
        "Taal et al., An algorithm for intelligibility prediction of time-frequency weighted noisy speech, 2011"
    )
    gives: ClassVar[tuple[str, ...]] = ("stoi",)
    extended: ClassVar[bool] = False
    requires = Requirements("the listener 'stoi'", {"pystoi": "quality"})
    fingerprint = "stoi"

    def __call__(self, batch: Sequence[tuple[Audio, Audio]]) -> list[float]:
        """Compare each pair, resampled to 10 kHz."""
        return [self._one(original, anonymized) for original, anonymized in batch]

    def _one(self, original: Audio, anonymized: Audio) -> float:
        try:
            from pystoi import stoi
        except ImportError:
            raise MissingExtraError("quality", self.requires.needed_for) from None
        reference, degraded = matched(original, anonymized, rate_hz=RATE_HZ, shortest_s=SHORTEST_S)
        with warnings.catch_warnings(), _fixed_noise():
            warnings.simplefilter("error", RuntimeWarning)
            try:
                return float(stoi(reference, degraded, RATE_HZ, extended=self.extended))
            except RuntimeWarning:
                raise AudioError("STOI needs 0.4 s of speech after silence is cut; this pair has less") from None


@contextlib.contextmanager
def _fixed_noise() -> Iterator[None]:
    """Let the wrapped library, which adds noise of 2e-16 from numpy's one generator, draw the same noise each time."""
    state = np.random.get_state()
    np.random.seed(0)
    try:
        yield
    finally:
        np.random.set_state(state)


@dataclass(frozen=True)
class Estoi(Stoi):
    """STOI over bands as well."""

    paper: ClassVar[str] = (
        "Jensen, Taal, An algorithm for predicting the intelligibility of speech masked by modulated "
        "noise maskers, 2016"
    )
    gives: ClassVar[tuple[str, ...]] = ("estoi",)
    extended: ClassVar[bool] = True
    requires = Requirements("the listener 'estoi'", {"pystoi": "quality"})
    fingerprint = "estoi"
