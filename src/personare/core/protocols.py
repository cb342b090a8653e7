"""The shapes the packages agree on: what every anonymizer, pseudo-speaker, embedder and listener looks like."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, Protocol, runtime_checkable

from personare.core.requirements import Requirements

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from personare.core.audio import Audio
    from personare.core.observations import Observation, ObservedUtterance, Stimulus, SummaryContext, UtilitySummary


@runtime_checkable
class Anonymizer(Protocol):
    """A frozen dataclass whose fields are its configuration: audio in, audio of the same rate out.

    The length stays the same too, unless the method is also ``Retiming``.
    """

    @property
    def fingerprint(self) -> str:
        """The exact method: class, version, parameters and models (see ``core.fingerprint``)."""
        ...

    def __call__(self, audio: Audio, *, rng: np.random.Generator) -> Audio:
        """Anonymize one channel; every random choice is drawn from ``rng``."""
        ...


@runtime_checkable
class Retiming(Protocol):
    """An anonymizer that, as it is set, may give another length, because timing tells people apart."""

    @property
    def keeps_timing(self) -> bool:
        """Whether, as it is set, every sound stays where it was."""
        ...

    def in_time(self) -> Anonymizer:
        """Give the same method with the timing of the source: for pictures, and for channels that belong together."""
        ...


def keeps_timing(anonymizer: Anonymizer) -> bool:
    """Whether an anonymizer leaves every sound where it was."""
    return anonymizer.keeps_timing if isinstance(anonymizer, Retiming) else True


def in_time(anonymizer: Anonymizer) -> Anonymizer:
    """Give an anonymizer that leaves every sound where it was: itself, or its variant."""
    return anonymizer.in_time() if isinstance(anonymizer, Retiming) and not anonymizer.keeps_timing else anonymizer


@runtime_checkable
class Invertible(Protocol):
    """An anonymizer whose change is a few secret numbers, which an attacker may estimate from the result and undo."""

    @property
    def secret_names(self) -> tuple[str, ...]:
        """What the numbers are; none where, as it is set, it cannot be undone."""
        ...

    def secrets(self, audio: Audio, *, rng: np.random.Generator) -> NDArray[np.float64]:
        """Give the numbers [secrets] by which a call with the same audio and ``rng`` changes the voice."""
        ...

    def undo(self, audio: Audio, secrets: NDArray[np.float64]) -> Audio:
        """Undo the change that these numbers make, as far as it can be undone; same length and rate."""
        ...


@runtime_checkable
class PseudoSpeaker(Protocol):
    """A generator fitted on a pool of speaker vectors: a speaker's vector [d] in, a pseudo-speaker's [d] out."""

    @property
    def fingerprint(self) -> str:
        """The exact generator: class, version, parameters and what it has learnt from the pool."""
        ...

    def __call__(
        self, vector: NDArray[np.float32], *, rng: np.random.Generator, gender: str | None = None
    ) -> NDArray[np.float32]:
        """Generate a pseudo-speaker."""
        ...


@runtime_checkable
class Embedder(Protocol):
    """Speech in, one speaker vector out; ``fingerprint`` names the exact model for caches."""

    @property
    def fingerprint(self) -> str:
        """The exact model, weights and version."""
        ...

    def __call__(self, batch: Sequence[Audio]) -> NDArray[np.float32]:
        """Embed a batch: float32 [len(batch), d], one row per Audio, at any sample rate."""
        ...


class Listener(Protocol):
    """Observes what stays useful in a sound; a frozen dataclass that extends this class, its fields its parameters.

    Parameters
    ----------
    gives : names of the metrics it can give.
    compares : whether each stimulus brings the original beside the sound.
    batched : whether several stimuli at once are quicker; the observations must be the same.
    argument : the parameter that VALUE in ``name:VALUE`` is.
    trainable : whether a study can train it on its own speech; the argument is then the folder of the training.
    languages : codes of the languages it understands; empty where the language is of no matter.
    """

    gives: ClassVar[tuple[str, ...]]
    compares: ClassVar[bool] = False
    batched: ClassVar[bool] = False
    argument: ClassVar[str | None] = None
    trainable: ClassVar[bool] = False
    languages: ClassVar[tuple[str, ...]] = ()

    @property
    @abstractmethod
    def fingerprint(self) -> str:
        """The exact model and settings that observations depend on."""
        ...

    @property
    def summary_fingerprint(self) -> str:
        """What findings depend on besides the observations, e.g. how words are made comparable."""
        return ""

    @property
    def metrics(self) -> tuple[str, ...]:
        """The metrics it gives as it is set; all of ``gives`` for most."""
        return self.gives

    @property
    def needs_original(self) -> bool:
        """Whether unprotected speech by itself gives no finding, because numbers compare with the original."""
        return self.compares

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns of the corpus that findings compare with, used where they are noted."""
        return ()

    @property
    def requires(self) -> Requirements:
        """Libraries and models that must be there."""
        return Requirements()

    def check(self) -> None:
        """Raise one line, before any work, for what is not installed, not fetched or cannot be read."""
        self.requires.check()

    @abstractmethod
    def observe(self, batch: Sequence[Stimulus]) -> Sequence[Observation]:
        """Observe each stimulus; one that cannot be judged is an AudioError, and is then tried alone by the caller."""
        ...

    @abstractmethod
    def summarize(self, rows: Sequence[ObservedUtterance], context: SummaryContext) -> UtilitySummary:
        """Turn the observations of all utterances into findings of ``metrics``, with intervals over speakers."""
        ...
