"""Secret numbers are read off speech by people never heard, and undoing them brings a voice back towards itself."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from conftest import hum
from personare.anonymizers import anonymizer
from personare.attackers import embedder
from personare.attackers.inversion import (
    SecretEstimator,
    fit_estimator,
    load_estimator,
    recording_numbers,
    secret_names_of,
)
from personare.core.audio import Audio, read_mono
from personare.core.errors import ConfigError, LeakError
from personare.core.vectors import cosine

Floats = NDArray[np.float64]
CHAIN = [{"name": "world"}, {"name": "mcadams", "parameters": {"alpha": [0.8, 0.9]}}]
PARAMETRIC: dict[str, dict[str, object]] = {"mcadams": {}, "world": {}, "formants": {}, "chain": {"steps": CHAIN}}


def learnt(seed: int = 1) -> tuple[Floats, Floats, list[str], SecretEstimator]:
    rng = np.random.default_rng(seed)
    numbers = rng.normal(size=(48, 6))
    secrets = numbers[:, :2] @ np.array([[1.0, 0.3], [-0.5, 0.2]]) + np.array([4.0, 1.0])
    speakers = [f"s{i // 4:02d}" for i in range(48)]
    return numbers, secrets, speakers, fit_estimator(numbers, secrets, speakers)


def test_a_linear_secret_is_read_exactly_but_for_the_shrinkage() -> None:
    numbers, secrets, _, estimator = learnt()
    found = np.array([estimator(row, speaker="nobody") for row in numbers])
    assert np.abs(found - secrets).max() < 0.15


def test_who_was_learnt_from_is_read_by_a_map_that_has_not_heard_them() -> None:
    numbers, secrets, speakers, estimator = learnt()
    wrong = secrets.copy()
    own = np.array([name == "s03" for name in speakers])
    wrong[own] = -100.0  # what is said about one speaker must not change what is read off their own recordings
    other = fit_estimator(numbers, wrong, speakers)
    fold = dict(zip(other.speakers, other.folds, strict=True))["s03"]
    assert np.allclose(other.offsets[fold], estimator.offsets[fold], atol=0.2)
    assert not np.allclose(other.offsets[-1], estimator.offsets[-1], atol=0.2)


def test_an_estimate_stays_within_what_was_seen() -> None:
    numbers, secrets, _, estimator = learnt()
    far = estimator(numbers[0] * 1000, speaker="nobody")
    assert (far >= secrets.min(0)).all()
    assert (far <= secrets.max(0)).all()


def test_an_estimator_survives_its_file_and_refuses_who_it_has_learnt_from(tmp_path: Path) -> None:
    numbers, _, _, estimator = learnt()
    estimator.save(tmp_path / "estimator.npz")
    again = load_estimator(tmp_path / "estimator.npz")
    for who in ("nobody", "s05"):
        assert np.array_equal(again(numbers[7], speaker=who), estimator(numbers[7], speaker=who))
    again.refuse(["somebody else"])
    with pytest.raises(LeakError, match="1 attacked speakers were learnt from"):
        again.refuse(["somebody else", "s05"])


def test_one_utterance_is_too_few() -> None:
    with pytest.raises(ConfigError, match="2 utterances or more, not 1"):
        fit_estimator(np.zeros((1, 3)), np.zeros((1, 1)), ["a"])


def test_methods_say_what_is_secret_and_others_that_nothing_can_be_undone() -> None:
    assert secret_names_of(anonymizer("mcadams")) == ("alpha", "radius")
    assert len(secret_names_of(anonymizer("chain", steps=CHAIN))) == 6
    assert secret_names_of(anonymizer("chain", steps=[{"name": "mcadams"}, {"name": "xvector"}])) == ()
    assert secret_names_of(anonymizer("xvector")) == ()
    with pytest.raises(ConfigError, match="cannot be undone"):
        anonymizer("chain", steps=[{"name": "xvector"}]).undo(hum(1), np.zeros(0))  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", PARAMETRIC)
def test_secrets_are_what_a_call_draws_and_undoing_keeps_length_and_rate(name: str) -> None:
    method = anonymizer(name, **PARAMETRIC[name])
    audio = hum(3, duration_s=0.6)
    one, again, other = (method.secrets(audio, rng=np.random.default_rng(seed)) for seed in (1, 1, 2))  # type: ignore[attr-defined]
    assert one.shape == (len(method.secret_names),)  # type: ignore[attr-defined]
    assert np.array_equal(one, again)
    assert not np.array_equal(one, other)
    hidden = method(audio, rng=np.random.default_rng(1))
    undone = method.undo(hidden, one)  # type: ignore[attr-defined]
    assert (len(undone.samples), undone.rate_hz) == (len(audio.samples), audio.rate_hz)
    assert np.isfinite(undone.samples).all()


def test_alpha_is_undone_where_it_is_known_and_read_off_voices_never_heard() -> None:
    method = anonymizer("mcadams", alpha=(0.6, 0.95))
    voices = [hum(i, duration_s=0.5, f0_hz=100.0 + 7 * i) for i in range(20)]
    draws = [np.random.default_rng([5, i, d]) for i in range(20) for d in range(2)]
    heard = [voices[i // 2] for i in range(40)]
    secrets = np.array([method.secrets(a, rng=np.random.default_rng([5, i // 2, i % 2])) for i, a in enumerate(heard)])  # type: ignore[attr-defined]
    hidden = [method(audio, rng=rng) for audio, rng in zip(heard, draws, strict=True)]
    numbers = np.array([recording_numbers(audio) for audio in hidden])
    estimator = fit_estimator(numbers, secrets, [f"s{i // 2:02d}" for i in range(40)])
    found = np.array([estimator(row, speaker=f"s{i // 2:02d}")[0] for i, row in enumerate(numbers)])
    assert np.corrcoef(found, secrets[:, 0])[0, 1] > 0.5  # each by a map that has not heard the voice
    nearer = [
        _distance(before, method.undo(after, known)) < _distance(before, after)  # type: ignore[attr-defined]
        for before, after, known in list(zip(heard, hidden, secrets, strict=True))[::4]
    ]
    assert np.mean(nearer) > 0.8


def _distance(one: Audio, two: Audio) -> float:
    """How far two recordings are apart in the long-term spectrum of what is spoken."""
    first, second = (recording_numbers(audio)[:40] for audio in (one, two))
    return float(np.square(first - second).mean())


@pytest.mark.shared
@pytest.mark.models
@pytest.mark.parametrize("name", ["mcadams", "world", "formants"])
def test_undoing_known_secrets_brings_a_real_voice_back(name: str, shared_folder: Path) -> None:
    audio = read_mono(sorted((shared_folder / "corpus" / "audio").glob("so762-*/*"))[0])
    method = anonymizer(name)
    before, after = [], []
    for seed in (1, 2):
        hidden = method(audio, rng=np.random.default_rng(seed))
        undone = method.undo(hidden, method.secrets(audio, rng=np.random.default_rng(seed)))  # type: ignore[attr-defined]
        vectors = embedder("ecapa")([audio, hidden, undone])
        near = cosine(vectors[:1], vectors[1:])[0]
        before.append(near[0])
        after.append(near[1])
    assert np.mean(after) > np.mean(before) + 0.05
