"""Scores of all trials equal those of a plain loop, whatever the block; enrolment is the mean of unit vectors."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray

from personare.attackers import scoring
from personare.core.errors import TableError
from personare.core.tables import Embeddings, Trials
from personare.core.vectors import cosine

GENDERS: dict[str, str | None] = {"a": "f", "b": "f", "c": "m", "d": None, "e": None}


def _some(seed: int, *, prefix: str, each: int = 3) -> Embeddings:
    rng = np.random.default_rng(seed)
    speakers = tuple(s for s in GENDERS for _ in range(each))
    ids = tuple(f"{prefix}{s}{i}" for i, s in enumerate(speakers))
    return Embeddings(ids, speakers, rng.normal(size=(len(ids), 4)).astype(np.float32))


def _cosine(a: NDArray[np.float32], b: NDArray[np.float32]) -> float:
    return float(a @ b / np.sqrt((a @ a) * (b @ b)))


@pytest.mark.parametrize("block", [1, 7, 1 << 22])
@pytest.mark.parametrize("genders", [None, GENDERS])
def test_all_trials_equal_a_plain_loop(
    monkeypatch: pytest.MonkeyPatch, block: int, genders: dict[str, str | None] | None
) -> None:
    monkeypatch.setattr(scoring, "_BLOCK", block)
    test, enroll = _some(1, prefix="t"), scoring.enrolled(_some(2, prefix="e"))
    rows = scoring.score_all(test, enroll, genders=genders).table().frame
    expected = [
        (e, t, who == e, _cosine(x, y))
        for t, who, x in zip(test.ids, test.speakers, test.vectors, strict=True)
        for e, y in zip(enroll.ids, enroll.vectors, strict=True)
        if genders is None or genders[who] == genders[e]
    ]
    assert rows.select("enroll", "test", "target").rows() == [row[:3] for row in expected]
    np.testing.assert_allclose(rows["score"].to_numpy(), np.array([row[3] for row in expected], float), atol=1e-6)


def test_enrolment_is_the_mean_of_unit_vectors() -> None:
    vectors = np.array([[3, 4], [0, 2], [5, 0]], np.float32)
    found = scoring.enrolled(Embeddings(("1", "2", "3"), ("z", "a", "z"), vectors))
    assert found.ids == found.speakers == ("a", "z")
    np.testing.assert_allclose(found.vectors, np.array([[0, 1], [0.8, 0.4]]), atol=1e-6)


def test_a_loud_utterance_weighs_no_more_in_the_scores() -> None:
    """The scores behind the EER: enrolment by the raw mean would follow the loudest utterance."""
    enroll, test = _some(2, prefix="e"), _some(1, prefix="t")
    gain = np.random.default_rng(5).choice([0.02, 50.0], len(enroll.ids)).astype(np.float32)
    louder = Embeddings(enroll.ids, enroll.speakers, enroll.vectors * gain[:, None])
    plain = scoring.score_all(test, scoring.enrolled(enroll)).score
    np.testing.assert_allclose(scoring.score_all(test, scoring.enrolled(louder)).score, plain, atol=1e-6)
    raw = scoring.score_all(test, scoring.enrolled(louder, unit_first=False)).score
    assert np.abs(raw - plain).max() > 0.1


def test_an_utterance_never_meets_itself() -> None:
    same = _some(3, prefix="u")
    rows = scoring.score_all(same, same).table().frame
    assert len(rows) == 15 * 14
    assert not (rows["enroll"] == rows["test"]).any()


@pytest.mark.parametrize("block", [1, 4, 1 << 22])
def test_listed_trials_get_the_same_scores(monkeypatch: pytest.MonkeyPatch, block: int) -> None:
    test, enroll = _some(1, prefix="t"), scoring.enrolled(_some(2, prefix="e"))
    everything = scoring.score_all(test, enroll).table().frame.sample(fraction=0.5, shuffle=True, seed=1)
    monkeypatch.setattr(scoring, "_BLOCK", block)
    found = scoring.score_trials(Trials(everything.drop("score")), test, enroll)
    np.testing.assert_allclose(found.score, everything["score"].to_numpy(), atol=1e-6)
    assert found.table().frame["target"].to_list() == everything["target"].to_list()


def test_any_scorer_fits() -> None:
    test, enroll = _some(1, prefix="t"), scoring.enrolled(_some(2, prefix="e"))

    def distance(test: NDArray[np.float32], enroll: NDArray[np.float32]) -> NDArray[Any]:
        apart: NDArray[Any] = np.linalg.norm(test[:, None] - enroll[None], axis=2)
        return -apart

    found = scoring.score_all(test, enroll, scorer=distance)
    assert found.score[0] == -np.linalg.norm(test.vectors[0] - enroll.vectors[0])
    assert len(found.targets) == 15
    assert len(found.nontargets) == 15 * 4


def test_wrong_names_and_widths_are_one_line() -> None:
    test, enroll = _some(1, prefix="t"), scoring.enrolled(_some(2, prefix="e"))
    odd = Trials(pl.DataFrame({"enroll": ["a", "nobody"], "test": [test.ids[0]] * 2, "target": [True, False]}))
    with pytest.raises(TableError, match="1 trials name a enroll without a vector \\(first: 'nobody'\\)"):
        scoring.score_trials(odd, test, enroll)
    with pytest.raises(TableError, match="4 and 3 numbers"):
        scoring.score_all(test, Embeddings(("a",), ("a",), np.ones((1, 3), np.float32)))


def test_nothing_to_score() -> None:
    none = Embeddings((), (), np.zeros((0, 4), np.float32))
    assert len(scoring.score_all(none, scoring.enrolled(_some(2, prefix="e"))).score) == 0
    assert len(scoring.score_all(_some(2, prefix="e"), scoring.enrolled(none)).score) == 0


def test_a_silent_vector_is_like_nobody() -> None:
    scores = cosine(np.zeros((1, 3), np.float32), np.ones((2, 3), np.float32))
    np.testing.assert_array_equal(scores, [[0, 0]])
