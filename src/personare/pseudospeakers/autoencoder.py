"""An adversarial autoencoder: vectors rebuilt from a code that should not tell labels; trained in plain numpy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from personare.core.vectors import unit_rows

Floats = NDArray[np.float64]
Parameters = dict[str, Floats]

_BATCH, _RATE, _BETA1, _BETA2 = 64, 3e-3, 0.9, 0.999
_BRANCH_STEPS, _BRANCH_RATE = 5, 5.0  # a slow branch is only fooled: a fresh probe would find the label again
_RIDGE = 1e-2


@dataclass(frozen=True, eq=False)
class Autoencoder:
    """Two layers around a code: ``encoder`` [d, h] and ``decoder`` [h, d] with biases, on standardized vectors."""

    mean: Floats
    scale: Floats
    encoder: Floats
    encoder_bias: Floats
    decoder: Floats
    decoder_bias: Floats

    def code(self, vectors: Floats) -> Floats:
        """The code [n, h] of vectors [n, d]."""
        codes: Floats = np.tanh((vectors - self.mean) / self.scale @ self.encoder + self.encoder_bias)
        return codes

    def reconstruct(self, vectors: Floats) -> Floats:
        """Vectors [n, d] rebuilt from their code."""
        rebuilt: Floats = self.mean + self.scale * (self.code(vectors) @ self.decoder + self.decoder_bias)
        return rebuilt

    def mean_cosine(self, vectors: Floats) -> float:
        """Mean cosine of vectors with their reconstructions."""
        return float((unit_rows(vectors) * unit_rows(self.reconstruct(vectors))).sum(axis=1).mean())


def train(
    vectors: Floats,
    labels: Sequence[NDArray[np.int64]],
    *,
    hidden: int,
    strength: float,
    epochs: int,
    rng: np.random.Generator,
) -> Autoencoder:
    """Train on vectors [n, d] whose ``labels`` (each [n], numbered from 0) the code should not tell."""
    mean, scale = vectors.mean(axis=0), vectors.std(axis=0) + 1e-6
    standardized = (vectors - mean) / scale
    d = vectors.shape[1]
    parameters: Parameters = {
        "encoder": rng.standard_normal((d, hidden)) / np.sqrt(d),
        "encoder_bias": np.zeros(hidden),
        "decoder": rng.standard_normal((hidden, d)) / np.sqrt(hidden),
        "decoder_bias": np.zeros(d),
    }
    branches = [np.zeros((hidden + 1, int(column.max()) + 1)) for column in labels]
    memory = [{name: np.zeros_like(value) for name, value in parameters.items()} for _ in range(2)]
    batches = max(1, len(standardized) // _BATCH)
    step = 0
    for _ in range(epochs):
        for rows in np.array_split(rng.permutation(len(standardized)), batches):
            step += 1
            weight = strength * (2 / (1 + np.exp(-10 * step / (epochs * batches))) - 1)  # [ganin2016domain, sec. 5.2.2]
            gradients = _gradients(
                parameters, branches, standardized[rows], [column[rows] for column in labels], weight
            )
            _adam(parameters, gradients, memory, step)
    return Autoencoder(mean, scale, **parameters)


def _gradients(
    parameters: Parameters,
    branches: Sequence[Floats],
    x: Floats,
    labels: Sequence[NDArray[np.int64]],
    strength: float,
) -> Parameters:
    """Gradients of the loss; the branches learn first, in place, and their gradients reach the code reversed."""
    z = np.tanh(x @ parameters["encoder"] + parameters["encoder_bias"])
    error = 2 * (z @ parameters["decoder"] + parameters["decoder_bias"] - x) / x.size
    gradients: Parameters = {"decoder": z.T @ error, "decoder_bias": error.sum(axis=0)}
    back = error @ parameters["decoder"].T
    full = np.hstack([z, np.ones((len(z), 1))])
    for branch, y in zip(branches, labels, strict=True):
        for _ in range(_BRANCH_STEPS):
            branch -= _BRANCH_RATE * full.T @ _logit_gradient(full @ branch, y)
        back -= strength * _logit_gradient(full @ branch, y) @ branch[:-1].T
    inside = back * (1 - z**2)
    return gradients | {"encoder": x.T @ inside, "encoder_bias": inside.sum(axis=0)}


def _logit_gradient(logits: Floats, y: NDArray[np.int64]) -> Floats:
    """Gradient of the cross-entropy with respect to the logits [n, C]."""
    gradient = softmax(logits)
    gradient[np.arange(len(y)), y] -= 1
    gradient /= len(y)
    return gradient


def _adam(parameters: Parameters, gradients: Mapping[str, Floats], memory: Sequence[Parameters], step: int) -> None:
    """One step of Adam, in place."""
    first, second = memory
    for name, gradient in gradients.items():
        first[name] = _BETA1 * first[name] + (1 - _BETA1) * gradient
        second[name] = _BETA2 * second[name] + (1 - _BETA2) * gradient**2
        size = np.sqrt(second[name] / (1 - _BETA2**step)) + 1e-8
        parameters[name] -= _RATE * first[name] / (1 - _BETA1**step) / size


def softmax(logits: Floats) -> Floats:
    """Probabilities from logits [n, C], without overflow."""
    unnormalized = np.exp(logits - logits.max(axis=1, keepdims=True))
    probabilities: Floats = unnormalized / unnormalized.sum(axis=1, keepdims=True)
    return probabilities


def probe_advantage(
    network: Autoencoder,
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
    one_hot = np.eye(int(y.max()) + 1)[y[rest]]
    power = x[rest].T @ x[rest] + _RIDGE * len(rest) * np.eye(x.shape[1])
    guessed = (x[held] @ np.linalg.solve(power, x[rest].T @ one_hot)).argmax(axis=1)
    common = float((y[held] == np.bincount(y[rest]).argmax()).mean())
    return float(((guessed == y[held]).mean() - common) / max(1 - common, 1e-9))
