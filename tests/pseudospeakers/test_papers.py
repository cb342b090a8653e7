"""What the papers say about each generator, checked on numbers: closed forms, bounds and published values."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from personare.core.errors import ConfigError
from personare.core.seeding import Key
from personare.core.vectors import angles, cosine
from personare.pseudospeakers import pseudospeaker
from personare.pseudospeakers.assignment import for_speaker, for_synthesis
from personare.pseudospeakers.indistinguishable import probabilities
from personare.pseudospeakers.pool import SpeakerPool
from personare.pseudospeakers.projection import gaussian_matrix, projected_dimension
from personare.pseudospeakers.rejection import rejection_sample
from personare.pseudospeakers.selection import blend
from personare.pseudospeakers.singular import rebuild
from pseudospeakers.pools import clouds

RNG = np.random.default_rng


# B1 -----------------------------------------------------------------------------------------------------------------
def test_b1_voiceprivacy2020_sec_3_1_defaults() -> None:
    recipe = pseudospeaker("b1")
    assert (recipe.farthest, recipe.average, recipe.gender) == (200, 100, "same")  # type: ignore[attr-defined]


def test_b1_is_the_mean_of_the_farthest_of_the_same_gender() -> None:
    pool = clouds(60)
    fitted = pseudospeaker("b1", farthest=15, average=15).fit(pool, rng=RNG(0))
    speaker = pool.vectors[3] * 1.1
    women = pool.groups["f"]
    expected = women[np.argsort(cosine(speaker[None], women)[0])[:15]].mean(axis=0)
    np.testing.assert_allclose(fitted(speaker, rng=RNG(1), gender="f"), expected, rtol=1e-5, atol=1e-6)


def test_b1_draws_only_from_the_farthest_and_all_of_them() -> None:
    pool = clouds(60)
    fitted = pseudospeaker("b1", farthest=12, average=1).fit(pool, rng=RNG(0))
    men = pool.groups["m"]
    far = set(np.argsort(cosine(pool.vectors[0][None], men)[0])[:12].tolist())
    drawn = [fitted(pool.vectors[0], rng=RNG([2, i]), gender="m") for i in range(150)]
    assert {int(np.abs(men - voice).sum(axis=1).argmin()) for voice in drawn} == far


def test_b1_takes_any_scorer_as_its_distance() -> None:
    pool = clouds(60)
    recipe = pseudospeaker("b1", farthest=5, average=5, distance="scorer")
    fitted = recipe.fit(pool, rng=RNG(0), scorer=lambda a, b: -cosine(a, b))  # type: ignore[call-arg]
    speaker = pool.vectors[0] + 0.1
    women = pool.groups["f"]
    nearest = women[np.argsort(-cosine(speaker[None], women)[0])[:5]].mean(axis=0)
    np.testing.assert_allclose(fitted(speaker, rng=RNG(1), gender="f"), nearest, rtol=1e-5, atol=1e-6)
    with pytest.raises(ConfigError, match="no scorer is given"):
        recipe.fit(pool, rng=RNG(0))


def test_b1_with_the_attackers_plda_voiceprivacy2020_sec_3_1() -> None:
    from personare.attackers.plda import fit_plda

    rng = RNG(0)
    people = np.repeat(2 * rng.standard_normal((80, 8)), 4, axis=0)
    vectors = (people + rng.standard_normal(people.shape)).astype(np.float32)
    plda = fit_plda(vectors, np.repeat(np.arange(80), 4), iterations=5)
    pool = SpeakerPool(vectors[::4])
    recipe = pseudospeaker("b1", farthest=10, average=10, distance="scorer")
    voice = recipe.fit(pool, rng=rng, scorer=plda)(vectors[1], rng=RNG(1))  # type: ignore[call-arg]
    likeness = plda(vectors[1][None], pool.vectors)[0]
    np.testing.assert_allclose(voice, pool.vectors[np.argsort(likeness)[:10]].mean(axis=0), rtol=1e-4, atol=1e-5)
    assert plda(vectors[1][None], voice[None])[0, 0] < np.median(likeness)


# choices ------------------------------------------------------------------------------------------------------------
def test_mixed_voices_keep_the_mean_and_the_covariance_of_the_pool() -> None:
    pool = RNG(0).multivariate_normal([2.0, -1.0], [[2.0, 0.8], [0.8, 1.0]], size=400).astype(np.float32)
    mixed = blend(pool, 20_000, mix=3, rng=RNG(1))
    np.testing.assert_allclose(mixed.mean(axis=0), pool.mean(axis=0), atol=0.05)
    np.testing.assert_allclose(np.cov(mixed.T), np.cov(pool.T), atol=0.08)


def test_mix_of_one_is_a_person_of_the_pool_as_documented() -> None:
    pool = clouds(30)
    voice = pseudospeaker("random", mix=1).fit(pool, rng=RNG(0))(pool.vectors[0], rng=RNG(1), gender="f")
    assert (pool.vectors == voice).all(axis=1).any()


def test_the_key_and_the_name_decide_the_voice_and_the_sides_differ() -> None:
    pool = clouds(30)
    fitted, x = pseudospeaker("keyed").fit(pool, rng=RNG(0)), pool.vectors[0]
    voice = for_speaker(fitted, x, key=Key.from_seed(1), speaker="anna", gender="f", side="enroll")
    same = for_speaker(fitted, 2 * x + 1, key=Key.from_seed(1), speaker="anna", gender="f", side="enroll")
    assert (voice == same).all(), "the list is chosen from by key and name, not by the vector"
    for other in (
        for_speaker(fitted, x, key=Key.from_seed(2), speaker="anna", gender="f", side="enroll"),
        for_speaker(fitted, x, key=Key.from_seed(1), speaker="bela", gender="f", side="enroll"),
        for_speaker(fitted, x, key=Key.from_seed(1), speaker="anna", gender="f", side="test"),
    ):
        assert (voice != other).any()


@pytest.mark.parametrize(
    ("own", "envelope", "source"),
    [("neither", False, False), ("source", False, True), ("envelope", True, False), ("both", True, True)],
)
def test_m1c2_m1c3_m1c4_voiceprivacy2020_table_5(own: str, envelope: bool, source: bool) -> None:
    pool = clouds(30)
    fitted, x = pseudospeaker("random").fit(pool, rng=RNG(0)), pool.vectors[0]
    parts = for_synthesis(fitted, x, rng=RNG(1), gender="f", own=own)  # type: ignore[arg-type]
    assert (parts.envelope is x, parts.source is x) == (envelope, source)


# O1 -----------------------------------------------------------------------------------------------------------------
def test_o1_keeps_the_asked_share_of_variance_and_draws_only_in_those_directions() -> None:
    pool = clouds(100)
    fitted = pseudospeaker("o1", components=4).fit(pool, rng=RNG(0))
    learnt, women = fitted.groups["f"], pool.groups["f"].astype(np.float64)
    centred = women - women.mean(axis=0)
    kept = ((centred @ learnt.axes.T) ** 2).sum() / (centred**2).sum()
    fewer = ((centred @ learnt.axes[:-1].T) ** 2).sum() / (centred**2).sum()
    assert fewer < 0.9 <= kept + 1e-9
    voice = fitted(pool.vectors[0].astype(np.float64), rng=RNG(1), gender="f")
    inside = (voice - learnt.mean) @ learnt.axes.T @ learnt.axes
    np.testing.assert_allclose(inside, voice - learnt.mean, atol=1e-8)


@pytest.mark.parametrize("name", ["o1c1", "rp_gmm_sc"])
def test_forced_dissimilarity_holds_for_every_voice(name: str) -> None:
    pool = clouds(100)
    fitted = pseudospeaker(name, limit=0.1).fit(pool, rng=RNG(0))
    for i in range(0, 200, 10):
        voice = fitted(pool.vectors[i], rng=RNG(i), gender=pool.genders[i])
        assert cosine(voice[None], pool.vectors[i][None])[0, 0] <= 0.1 + 1e-6


def test_o1c1_takes_the_least_similar_when_none_is_unlike() -> None:
    drawn = RNG(0).standard_normal((50, 8)) + 3
    rest = iter(np.array_split(drawn, [20, 40]))
    vector = np.ones(8)
    taken = rejection_sample(lambda n: next(rest)[:n], vector, limit=-1.0, tries=50)
    assert (taken == drawn[cosine(drawn, vector[None])[:, 0].argmin()]).all()


# RP + GMM -----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("n", "epsilon", "published"),
    [(10**6, 0.5, 663), (10**6, 0.1, 11841), (10**6, 0.01, 1112658), (10**4, 0.1, 7894), (10**5, 0.1, 9868)],
)
def test_johnson_lindenstrauss_dimensions_as_scikit_learn_documents_them(
    n: int, epsilon: float, published: int
) -> None:
    assert projected_dimension(n, epsilon) == published + 1  # the bound lies between: they round down, we up


def test_johnson_lindenstrauss_lemma_distances_are_kept_wang2026_sec_3() -> None:
    points, epsilon = RNG(0).standard_normal((60, 1000)), 0.5
    matrix = gaussian_matrix(projected_dimension(60, epsilon), 1000, RNG(1))
    a, b = np.triu_indices(60, 1)
    before = ((points[a] - points[b]) ** 2).sum(axis=1)
    after = (((points[a] - points[b]) @ matrix.T) ** 2).sum(axis=1)
    assert ((1 - epsilon) * before <= after).all()
    assert (after <= (1 + epsilon) * before).all()


def test_rp_gmm_goes_back_by_the_pseudo_inverse_and_takes_the_highest_entropy() -> None:
    pool = clouds(100)
    learnt = pseudospeaker("rp_gmm").fit(pool, rng=RNG(0)).groups["m"]
    assert learnt.grid[0, 3] == learnt.grid[:, 3].max()
    k = int(learnt.grid[0, 1])
    assert k == projected_dimension(50, learnt.grid[0, 0])
    assert learnt.back.shape == (256, k)
    matrix = np.linalg.pinv(learnt.back)
    points = learnt.mixture.sample(5, RNG(1))
    np.testing.assert_allclose(points @ learnt.back.T @ matrix.T, points, atol=1e-8)


def test_rp_gmm_says_when_the_bound_asks_for_more_dimensions_than_there_are() -> None:
    with pytest.raises(ConfigError, match=r"rp_gmm: 50 voices need at least 97 dimensions .* of 64 dimensions 38 may"):
        pseudospeaker("rp_gmm").fit(clouds(100, d=64), rng=RNG(0))


# A2 -----------------------------------------------------------------------------------------------------------------
def test_a2_moving_a_voice_to_its_own_cluster_with_all_singular_values_changes_nothing() -> None:
    drawn = RNG(0).standard_normal((40, 6)) + np.where(np.arange(40) < 20, 2.0, -2.0)[:, None]
    pool = SpeakerPool(drawn.astype(np.float32))
    learnt = pseudospeaker("a2", clusters=2, kept=1.0).fit(pool, rng=RNG(1)).groups[""]
    x = pool.vectors[0].astype(np.float64)
    np.testing.assert_allclose(rebuild(x, learnt, 0, 0), x, rtol=1e-5)
    assert np.abs(rebuild(x, learnt, 0, 1) - x).max() > 0.1


def test_a2_goes_towards_the_least_similar_centroid() -> None:
    pool = clouds(120)
    fitted = pseudospeaker("a2").fit(pool, rng=RNG(0))
    centres = fitted.groups["f"].centres
    to_target, to_home = [], []
    for x in pool.groups["f"][:30]:
        likeness = cosine(x[None], centres)[0]
        found = cosine(fitted(x, rng=RNG(0), gender="f")[None], centres)[0]
        to_target.append(found[likeness.argmin()])
        to_home.append(found[likeness.argmax()])
    assert np.mean(to_target) > np.mean(to_home) + 0.1


# K2 -----------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("epsilon", [0.5, 1.0, 10.0, 100.0])
def test_k2_bound_han2020_voice_indistinguishability(epsilon: float) -> None:
    voices = RNG(0).standard_normal((200, 16)).astype(np.float32)
    speakers = RNG(1).standard_normal((40, 16))
    speakers = np.concatenate([speakers, -speakers[:5], voices[:5].astype(float)])  # opposite, and in the list
    logs = np.log([probabilities(x, voices, epsilon=epsilon) for x in speakers])
    distance = angles(speakers, speakers)
    worst = (logs[:, None] - logs[None]).max(axis=2)
    assert (worst <= epsilon * distance + 1e-9).all()


def test_k2_answers_come_as_often_as_their_probability_says() -> None:
    pool = clouds(20)
    fitted = pseudospeaker("k2", epsilon=8.0, voices=10).fit(pool, rng=RNG(0))
    x, listed = pool.vectors[0].astype(np.float64), fitted.groups["f"].vectors
    answers = np.stack([fitted(x, rng=RNG([3, i]), gender="f") for i in range(2000)])
    which = np.array([np.abs(listed - a).sum(axis=1).argmin() for a in answers])
    expected = 2000 * probabilities(x, listed, epsilon=8.0)
    assert stats.chisquare(np.bincount(which, minlength=10), expected).pvalue > 1e-3


def test_k2_prefers_near_voices_the_more_the_larger_epsilon() -> None:
    voices, x = RNG(0).standard_normal((100, 8)).astype(np.float32), RNG(1).standard_normal(8)
    mean = [float(probabilities(x, voices, epsilon=e) @ angles(x[None], voices)[0]) for e in (0.1, 1.0, 10.0, 100.0)]
    assert mean == sorted(mean, reverse=True)
