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
from numpy.lib.stride_tricks import sliding_window_view

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
_F0_WINDOW, _F0_HZ = 800, (60.0, 400.0)  # samples at 16 kHz; lowest and highest
_LOUD, _VOICED = 10**-2.5, 0.6
L2_WEIGHTS = (1.0, 10.0, 100.0, 1000.0)
VERSION = 1


def secret_names_of(method: object) -> tuple[str, ...]:
    """Name the secret numbers of an anonymizer; none where it cannot be undone."""
    return method.secret_names if isinstance(method, Invertible) else ()


def recording_numbers(audio: Audio) -> Floats:
    """Give what the secrets are read off: the long-term spectrum in 40 mel bands and its spread, F0 and its range."""
    samples = samples_at(audio, rate_hz=RATE_HZ)
    samples = np.pad(samples, (0, max(0, MIN_SAMPLES - len(samples))))
    return np.concatenate([spectrum_numbers(samples), _f0_numbers(samples)])


def _f0_numbers(samples: NDArray[np.float32]) -> Floats:
    """Give median, lower and upper tenth of F0 in octaves above 100 Hz, and the voiced share: by autocorrelation."""
    length, hop = _F0_WINDOW, _F0_WINDOW // 2
    if len(samples) < length:
        return np.zeros(4)
    frames = sliding_window_view(samples, length)[::hop] * np.hanning(length)
    loud = np.square(frames).sum(axis=1)
    frames = frames[loud > _LOUD * loud.max()] if loud.any() else frames[:0]
    if not len(frames):
        return np.zeros(4)
    size = 2 * length
    products = np.fft.irfft(np.abs(np.fft.rfft(frames, size, axis=1)) ** 2, axis=1)
    shortest, longest = round(RATE_HZ / _F0_HZ[1]), round(RATE_HZ / _F0_HZ[0])
    window = np.fft.irfft(np.abs(np.fft.rfft(np.hanning(length), size)) ** 2)
    periodic = products[:, shortest:longest] / products[:, :1] / (window[shortest:longest] / window[0])
    lags = periodic.argmax(axis=1)
    voiced = periodic[np.arange(len(lags)), lags] > _VOICED
    if voiced.sum() < 3:
        return np.zeros(4)
    octaves = np.log2(RATE_HZ / (lags[voiced] + shortest) / 100.0)
    return np.array([*np.quantile(octaves, (0.5, 0.1, 0.9)), voiced.mean()])


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
        within: Floats = np.clip(estimate, self.lowest, self.highest)
        return within

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
