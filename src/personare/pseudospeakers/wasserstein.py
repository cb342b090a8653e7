"""WGAN: vectors drawn by a generator network whose critic measures the quadratic transport cost to the pool.

z ~ N(0, I) in 16 dimensions;   y = G(z);   critic D                                [meyer2022gan; liu2019wganqc]
for each batch the transport problem of transport.py is solved; D then learns its potentials (deep regression):
L_D = 1/2 (mean_i D(x_i) - mean_i f_i)^2 + 1/2 mean_j (D(y_j) + g_j)^2 + 4 sqrt(K) gamma L_OTR,      gamma = 0.1
L_OTR = 1/2 mean_j (|grad D(y_j)| / (2 sqrt(K)) - sqrt(K)/2 |x_m(j) - y_j|)^2,   so that |grad D(y)| = K |x_m - y|
L_G = -mean_j D(G(z_j))
x* = G(z), drawn again (20 times at most) while its cosine to the speaker's vector is 0.7 or more

Deviations: residual blocks are fully connected and without batch normalization (the paper's are convolutions); trained
for ``steps`` steps at a rate of 1e-3 with Adam (0.5, 0.999) instead of many thousand slower ones, as a pool of hundreds
of vectors needs no more; one network for each gender, where the paper has one for all; after 20 tries the least similar
vector is taken, not the last one. Equation numbers are not in the text at hand: the formulas are those of the public
programs.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from personare.core.errors import ConfigError
from personare.pseudospeakers.generator import PerGender, Request
from personare.pseudospeakers.rejection import rejection_sample
from personare.pseudospeakers.residual import (
    NAMES,
    Gradients,
    ResidualNetwork,
    backward,
    forward,
    gradient_backward,
    input_gradient,
    random_network,
)
from personare.pseudospeakers.transport import quadratic_cost, transport

Floats = NDArray[np.float64]
Single = NDArray[np.floating[Any]]

_BATCH, _RATE, _BETA1, _BETA2 = 64, 1e-3, 0.5, 0.999
_GAMMA = 0.1
_FEWEST = 20


@dataclass(frozen=True, eq=False)
class GeneratorNetwork:
    """The generator's ``network``, which draws standardized vectors, and the pool's ``mean`` and ``scale`` [d]."""

    network: ResidualNetwork
    mean: Floats
    scale: Floats

    def draw(self, count: int, rng: np.random.Generator) -> Floats:
        """Draw vectors [count, d]."""
        latent = rng.standard_normal((count, self.network.enter.shape[0]))
        drawn: Floats = self.mean + self.scale * self.network(latent)
        return drawn


@dataclass(frozen=True)
class WassersteinGenerator(PerGender[GeneratorNetwork]):
    """Drawn by a generative adversarial network with a Wasserstein critic (WGAN).

    Parameters
    ----------
    latent : dimensions of the noise.
    hidden : width of both networks.
    steps : batches that both networks are trained on.
    limit : highest cosine to the original.
    tries : how many vectors are drawn before the least similar of them is taken.
    """

    paper: ClassVar[str] = "Meyer et al., Anonymizing speech with generative adversarial networks, 2022"
    VERSION: ClassVar[int] = 1
    name: ClassVar[str] = "wgan"
    state_type: ClassVar[type] = GeneratorNetwork

    latent: int = 16
    hidden: int = 128
    steps: int = 200
    limit: float = 0.7
    tries: int = 20

    def __post_init__(self) -> None:
        for name in ("latent", "hidden", "steps", "tries"):
            if getattr(self, name) < 1:
                raise ConfigError(f"wgan: {name} must be at least 1, not {getattr(self, name)}")
        if not -1 <= self.limit <= 1:
            raise ConfigError(f"wgan: limit is a cosine within -1..1, not {self.limit}")

    @property
    def min_vectors(self) -> int:
        """Enough for a batch that tells something of the pool."""
        return _FEWEST

    def fit_group(self, vectors: Floats, rng: np.random.Generator) -> GeneratorNetwork:
        """Train both networks and keep the generator."""
        mean, spread = vectors.mean(axis=0), vectors.std(axis=0)
        scale = np.maximum(spread, 1e-6 * (np.abs(mean).max() + spread.max()) + 1e-30)
        pool = ((vectors - mean) / scale).astype(np.float32)
        *_, last = train(pool, latent=self.latent, hidden=self.hidden, steps=self.steps, rng=rng)
        return GeneratorNetwork(last, mean, scale)

    def generate(self, request: Request[GeneratorNetwork]) -> Floats:
        """Draw until the vector is unlike the speaker's."""
        return rejection_sample(
            lambda count: request.state.draw(count, request.rng), request.vector, limit=self.limit, tries=self.tries
        )


