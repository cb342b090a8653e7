"""Rejection sampling: draw until a vector is unlike the original; if none is, take the least similar of all drawn.

``RejectionSampled`` makes such a generator of any that draws: O1 becomes O1c1, RP + GMM becomes RP + GMM + SC.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from personare.core.errors import ConfigError
from personare.core.vectors import cosine, pairwise_cosine
from personare.pseudospeakers.generator import PerGender, Request

Floats = NDArray[np.float64]

_AT_ONCE = 20
_MOST_FOR_MEDIAN = 2000


class SampledState(Protocol):
    """What was learnt by a generator that draws: new vectors, and how alike two speakers of the pool are."""

    @property
    def nontarget_cosine(self) -> float:
        """The median cosine of two different speakers."""
        ...

    def draw(self, count: int, rng: np.random.Generator) -> Floats:
        """Draw vectors [count, d]."""
        ...


D = TypeVar("D", bound=SampledState)


@dataclass(frozen=True)
class RejectionSampled(PerGender[D]):
    """Drawn again until the vector is unlike the speaker's; stands before the generator that draws.

    Parameters
    ----------
    limit : highest cosine to the original; without one, the median cosine of two different speakers in the pool.
    tries : how many vectors are drawn before the least similar of them is taken.
    """

    VERSION: ClassVar[int] = 1
    dissimilar: ClassVar[bool] = True

    limit: float | None = None
    tries: int = 1000

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.limit is not None and not -1 <= self.limit <= 1:
            raise ConfigError(f"{self.name}: limit is a cosine within -1..1, not {self.limit}")
        if self.tries < 1:
            raise ConfigError(f"{self.name}: tries must be at least 1, not {self.tries}")

    def generate(self, request: Request[D]) -> Floats:
        """Draw until the vector is unlike the speaker's."""
        state: Any = request.state
        limit = state.nontarget_cosine if self.limit is None else self.limit
        return rejection_sample(
            lambda count: state.draw(count, request.rng), request.vector, limit=limit, tries=self.tries
        )


def rejection_sample(draw: Callable[[int], Floats], vector: Floats, *, limit: float, tries: int) -> Floats:
    """Give the first drawn vector [d] whose cosine to ``vector`` is at most ``limit``.

    ``draw(n)`` gives n new vectors [n, d]; after ``tries`` of them the least similar is taken.
    """
    least, lowest = vector, np.inf
    for start in range(0, tries, _AT_ONCE):
        drawn = draw(min(_AT_ONCE, tries - start))
        similarity = cosine(drawn, vector[None])[:, 0]
        enough = np.flatnonzero(similarity <= limit)
        if len(enough):
            return np.asarray(drawn[enough[0]])
        if similarity.min() < lowest:
            least, lowest = drawn[similarity.argmin()], float(similarity.min())
    return least


def nontarget_cosine(vectors: Floats) -> float:
    """How alike two speakers of the pool are: the median cosine of two different vectors."""
    return float(np.median(pairwise_cosine(vectors[:_MOST_FOR_MEDIAN])))
