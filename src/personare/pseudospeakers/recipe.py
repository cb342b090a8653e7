"""What all generators share: they are fitted per gender on a pool, and asked for a voice of the same or another gender.

A generator only says how voices are learnt from one group of vectors (``learn``) and how one is invented (``invent``);
choosing the group, checking what comes in and keeping shape and precision is done here, once.
"""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, TypeVar

import numpy as np

from personare.core.errors import ConfigError, TableError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from personare.pseudospeakers.pool import Pool

    Floats = NDArray[np.float64]

V = TypeVar("V")
Wish = Literal["same", "cross", "any"]
Scorer = Callable[[Any, Any], Any]
LARGER = "take a larger pool"


@dataclass(frozen=True, eq=False)
class Asked(Generic[V]):
    """What a generator is asked for: a voice for ``vector`` [d], from what was learnt, by the chance of ``rng``."""

    vector: Floats
    voices: V
    rng: np.random.Generator
    scorer: Scorer | None = None


@dataclass(frozen=True)
class Recipe(ABC, Generic[V]):
    """A generator before it has seen a pool; its fields are its parameters.

    ``gender`` says whose voices are taken: of the speaker's gender, of another one, or of any.
    """

    name: ClassVar[str]
    learnt: ClassVar[type]
    """The dataclass of arrays that ``learn`` gives; what is saved."""
    by_chance: ClassVar[bool] = True
    """Whether another ``rng`` gives another voice."""
    dissimilar: ClassVar[bool] = False
    """Whether the voice is promised to be unlike the original."""
    follows: ClassVar[bool] = False
    """Whether the voice stays near the original: such methods hide labels or nothing, not the person."""
    keeps_gender: ClassVar[bool] = True
    """Whether the voice is of the gender that was asked for."""

    gender: Wish = "same"

    def __post_init__(self) -> None:
        """Check the parameters."""

    @abstractmethod
    def fit(self, pool: Pool, *, rng: np.random.Generator) -> Fitted[V]:
        """Learn from a pool; too few voices in it is an error."""

    @abstractmethod
    def invent(self, asked: Asked[V]) -> Floats:
        """Give the vector [d] of an invented speaker for the original [d]."""


@dataclass(frozen=True)
class PerGender(Recipe[V]):
    """A generator that learns each gender by itself."""

    def fit(self, pool: Pool, *, rng: np.random.Generator) -> Fitted[V]:
        """Learn the voices of every gender in the pool; too few of them is an error."""
        groups = {}
        for gender, vectors in pool.groups.items():
            check_size(self.name, gender, len(vectors), self.fewest, self.remedy)
            groups[gender] = contiguous(self.learn(vectors.astype(np.float64), rng))
        counts = {gender: len(vectors) for gender, vectors in pool.groups.items()}
        return Fitted(self, groups, counts, pool.vectors.shape[1])

    @property
    def fewest(self) -> int:
        """How many voices of one gender a pool must hold."""
        return 2

    @property
    def remedy(self) -> str:
        """What to do when the pool is too small."""
        return LARGER

    @abstractmethod
    def learn(self, vectors: Floats, rng: np.random.Generator) -> V:
        """Learn from the vectors [n, d] of one gender."""


@dataclass(frozen=True, eq=False)
class Fitted(Generic[V]):
    """A generator that has learnt from a pool: a speaker's vector [d] in, an invented one [d] of its type out."""

    recipe: Recipe[V]
    groups: Mapping[str, V]
    counts: Mapping[str, int]
    dimension: int
    scorer: Scorer | None = None

    def __call__(
        self, vector: NDArray[np.float32], *, rng: np.random.Generator, gender: str | None = None
    ) -> NDArray[np.float32]:
        """Invent a voice for this speaker, whose gender is ``gender`` (None: not known)."""
        given = np.asarray(vector)
        if given.shape != (self.dimension,):
            raise TableError(f"{self.recipe.name} was fitted on vectors [{self.dimension}], not {list(given.shape)}")
        if not np.isfinite(given).all():
            raise TableError(f"{self.recipe.name} needs finite numbers; the speaker's vector has NaN or infinity")
        group = choose_group(self.counts, gender or None, self.recipe.gender, rng)
        kind = given.dtype if given.dtype.kind == "f" else np.dtype(np.float32)
        invented = self.recipe.invent(Asked(given.astype(np.float64), self.groups[group], rng, self.scorer))
        return invented.astype(kind)


def check_size(name: str, gender: str, found: int, fewest: int, remedy: str = LARGER) -> None:
    """Refuse a pool with too few voices of a gender."""
    if found < fewest:
        whose = f" of gender '{gender}'" if gender else ""
        raise ConfigError(f"{name} needs at least {fewest} voices{whose}, the pool holds {found}; {remedy}")


def choose_group(counts: Mapping[str, int], gender: str | None, wish: Wish, rng: np.random.Generator) -> str:
    """Name the group of voices to take from; where several fit, by chance and in proportion to their size."""
    known = ", ".join(f"{n} of '{g}'" for g, n in counts.items())
    if wish == "any" or (wish == "same" and gender is None):
        fitting = list(counts)
    elif gender is None:
        raise ConfigError("a voice of another gender needs the speaker's gender; name it, or set gender to 'any'")
    elif wish == "same":
        fitting = [gender] if gender in counts else []
    else:
        fitting = [g for g in counts if g not in (gender, "")]
    if not fitting:
        raise ConfigError(f"no voices of the {wish} gender for a speaker of gender '{gender}'; the pool holds {known}")
    if len(fitting) == 1:
        return fitting[0]
    sizes = np.array([counts[g] for g in fitting], dtype=float)
    return fitting[int(rng.choice(len(fitting), p=sizes / sizes.sum()))]


def contiguous(voices: V) -> V:
    """Lay all arrays out in order: products of saved and of fresh arrays are then equal to the last bit."""
    changed: dict[str, Any] = {}
    for field in dataclasses.fields(voices):  # type: ignore[arg-type]
        value = getattr(voices, field.name)
        if isinstance(value, np.ndarray):
            changed[field.name] = np.ascontiguousarray(value)
        elif dataclasses.is_dataclass(value):
            changed[field.name] = contiguous(value)
    return dataclasses.replace(voices, **changed)  # type: ignore[type-var]
