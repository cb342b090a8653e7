"""How an attacker compares two voices: plainly by cosine, or by what other people's anonymized speech has taught.

Every scorer is a frozen dataclass with ``learns`` (whether it is fitted on speech of other people) and ``fit``, which
gives the function that compares test vectors with enrolled ones. One file and one row of ``attackers.SCORERS`` add one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Protocol, runtime_checkable

from personare.attackers.backend import Backend
from personare.attackers.choosing import choose_backend
from personare.core.errors import ConfigError
from personare.core.vectors import cosine

if TYPE_CHECKING:
    from personare.attackers.scoring import Scorer
    from personare.attackers.split import TrainingVectors
    from personare.core.tables import Embeddings


@runtime_checkable
class ScorerSettings(Protocol):
    """A way to compare, before it has learnt anything."""

    learns: ClassVar[bool]

    def fit(self, training: TrainingVectors | None, /) -> Scorer:
        """Give the function that compares; ``training`` is None for scorers that learn nothing."""
        ...


@runtime_checkable
class FitsEnrolment(Protocol):
    """A way to compare that is fitted to the enrolled speech, which every attacker has.

    ``takes_training`` says that training speech makes it better, and that it does without.
    """

    takes_training: ClassVar[bool]

    def fit_enrolment(self, enroll: Embeddings, training: Embeddings | None, /) -> Scorer:
        """Give the function that compares."""
        ...


@dataclass(frozen=True)
class CosineScorer:
    """The cosine between two vectors; learns nothing."""

    learns: ClassVar[bool] = False
    paper: ClassVar[str] = ""

    def fit(self, training: TrainingVectors | None, /) -> Scorer:
        """Give the cosine."""
        del training
        return cosine


@dataclass(frozen=True)
class WccnScorer:
    """LDA and within-class whitening, then the cosine; settings chosen by cross-validation over training speakers."""

    learns: ClassVar[bool] = True
    paper: ClassVar[str] = "Hatch et al., Within-class covariance normalization, 2006"

    def fit(self, training: TrainingVectors | None, /) -> Scorer:
        """Learn the projection."""
        return _fitted(training, Backend(scorer="cosine"))


@dataclass(frozen=True)
class PldaScorer:
    """LDA, whitening and PLDA; settings chosen by cross-validation over training speakers."""

    learns: ClassVar[bool] = True
    paper: ClassVar[str] = "Ioffe, Probabilistic linear discriminant analysis, 2006"

    def fit(self, training: TrainingVectors | None, /) -> Scorer:
        """Learn the projection and the model."""
        return _fitted(training, Backend(scorer="plda"))


def _fitted(training: TrainingVectors | None, start: Backend) -> Scorer:
    if training is None:
        raise ConfigError(f"the scorer {start.scorer} learns from speech of other people, and there is none")
    return choose_backend(training, start=start).fit(training)
