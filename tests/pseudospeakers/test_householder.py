"""OHNN: the map is orthogonal, keeps the angles between speakers, and moves every one of them away."""

from __future__ import annotations

import numpy as np
import pytest

from personare.core.errors import ConfigError
from personare.core.vectors import cosine, unit_rows
from personare.pseudospeakers import pseudospeaker
from personare.pseudospeakers.householder import Floats, loss, normals_gradient, random_orthogonal, reflect
from pseudospeakers.pools import clouds

RNG = np.random.default_rng
POOL = clouds(120)
FITTED = pseudospeaker("ohnn", rotations=3).fit(POOL, rng=RNG(1))
STATE = FITTED.groups["f"]
SPEAKERS = clouds(160).groups["f"][120:].astype(np.float64)


def test_every_rotation_is_orthogonal_to_1e_6() -> None:
    for rotation in STATE.rotations:
        np.testing.assert_allclose(rotation @ rotation.T, np.eye(len(rotation)), atol=1e-6)
    assert np.abs(STATE.rotations[0] - STATE.rotations[1]).max() > 0.1, "each has a start of its own"


def test_pairwise_cosines_around_the_mean_and_all_distances_are_kept() -> None:
    turned = STATE.turn(SPEAKERS, 0)
    before, after = SPEAKERS - STATE.centre, turned - STATE.centre
    np.testing.assert_allclose(cosine(after, after), cosine(before, before), atol=1e-6)
    np.testing.assert_allclose(np.linalg.norm(after, axis=1), np.linalg.norm(before, axis=1), rtol=1e-9)


def test_around_zero_the_cosines_themselves_are_kept_as_in_the_paper() -> None:
    state = pseudospeaker("ohnn", rotations=1, around="zero").fit(POOL, rng=RNG(1)).groups["f"]
    turned = state.turn(SPEAKERS, 0)
    np.testing.assert_allclose(cosine(turned, turned), cosine(SPEAKERS, SPEAKERS), atol=1e-6)
    assert np.abs(state.centre).max() == 0


def test_every_speaker_is_moved_far_away_also_one_held_out() -> None:
    for which in range(3):
        turned = STATE.turn(SPEAKERS, which)
        own = np.einsum("ij,ij->i", unit_rows(SPEAKERS - STATE.centre), unit_rows(turned - STATE.centre))
        assert own.max() < 0.1
        assert own.mean() < -0.1, "a random rotation alone would give 0 on average"
        moved = np.linalg.norm(turned - SPEAKERS, axis=1) / np.linalg.norm(SPEAKERS - STATE.centre, axis=1)
        assert moved.min() > 1.3, "of the speaker's own distance from the mean"


def test_training_lowers_the_loss_and_its_slopes_are_right() -> None:
    rng = RNG(0)
    x, normals = unit_rows(rng.standard_normal((7, 6))), unit_rows(rng.standard_normal((3, 6)))

    def value(at: Floats) -> float:
        return loss(reflect(x, unit_rows(at)), x, scale=5.0, margin=0.2)[0]

    slopes = normals_gradient(x, normals, loss(reflect(x, normals), x, scale=5.0, margin=0.2)[1])
    for place in np.ndindex(normals.shape):
        step = np.zeros_like(normals)
        step[place] = 1e-6
        assert slopes[place] == pytest.approx((value(normals + step) - value(normals - step)) / 2e-6, abs=1e-6)
    assert value(normals - 0.01 * slopes) < value(normals)


def test_the_loss_of_a_map_without_effect_is_higher_than_that_of_its_opposite() -> None:
    x = unit_rows(RNG(2).standard_normal((20, 10)))
    assert loss(x, x, scale=30.0, margin=0.2)[0] > loss(-x, x, scale=30.0, margin=0.2)[0] + 1


def test_random_orthogonal_is() -> None:
    q = random_orthogonal(16, RNG(0))
    np.testing.assert_allclose(q @ q.T, np.eye(16), atol=1e-12)


@pytest.mark.parametrize("setting", [{"rotations": 0}, {"steps": 0}, {"scale": 0.0}, {"margin": 2.0}])
def test_wrong_settings_are_one_line(setting: dict[str, float]) -> None:
    with pytest.raises(ConfigError, match=r"^ohnn: "):
        pseudospeaker("ohnn", **setting)
