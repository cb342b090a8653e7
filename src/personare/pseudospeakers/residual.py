"""A small residual network in plain numpy, with the gradients that a Wasserstein critic needs.

h_0 = l(x W + w);   h_r = l(h_r-1 + rho (l(h_r-1 A_r + a_r) B_r + b_r));   D(x) = h_R C + c
l is the leaky ReLU (slope 0.2 below 0), rho = 0.1, three blocks.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating[Any]]
Gradients = Mapping[str, Floats]

SLOPE, RESIDUAL, BLOCKS = 0.2, 0.1, 3


@dataclass(frozen=True, eq=False)
class ResidualNetwork:
    """``enter`` [i, h], ``first`` and ``second`` [blocks, h, h], ``leave`` [h, o], each with its bias."""

    enter: Floats
    enter_bias: Floats
    first: Floats
    first_bias: Floats
    second: Floats
    second_bias: Floats
    leave: Floats
    leave_bias: Floats

    def __call__(self, x: Floats) -> Floats:
        """Outputs [n, o] of inputs [n, i]."""
        return forward(self, x).output


@dataclass(frozen=True, eq=False)
class ForwardPass:
    """Layers [n, h] of one pass: the ``states`` h_0 to h_R, the ``inner`` ones of each block, and the ``output``."""

    x: Floats
    states: tuple[Floats, ...]
    inner: tuple[Floats, ...]
    output: Floats


def random_network(inputs: int, hidden: int, outputs: int, *, rng: np.random.Generator) -> ResidualNetwork:
    """Draw a network in single precision: normal weights by the width before them (He), biases 0."""

    def drawn(*shape: int) -> NDArray[np.float32]:
        scale = np.float32(np.sqrt(2 / ((1 + SLOPE**2) * shape[-2])))
        return scale * rng.standard_normal(shape, dtype=np.float32)

    def zeros(*shape: int) -> NDArray[np.float32]:
        return np.zeros(shape, dtype=np.float32)

    return ResidualNetwork(
        drawn(inputs, hidden),
        zeros(hidden),
        drawn(BLOCKS, hidden, hidden),
        zeros(BLOCKS, hidden),
        drawn(BLOCKS, hidden, hidden),
        zeros(BLOCKS, hidden),
        drawn(hidden, outputs),
        zeros(outputs),
    )


def forward(net: ResidualNetwork, x: Floats) -> ForwardPass:
    """Pass inputs [n, i] through the network."""
    states, inner = [_leaky(x @ net.enter + net.enter_bias)], []
    for r in range(BLOCKS):
        inner.append(_leaky(states[-1] @ net.first[r] + net.first_bias[r]))
        states.append(_leaky(states[-1] + RESIDUAL * (inner[-1] @ net.second[r] + net.second_bias[r])))
    return ForwardPass(x, tuple(states), tuple(inner), states[-1] @ net.leave + net.leave_bias)


def backward(net: ResidualNetwork, made: ForwardPass, slope: Floats) -> Gradients:
    """Gradients of every weight, for a loss whose derivative by the output is ``slope`` [n, o]."""
    found = {name: np.zeros_like(getattr(net, name)) for name in NAMES}
    found["leave"], found["leave_bias"] = made.states[-1].T @ slope, slope.sum(axis=0)
    up = slope @ net.leave.T
    for r in reversed(range(BLOCKS)):
        up = up * _mask(made.states[r + 1])
        inside = RESIDUAL * (up @ net.second[r].T) * _mask(made.inner[r])
        found["second"][r], found["second_bias"][r] = RESIDUAL * made.inner[r].T @ up, RESIDUAL * up.sum(axis=0)
        found["first"][r], found["first_bias"][r] = made.states[r].T @ inside, inside.sum(axis=0)
        up = up + inside @ net.first[r].T
    up = up * _mask(made.states[0])
    found["enter"], found["enter_bias"] = made.x.T @ up, up.sum(axis=0)
    return found


@dataclass(frozen=True, eq=False)
class InputGradient:
    """The ``gradient`` [n, i] of one output by its input, with what its own derivative needs."""

    gradient: Floats
    masked: tuple[Floats, ...]
    inside: tuple[Floats, ...]


def input_gradient(net: ResidualNetwork, made: ForwardPass) -> InputGradient:
    """Differentiate the first output by the input."""
    up = np.broadcast_to(net.leave[:, 0], made.states[-1].shape)
    masked, inside = [], []
    for r in reversed(range(BLOCKS)):
        masked.append(up * _mask(made.states[r + 1]))
        inside.append((masked[-1] @ net.second[r].T) * _mask(made.inner[r]))
        up = masked[-1] + RESIDUAL * inside[-1] @ net.first[r].T
    masked.append(up * _mask(made.states[0]))
    return InputGradient(masked[-1] @ net.enter.T, tuple(masked[::-1]), tuple(inside[::-1]))


def gradient_backward(net: ResidualNetwork, made: ForwardPass, found: InputGradient, slope: Floats) -> Gradients:
    """Gradients of every weight for a loss of the input gradient, whose derivative by it is ``slope`` [n, i].

    The network is piecewise linear: its masks stay where they are, and biases have no part in it.
    """
    made_of = {name: np.zeros_like(getattr(net, name)) for name in NAMES}
    made_of["enter"] = slope.T @ found.masked[0]
    down = (slope @ net.enter) * _mask(made.states[0])
    for r in range(BLOCKS):
        made_of["first"][r] = RESIDUAL * down.T @ found.inside[r]
        inner = RESIDUAL * (down @ net.first[r]) * _mask(made.inner[r])
        made_of["second"][r] = inner.T @ found.masked[r + 1]
        down = (down + inner @ net.second[r]) * _mask(made.states[r + 1])
    made_of["leave"][:, 0] = down.sum(axis=0)
    return made_of


def _leaky(x: Floats) -> Floats:
    activated: Floats = np.maximum(x, SLOPE * x)
    return activated


def _mask(activated: Floats) -> Floats:
    """The derivative of the leaky ReLU, from what it gave."""
    kind = activated.dtype.type
    slopes: Floats = np.where(activated > 0, kind(1), kind(SLOPE))
    return slopes


NAMES = tuple(field.name for field in fields(ResidualNetwork))
