"""Draw voices until one is unlike the original; if none is, take the least alike of all that were drawn.

``DrawnUnlike`` makes such a generator of any that draws its voices: O1 becomes O1c1, RP + GMM becomes RP + GMM + SC.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from personare.core.errors import ConfigError
from personare.core.vectors import cosine, pairwise_cosine
from personare.pseudospeakers.recipe import Asked, PerGender

Floats = NDArray[np.float64]

_AT_ONCE = 20
_MOST_FOR_MEDIAN = 2000


class Drawing(Protocol):
    """What was learnt by a generator that draws: new voices, and how alike two strangers of the pool are."""

    @property
    def strangers(self) -> float:
        """The median cosine of two strangers."""
        ...

    def draw(self, count: int, rng: np.random.Generator) -> Floats:
        """Draw voices [count, d]."""
        ...


D = TypeVar("D", bound=Drawing)


@dataclass(frozen=True)
class DrawnUnlike(PerGender[D]):
    """Drawn again until the voice is unlike the speaker's; stands before the generator that draws.

    Parameters
    ----------
    limit : highest cosine to the original; without one, the median cosine of two strangers in the pool.
    tries : how many voices are drawn before the least similar of them is taken.
    """

    dissimilar: ClassVar[bool] = True

    limit: float | None = None
    tries: int = 1000

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.limit is not None and not -1 <= self.limit <= 1:
            raise ConfigError(f"{self.name}: limit is a cosine within -1..1, not {self.limit}")
        if self.tries < 1:
            raise ConfigError(f"{self.name}: tries must be at least 1, not {self.tries}")

    def invent(self, asked: Asked[D]) -> Floats:
        """Draw until the voice is unlike the speaker's."""
        voices: Any = asked.voices
        limit = voices.strangers if self.limit is None else self.limit
        return draw_unlike(lambda count: voices.draw(count, asked.rng), asked.vector, limit=limit, tries=self.tries)


def draw_unlike(draw: Callable[[int], Floats], vector: Floats, *, limit: float, tries: int) -> Floats:
    """Give the first drawn voice [d] whose cosine to ``vector`` is at most ``limit``.

    ``draw(n)`` gives n new voices [n, d]; after ``tries`` of them the least similar is taken.
    """
    least, lowest = vector, np.inf
    for start in range(0, tries, _AT_ONCE):
        drawn = draw(min(_AT_ONCE, tries - start))
        likeness = cosine(drawn, vector[None])[:, 0]
        enough = np.flatnonzero(likeness <= limit)
        if len(enough):
            return np.asarray(drawn[enough[0]])
        if likeness.min() < lowest:
            least, lowest = drawn[likeness.argmin()], float(likeness.min())
    return least


def strangers(vectors: Floats) -> float:
    """How alike two strangers of the pool are: the median cosine of two different vectors."""
    return float(np.median(pairwise_cosine(vectors[:_MOST_FOR_MEDIAN])))
