"""A turned space is turned back, with pairs and without; the aligned attacker then links what cosine cannot."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import ortho_group

from personare.attackers.alignment import align_pairs, align_unpaired, procrustes, wasserstein_procrustes
from personare.attackers.knowledge import Knowledge
from personare.attackers.scoring import Scorer
from personare.attackers.split import Anonymization, EmbeddedSpeech, Split
from personare.core.errors import ConfigError, LeakError
from personare.core.fingerprint import SystemIdentity
from personare.core.tables import Embeddings
from personare.core.vectors import cosine

D = 8
TURN = ortho_group.rvs(D, random_state=1)


def _cloud(seed: int, n: int) -> NDArray[np.float64]:
    """Skewed, and of another width in every direction, as real embeddings are."""
    rng = np.random.default_rng(seed)
    cloud: NDArray[np.float64] = (rng.gamma(1.5, size=(n, D)) - 1.5) * np.linspace(0.4, 2.0, D)
    return cloud


def test_procrustes_turns_back() -> None:
    y = _cloud(1, 40)
    np.testing.assert_allclose(procrustes(y @ TURN.T, y), TURN, atol=1e-9)


def test_wasserstein_procrustes_needs_no_pairs() -> None:
    y = _cloud(2, 150)
    rng = np.random.default_rng(3)
    x = (y @ TURN.T + 0.02 * rng.normal(size=y.shape))[rng.permutation(len(y))]
    found = wasserstein_procrustes(x, y, rng=rng)
    assert np.abs(found - TURN).max() < 0.05


def test_sides_must_match() -> None:
    with pytest.raises(ConfigError, match="same number"):
        wasserstein_procrustes(_cloud(1, 5), _cloud(1, 4), rng=np.random.default_rng(1))


def _speech(prefix: str, seed: int, *, speakers: int, each: int, rotation: NDArray[np.float64] | None) -> Embeddings:
    voices = _cloud(len(prefix) * 1000 + speakers, speakers)
    who = np.repeat(np.arange(speakers), each)
    x = voices[who] + 0.1 * np.random.default_rng(seed).normal(size=(len(who), D))
    ids = tuple(f"{prefix}{seed}-{i}" for i in range(len(who)))
    return Embeddings(
        ids, tuple(f"{prefix}{i}" for i in who), (x if rotation is None else x @ rotation).astype(np.float32)
    )


def _split() -> Split:
    back = TURN.T
    return Split(
        Knowledge.ALIGNED,
        EmbeddedSpeech(_speech("t", 1, speakers=30, each=1, rotation=None)),
        EmbeddedSpeech(
            _speech("t", 2, speakers=30, each=1, rotation=back), Anonymization(SystemIdentity("turned"), "a")
        ),
        EmbeddedSpeech(
            _speech("l", 3, speakers=100, each=3, rotation=back), Anonymization(SystemIdentity("turned"), "b")
        ),
        EmbeddedSpeech(_speech("l", 3, speakers=100, each=3, rotation=None)),
    )


def _linked(split: Split, scorer: Scorer) -> float:
    test, enroll = split.test.embeddings, split.enroll.embeddings
    best = np.asarray(scorer(test.vectors, enroll.vectors)).argmax(1)
    return float(np.mean([test.speakers[i] == enroll.speakers[j] for i, j in enumerate(best)]))


def test_the_aligned_attacker_links_what_the_cosine_cannot() -> None:
    split = _split()
    assert _linked(split, cosine) < 0.2
    assert _linked(split, align_pairs(split)) > 0.9
    assert _linked(split, align_unpaired(split, rng=np.random.default_rng(1))) > 0.9
    assert _linked(split, align_pairs(split, dimensions=6)) > 0.8


def test_an_alignment_refuses_its_teachers() -> None:
    with pytest.raises(LeakError, match="first: 'l5'"):
        align_pairs(_split()).check(["t1", "l5"])


def test_no_pairs_is_one_line() -> None:
    split = _split()
    other = EmbeddedSpeech(_speech("l", 9, speakers=100, each=3, rotation=None))
    with pytest.raises(ConfigError, match="0 share an id"):
        align_pairs(Split(split.knowledge, split.enroll, split.test, split.training, other))


def test_without_pairs_a_cloud_that_is_only_moved_is_moved_back_and_not_turned_over() -> None:
    """Disguises like real ones: the same shift and a slight rotation for all, and a change of each speaker's own."""
    d, rng = 40, np.random.default_rng(7)
    slight = procrustes(np.eye(d) + 0.1 * rng.normal(size=(d, d)), np.eye(d)).T
    shift = 3.0 * rng.normal(size=d)

    def heard(prefix: str, speakers: int, seed: int, *, hidden: bool) -> Embeddings:
        who = np.repeat(np.arange(speakers), 3)
        x = np.random.default_rng(speakers).normal(size=(speakers, d))[who]
        own = 1.2 * np.random.default_rng(seed + 50).normal(size=(speakers, d))[who]
        x = (x + own) @ slight + shift if hidden else x
        x = x + 0.6 * np.random.default_rng(seed).normal(size=x.shape)
        return Embeddings(
            tuple(f"{prefix}{seed}-{i}" for i in range(len(x))),
            tuple(f"{prefix}{i}" for i in who),
            x.astype(np.float32),
        )

    split = Split(
        Knowledge.ALIGNED,
        EmbeddedSpeech(heard("t", 30, 1, hidden=False)),
        EmbeddedSpeech(heard("t", 30, 2, hidden=True), Anonymization(SystemIdentity("moved"), "a")),
        EmbeddedSpeech(heard("l", 100, 3, hidden=True), Anonymization(SystemIdentity("moved"), "b")),
        EmbeddedSpeech(heard("l", 100, 3, hidden=False)),
    )
    plain, paired = _linked(split, cosine), _linked(split, align_pairs(split))
    unpaired = _linked(split, align_unpaired(split, rng=np.random.default_rng(1)))
    assert unpaired > plain + 0.1
    assert unpaired > paired - 0.15
