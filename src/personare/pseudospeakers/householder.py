"""OHNN: the speaker's vector turned by an orthogonal network of Householder reflections, away from all originals.

H(v) = I - 2 v v' / |v|^2;   x* = m + H(v_K) ... H(v_1) Q (x - m),  Q a random orthogonal matrix (the start)
                                                                                                    [miao2023ohnn]
An orthogonal map keeps lengths and angles: pseudo-speakers are as distinct as the speakers are. It is trained by
L_cls = -mean_i log e^(s cos m_a) / (e^(s cos m_a) + sum_j!=i e^(s cos(x*_i, x*_j)) + sum_j e^(s cos(x*_i, x_j)))
L_sim =  mean_i cos(x*_i, x_i),         L = L_cls + L_sim,       all cosines around m
L_cls is the additive angular margin softmax over 2 n classes, n speakers and their n pseudo-speakers, with margin m_a
and scale s: a pseudo-speaker must not be taken for another one nor for anybody's original.

Who has the fitted file can turn a pseudo-speaker back (the inverse is the transpose), and try every rotation.
Deviations: the losses are those the abstract names (classification, improved classification, similarity); the paper's
equations, layers and constants are not in the text at hand: s = 30 and m_a = 0.2 are those usual for such embedders.
A class is represented by its speaker's own vector instead of learnt weights, as a pool has one vector per speaker.
Turned around the mean m of a gender instead of 0, so that the gender stays and vectors stay among real ones
(``around`` 'zero' is the paper's). The network is trained from several random starts, and chance (the key) takes one of
these rotations for a speaker, so that enrolment and trial get different pseudo-speakers, as in the challenges.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from personare.core.errors import ConfigError
from personare.core.vectors import unit_rows
from personare.pseudospeakers.generator import PerGender, Request

Floats = NDArray[np.float64]

_BATCH, _RATE = 64, 0.3


@dataclass(frozen=True, eq=False)
class RotationState:
    """Orthogonal ``rotations`` [r, d, d], each trained from another random start, and the ``centre`` [d]."""

    rotations: Floats
    centre: Floats

    def turn(self, vectors: Floats, which: int) -> Floats:
        """Turn vectors [n, d] by one of the rotations."""
        turned: Floats = self.centre + (vectors - self.centre) @ self.rotations[which].T
        return turned


@dataclass(frozen=True)
class HouseholderRotation(PerGender[RotationState]):
    """The speaker's vector, turned by an orthogonal network of Householder reflections (OHNN).

    Parameters
    ----------
    rotations : from how many random starts the network is trained; chance takes one for each speaker.
    reflections : how many reflections are trained behind each random start.
    steps : batches that each is trained on.
    scale : s of the softmax.
    margin : m_a, angle in radians by which a pseudo-speaker must be nearest to itself.
    around : the point that stays: the ``mean`` of a gender, or ``zero``.
    """

    paper: ClassVar[str] = "Miao et al., Speaker anonymization using orthogonal Householder neural network, 2023"
    VERSION: ClassVar[int] = 1
    name: ClassVar[str] = "ohnn"
    state_type: ClassVar[type] = RotationState
    dissimilar: ClassVar[bool] = True

    rotations: int = 8
    reflections: int = 32
    steps: int = 20
    scale: float = 30.0
    margin: float = 0.2
    around: Literal["mean", "zero"] = "mean"

    def __post_init__(self) -> None:
        for name in ("rotations", "reflections", "steps"):
            if getattr(self, name) < 1:
                raise ConfigError(f"ohnn: {name} must be at least 1, not {getattr(self, name)}")
        if not 0 < self.scale < np.inf or not 0 <= self.margin < np.pi / 2:
            raise ConfigError("ohnn: scale must be above 0, margin an angle from 0 to under a quarter turn (1.57)")

    @property
    def min_vectors(self) -> int:
        """Enough to have others to be unlike."""
        return 4

    def fit_group(self, vectors: Floats, rng: np.random.Generator) -> RotationState:
        """Train every rotation from a random start of its own."""
        centre = vectors.mean(axis=0) if self.around == "mean" else np.zeros(vectors.shape[1])
        unit = unit_rows(vectors - centre)
        return RotationState(np.stack([self._trained(unit, rng) for _ in range(self.rotations)]), centre)

    def _trained(self, unit: Floats, rng: np.random.Generator) -> Floats:
        start = random_orthogonal(unit.shape[1], rng)
        normals = unit_rows(rng.standard_normal((self.reflections, unit.shape[1])))
        for _ in range(self.steps):
            rows = rng.choice(len(unit), size=min(_BATCH, len(unit)), replace=False)
            given = unit[rows] @ start.T
            turned = reflect(given, normals)
            _, slope = loss(turned, unit[rows], scale=self.scale, margin=self.margin)
            normals = unit_rows(normals - _RATE * normals_gradient(given, normals, slope))
        product: Floats = reflect(start.T, normals).T
        return product

    def generate(self, request: Request[RotationState]) -> Floats:
        """Turn the speaker's vector by one of the rotations."""
        which = int(request.rng.integers(len(request.state.rotations)))
        turned: Floats = request.state.turn(request.vector[None], which)[0]
        return turned


def random_orthogonal(d: int, rng: np.random.Generator) -> Floats:
    """Draw an orthogonal matrix [d, d], all of them equally likely (a product of d Householder reflections, by QR)."""
    q, r = np.linalg.qr(rng.standard_normal((d, d)))
    drawn: Floats = q * np.sign(np.diagonal(r))
    return drawn


def reflect(vectors: Floats, normals: Floats) -> Floats:
    """Reflect vectors [n, d] by each of the unit ``normals`` [k, d], one after the other.

    >>> reflect(np.array([[1.0, 2.0]]), np.array([[1.0, 0.0]])).tolist()
    [[-1.0, 2.0]]
    """
    reflected = vectors.copy()
    for v in normals:
        reflected -= np.outer(2 * (reflected @ v), v)
    return reflected


def loss(turned: Floats, originals: Floats, *, scale: float, margin: float) -> tuple[float, Floats]:
    """L_cls + L_sim of turned unit vectors [n, d] beside their originals, and its derivative by ``turned``."""
    n = len(turned)
    among = scale * (originals @ originals.T)  # a rotation keeps the angles between pseudo-speakers
    np.fill_diagonal(among, scale * np.cos(margin))
    across = scale * (turned @ originals.T)
    logits = np.hstack([among, across])
    logits -= logits.max(axis=1, keepdims=True)
    shares = np.exp(logits)
    shares /= shares.sum(axis=1, keepdims=True)
    own = np.einsum("ij,ij->i", turned, originals)
    value = float(-np.log(shares[np.arange(n), np.arange(n)]).mean() + own.mean())
    slope: Floats = (scale * shares[:, n:] @ originals + originals) / n
    return value, slope


def normals_gradient(vectors: Floats, normals: Floats, slope: Floats) -> Floats:
    """Gradient [k, d] of a loss by the unit normals, given its derivative [n, d] by the reflected vectors."""
    reflected = reflect(vectors, normals)
    gradient = np.empty_like(normals)
    for k in range(len(normals) - 1, -1, -1):
        v = normals[k]
        reflected -= np.outer(2 * (reflected @ v), v)  # a reflection undoes itself: what came in
        along_in, along_out = reflected @ v, slope @ v
        whole = -2 * (along_in @ slope + along_out @ reflected)
        gradient[k] = whole - (whole @ v) * v  # along the sphere: the length of a normal means nothing
        slope = slope - np.outer(2 * along_out, v)
    return gradient
