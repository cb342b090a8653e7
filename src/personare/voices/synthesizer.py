"""What every offline voice looks like: text goes in, speech in one of its invented voices comes out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol, runtime_checkable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from personare.core.audio import Audio

Gender = Literal["f", "m", ""]


@dataclass(frozen=True)
class OfflineVoice:
    """One voice of a synthesizer: its number there, and what was measured of it.

    Parameters
    ----------
    number : what the synthesizer knows it by.
    f0_hz : median pitch of what it was measured with.
    gender : guessed by pitch, empty where pitch does not tell; a guess about how it sounds, not about a person.
    dnsmos : overall quality by DNSMOS P.835, 1 to 5.
    """

    number: int
    f0_hz: float
    gender: Gender
    dnsmos: float


@runtime_checkable
class Synthesizer(Protocol):
    """A frozen dataclass that speaks; the same text, voice, rate and chance give the same samples."""

    @property
    def fingerprint(self) -> str:
        """The exact network, its files and settings."""
        ...

    @property
    def voices(self) -> Sequence[OfflineVoice]:
        """Its voices."""
        ...

    def __call__(self, text: str, *, voice: int, rate: float, rng: np.random.Generator) -> Audio:
        """Speak ``text``; ``rate`` is the speaking rate, 1 is the voice's own. Text without a word gives no samples."""
        ...


@runtime_checkable
class PhonemeSynthesizer(Protocol):
    """A frozen dataclass that speaks phonemes of any language; the same input gives the same samples."""

    @property
    def fingerprint(self) -> str:
        """The exact network, its files and settings."""
        ...

    @property
    def voices(self) -> Sequence[OfflineVoice]:
        """Its pseudo-speakers."""
        ...

    def speak_phonemes(self, phonemes: str, *, voice: int, rate: float, rng: np.random.Generator) -> Audio:
        """Speak phonemes in the synthesizer's own symbols; marks and spaces alone give no samples."""
        ...


@runtime_checkable
class SpeaksWithF0(Protocol):
    """A synthesizer of phonemes whose predicted F0 curve can be changed before it speaks."""

    def speak_with_f0(
        self,
        phonemes: str,
        *,
        voice: int,
        rate: float,
        change: Callable[[NDArray[np.float32]], NDArray[np.float32]],
    ) -> Audio:
        """Speak phonemes with another F0: ``change`` gets the predicted curve in Hz [frames] and gives one as long."""
        ...
