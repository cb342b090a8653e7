"""A small network that rebuilds vectors from a code in which labels should not be heard; trained in plain numpy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from personare.core.vectors import unit_rows

Floats = NDArray[np.float64]
Parts = dict[str, Floats]

_BATCH, _RATE, _BETA1, _BETA2 = 64, 3e-3, 0.9, 0.999
_BRANCH_STEPS, _BRANCH_RATE = 5, 5.0  # a slow branch is fooled, not blinded: a fresh probe would hear the label again
_RIDGE = 1e-2


@dataclass(frozen=True, eq=False)
class Network:
    """Two layers around a code: ``inward`` [d, h] and ``outward`` [h, d] with offsets, on vectors made even."""

    mean: Floats
    scale: Floats
    inward: Floats
    inward_offset: Floats
    outward: Floats
    outward_offset: Floats

    def code(self, vectors: Floats) -> Floats:
        """The code [n, h] of vectors [n, d]."""
        codes: Floats = np.tanh((vectors - self.mean) / self.scale @ self.inward + self.inward_offset)
        return codes

    def rebuilt(self, vectors: Floats) -> Floats:
        """Vectors [n, d] rebuilt from their code."""
        again: Floats = self.mean + self.scale * (self.code(vectors) @ self.outward + self.outward_offset)
        return again

    def likeness(self, vectors: Floats) -> float:
        """Mean cosine of vectors with what is rebuilt of them."""
        return float((unit_rows(vectors) * unit_rows(self.rebuilt(vectors))).sum(axis=1).mean())


def train(
    vectors: Floats,
    labels: Sequence[NDArray[np.int64]],
    *,
    hidden: int,
    strength: float,
    epochs: int,
    rng: np.random.Generator,
) -> Network:
    """Train on vectors [n, d] whose ``labels`` (each [n], numbered from 0) the code should not tell."""
    mean, scale = vectors.mean(axis=0), vectors.std(axis=0) + 1e-6
    even = (vectors - mean) / scale
    d = vectors.shape[1]
    parts: Parts = {
        "inward": rng.standard_normal((d, hidden)) / np.sqrt(d),
        "inward_offset": np.zeros(hidden),
        "outward": rng.standard_normal((hidden, d)) / np.sqrt(hidden),
        "outward_offset": np.zeros(d),
    }
    branches = [np.zeros((hidden + 1, int(column.max()) + 1)) for column in labels]
    memory = [{name: np.zeros_like(part) for name, part in parts.items()} for _ in range(2)]
    batches = max(1, len(even) // _BATCH)
    step = 0
    for _ in range(epochs):
        for rows in np.array_split(rng.permutation(len(even)), batches):
            step += 1
            grown = strength * (2 / (1 + np.exp(-10 * step / (epochs * batches))) - 1)  # [ganin2016domain, sec. 5.2.2]
            slopes = _slopes(parts, branches, even[rows], [column[rows] for column in labels], grown)
            _adam(parts, slopes, memory, step)
    return Network(mean, scale, **parts)


def _slopes(
    parts: Parts, branches: Sequence[Floats], x: Floats, labels: Sequence[NDArray[np.int64]], strength: float
) -> Parts:
    """Slope of every part; the branches learn first, in place, and their slopes reach the code with reversed sign."""
    z = np.tanh(x @ parts["inward"] + parts["inward_offset"])
    off = 2 * (z @ parts["outward"] + parts["outward_offset"] - x) / x.size
    slopes: Parts = {"outward": z.T @ off, "outward_offset": off.sum(axis=0)}
    back = off @ parts["outward"].T
    full = np.hstack([z, np.ones((len(z), 1))])
    for branch, y in zip(branches, labels, strict=True):
        for _ in range(_BRANCH_STEPS):
            branch -= _BRANCH_RATE * full.T @ _wrong(full @ branch, y)
        back -= strength * _wrong(full @ branch, y) @ branch[:-1].T
    inside = back * (1 - z**2)
    return slopes | {"inward": x.T @ inside, "inward_offset": inside.sum(axis=0)}


def _wrong(logits: Floats, y: NDArray[np.int64]) -> Floats:
    """Slope of the cross-entropy with respect to the logits [n, C]."""
    slope = softmax(logits)
    slope[np.arange(len(y)), y] -= 1
    slope /= len(y)
    return slope


def _adam(parts: Parts, slopes: Mapping[str, Floats], memory: Sequence[Parts], step: int) -> None:
    """One step of Adam, in place."""
    first, second = memory
    for name, slope in slopes.items():
        first[name] = _BETA1 * first[name] + (1 - _BETA1) * slope
        second[name] = _BETA2 * second[name] + (1 - _BETA2) * slope**2
        size = np.sqrt(second[name] / (1 - _BETA2**step)) + 1e-8
        parts[name] -= _RATE * first[name] / (1 - _BETA1**step) / size


def softmax(logits: Floats) -> Floats:
    """Probabilities from logits [n, C], without overflow."""
    grown = np.exp(logits - logits.max(axis=1, keepdims=True))
    shares: Floats = grown / grown.sum(axis=1, keepdims=True)
    return shares


def audible(
    network: Network,
    vectors: Floats,
    labels: Sequence[NDArray[np.int64]],
    *,
    rest: NDArray[np.int64],
    held: NDArray[np.int64],
) -> float:
    """How well a fresh linear probe, fitted on ``rest``, tells the labels of ``held`` from the code, above guessing.

    The mean over labels of (accuracy - share of the commonest label) / (1 - that share); 0 is guessing, 1 is perfect.
    """
    codes = network.code(vectors)
    return float(np.mean([advantage(codes, y, rest=rest, held=held) for y in labels]))


def advantage(codes: Floats, y: NDArray[np.int64], *, rest: NDArray[np.int64], held: NDArray[np.int64]) -> float:
    """Advantage of a ridge-regression probe over always guessing the commonest label."""
    x = np.hstack([codes, np.ones((len(codes), 1))])
    wanted = np.eye(int(y.max()) + 1)[y[rest]]
    power = x[rest].T @ x[rest] + _RIDGE * len(rest) * np.eye(x.shape[1])
    guessed = (x[held] @ np.linalg.solve(power, x[rest].T @ wanted)).argmax(axis=1)
    common = float((y[held] == np.bincount(y[rest]).argmax()).mean())
    return float(((guessed == y[held]).mean() - common) / max(1 - common, 1e-9))
