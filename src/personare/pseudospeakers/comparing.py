"""All generators side by side on one pool: how unlike the original, how diverse, how near to a real person, how fast.

Some voices are held out of the pool as originals (whole people, where the pool names them). Pairs are counted within a
gender, for the pool as for the invented voices: that is where B1 collapses and where O1 follows the pool.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from personare.core.errors import ConfigError, PersonareError
from personare.core.seeding import Key, rng_for
from personare.core.vectors import cosine, pairwise_cosine
from personare.pseudospeakers import PSEUDOSPEAKERS, pseudospeaker
from personare.pseudospeakers.pool import Pool

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Spread:
    """How alike pairs are: ``mean`` and ``median`` cosine, and the range ``low`` to ``high`` of the middle 90 %."""

    mean: float
    median: float
    low: float
    high: float

    @classmethod
    def of(cls, values: Floats) -> Spread:
        """Summarise cosines."""
        low, median, high = np.percentile(values, [5, 50, 95])
        return cls(float(values.mean()), float(median), float(low), float(high))


@dataclass(frozen=True)
class Comparison:
    """One generator on one pool, or the reason why it could not be fitted (``failed``).

    ``to_original`` are cosines between original and invented voices, ``between`` those of two invented voices,
    ``nearest`` the highest cosine of an invented voice to anybody in the pool (mean and maximum), ``distance`` the
    smallest Euclidean distance to anybody in the pool in units of the pool's mean vector length.
    """

    generator: str
    to_original: Spread | None = None
    between: Spread | None = None
    nearest_mean: float = float("nan")
    nearest_most: float = float("nan")
    distance: float = float("nan")
    fit_s: float = float("nan")
    voice_ms: float = float("nan")
    failed: str = ""


def hold_out(pool: Pool, *, share: float, most: int, rng: np.random.Generator) -> tuple[Pool, Pool]:
    """Divide a pool into one to learn from and originals: about ``share`` of the people, ``most`` vectors at most."""
    if not 0 < share < 1:
        raise ConfigError(f"the share of originals must lie between 0 and 1, not {share}")
    names = np.array(pool.ids if pool.ids else [str(row) for row in range(len(pool))])
    people = rng.permutation(np.unique(names))
    chosen = np.isin(names, people[: max(2, round(share * len(people)))])
    if chosen.all():
        raise ConfigError(f"a pool of {len(people)} people is too small to hold out originals; take a larger pool")
    originals = rng.permutation(np.flatnonzero(chosen))[:most]
    return pool.rows(np.flatnonzero(~chosen)), pool.rows(np.sort(originals))


def within_gender(vectors: NDArray[Any], genders: Sequence[str]) -> Floats:
    """Cosines of all pairs of the same gender."""
    column = np.array(genders if len(genders) else [""] * len(vectors))
    return np.concatenate([pairwise_cosine(vectors[column == gender]) for gender in np.unique(column)])


def compare(
    pool: Pool,
    originals: Pool,
    *,
    key: Key,
    names: Sequence[str] = (),
    settings: Mapping[str, Mapping[str, Any]] | None = None,
) -> Iterator[Comparison]:
    """Fit each generator on ``pool``, invent a voice for each of ``originals``, and measure; one at a time.

    ``settings`` gives parameters by generator; a generator that cannot be fitted is a row that says why.
    """
    for name in names or PSEUDOSPEAKERS.names():
        recipe = pseudospeaker(name, **(settings or {}).get(name, {}))
        try:
            start = time.perf_counter()
            fitted = recipe.fit(pool, rng=rng_for(key, "fit", name))
            ready = time.perf_counter()
            voices = _invented(fitted, originals, key)
            done = time.perf_counter()
        except PersonareError as error:
            yield Comparison(name, failed=str(error))
            continue
        yield _measured(name, pool, originals, voices, ready - start, (done - ready) / len(originals))


def _invented(fitted: Any, originals: Pool, key: Key) -> NDArray[np.float32]:
    genders = originals.genders or (None,) * len(originals)
    rows = zip(originals.vectors, genders, strict=True)
    return np.stack([fitted(v, rng=rng_for(key, "voice", str(i)), gender=g) for i, (v, g) in enumerate(rows)])


def _measured(
    name: str, pool: Pool, originals: Pool, voices: NDArray[np.float32], fit_s: float, voice_s: float
) -> Comparison:
    own = np.array([cosine(v[None], w[None])[0, 0] for v, w in zip(originals.vectors, voices, strict=True)])
    nearest = cosine(voices, pool.vectors).max(axis=1)
    scale = float(np.linalg.norm(pool.vectors, axis=1).mean()) or 1.0
    return Comparison(
        name,
        to_original=Spread.of(own),
        between=Spread.of(within_gender(voices, originals.genders)),
        nearest_mean=float(nearest.mean()),
        nearest_most=float(nearest.max()),
        distance=smallest_distance(voices, pool.vectors) / scale,
        fit_s=fit_s,
        voice_ms=1000 * voice_s,
    )


def smallest_distance(voices: NDArray[Any], pool: NDArray[Any]) -> float:
    """Smallest Euclidean distance between an invented voice and anybody in the pool; 0 is a leaked person."""
    wide = pool.astype(np.float64)
    return min(float(np.sqrt(((wide - voice) ** 2).sum(axis=1)).min()) for voice in voices.astype(np.float64))
