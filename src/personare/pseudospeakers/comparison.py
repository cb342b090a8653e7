"""All generators side by side on one pool: how unlike the original, how diverse, how near to a real speaker, how fast.

Some vectors are held out of the pool as originals (whole speakers, where the pool names them). Pairs are counted within
a gender, for the pool as for the pseudo-speakers: that is where B1 collapses and where O1 follows the pool.
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
from personare.pseudospeakers.pool import SpeakerPool

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class CosineSummary:
    """How alike pairs are: ``mean`` and ``median`` cosine, and the range ``low`` to ``high`` of the middle 90 %."""

    mean: float
    median: float
    low: float
    high: float

    @classmethod
    def of(cls, values: Floats) -> CosineSummary:
        """Summarise cosines."""
        low, median, high = np.percentile(values, [5, 50, 95])
        return cls(float(values.mean()), float(median), float(low), float(high))


@dataclass(frozen=True)
class GeneratorComparison:
    """One generator on one pool, or the reason why it could not be fitted (``failed``).

    ``to_original`` are cosines between original and pseudo-speaker, ``between`` those of two pseudo-speakers,
    ``nearest`` the highest cosine of a pseudo-speaker to anybody in the pool (mean and maximum), ``distance`` the
    smallest Euclidean distance to anybody in the pool in units of the pool's mean vector length.
    """

    generator: str
    to_original: CosineSummary | None = None
    between: CosineSummary | None = None
    nearest_mean: float = float("nan")
    nearest_most: float = float("nan")
    distance: float = float("nan")
    fit_s: float = float("nan")
    generate_ms: float = float("nan")
    failed: str = ""


def hold_out(
    pool: SpeakerPool, *, share: float, most: int, rng: np.random.Generator
) -> tuple[SpeakerPool, SpeakerPool]:
    """Divide a pool into one to learn from and originals: about ``share`` of the speakers, ``most`` vectors at most."""
    if not 0 < share < 1:
        raise ConfigError(f"the share of originals must lie between 0 and 1, not {share}")
    names = np.array(pool.ids if pool.ids else [str(row) for row in range(len(pool))])
    speakers = rng.permutation(np.unique(names))
    chosen = np.isin(names, speakers[: max(2, round(share * len(speakers)))])
    if chosen.all():
        raise ConfigError(f"a pool of {len(speakers)} people is too small to hold out originals; take a larger pool")
    originals = rng.permutation(np.flatnonzero(chosen))[:most]
    return pool.rows(np.flatnonzero(~chosen)), pool.rows(np.sort(originals))


def within_gender(vectors: NDArray[Any], genders: Sequence[str]) -> Floats:
    """Cosines of all pairs of the same gender."""
    column = np.array(genders if len(genders) else [""] * len(vectors))
    return np.concatenate([pairwise_cosine(vectors[column == gender]) for gender in np.unique(column)])


def compare(
    pool: SpeakerPool,
    originals: SpeakerPool,
    *,
    key: Key,
    names: Sequence[str] = (),
    settings: Mapping[str, Mapping[str, Any]] | None = None,
) -> Iterator[GeneratorComparison]:
    """Fit each generator on ``pool``, generate a pseudo-speaker for each of ``originals``, and measure; one at a time.

    ``settings`` gives parameters by generator; a generator that cannot be fitted is a row that says why.
    """
    for name in names or PSEUDOSPEAKERS.names():
        generator = pseudospeaker(name, **(settings or {}).get(name, {}))
        try:
            start = time.perf_counter()
            fitted = generator.fit(pool, rng=rng_for(key, "fit", name))
            ready = time.perf_counter()
            vectors = _generated(fitted, originals, key)
            done = time.perf_counter()
        except PersonareError as error:
            yield GeneratorComparison(name, failed=str(error))
            continue
        yield _measured(name, pool, originals, vectors, ready - start, (done - ready) / len(originals))


def _generated(fitted: Any, originals: SpeakerPool, key: Key) -> NDArray[np.float32]:
    genders = originals.genders or (None,) * len(originals)
    rows = zip(originals.vectors, genders, strict=True)
    return np.stack([fitted(v, rng=rng_for(key, "voice", str(i)), gender=g) for i, (v, g) in enumerate(rows)])


def _measured(
    name: str, pool: SpeakerPool, originals: SpeakerPool, vectors: NDArray[np.float32], fit_s: float, generate_s: float
) -> GeneratorComparison:
    own = np.array([cosine(v[None], w[None])[0, 0] for v, w in zip(originals.vectors, vectors, strict=True)])
    nearest = cosine(vectors, pool.vectors).max(axis=1)
    scale = float(np.linalg.norm(pool.vectors, axis=1).mean()) or 1.0
    return GeneratorComparison(
        name,
        to_original=CosineSummary.of(own),
        between=CosineSummary.of(within_gender(vectors, originals.genders)),
        nearest_mean=float(nearest.mean()),
        nearest_most=float(nearest.max()),
        distance=smallest_distance(vectors, pool.vectors) / scale,
        fit_s=fit_s,
        generate_ms=1000 * generate_s,
    )


def smallest_distance(vectors: NDArray[Any], pool: NDArray[Any]) -> float:
    """Smallest Euclidean distance between a pseudo-speaker and anybody in the pool; 0 is a leaked speaker."""
    wide = pool.astype(np.float64)
    return min(float(np.sqrt(((wide - vector) ** 2).sum(axis=1)).min()) for vector in vectors.astype(np.float64))
