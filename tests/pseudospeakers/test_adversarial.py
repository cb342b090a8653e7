"""S1c1 and S2c1: labels get harder to hear in the code, at a price; slopes are right; S1 is B1 rebuilt."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from personare.pseudospeakers import pseudospeaker
from personare.pseudospeakers.adversarial import label_columns
from personare.pseudospeakers.autoencoder import Floats, _gradients, advantage, softmax, train
from personare.pseudospeakers.pool import SpeakerPool
from pseudospeakers.pools import clouds, golden


def heard_and_alike(pool: SpeakerPool, strength: float) -> tuple[float, float]:
    """How well a fresh probe tells the gender of rebuilt vectors held out, and how alike they are to the originals."""
    vectors, gender = pool.vectors.astype(np.float64), label_columns(pool)[0]
    held, rest = np.split(np.random.default_rng(0).permutation(len(vectors)), [len(vectors) // 4])
    network = train(
        vectors[rest], [gender[rest]], hidden=32, strength=strength, epochs=40, rng=np.random.default_rng(1)
    )
    even = network.reconstruct(vectors) / vectors.std(axis=0)
    return advantage(even, gender, rest=rest, held=held), network.mean_cosine(vectors[held])


@pytest.mark.shared
def test_the_adversary_makes_gender_harder_to_hear_in_real_x_vectors_espinoza2020(shared_folder: Path) -> None:
    pool = golden(shared_folder).rows(np.arange(0, 1496, 2))
    plain, hidden = heard_and_alike(pool, 0.0), heard_and_alike(pool, 10.0)
    assert plain[0] > 0.9, "an honest autoencoder keeps the gender"
    assert hidden[0] < plain[0] - 0.2
    assert hidden[1] < plain[1], "hiding has a price"


def test_the_adversary_makes_gender_harder_to_hear() -> None:
    """One direction of 32 tells the gender: the network can afford to lose it."""
    genders = np.array(["f", "m"] * 200)
    vectors = np.random.default_rng(4).standard_normal((400, 32)) + 1.0
    vectors[:, 5] += np.where(genders == "f", 2.0, -2.0)
    pool = SpeakerPool(vectors.astype(np.float32), tuple(genders.tolist()))
    plain, hidden = heard_and_alike(pool, 0.0), heard_and_alike(pool, 10.0)
    assert plain[0] > 0.8
    assert hidden[0] < plain[0] - 0.2
    assert hidden[1] < plain[1]


def test_without_an_adversary_the_slopes_are_those_of_the_loss() -> None:
    rng = np.random.default_rng(2)
    x = rng.standard_normal((7, 5))
    parts = {
        "encoder": rng.standard_normal((5, 3)),
        "encoder_bias": rng.standard_normal(3),
        "decoder": rng.standard_normal((3, 5)),
        "decoder_bias": rng.standard_normal(5),
    }

    def loss() -> float:
        z = np.tanh(x @ parts["encoder"] + parts["encoder_bias"])
        return float(((z @ parts["decoder"] + parts["decoder_bias"] - x) ** 2).mean())

    slopes = _gradients(parts, [], x, [], 0.0)
    for name, part in parts.items():
        for place in np.ndindex(part.shape):
            kept = part[place]
            part[place] = kept + 1e-6
            above = loss()
            part[place] = kept - 1e-6
            numeric = (above - loss()) / 2e-6
            part[place] = kept
            assert slopes[name][place] == pytest.approx(numeric, abs=1e-7)


def test_the_branch_pushes_the_code_uphill() -> None:
    rng = np.random.default_rng(3)
    x, y = rng.standard_normal((40, 6)), np.arange(40) % 2
    parts = {
        "encoder": rng.standard_normal((6, 4)),
        "encoder_bias": np.zeros(4),
        "decoder": np.zeros((4, 6)),
        "decoder_bias": np.zeros(6),
    }
    branch = np.zeros((5, 2))
    slopes = _gradients(parts, [branch], x, [y], 1.0)

    def doubt(encoder: Floats) -> float:
        z = np.hstack([np.tanh(x @ encoder), np.ones((40, 1))])
        return float(-np.log(softmax(z @ branch)[np.arange(40), y]).mean())

    assert doubt(parts["encoder"] - 1e-3 * slopes["encoder"]) > doubt(parts["encoder"])


def test_s2c1_takes_one_of_its_strengths_by_what_is_held_out() -> None:
    pool = clouds(40)
    chosen = pseudospeaker("s2c1", strengths=[0.0, 50.0], epochs=5).fit(pool, rng=np.random.default_rng(0))
    assert np.isfinite(chosen(pool.vectors[0], rng=np.random.default_rng(0), gender="f")).all()


def test_s1_is_s1c1_on_top_of_b1() -> None:
    pool = clouds(50)
    far = {"farthest": 20, "average": 10}
    b1 = pseudospeaker("b1", **far).fit(pool, rng=np.random.default_rng(0))
    s1 = pseudospeaker("s1", epochs=3, **far).fit(pool, rng=np.random.default_rng(0))
    s1c1 = pseudospeaker("s1c1", epochs=3).fit(pool, rng=np.random.default_rng(0))
    x = pool.vectors[0].astype(np.float64)
    mean = b1(x, rng=np.random.default_rng(5), gender="f")
    expected = s1c1(mean, rng=np.random.default_rng(0), gender="f")
    np.testing.assert_allclose(s1(x, rng=np.random.default_rng(5), gender="f"), expected, rtol=1e-9)


def test_labels_are_used_where_the_pool_tells_them() -> None:
    vectors = np.ones((4, 3), np.float32)
    assert label_columns(SpeakerPool(vectors)) == []
    assert label_columns(SpeakerPool(vectors, ids=("a", "b", "c", "d"))) == [], "one vector per speaker tells nothing"
    told = label_columns(SpeakerPool(vectors, ("f", "f", "m", "m"), ("a", "a", "b", "b"), ("x", "y", "x", "z")))
    assert [len(np.unique(column)) for column in told] == [2, 3, 2]
