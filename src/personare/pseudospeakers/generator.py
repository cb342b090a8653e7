"""What all pseudo-speaker generators share: fitted on a pool, per gender, and asked for a vector of some gender.

A generator only says what it learns from one group of vectors (``fit_group``) and how a pseudo-speaker is generated
from that (``generate``); choosing the group, checking what comes in and keeping shape and precision is done here, once.
"""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, TypeVar

import numpy as np

from personare.core.errors import ConfigError, TableError
from personare.core.fingerprint import Fingerprinted

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from personare.pseudospeakers.pool import SpeakerPool

    Floats = NDArray[np.float64]

S = TypeVar("S")
GenderRule = Literal["same", "cross", "any"]
Scorer = Callable[[Any, Any], Any]
LARGER = "take a larger pool"


@dataclass(frozen=True, eq=False)
class Request(Generic[S]):
    """A pseudo-speaker for ``vector`` [d], from the fitted ``state``, drawn from ``rng``."""

    vector: Floats
    state: S
    rng: np.random.Generator
    scorer: Scorer | None = None


@dataclass(frozen=True)
class PseudoSpeakerGenerator(Fingerprinted, ABC, Generic[S]):
    """A generator before it has seen a pool; its fields are its parameters.

    ``gender`` says whose vectors are taken: of the speaker's gender, of another one, or of any.
    """

    VERSION: ClassVar[int] = 1
    name: ClassVar[str]
    state_type: ClassVar[type]
    """The dataclass of arrays that a group is fitted to; what is saved."""
    stochastic: ClassVar[bool] = True
    """Whether another ``rng`` gives another vector."""
    dissimilar: ClassVar[bool] = False
    """Whether the vector is promised to be unlike the original."""
    follows_original: ClassVar[bool] = False
    """Whether the vector stays near the original: such methods remove labels or nothing, not the identity."""
    keeps_gender: ClassVar[bool] = True
    """Whether the vector is of the gender that was asked for."""

    gender: GenderRule = "same"

    def __post_init__(self) -> None:
        """Check the parameters."""

    @abstractmethod
    def fit(self, pool: SpeakerPool, *, rng: np.random.Generator) -> FittedGenerator[S]:
        """Learn from a pool; too few vectors in it is an error."""

    @abstractmethod
    def generate(self, request: Request[S]) -> Floats:
        """Give the vector [d] of a pseudo-speaker for the original [d]."""


@dataclass(frozen=True)
class PerGender(PseudoSpeakerGenerator[S]):
    """A generator that learns each gender by itself."""

    def fit(self, pool: SpeakerPool, *, rng: np.random.Generator) -> FittedGenerator[S]:
        """Learn from the vectors of every gender in the pool; too few of them is an error."""
        groups = {}
        for gender, vectors in pool.groups.items():
            check_size(self.name, gender, len(vectors), self.min_vectors, self.remedy)
            groups[gender] = contiguous(self.fit_group(vectors.astype(np.float64), rng))
        counts = {gender: len(vectors) for gender, vectors in pool.groups.items()}
        return FittedGenerator(self, groups, counts, pool.vectors.shape[1])

    @property
    def min_vectors(self) -> int:
        """How many vectors of one gender a pool must hold."""
        return 2

    @property
    def remedy(self) -> str:
        """What to do when the pool is too small."""
        return LARGER

    @abstractmethod
    def fit_group(self, vectors: Floats, rng: np.random.Generator) -> S:
        """Learn from the vectors [n, d] of one gender."""


@dataclass(frozen=True, eq=False)
class FittedGenerator(Fingerprinted, Generic[S]):
    """A generator fitted on a pool: a speaker's vector [d] in, a pseudo-speaker's [d] of its type out."""

    VERSION: ClassVar[int] = 1

    generator: PseudoSpeakerGenerator[S]
    groups: Mapping[str, S]
    counts: Mapping[str, int]
    dimension: int
    scorer: Scorer | None = None

    def __call__(
        self, vector: NDArray[np.float32], *, rng: np.random.Generator, gender: str | None = None
    ) -> NDArray[np.float32]:
        """Generate a pseudo-speaker for this speaker, whose gender is ``gender`` (None: not known)."""
        given, name = np.asarray(vector), self.generator.name
        if given.shape != (self.dimension,):
            raise TableError(f"{name} was fitted on vectors [{self.dimension}], not {list(given.shape)}")
        if not np.isfinite(given).all():
            raise TableError(f"{name} needs finite numbers; the speaker's vector has NaN or infinity")
        group = choose_group(self.counts, gender or None, self.generator.gender, rng)
        kind = given.dtype if given.dtype.kind == "f" else np.dtype(np.float32)
        generated = self.generator.generate(Request(given.astype(np.float64), self.groups[group], rng, self.scorer))
        return generated.astype(kind)


def check_size(name: str, gender: str, count: int, least: int, remedy: str = LARGER) -> None:
    """Refuse a pool with too few vectors of a gender."""
    if count < least:
        whose = f" of gender '{gender}'" if gender else ""
        raise ConfigError(f"{name} needs at least {least} voices{whose}, the pool holds {count}; {remedy}")


def choose_group(counts: Mapping[str, int], gender: str | None, rule: GenderRule, rng: np.random.Generator) -> str:
    """Name the group of vectors to take from; where several fit, drawn in proportion to their size."""
    known = ", ".join(f"{n} of '{g}'" for g, n in counts.items())
    if rule == "any" or (rule == "same" and gender is None):
        fitting = list(counts)
    elif gender is None:
        raise ConfigError("a voice of another gender needs the speaker's gender; name it, or set gender to 'any'")
    elif rule == "same":
        fitting = [gender] if gender in counts else []
    else:
        fitting = [g for g in counts if g not in (gender, "")]
    if not fitting:
        raise ConfigError(f"no voices of the {rule} gender for a speaker of gender '{gender}'; the pool holds {known}")
    if len(fitting) == 1:
        return fitting[0]
    sizes = np.array([counts[g] for g in fitting], dtype=float)
    return fitting[int(rng.choice(len(fitting), p=sizes / sizes.sum()))]


def contiguous(state: S) -> S:
    """Lay all arrays out in order: products of saved and of fresh arrays are then equal to the last bit."""
    changed: dict[str, Any] = {}
    for field in dataclasses.fields(state):  # type: ignore[arg-type]
        value = getattr(state, field.name)
        if isinstance(value, np.ndarray):
            changed[field.name] = np.ascontiguousarray(value)
        elif dataclasses.is_dataclass(value):
            changed[field.name] = contiguous(value)
    return dataclasses.replace(state, **changed)  # type: ignore[type-var]
