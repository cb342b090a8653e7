"""The label maker: emotions are told apart in closed form, differences between speakers count as noise."""

from __future__ import annotations

import numpy as np
import pytest

from personare.core.errors import WeightsError
from personare.encoders.expression.labels import LABELS, SIZE, LabelMaker, encode_labels, read_labels
from personare.training.expression import (
    CLEAN,
    CONDITIONS,
    LabelSettings,
    MeasuredSpeech,
    fit_labels,
    labels_of,
    left_out,
    recalls,
    recorded_as,
)

RATE_HZ = 16_000
SPEAKER = 1  # the direction in which invented speakers differ


def speech(people: int, *, acted: bool, seed: int, speaker_spread: float = 3.0) -> MeasuredSpeech:
    """Invent numbers: emotions differ along a few directions, speakers along one that one emotion shares."""
    rng = np.random.default_rng(seed)
    numbers, facts = [], []
    for person in range(people):
        offset = np.zeros(SIZE)
        offset[SPEAKER] = speaker_spread * rng.normal()
        for label in LABELS if acted else ("",):
            for _ in range(6):
                row = offset + rng.normal(size=SIZE)
                if label and label != LABELS[-1]:
                    row[2 + 3 * LABELS.index(label)] += 5.0
                    row[SPEAKER] += 3.0 * (label == LABELS[0])
                numbers.append(row)
                facts.append((f"{seed}-{person}", "acted" if acted else "read", label, CLEAN))
    return MeasuredSpeech(np.array(numbers), *np.array(facts).T)


@pytest.fixture(scope="module")
def maker() -> LabelMaker:
    return fit_labels(speech(8, acted=True, seed=1), speech(20, acted=False, seed=2), LabelSettings())


def test_emotions_of_other_speakers_are_told_apart(maker: LabelMaker) -> None:
    others = speech(6, acted=True, seed=3)
    for known in (False, True):
        given = labels_of(maker, others, knows_speaker=known)
        assert recalls(given, others.emotions, LABELS)["uar"] > 80


def test_speakers_who_differ_count_as_noise() -> None:
    acted, read = speech(8, acted=True, seed=1), speech(20, acted=False, seed=2)
    change = np.zeros(SIZE)
    change[SPEAKER] = 6.0
    moved = []
    for weight in (0.0, 30.0):
        fitted = fit_labels(acted, read, LabelSettings(speaker_weight=weight, shrinkage=0.05))
        scores = fitted._alone[:, :-1] @ (change / fitted.scale)[: fitted._alone.shape[1] - 1]
        moved.append(float(np.ptp(scores)))
    assert moved[1] < moved[0]


def test_an_actor_is_never_labelled_by_a_maker_that_heard_them() -> None:
    acted = speech(3, acted=True, seed=1)
    given = left_out(acted, speech(8, acted=False, seed=2), LabelSettings(), knows_speaker=False)
    assert len(given) == len(acted.numbers) and set(given.tolist()) <= set(LABELS)


def test_a_label_maker_survives_its_file(maker: LabelMaker) -> None:
    again = read_labels(encode_labels(maker), where="a file")
    some = speech(1, acted=True, seed=4).numbers
    assert [again.label(row) for row in some] == [maker.label(row) for row in some]


def test_another_file_is_one_line() -> None:
    for content in (b"", b"PK\x03\x04", b"no archive"):
        with pytest.raises(WeightsError, match="a file: not a label maker"):
            read_labels(content, where="a file")


@pytest.mark.parametrize("condition", CONDITIONS)
def test_a_condition_keeps_length_and_is_repeatable(condition: str) -> None:
    samples = np.sin(np.arange(RATE_HZ) * 0.1).astype(np.float32)
    one, other = (recorded_as(samples, condition, rng=np.random.default_rng(1)) for _ in range(2))
    assert len(one) == len(samples) and np.array_equal(one, other)
    assert (condition == CLEAN) == np.array_equal(one, samples)
