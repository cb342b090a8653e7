"""SALT: weights sum to 1, reach below 0 where extrapolated, and blend several people of the pool, none too much."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from personare.core.errors import ConfigError
from personare.core.vectors import cosine
from personare.pseudospeakers import pseudospeaker
from personare.pseudospeakers.interpolation import Interpolated, extrapolated
from personare.pseudospeakers.pool import SpeakerPool

RNG = np.random.default_rng


def test_lv2023_defaults_of_the_public_program() -> None:
    recipe = Interpolated()
    assert (recipe.speakers, recipe.extrapolation, recipe.preservation) == (4, 0.0, 0.0)


@given(st.integers(2, 8), st.floats(0, 5), st.integers(0, 1000))
def test_weights_sum_to_one_whatever_the_extrapolation(speakers: int, amount: float, seed: int) -> None:
    weights = Interpolated(speakers=speakers, extrapolation=amount, heaviest=1.0).draw_weights(RNG(seed))
    assert weights.shape == (speakers,)
    assert weights.sum() == pytest.approx(1)
    if amount == 0:
        assert (weights > 0).all()


def test_extrapolation_moves_weights_away_from_the_even_blend_and_below_zero() -> None:
    even, uneven = np.full((1, 4), 0.25), np.array([[0.7, 0.1, 0.1, 0.1]])
    np.testing.assert_allclose(extrapolated(even, 3.0), even)
    np.testing.assert_allclose(extrapolated(uneven, 1.0), [[1.15, -0.05, -0.05, -0.05]])


def test_a_blend_is_of_several_people_and_none_is_handed_out() -> None:
    """With one direction for each person, the vector shows its weights."""
    pool = SpeakerPool(np.eye(30, dtype=np.float32))
    fitted = pseudospeaker("salt").fit(pool, rng=RNG(0))
    voices = np.stack([fitted(np.ones(30, np.float32), rng=RNG([1, i])) for i in range(200)])
    assert ((voices > 0).sum(axis=1) == 4).all()
    np.testing.assert_allclose(voices.sum(axis=1), 1, rtol=1e-6)
    assert voices.max() <= 0.4 + 1e-6
    assert ((voices > 0).sum(axis=0) > 0).all(), "everybody of the pool is drawn some time"


def test_extrapolated_voices_differ_more_than_interpolated_ones() -> None:
    pool = SpeakerPool(RNG(0).standard_normal((60, 40)).astype(np.float32) + 0.5)
    spread = []
    for amount in (0.0, 2.0):
        fitted = pseudospeaker("salt", extrapolation=amount, heaviest=1.0).fit(pool, rng=RNG(0))
        voices = np.stack([fitted(np.ones(40, np.float32), rng=RNG([1, i])) for i in range(60)])
        spread.append(float(cosine(voices, voices)[np.triu_indices(60, 1)].mean()))
    assert spread[1] < spread[0] - 0.05


def test_what_is_preserved_is_the_speakers_own() -> None:
    pool = SpeakerPool(np.eye(10, 20, dtype=np.float32))
    own = np.zeros(20, np.float32)
    own[15] = 2.0
    voice = pseudospeaker("salt", preservation=0.2).fit(pool, rng=RNG(0))(own, rng=RNG(1))
    assert voice[15] == pytest.approx(0.4)
    assert voice[:10].sum() == pytest.approx(0.8)


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"speakers": 1}, "speakers must be at least 2"),
        ({"extrapolation": -1.0}, "extrapolation must be a number from 0 on"),
        ({"preservation": 1.0}, "preservation is a share"),
        ({"heaviest": 0.2}, "heaviest must be above 1/speakers = 0.25"),
    ],
)
def test_wrong_settings_are_one_line(setting: dict[str, float], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        pseudospeaker("salt", **setting)
