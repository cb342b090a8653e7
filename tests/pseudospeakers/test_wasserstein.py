"""WGAN: drawn vectors come close to the pool's distribution and copy nobody; transport and gradients are right."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.spatial.distance import cdist

from personare.core.errors import ConfigError
from personare.core.vectors import cosine
from personare.pseudospeakers import pseudospeaker
from personare.pseudospeakers.pool import SpeakerPool
from personare.pseudospeakers.residual import (
    NAMES,
    ResidualNetwork,
    backward,
    forward,
    gradient_backward,
    input_gradient,
    random_network,
)
from personare.pseudospeakers.transport import quadratic_cost, transport
from personare.pseudospeakers.wasserstein import GeneratorNetwork

RNG = np.random.default_rng
Floats = NDArray[np.float64]


def energy_distance(x: Floats, y: Floats) -> float:
    """2 E|X - Y| - E|X - X'| - E|Y - Y'|: 0 for one distribution only."""
    return float(2 * cdist(x, y).mean() - cdist(x, x).mean() - cdist(y, y).mean())


def double(network: ResidualNetwork) -> ResidualNetwork:
    return ResidualNetwork(*(getattr(network, name).astype(np.float64) for name in NAMES))


def test_the_potentials_are_those_of_the_linear_program() -> None:
    rng = RNG(0)
    cost = quadratic_cost(rng.standard_normal((9, 4)), rng.standard_normal((9, 4)) + 1)
    plan = transport(cost)
    rows = [(i, j) for i in range(9) for j in range(9)]
    bounds = np.zeros((81, 18))
    for row, (i, j) in enumerate(rows):
        bounds[row, i], bounds[row, 9 + j] = 1, -1
    best = linprog([-1 / 9] * 9 + [1 / 9] * 9, A_ub=bounds, b_ub=[cost[i, j] for i, j in rows], bounds=(None, None))
    assert plan.real.mean() - plan.fake.mean() == pytest.approx(-best.fun)
    assert (plan.real[:, None] - plan.fake <= cost + 1e-12).all()
    np.testing.assert_allclose(plan.real[plan.matched] - plan.fake, cost[plan.matched, np.arange(9)], atol=1e-12)
    assert sorted(plan.matched) == list(range(9))


def test_the_slopes_of_outputs_and_of_input_gradients_are_right() -> None:
    rng = RNG(3)
    network, x, pull = (
        double(random_network(5, 6, 1, rng=rng)),
        rng.standard_normal((4, 5)),
        rng.standard_normal((4, 5)),
    )
    made = forward(network, x)
    found = input_gradient(network, made)
    slopes = {
        "output": backward(network, made, np.ones((4, 1))),
        "gradient": gradient_backward(network, made, found, pull),
    }
    values: dict[str, Callable[[ResidualNetwork], float]] = {
        "output": lambda net: float(net(x).sum()),
        "gradient": lambda net: float((input_gradient(net, forward(net, x)).gradient * pull).sum()),
    }
    for kind, value in values.items():
        for name in NAMES:
            weights = getattr(network, name)
            for place in list(np.ndindex(weights.shape))[::5]:
                kept = weights[place]
                weights[place] = kept + 1e-6
                above = value(network)
                weights[place] = kept - 1e-6
                numeric = (above - value(network)) / 2e-6
                weights[place] = kept
                assert slopes[kind][name][place] == pytest.approx(numeric, abs=1e-5), (kind, name, place)
    step = 1e-6 * np.eye(5)
    for k in range(5):
        difference = (network(x + step[k]) - network(x - step[k]))[:, 0]
        np.testing.assert_allclose(found.gradient[:, k], difference / 2e-6, atol=1e-6)


def test_drawn_vectors_come_close_to_the_pool_and_copy_nobody() -> None:
    """A pool in two clouds: neither one Gaussian nor the pool's mean describes it, and the network has seen half."""
    rng = RNG(0)
    side = rng.choice([-1.0, 1.0], size=400)
    vectors = np.outer(side, np.repeat([2.0, 0.0], 12)) + rng.standard_normal((400, 24)) * np.repeat([0.3, 1.0], 12)
    seen, unseen = vectors[:200], vectors[200:]
    fitted = pseudospeaker("wgan").fit(SpeakerPool(seen.astype(np.float32)), rng=RNG(1))
    state: GeneratorNetwork = fitted.groups[""]
    drawn = state.draw(200, RNG(2))
    gaussian = RNG(3).standard_normal((200, 24)) * seen.std(axis=0) + seen.mean(axis=0)
    untrained = pseudospeaker("wgan", steps=1).fit(SpeakerPool(seen.astype(np.float32)), rng=RNG(1)).groups[""]
    distance = energy_distance(drawn, unseen)
    assert distance < 0.75 * energy_distance(gaussian, unseen), "both clouds are there"
    assert distance < 0.2 * energy_distance(untrained.draw(200, RNG(2)), unseen)
    spread = np.linalg.norm(seen - seen.mean(axis=0), axis=1).mean()
    assert cdist(drawn, seen).min() > 0.1 * spread, "nobody of the pool is drawn"
    assert cdist(drawn, drawn)[np.triu_indices(200, 1)].min() > 0.02 * spread, "no vector twice"


def test_a_voice_like_the_speakers_is_drawn_again() -> None:
    pool = SpeakerPool(RNG(0).standard_normal((40, 20)).astype(np.float32))
    drawn = pseudospeaker("wgan", steps=30).fit(pool, rng=RNG(1)).groups[""].draw(300, RNG(5))
    own, others = drawn[0], drawn[1:]
    limit = float(np.percentile(cosine(others, own[None]), 30))
    fitted = pseudospeaker("wgan", steps=30, limit=limit).fit(pool, rng=RNG(1))
    assert cosine(fitted(own, rng=RNG(5))[None], own[None])[0, 0] <= limit


@pytest.mark.parametrize("setting", [{"latent": 0}, {"hidden": 0}, {"steps": 0}, {"tries": 0}, {"limit": 2.0}])
def test_wrong_settings_are_one_line(setting: dict[str, float]) -> None:
    with pytest.raises(ConfigError, match=r"^wgan: "):
        pseudospeaker("wgan", **setting)
