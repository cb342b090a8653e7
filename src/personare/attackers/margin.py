"""A small layer trained to tell speakers apart by a margin: plain matrix products, no framework.

z = W x + A B x: W is given and stays, A [k, r] and B [r, d] are an adapter of low rank [hu2022lora, sec. 4.1] that is
learnt with one direction per speaker by the additive angular margin softmax [deng2019arcface, eq. 3]:

loss = -log softmax_y(s cos(theta_j + m [j = y])),   theta_j the angle of z and the direction of speaker j

Deviations: where theta + m would pass pi, the margin goes on as a straight line, as in the training of whole networks
(``training.embedder.margins``).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from personare.core.vectors import speaker_means

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

_EDGE = 1e-7
_FIRST, _SECOND, _SMALLEST = 0.9, 0.999, 1e-8  # of Adam [kingma2015adam]


@dataclass(frozen=True)
class MarginTraining:
    """How an adapter is trained: its rank, margin, scale, rate of Adam, and what pulls it to nothing."""

    rank: int = 16
    margin: float = 0.2
    scale: float = 20.0
    rate: float = 1e-3
    decay: float = 1e-2


@dataclass(frozen=True, eq=False)
class Adapter:
    """What is added to the given layer: ``up`` [k, r] times ``down`` [r, d]."""

    up: Floats
    down: Floats

    def __call__(self, x: Floats) -> Floats:
        """Give what it adds for inputs [n, d]: [n, k]."""
        added: Floats = (x @ self.down.T) @ self.up.T
        return added


def trained_adapters(
    x: Floats,
    base: Floats,
    speaker: NDArray[np.int64],
    *,
    steps: tuple[int, ...],
    settings: MarginTraining,
    rng: np.random.Generator,
) -> Iterator[Adapter]:
    """Train on inputs x [n, d] whose given layer says ``base`` [n, k]; yields the adapter after each of ``steps``."""
    parts = [
        np.zeros((base.shape[1], settings.rank)),
        rng.standard_normal((settings.rank, x.shape[1])) / math.sqrt(x.shape[1]),
        speaker_means(base, speaker).vectors.astype(np.float64),
    ]
    moments = [(np.zeros_like(part), np.zeros_like(part)) for part in parts]
    example = 1.0 / np.bincount(speaker)[speaker]  # every speaker weighs the same
    example /= example.sum()
    for step in range(max(steps) + 1):
        if step in steps:
            yield Adapter(parts[0].copy(), parts[1].copy())
        if step == max(steps):
            return
        up, down, directions = parts
        inner = x @ down.T
        _, on_z, on_directions = margin_loss(base + inner @ up.T, directions, speaker, example, settings)
        gradients = [
            on_z.T @ inner + settings.decay * up / len(up),
            (on_z @ up).T @ x + settings.decay * down / len(up),
            on_directions,
        ]
        for i, gradient in enumerate(gradients):
            first, second = moments[i]
            first += (1 - _FIRST) * (gradient - first)
            second += (1 - _SECOND) * (gradient**2 - second)
            even = first / (1 - _FIRST ** (step + 1))
            spread = np.sqrt(second / (1 - _SECOND ** (step + 1)))
            parts[i] = parts[i] - settings.rate * even / (spread + _SMALLEST)


def margin_loss(
    z: Floats, directions: Floats, speaker: NDArray[np.int64], example: Floats, settings: MarginTraining
) -> tuple[float, Floats, Floats]:
    """Give the loss of vectors z [n, k], weighted by ``example`` [n], and its gradients on z and directions."""
    rows = np.arange(len(z))
    z_length, d_length = (np.maximum(np.linalg.norm(v, axis=1, keepdims=True), _EDGE) for v in (z, directions))
    z_unit, d_unit = z / z_length, directions / d_length
    cosines = z_unit @ d_unit.T
    true = cosines[rows, speaker]
    sine = np.sqrt(np.maximum(1 - true**2, _EDGE))
    turns = true > math.cos(math.pi - settings.margin)
    along = true * math.cos(settings.margin) - sine * math.sin(settings.margin)
    moved = np.where(turns, along, true - settings.margin * math.sin(settings.margin))
    slope = np.where(turns, math.cos(settings.margin) + true / sine * math.sin(settings.margin), 1.0)
    logits = settings.scale * cosines
    logits[rows, speaker] = settings.scale * moved
    logits -= logits.max(axis=1, keepdims=True)
    share = np.exp(logits)
    share /= share.sum(axis=1, keepdims=True)
    loss = float(-example @ np.log(np.maximum(share[rows, speaker], 1e-300)))
    share[rows, speaker] -= 1
    pull = share * (settings.scale * example)[:, None]
    pull[rows, speaker] *= slope
    return loss, _through_length(pull @ d_unit, z_unit, z_length), _through_length(pull.T @ z_unit, d_unit, d_length)


def _through_length(pull: Floats, unit: Floats, length: Floats) -> Floats:
    """Take a gradient on unit vectors back to the vectors."""
    back: Floats = (pull - unit * (pull * unit).sum(axis=1, keepdims=True)) / length
    return back
