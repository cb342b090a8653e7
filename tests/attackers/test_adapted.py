"""The fine-tuned attacker: its gradients are right, it finds what a published layer throws away, it refuses leaks."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from personare.attackers import scorer as make_scorer
from personare.attackers.adapted import STEPS, AdaptedScorer, FittedAdapter
from personare.attackers.backend import MOST_NUMBERS, BackendFits
from personare.attackers.knowledge import Knowledge
from personare.attackers.margin import MarginTraining, margin_loss, trained_adapters
from personare.attackers.scoring import enrolled, score_all
from personare.attackers.split import Anonymization, EmbeddedSpeech, Split, TrainingVectors
from personare.core.errors import ConfigError, LeakError
from personare.core.fingerprint import SystemIdentity
from personare.core.tables import Embeddings
from personare.encoders import ecapa_pooled

SYSTEM = SystemIdentity("a system", "a system")
DIMENSIONS, KEPT, IDENTITY = 60, 8, 5


def people(prefix: str, count: int, seed: int, *, each: int = 5) -> EmbeddedSpeech:
    """Speech whose first numbers are loud and say nothing; who speaks is in a few directions of the others."""
    rng = np.random.default_rng(seed)
    mixing = np.random.default_rng(99).normal(size=(IDENTITY, DIMENSIONS - KEPT))
    rows, ids, speakers = [], [], []
    for s in range(count):
        who = rng.normal(size=IDENTITY) @ mixing
        for u in range(each):
            loud = 2.0 * rng.normal(size=KEPT)
            rows.append(np.concatenate([loud, 0.4 * who + 0.6 * rng.normal(size=DIMENSIONS - KEPT)]))
            ids.append(f"{prefix}{s}-{u}")
            speakers.append(f"{prefix}{s}")
    table = Embeddings(tuple(ids), tuple(speakers), np.array(rows, np.float32))
    return EmbeddedSpeech(table, Anonymization(SYSTEM, prefix))


def training_of(train: EmbeddedSpeech, *, name: str = "some") -> TrainingVectors:
    nobody = np.zeros((1, train.embeddings.vectors.shape[1]), np.float32)
    sides = [EmbeddedSpeech(Embeddings((n,), ("nobody",), nobody), Anonymization(SYSTEM, n)) for n in ("e", "t")]
    split = Split(Knowledge.INFORMED, sides[0], sides[1], train)
    return replace(split.training_vectors(), part_names=(name,))


def test_the_gradients_are_those_of_the_loss() -> None:
    rng = np.random.default_rng(1)
    z, directions, speaker = rng.normal(size=(6, 4)), rng.normal(size=(3, 4)), np.array([0, 1, 2, 0, 1, 2])
    example = rng.uniform(0.1, 1, 6)
    settings = MarginTraining(margin=0.3, scale=5.0)
    _, on_z, on_directions = margin_loss(z, directions, speaker, example, settings)
    step = 1e-6
    for array, gradient in ((z, on_z), (directions, on_directions)):
        for place in np.ndindex(array.shape):
            kept = array[place]
            found = []
            for sign in (1, -1):
                array[place] = kept + sign * step
                found.append(margin_loss(z, directions, speaker, example, settings)[0])
            array[place] = kept
            assert (found[0] - found[1]) / (2 * step) == pytest.approx(gradient[place], abs=1e-6)


def test_training_lowers_the_loss_and_begins_with_nothing() -> None:
    speech = training_of(people("p", 10, 3))
    x = speech.vectors.astype(np.float64)
    base = x[:, :KEPT]
    settings = MarginTraining(rank=4)
    adapters = list(
        trained_adapters(x, base, speech.speaker, steps=(0, 60), settings=settings, rng=np.random.default_rng(1))
    )
    assert not adapters[0](x).any(), "before the first step the layer is as published"
    directions = np.stack([base[speech.speaker == s].mean(0) for s in range(10)])
    example = np.full(len(x), 1 / len(x))
    before, after = (margin_loss(base + one(x), directions, speech.speaker, example, settings)[0] for one in adapters)
    assert after < before


def test_an_adapted_layer_finds_what_the_published_one_throws_away(monkeypatch: pytest.MonkeyPatch) -> None:
    published = np.eye(KEPT, DIMENSIONS)  # keeps only what says nothing
    monkeypatch.setattr(ecapa_pooled, "last_layer", lambda: published)
    training = training_of(people("p", 40, 1), name=ecapa_pooled.NAME)
    fitted = AdaptedScorer(MarginTraining(rank=8, rate=1e-2)).fit(training)
    assert isinstance(fitted, FittedAdapter)
    assert fitted.steps > 0 and fitted.steps in STEPS
    assert fitted.plain_area < 0.6 and fitted.area > 0.75, "held-out training speakers say so"
    attacked = people("q", 20, 2).embeddings
    rows = np.arange(len(attacked.ids))
    enroll, test = attacked.rows(rows[rows % 5 < 3].tolist()), attacked.rows(rows[rows % 5 >= 3].tolist())
    scores = score_all(test, enrolled(enroll), scorer=fitted)
    right = (scores.targets[:, None] > scores.nontargets).mean()
    assert right > 0.75, "and so do people it has never heard"
    (choice,) = fitted.choices
    assert choice.embedder == ecapa_pooled.NAME and f"{fitted.steps} steps" in choice.comparison
    with pytest.raises(LeakError):
        fitted.check(["q1", "p1"])


def test_what_cannot_work_is_one_line() -> None:
    scorer = make_scorer("adapted")
    assert scorer.learns
    with pytest.raises(ConfigError, match="learns from speech of other people"):
        scorer.fit(None)
    with pytest.raises(ConfigError, match="8 training speakers"):
        scorer.fit(training_of(people("p", 6, 1)))
    with pytest.raises(ConfigError, match="not for a fusion"):
        scorer.fit(replace(training_of(people("p", 10, 1)), widths=(KEPT, DIMENSIONS - KEPT)))


def test_vectors_too_long_for_a_covariance_are_refused() -> None:
    speech = people("p", 8, 1)
    wide = np.zeros((len(speech.embeddings.ids), MOST_NUMBERS + 1), np.float32)
    table = Embeddings(speech.embeddings.ids, speech.embeddings.speakers, wide)
    with pytest.raises(ConfigError, match="use scorer: adapted"):
        BackendFits(training_of(EmbeddedSpeech(table, speech.anonymization)))
