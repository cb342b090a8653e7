"""Who is learnt from, enrolled and tested: every rule deals disjoint roles, whole speakers, by the seed alone."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from personare.core.errors import CorpusError
from personare.core.seeding import Key
from personare.pipeline.roles import ENROLMENT, ROLES, TRAIN, TRIAL, one_sided, with_roles
from personare.pipeline.study import CorpusChoice, Parts

KEY = Key.from_seed(1)


def frame(counts: list[int], **columns: list[str]) -> pl.DataFrame:
    """So many utterances of each speaker."""
    rows = [(f"s{s:02d}-{u:02d}", f"s{s:02d}", "fm"[s % 2]) for s, n in enumerate(counts) for u in range(n)]
    made = pl.DataFrame(rows, schema=["utterance", "speaker", "gender"], orient="row")
    made = made.with_columns(audio=pl.col("utterance"), duration_s=pl.lit(10.0))
    return made.with_columns(**{name: pl.Series(name, values) for name, values in columns.items()})


def count(table: pl.DataFrame, role: str) -> dict[str, int]:
    rows = table.filter(pl.col("role") == role)["speaker"].value_counts().sort("speaker")
    return dict(rows.iter_rows())


@settings(max_examples=25)
@given(st.lists(st.integers(2, 9), min_size=4, max_size=8), st.integers(0, 2), st.integers(0, 9))
def test_roles_are_disjoint_and_speakers_whole(counts: list[int], train: int, seed: int) -> None:
    found, _ = with_roles(frame(counts), CorpusChoice(train=train), Key.from_seed(seed))
    assert found["utterance"].is_unique().all() and set(found["role"]) <= set(ROLES)
    learnt = set(found.filter(pl.col("role") == TRAIN)["speaker"])
    attacked = set(found.filter(pl.col("role") != TRAIN)["speaker"])
    assert len(learnt) == train and not learnt & attacked and len(found) == sum(counts)
    assert one_sided(found) == ([], [])
    again, _ = with_roles(frame(counts).reverse(), CorpusChoice(train=train), Key.from_seed(seed))
    assert again.equals(found)  # the order of the table does not matter


def test_halves_and_counts() -> None:
    halves, _ = with_roles(frame([5, 4]), CorpusChoice(), KEY)
    assert count(halves, ENROLMENT) == {"s00": 3, "s01": 2} and count(halves, TRIAL) == {"s00": 2, "s01": 2}
    counted, _ = with_roles(frame([5, 4, 1]), CorpusChoice(split="count", enrolment=1), KEY)
    assert count(counted, TRIAL) == {"s00": 4, "s01": 3} and one_sided(counted) == (["s02"], [])


def test_sets_a_and_b_of_the_legal_paper() -> None:
    """Everybody in B is in A with other utterances; who has enough for A only is in A only, who has less nowhere."""
    choice = CorpusChoice(split="sets", min_speech=(2, 3))
    found, notes = with_roles(frame([10, 5, 4, 2, 1]), choice, KEY)
    assert count(found, ENROLMENT) == {"s00": 4, "s01": 2, "s02": 4, "s03": 2}
    assert count(found, TRIAL) == {"s00": 6, "s01": 3}
    assert notes == ["1 of 22 utterances have no role and are not used"] and choice.on_one_side == "keep"
    seconds, _ = with_roles(
        frame([10, 5, 4]),
        CorpusChoice(path=Path(), split="sets", min_speech=(20, 30), unit="seconds"),
        KEY,
    )
    assert count(seconds, TRIAL) == {"s00": 6, "s01": 3}


def test_lists_of_the_challenge_and_parts_of_a_manifest() -> None:
    listed = frame([4, 4], role=["enroll", "enroll", "test", "test"] * 2)
    found, _ = with_roles(listed, CorpusChoice(split="lists"), KEY)
    assert count(found, ENROLMENT) == count(found, TRIAL) == {"s00": 2, "s01": 2}
    with pytest.raises(CorpusError, match="needs a VoicePrivacy data directory"):
        with_roles(frame([4, 4]), CorpusChoice(split="lists"), KEY)
    parts = frame([2, 2, 2], part=["learn", "learn", "a", "b", "a", "b"])
    found, _ = with_roles(parts, CorpusChoice(parts=Parts(train="learn", enrolment=("a",), trial="b")), KEY)
    assert count(found, TRAIN) == {"s00": 2} and count(found, ENROLMENT) == count(found, TRIAL) == {"s01": 1, "s02": 1}


def test_too_many_set_aside_is_one_line() -> None:
    with pytest.raises(CorpusError, match="5 speakers, 4 of them are set aside for train and calibration; at least 2"):
        with_roles(frame([4] * 5), CorpusChoice(train=3, calibration=1), KEY)
    share, _ = with_roles(frame([4] * 10), CorpusChoice(train=0.4), KEY)
    assert len(count(share, TRAIN)) == 4
    genders = share.filter(pl.col("role") == TRAIN)["gender"].value_counts()["count"].to_list()
    assert genders == [8, 8]  # genders take turns


def test_a_large_corpus_is_limited_by_the_seed() -> None:
    choice = CorpusChoice(path=Path(), speakers=3, utterances=4)
    found, _ = with_roles(frame([9] * 12), choice, KEY)
    assert found["speaker"].n_unique() == 3 and len(found) == 12
