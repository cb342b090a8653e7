"""The voices of cascade: each knows its languages and models, and draws a pseudo-speaker for a person.

A pseudo-speaker speaks a recording in one of two ways: freely, one passage after the other with pauses of its own, or
phrase by phrase, each in its place (see speaking.py). Both get segments of words and marks.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, ClassVar, Protocol, Self

from personare.anonymizers.neural.cascade.coarse_prosody import PhraseProsody
from personare.anonymizers.neural.words.transcript import Segment
from personare.core.spoken import SpeakerFacts

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]


class DrawnSpeaker(Protocol):
    """A pseudo-speaker that was drawn for a person and speaks one recording."""

    @property
    def identity(self) -> Hashable:
        """What tells two pseudo-speakers apart."""
        ...

    @property
    def rate_hz(self) -> int:
        """Sample rate of what it speaks."""
        ...

    def with_prosody(self, prosody: tuple[PhraseProsody, ...]) -> Self:
        """Give the same pseudo-speaker, who speaks the phrase of each place so high and so loud."""
        ...

    def speak(self, segments: Sequence[Segment], *, place: int, rate: float) -> Floats:
        """Speak one phrase; ``place`` is its number in the recording, ``rate`` the speaking rate (1: its own)."""
        ...

    def speak_freely(
        self, phrases: Sequence[Sequence[Segment]], pauses_s: Sequence[float] | None, *, length_s: float
    ) -> Floats:
        """Speak phrases one after the other; pauses are ``pauses_s`` after each, or drawn.

        ``length_s`` is how much progress to report.
        """
        ...

    def at_rate(self, sound: Floats, rate_hz: int) -> Floats:
        """Bring what was spoken to another sample rate."""
        ...


class CascadeVoice(Protocol):
    """A frozen dataclass that draws pseudo-speakers."""

    name: ClassVar[str]
    """As the parameter ``voice`` of cascade has it."""

    @property
    def fingerprint(self) -> str:
        """The exact voice: its settings, networks and version."""
        ...

    @property
    def languages(self) -> tuple[str, ...]:
        """Codes of the languages it speaks."""
        ...

    @property
    def models(self) -> tuple[str, ...]:
        """Fetched models that it speaks with."""
        ...

    @property
    def gender_models(self) -> tuple[str, ...]:
        """Fetched models that guess the gender of a speaker, besides ``models``."""
        ...

    @property
    def needs_vector(self) -> bool:
        """Whether a pseudo-speaker depends on the speaker's embedding."""
        ...

    def describe(self, sound: Floats) -> tuple[tuple[float, ...], float]:
        """Give the embedding of a speaker (empty without ``needs_vector``) and a score above 0 for a woman's voice.

        ``sound`` is 16 kHz samples.
        """
        ...

    def draw(
        self, speaker: SpeakerFacts, *, gender: str | None, rng: np.random.Generator, rate_hz: int
    ) -> DrawnSpeaker:
        """Draw a pseudo-speaker of this gender (None: any) for a recording of this sample rate."""
        ...
