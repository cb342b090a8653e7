"""What every pseudo-speaker generator promises, whatever its method."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from personare.core.errors import ConfigError, PersonareError, TableError
from personare.core.protocols import PseudoSpeaker
from personare.core.vectors import cosine
from personare.pseudospeakers import PSEUDOSPEAKERS, pseudospeaker
from personare.pseudospeakers.comparison import hold_out, smallest_distance, within_gender
from personare.pseudospeakers.files import load, save
from personare.pseudospeakers.generator import FittedGenerator, PseudoSpeakerGenerator
from personare.pseudospeakers.pool import SpeakerPool
from pseudospeakers.pools import DIMENSION, SETTINGS, clouds

NAMES = PSEUDOSPEAKERS.names()
POOL, ORIGINALS = hold_out(clouds(150), share=0.2, most=40, rng=np.random.default_rng(5))
_FITTED: dict[tuple[str, str], FittedGenerator[Any]] = {}

pytestmark = pytest.mark.parametrize("name", NAMES)


def recipe(name: str, **more: Any) -> PseudoSpeakerGenerator[Any]:
    return pseudospeaker(name, **{**SETTINGS.get(name, {}), **more})


def fitted(name: str, gender: str = "same") -> FittedGenerator[Any]:
    """Fit once per wish for the whole file."""
    if (name, gender) not in _FITTED:
        _FITTED[name, gender] = recipe(name, gender=gender).fit(POOL, rng=np.random.default_rng(1))
    return _FITTED[name, gender]


def voices(generator: PseudoSpeaker, originals: SpeakerPool = ORIGINALS, seed: int = 100) -> NDArray[np.float32]:
    rows = zip(originals.vectors, originals.genders, strict=True)
    return np.stack([generator(v, rng=np.random.default_rng([seed, i]), gender=g) for i, (v, g) in enumerate(rows)])


def test_shape_and_type_are_kept_and_all_is_finite(name: str) -> None:
    generator = fitted(name)
    assert isinstance(generator, PseudoSpeaker)
    for kind in (np.float32, np.float64):
        given = ORIGINALS.vectors[0].astype(kind)
        before = given.copy()
        voice = generator(given, rng=np.random.default_rng(0), gender="f")
        assert voice.shape == (DIMENSION,)
        assert voice.dtype == kind
        assert np.isfinite(voice).all()
        assert (given == before).all(), "the original is not changed"


def test_a_vector_of_zeros_and_a_huge_one_survive(name: str) -> None:
    for given in (np.zeros(DIMENSION, np.float32), np.full(DIMENSION, 1e6, np.float32)):
        assert np.isfinite(fitted(name)(given, rng=np.random.default_rng(0), gender="m")).all()


def test_the_same_chance_gives_the_same_voice_and_another_another(name: str) -> None:
    first, again, other = (voices(fitted(name), seed=s) for s in (1, 1, 2))
    assert (first == again).all()
    assert (first == other).all() != recipe(name).stochastic


def test_fitting_is_deterministic(name: str) -> None:
    again = recipe(name).fit(POOL, rng=np.random.default_rng(1))
    assert (voices(fitted(name)) == voices(again)).all()


def test_unlike_the_original_where_promised_and_never_more_alike_than_strangers(name: str) -> None:
    likeness = cosine(voices(fitted(name)), ORIGINALS.vectors)
    genders = np.array(ORIGINALS.genders)
    others = (genders[:, None] == genders) & ~np.eye(len(genders), dtype=bool)
    own, others_mean = np.diagonal(likeness), likeness[others].mean()
    if name == "copy":
        assert own.min() > 0.999999
    elif recipe(name).follows_original:
        assert own.mean() > others_mean + 0.2, "rebuilt from the original"
    elif recipe(name).dissimilar:
        assert own.mean() < within_gender(POOL.vectors, POOL.genders).mean(), "less alike than two strangers are"
        assert own.mean() < others_mean - 0.02, "less like this original than like others"
    else:
        assert own.mean() < others_mean + 0.04, "no more like this original than like others"


def test_nobody_of_the_pool_is_given_away(name: str) -> None:
    if name == "copy":
        pytest.skip("a copy gives the speaker's own voice")
    invented = voices(fitted(name))
    spread = float(np.linalg.norm(POOL.vectors - POOL.vectors.mean(axis=0), axis=1).mean())
    nearest = smallest_distance(invented, POOL.vectors) / spread
    assert nearest > 0.5, f"an invented voice lies {nearest:.3f} of a typical deviation from a person of the pool"


@pytest.mark.parametrize("wish", ["same", "cross"])
def test_gender_is_kept_or_crossed_as_asked(name: str, wish: str) -> None:
    if recipe(name).follows_original and wish == "cross":
        with pytest.raises(ConfigError, match="gender cannot be 'cross'"):
            recipe(name, gender=wish)
        return
    if not recipe(name).keeps_gender:
        pytest.skip("made to hide the gender; see test_adversarial")
    invented = voices(fitted(name, wish))
    centres = np.stack([POOL.groups[g].mean(axis=0) for g in ("f", "m")])
    heard = np.array(["f", "m"])[cosine(invented, centres).argmax(axis=1)]
    expected = np.array(ORIGINALS.genders)
    assert ((heard == expected) == (wish == "same")).mean() >= 0.95


def test_without_a_gender_both_are_given_and_crossing_needs_one(name: str) -> None:
    generator = fitted(name)
    assert np.isfinite(generator(ORIGINALS.vectors[0], rng=np.random.default_rng(0))).all()
    with pytest.raises(ConfigError, match="no voices of the same gender for a speaker of gender 'x'"):
        generator(ORIGINALS.vectors[0], rng=np.random.default_rng(0), gender="x")
    if not recipe(name).follows_original:
        with pytest.raises(ConfigError, match="needs the speaker's gender"):
            fitted(name, "cross")(ORIGINALS.vectors[0], rng=np.random.default_rng(0))


def test_a_saved_generator_gives_the_same_voices_to_the_last_bit(name: str, tmp_path: Path) -> None:
    save(fitted(name), tmp_path / "fitted.npz")
    with np.load(tmp_path / "fitted.npz", allow_pickle=False) as archive:
        assert all(archive[array].dtype != object for array in archive.files)
    again = load(tmp_path / "fitted.npz")
    assert again.generator == fitted(name).generator
    assert (voices(fitted(name)) == voices(again)).all()


def test_a_pool_too_small_is_one_clear_line(name: str) -> None:
    few = SpeakerPool(POOL.vectors[:1], ("f",))
    if name == "copy":
        assert recipe(name).fit(few, rng=np.random.default_rng(0)).dimension == DIMENSION
        return
    with pytest.raises(ConfigError, match=rf"^{name} needs at least \d+ voices.*, the pool holds 1; ") as caught:
        recipe(name).fit(few, rng=np.random.default_rng(0))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "spoil", [lambda v: v[:-1], lambda v: v[None], lambda v: np.where(np.arange(len(v)) == 3, np.nan, v)]
)
def test_wrong_vectors_are_refused(name: str, spoil: Callable[[Any], Any]) -> None:
    with pytest.raises(TableError, match=f"^{name} "):
        fitted(name)(spoil(ORIGINALS.vectors[0]), rng=np.random.default_rng(0), gender="f")


def test_a_pool_without_genders_works_when_none_is_asked_for(name: str) -> None:
    plain = SpeakerPool(POOL.vectors)
    if not recipe(name).keeps_gender:
        with pytest.raises(ConfigError, match="needs a pool that tells genders, accents or several vectors"):
            recipe(name).fit(plain, rng=np.random.default_rng(0))
        return
    generator = recipe(name).fit(plain, rng=np.random.default_rng(0))
    assert np.isfinite(generator(ORIGINALS.vectors[0], rng=np.random.default_rng(0))).all()
    with pytest.raises(PersonareError, match="gender 'f'"):
        generator(ORIGINALS.vectors[0], rng=np.random.default_rng(0), gender="f")


@pytest.mark.parametrize("kind", ["same", "zeros", "huge", "tiny", "one direction", "repeated", "outlier"])
def test_strange_pools_give_a_finite_voice_or_one_line(name: str, kind: str) -> None:
    rng = np.random.default_rng(0)
    normal = rng.standard_normal((80, 200))
    vectors = {
        "same": np.ones((80, 200)),
        "zeros": np.zeros((80, 200)),
        "huge": 1e15 * normal,
        "tiny": 1e-15 * normal,
        "one direction": np.outer(normal[:, 0], np.ones(200)),
        "repeated": np.repeat(normal[:8], 10, axis=0),
        "outlier": np.vstack([np.full((1, 200), 1e6), normal[1:]]),
    }[kind]
    more = {"epochs": 2} if name in ("s1", "s1c1", "s2", "s2c1") else {"steps": 3} if name in ("wgan", "ohnn") else {}
    try:
        generator = recipe(name, **more).fit(SpeakerPool(vectors.astype(np.float32), ("f", "m") * 40), rng=rng)
    except ConfigError as error:
        assert name == "a2", error
        assert "only one cluster" in str(error)
        return
    assert np.isfinite(generator(vectors[0].astype(np.float32), rng=rng, gender="f")).all()


# for every parameter of every generator, what it can be besides its default
_LIMIT: dict[str, object] = {"limit": 0.1, "tries": 10}
_PROJECTED: dict[str, object] = {
    "epsilons": [0.5],
    "components": [3],
    "samples": 10,
    "training": 0.4,
    "widest": 0.5,
}
_REBUILT: dict[str, object] = {"hidden": 8, "strengths": [2.0], "epochs": 2}
_BEFORE: dict[str, object] = {"farthest": 150, "average": 50}
OTHER: dict[str, dict[str, object]] = {
    "b1": {**_BEFORE, "distance": "scorer"},
    "copy": {},
    "random": {"mix": 3},
    "keyed": {"voices": 10, "mix": 3},
    "o1": {"variance": 0.5, "components": 3},
    "o1c1": {"variance": 0.5, "components": 3, **_LIMIT},
    "rp_gmm": _PROJECTED,
    "rp_gmm_sc": _PROJECTED | _LIMIT,
    "a1": {"low": 0.3, "members": 3, "ridge": 0.5, "neighbours": 4},
    "a2": {"clusters": 3, "kept": 0.3},
    "k2": {"epsilon": 2.0, "voices": 10, "mix": 3},
    "s1c1": _REBUILT,
    "s2c1": _REBUILT,
    "s1": _REBUILT | _BEFORE,
    "s2": _REBUILT | _BEFORE,
    "wgan": {"latent": 4, "hidden": 8, "steps": 3, "limit": 0.5, "tries": 5},
    "ohnn": {"rotations": 2, "reflections": 4, "steps": 3, "scale": 10.0, "margin": 0.1, "around": "zero"},
    "salt": {"speakers": 6, "extrapolation": 1.0, "preservation": 0.2, "heaviest": 0.9},
}


def test_the_fingerprint_changes_with_every_parameter_and_version(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    default = pseudospeaker(name)
    others = {"gender": "any", **OTHER[name]}
    assert sorted(others) == sorted(f.name for f in dataclasses.fields(default)), "a new parameter needs a value here"
    fingerprints = {"default": default.fingerprint}
    fingerprints |= {field: pseudospeaker(name, **{field: value}).fingerprint for field, value in others.items()}
    assert len(set(fingerprints.values())) == len(fingerprints), fingerprints
    assert pseudospeaker(name, gender="same").fingerprint == default.fingerprint
    assert isinstance(vars(type(default))["VERSION"], int)
    monkeypatch.setattr(type(default), "VERSION", 99)
    assert default.fingerprint != fingerprints["default"]


def test_a_fitted_generator_is_known_by_what_it_has_learnt(name: str, tmp_path: Path) -> None:
    generator = fitted(name)
    save(generator, tmp_path / "fitted.npz")
    assert load(tmp_path / "fitted.npz").fingerprint == generator.fingerprint
    fewer = recipe(name).fit(POOL.rows(np.arange(len(POOL) - 1)), rng=np.random.default_rng(1))
    assert fewer.fingerprint != generator.fingerprint


def test_a_generator_saved_by_another_version_is_refused(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save(fitted(name), tmp_path / "fitted.npz")
    monkeypatch.setattr(type(recipe(name)), "VERSION", 99)
    with pytest.raises(TableError, match=f"fitted by another version of '{name}': fit it again"):
        load(tmp_path / "fitted.npz")


def test_unknown_parameters_are_refused_with_a_suggestion(name: str) -> None:
    with pytest.raises(ConfigError, match=f"{name} has no parameter 'gendre'; did you mean 'gender'"):
        pseudospeaker(name, gendre="same")
