"""Undoing an anonymization of few secret numbers: they are estimated from the anonymized recording, then undone.

An anonymizer that declares its secrets (``core.protocols.Invertible``) changes every voice by some numbers: a warp, an
exponent, a shift of F0. The attacker anonymizes speech of other people with keys of their own, so that the numbers are
known, and learns to read them off the result: ridge regression on the long-term spectrum. Speakers who were held out
choose how much it is shrunk. People who are learnt from are themselves read by a model that has not heard them, so that
what is undone of their speech is undone no better than that of the attacked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from personare.core.errors import ConfigError, LeakError
from personare.core.files import write_bytes
from personare.core.protocols import Invertible
from personare.encoders.contours import spectrum_numbers
from personare.encoders.grid import RATE_HZ
from personare.encoders.segments import samples_at
from personare.encoders.statistics import MIN_SAMPLES

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from personare.core.audio import Audio

    Floats = NDArray[np.float64]

FOLDS = 4
FEWEST_UTTERANCES = 2
L2_WEIGHTS = (1.0, 10.0, 100.0, 1000.0)
VERSION = 1


def secret_names_of(method: object) -> tuple[str, ...]:
    """Name the secret numbers of an anonymizer; none where it cannot be undone."""
    return method.secret_names if isinstance(method, Invertible) else ()


def recording_numbers(audio: Audio) -> Floats:
    """Give what the secrets are read off: the long-term spectrum of speech and pauses in 40 mel bands, its spread."""
    samples = samples_at(audio, rate_hz=RATE_HZ)
    return spectrum_numbers(np.pad(samples, (0, max(0, MIN_SAMPLES - len(samples)))))


@dataclass(frozen=True, eq=False)
class SecretEstimator:
    """Reads secret numbers [k] off a recording's numbers [d], by one linear map per fold and one for everybody else.

    Parameters
    ----------
    mean, spread : of the recordings' numbers, [d].
    weights, offsets : [folds + 1, d, k] and [folds + 1, k]; the last has learnt from everybody.
    lowest, highest : of the secrets learnt from, [k]; an estimate stays within.
    speakers, folds : who was learnt from, and which map has not heard them.
    """

    mean: Floats
    spread: Floats
    weights: Floats
    offsets: Floats
    lowest: Floats
    highest: Floats
    speakers: tuple[str, ...]
    folds: tuple[int, ...]

    def __call__(self, numbers: Floats, *, speaker: str) -> Floats:
        """Estimate the secrets of one recording; of a speaker who was learnt from, by a map that has not heard them."""
        known = dict(zip(self.speakers, self.folds, strict=True))
        fold = known.get(speaker, -1)
        estimate = (numbers - self.mean) / self.spread @ self.weights[fold] + self.offsets[fold]
        return np.clip(estimate, self.lowest, self.highest)

    def refuse(self, attacked: Sequence[str]) -> None:
        """Refuse to attack people it has learnt from."""
        both = sorted(set(self.speakers) & set(attacked))
        if both:
            raise LeakError(f"{len(both)} attacked speakers were learnt from (first: '{both[0]}'); leave them out")

    def save(self, path: Path) -> None:
        """Write it to a file."""
        content = BytesIO()
        arrays: dict[str, Any] = {name: getattr(self, name) for name in _ARRAYS}
        np.savez(content, speakers=np.array(self.speakers, dtype=str), folds=np.array(self.folds, int), **arrays)
        write_bytes(path, content.getvalue())


_ARRAYS = ("mean", "spread", "weights", "offsets", "lowest", "highest")


def load_estimator(path: Path) -> SecretEstimator:
    """Read an estimator that ``save`` has written."""
    with np.load(path, allow_pickle=False) as stored:
        arrays = {name: stored[name] for name in _ARRAYS}
        speakers, folds = tuple(stored["speakers"].tolist()), tuple(stored["folds"].tolist())
        return SecretEstimator(**arrays, speakers=speakers, folds=folds)


def fit_estimator(numbers: Floats, secrets: Floats, speakers: Sequence[str]) -> SecretEstimator:
    """Learn from recordings [n, d] whose secrets [n, k] are known.

    >>> rng = np.random.default_rng(1)
    >>> recordings = rng.normal(size=(40, 5))
    >>> learnt = fit_estimator(recordings, recordings[:, :1] * 2, [f"s{i % 10}" for i in range(40)])
    >>> bool(abs(learnt(recordings[0], speaker="somebody else")[0] - 2 * recordings[0, 0]) < 0.3)
    True
    """
    if len(numbers) < FEWEST_UTTERANCES:
        raise ConfigError(f"secrets are learnt from {FEWEST_UTTERANCES} utterances or more, not {len(numbers)}")
    names = sorted(set(speakers))
    folds = min(FOLDS, len(names))
    fold_of = {name: i % folds for i, name in enumerate(names)}
    fold = np.array([fold_of[name] for name in speakers])
    mean, spread = numbers.mean(0), np.maximum(numbers.std(0), 1e-6)
    scaled = (numbers - mean) / spread
    parts = [fold != k for k in range(folds)] if folds > 1 else [np.ones(len(fold), bool)]
    l2 = _best_l2(scaled, secrets, parts)
    maps = [_ridge(scaled[rows], secrets[rows], l2) for rows in (*parts, np.ones(len(fold), bool))]
    return SecretEstimator(
        mean,
        spread,
        np.stack([weights for weights, _ in maps]),
        np.stack([offset for _, offset in maps]),
        secrets.min(0),
        secrets.max(0),
        tuple(names),
        tuple(fold_of[name] for name in names),
    )


def _best_l2(scaled: Floats, secrets: Floats, parts: Sequence[NDArray[np.bool_]]) -> Floats:
    """Choose for every secret the weight that leaves least between held-out speakers and the truth: [k]."""
    left = np.zeros((len(L2_WEIGHTS), secrets.shape[1]))
    for at, l2 in enumerate(L2_WEIGHTS):
        for rows in parts:
            weights, offset = _ridge(scaled[rows], secrets[rows], np.full(secrets.shape[1], l2))
            left[at] += np.square(scaled[~rows] @ weights + offset - secrets[~rows]).sum(0)
    best: Floats = np.array(L2_WEIGHTS)[left.argmin(0)]
    return best


def _ridge(scaled: Floats, secrets: Floats, l2: Floats) -> tuple[Floats, Floats]:
    """Solve for every secret [k] with its own weight l2: ([d, k], [k])."""
    centre, offset = scaled.mean(0), secrets.mean(0)
    x, y = scaled - centre, secrets - offset
    u, s, v = np.linalg.svd(x, full_matrices=False)
    shrunk = s[:, None] / (np.square(s)[:, None] + l2)  # [rank, k]
    weights: Floats = v.T @ (shrunk * (u.T @ y))
    return weights, offset - centre @ weights