def train(pool: Single, *, latent: int, hidden: int, steps: int, rng: np.random.Generator) -> Iterator[ResidualNetwork]:
    """Train on standardized vectors [n, d]; gives the generator after every step."""
    generator = random_network(latent, hidden, pool.shape[1], rng=rng)
    critic = random_network(pool.shape[1], hidden, 1, rng=rng)
    memories = _Memory.empty(generator), _Memory.empty(critic)
    batch = min(_BATCH, len(pool))
    for step in range(1, steps + 1):
        real = pool[rng.choice(len(pool), size=batch, replace=False)]
        drawn = forward(generator, rng.standard_normal((batch, latent), dtype=np.float32))
        critic = memories[1].adam(critic, critic_gradients(critic, real, drawn.output), step)
        downhill = -input_gradient(critic, forward(critic, drawn.output)).gradient / batch
        generator = memories[0].adam(generator, backward(generator, drawn, downhill), step)
        yield generator


def critic_gradients(critic: ResidualNetwork, real: Single, fake: Single) -> Gradients:
    """Gradients of L_D by the critic's weights, for two batches [b, d]."""
    plan = transport(quadratic_cost(real, fake))
    root = math.sqrt(1 / real.shape[1])  # sqrt(K)
    made_real, made_fake = forward(critic, real), forward(critic, fake)
    error = made_real.output.mean() - plan.real.mean()
    parts = [backward(critic, made_real, np.full_like(made_real.output, error / len(real)))]
    parts += [backward(critic, made_fake, (made_fake.output - plan.fake[:, None]) / len(fake))]
    found = input_gradient(critic, made_fake)
    length = np.sqrt((found.gradient**2).sum(axis=1)) + 1e-12
    wanted = np.sqrt(((real[plan.matched] - fake) ** 2).sum(axis=1))
    excess = (length / (2 * root) - root / 2 * wanted) / (2 * root)
    weight = 4 * root * _GAMMA / len(fake)
    slope = weight * (excess / length)[:, None] * found.gradient
    parts += [gradient_backward(critic, made_fake, found, slope)]
    return {name: sum(part[name] for part in parts) for name in NAMES}  # type: ignore[misc]


@dataclass(frozen=True, eq=False)
class _Memory:
    """Running means of gradients and of their squares, as Adam needs them."""

    first: dict[str, Single]
    second: dict[str, Single]

    @classmethod
    def empty(cls, network: ResidualNetwork) -> _Memory:
        """Nothing seen yet."""
        zeros = [{name: np.zeros_like(getattr(network, name)) for name in NAMES} for _ in range(2)]
        return cls(*zeros)

    def adam(self, network: ResidualNetwork, gradients: Gradients, step: int) -> ResidualNetwork:
        """Give the network after one step."""
        changed = {}
        for name, gradient in gradients.items():
            self.first[name] = _BETA1 * self.first[name] + (1 - _BETA1) * gradient
            self.second[name] = _BETA2 * self.second[name] + (1 - _BETA2) * gradient**2
            size = np.sqrt(self.second[name] / (1 - _BETA2**step)) + 1e-8
            changed[name] = getattr(network, name) - _RATE * self.first[name] / (1 - _BETA1**step) / size
        return ResidualNetwork(**changed)
