"""Chain: several anonymizers, one after the other."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, cast

import numpy as np

from personare.anonymizers import anonymizer
from personare.core.audio import Audio
from personare.core.errors import ConfigError
from personare.core.fingerprint import Fingerprinted
from personare.core.progress import part
from personare.core.protocols import Anonymizer, Invertible, in_time, keeps_timing
from personare.core.spoken import NOTHING_KNOWN, DecidesPerSpeaker, SpeakerEvidence, SpeakerFacts, SpokenAudio, speak

if TYPE_CHECKING:
    from numpy.typing import NDArray


class _Step(Anonymizer, Invertible, Protocol):
    """A method that can be undone."""


@dataclass(frozen=True)
class Step:
    """One step of a chain: a method by name (or ``module:Class``), with its parameters."""

    name: str
    parameters: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Chain(Fingerprinted):
    """Several methods, one after the other.

    Parameters
    ----------
    steps : the methods in order, each ``{name: ..., parameters: {...}}``.

    >>> method = anonymizer("chain", steps=[{"name": "mcadams", "parameters": {"alpha": 0.9}}])
    >>> method.steps[0].name
    'mcadams'
    """

    paper: ClassVar[str] = ""
    VERSION: ClassVar[int] = 1

    steps: tuple[Step, ...] = field(compare=False)
    methods: tuple[Anonymizer, ...] = field(init=False, repr=False)
    """The steps, built: what the chain is compared by."""

    def __post_init__(self) -> None:
        if not self.steps:
            raise ConfigError("chain: steps must name at least one method")
        built = tuple(anonymizer(step.name, **step.parameters) for step in self.steps)
        object.__setattr__(self, "methods", built)

    @property
    def loudness_lufs(self) -> float | None:
        """The loudness that the last step to fix one gives every recording; None where each keeps its own."""
        fixed = [getattr(method, "loudness_lufs", None) for method in self.methods]
        return next((level for level in reversed(fixed) if level is not None), None)

    @property
    def needs_words(self) -> bool:
        """Whether a step speaks words anew, and gives silence where it finds none."""
        return any(getattr(method, "needs_words", False) for method in self.methods)

    @property
    def keeps_timing(self) -> bool:
        """Whether every step leaves every sound where it was."""
        return all(keeps_timing(method) for method in self.methods)

    def in_time(self) -> Chain:
        """Give the chain of steps that leave every sound where it was."""
        timed = copy.copy(self)
        object.__setattr__(timed, "methods", tuple(in_time(method) for method in self.methods))
        return timed

    @property
    def secret_names(self) -> tuple[str, ...]:
        """Those of every step; none where a step cannot be undone."""
        each = [method.secret_names if isinstance(method, Invertible) else () for method in self.methods]
        return tuple(name for names in each for name in names) if all(each) else ()

    def secrets(self, audio: Audio, *, rng: np.random.Generator) -> NDArray[np.float64]:
        """Give the numbers of every step, one after the other."""
        numbers = []
        for method, own in zip(self._invertible(), rng.spawn(len(self.methods)), strict=True):
            numbers.append(method.secrets(audio, rng=copy.deepcopy(own)))
            audio = method(audio, rng=own)
        return np.concatenate(numbers)

    def undo(self, audio: Audio, secrets: NDArray[np.float64]) -> Audio:
        """Undo the last step first."""
        methods = self._invertible()
        ends = np.cumsum([len(method.secret_names) for method in methods])
        for method, end in reversed(list(zip(methods, ends.tolist(), strict=True))):
            audio = method.undo(audio, secrets[end - len(method.secret_names) : end])
        return audio

    def _invertible(self) -> list[_Step]:
        if not self.secret_names:
            raise ConfigError("chain: one of its steps cannot be undone")
        return [cast(_Step, method) for method in self.methods]

    def __call__(self, audio: Audio, *, rng: np.random.Generator) -> Audio:
        """Apply every method to the result of the one before; each draws from a generator of its own."""
        return self.speak(audio, rng=rng, speaker=NOTHING_KNOWN).audio

    @property
    def surveys(self) -> bool:
        """Whether a step decides anything per speaker."""
        return any(isinstance(method, DecidesPerSpeaker) for method in self.methods)

    def evidence(self, audio: Audio) -> SpeakerEvidence:
        """Tell what the first step that asks for it tells of the speaker."""
        aware = [method for method in self.methods if isinstance(method, DecidesPerSpeaker)]
        return aware[0].evidence(audio) if aware else SpeakerEvidence()

    def speak(self, audio: Audio, *, rng: np.random.Generator, speaker: SpeakerFacts) -> SpokenAudio:
        """Apply every method; notes are those of the first step that transcribes, which hears the original words."""
        notes = None
        for method, own in zip(self.methods, rng.spawn(len(self.methods)), strict=True):
            with part(1 / len(self.methods)):
                spoken = speak(method, audio, rng=own, speaker=speaker)
            audio, notes = spoken.audio, notes or spoken.notes
        return SpokenAudio(audio, notes)
