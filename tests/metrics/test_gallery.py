"""Galleries of Singling Out where shortcuts end: lists that are too short, and speakers who are not in the data."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from personare.core.errors import MetricError
from personare.metrics.privacy import gallery as gallery_file
from personare.metrics.privacy.gallery import GalleryDraw, gallery_of, isolation_in_galleries
from personare.metrics.privacy.nontargets_above import nontargets_above_in_scores
from personare.metrics.privacy.singling_chance import chance_at_rank, chance_of_isolation
from personare.metrics.privacy.singling_out import singling_out, singling_out_control

from .test_singling_out import check_against_plain, gallery_with, plain_protocol

RNG = np.random.default_rng


def test_a_list_full_of_people_who_are_not_in_the_gallery_is_looked_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Families of 16 who sound alike: where none of the others was drawn, the sorted list holds too few members."""
    monkeypatch.setattr(gallery_file, "DIRECT_CELLS", 40)
    monkeypatch.setattr(gallery_file, "DEPTH", 6)
    rng = RNG(0)
    family = np.arange(80) % 5
    voice = rng.standard_normal((5, 12))[family] + 0.05 * rng.standard_normal((80, 12))
    owner = np.repeat(np.arange(80), 4)
    test, enroll = (voice[rows] + 0.02 * rng.standard_normal((len(rows), 12)) for rows in (owner, np.arange(80)))
    gallery = gallery_of(test, owner, most=10)
    draws = [GalleryDraw.of(gallery, rng) for _ in range(9)]
    rank = gallery.conversations - 1
    fast = isolation_in_galleries(enroll, gallery, draws, own=np.arange(80), rank=rank, sizes=(16,))
    short = 0
    for d, draw in enumerate(draws):
        for row in range(80):
            others = draw.order[draw.order != row][:15]
            if row % 16 and (family[others] == family[row]).any():
                continue
            short += not (family[others] == family[row]).any()
            assert fast[row, 0, d].tolist() == plain_protocol(enroll, gallery, draw, row, 3, 16, row), (row, d)
    assert short > 5, "the case is there"


def test_small_and_large_galleries_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two people have fewer conversations than the list is deep; one predicate at a time gives the same outcomes."""
    monkeypatch.setattr(gallery_file, "DIRECT_CELLS", 60)
    whole = check_against_plain(7, (2, 7, 30), people=30)
    monkeypatch.setattr(gallery_file, "BLOCK_CELLS", 1)
    assert (whole == check_against_plain(7, (2, 7, 30), people=30)).all()


def test_voices_nearly_alike_are_decided_in_double_precision() -> None:
    rng = RNG(5)
    shared, owner = rng.standard_normal(192), np.repeat(np.arange(20), 3)
    voice = shared + 1e-3 * rng.standard_normal((20, 192))  # cosines differ in the seventh digit
    test, enroll = (voice[rows] + 5e-3 * rng.standard_normal((len(rows), 192)) for rows in (owner, np.arange(20)))
    gallery = gallery_of(test, owner, most=10)
    draw = GalleryDraw.of(gallery, rng)
    rank = gallery.conversations - 1
    fast = isolation_in_galleries(enroll, gallery, [draw], own=np.arange(20), rank=rank, sizes=(20,))
    slow = [plain_protocol(enroll, gallery, draw, row, 2, 20, row) for row in range(20)]
    assert fast[:, 0, 0].tolist() == slow and 0 < fast.mean() < 1


def test_conversations_beyond_the_tenth_of_the_last_speaker_are_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """They were among the sorted scores, where nobody owns them, when the rows came sorted by speaker."""
    monkeypatch.setattr(gallery_file, "DIRECT_CELLS", 20)
    enroll, names, test, owner = gallery_with(24, people=12)
    more = np.vstack([test, 0.01 * RNG(0).standard_normal((20, 6)) + enroll[11]])
    plain, longer = (
        singling_out(enroll, names, *sides, sizes=(6, 12), draws=2)
        for sides in ((test, owner), (more, np.append(owner, [11] * 20)))
    )
    assert (plain.isolated == longer.isolated).all() and plain.estimates == longer.estimates


def test_the_control_is_the_plain_protocol_among_the_others_only() -> None:
    enroll, names, test, owner = gallery_with(21, people=30, fewest=4, most=9)
    found = singling_out_control(enroll[:5], names[:5], test, owner, sizes=(12,), draws=2, rng=4)
    gallery = gallery_of(test[owner >= 5], owner[owner >= 5], most=10)
    rank = int(np.median(gallery.conversations)) - 1
    rng = RNG(4)
    for d, draw in enumerate([GalleryDraw.of(gallery, rng) for _ in range(2)]):
        for row in range(5):  # the first 12 of the order are the gallery; nobody is put in
            first = int(draw.order[0])
            assert found.isolated[row, 0, d].tolist() == plain_protocol(enroll, gallery, draw, first, rank, 12, row)


def test_the_control_needs_as_many_people_as_its_threshold_needs_scores() -> None:
    """Nobody in the gallery calibrates with fewer than K - 1 scores: rank r lies among the first r // (K - 1) + 1."""
    enroll = gallery_with(22, people=12)[0]
    for conversations, fewest in (([10] * 8 + [2] * 4, 10), ([4] * 12, 2), ([10] * 8 + [4] * 4, 4)):
        owner = np.repeat(np.arange(12), conversations)
        voices = RNG(1).standard_normal((len(owner), 6))
        sides = (enroll[:1], [0], voices, owner)
        if fewest > 2:
            with pytest.raises(MetricError, match=f"at least {fewest} people here; got {fewest - 1}$"):
                singling_out_control(*sides, sizes=(11, fewest - 1), draws=1)
        assert singling_out_control(*sides, sizes=(fewest, 11), draws=1).sizes == (fewest, 11)


def test_the_chance_beside_it_is_that_of_its_own_calibration() -> None:
    enroll, names, test, owner = gallery_with(23, people=20)
    assert singling_out(enroll, names, test, owner, sizes=(5, 20), draws=1).chance == (
        chance_of_isolation(5, calibration=45, rank=9),
        chance_of_isolation(20, calibration=180, rank=9),
    )
    owner = np.repeat(np.arange(20), [4] * 10 + [8] * 10)  # ranks 3 and 7; 5 calibration scores each, on average
    mixed = singling_out(enroll, names, RNG(1).standard_normal((120, 6)), owner, sizes=(10,), draws=1)
    either = [chance_of_isolation(10, calibration=50, rank=rank) for rank in (3, 7)]
    assert mixed.chance[0] == pytest.approx(sum(either) / 2, rel=1e-12)
    with pytest.raises(MetricError, match=r"within 2..20, the test speakers; got 5, 21"):
        singling_out(enroll, names, test, np.repeat(np.arange(20), 10), sizes=(5, 21), draws=1)
    few = singling_out(enroll[:5], names[:5], RNG(1).standard_normal((120, 6)), owner, sizes=(10,), draws=1)
    assert few.chance == (either[0],)


@given(st.integers(1, 40), st.integers(0, 40))
def test_one_person_is_above_the_rth_of_c_scores_with_probability_r_in_c_plus_1(rank: int, more: int) -> None:
    assert chance_at_rank(1, calibration=rank + more, rank=rank) == pytest.approx(rank / (rank + more + 1), rel=1e-9)


@pytest.mark.parametrize(("people", "calibration", "rank"), [(0, 9, 1), (5, 9, 0), (5, 9, 10)])
def test_no_chance_without_people_or_beyond_the_calibration_scores(people: int, calibration: int, rank: int) -> None:
    with pytest.raises(MetricError, match=f"got {people} and {rank}"):
        chance_at_rank(people, calibration=calibration, rank=rank)


def test_each_size_has_the_rate_of_its_own_galleries() -> None:
    enroll, names, test, owner = gallery_with(26, people=30)
    found = singling_out(enroll, names, test, owner, sizes=(2, 8, 30), draws=2)
    rates = found.isolated.mean(axis=(0, 2, 3))
    assert [e.value for e in found.estimates] == pytest.approx(rates.tolist()) and len(set(rates)) == 3
    for place, size in enumerate(found.sizes):
        assert found.risk(size).tolist() == found.isolated[:, place].mean(axis=(1, 2)).tolist()


def test_the_round_of_conversations_begins_at_any_of_them_equally_often() -> None:
    owner = np.repeat(np.arange(900), 3)
    gallery = gallery_of(RNG(0).standard_normal((2700, 2)), owner, most=10)
    draw = GalleryDraw.of(gallery, RNG(1))
    first, second = draw.place[::3], draw.place[1::3]
    assert np.bincount(first, minlength=3).min() > 250 and (second == (first + 1) % 3).all()
    assert sorted(draw.order) == list(range(900)) and (draw.order[draw.position] == np.arange(900)).all()


def test_voices_nearly_alike_of_people_with_unlike_numbers_of_conversations() -> None:
    """Each voice has a threshold of its own rank, also where it is decided again in double precision."""
    rng = RNG(6)
    shared, owner = rng.standard_normal(64), np.repeat(np.arange(16), rng.integers(2, 6, 16))
    voice = shared + 2e-3 * rng.standard_normal((16, 64))
    test, enroll = (voice[rows] + 2e-3 * rng.standard_normal((len(rows), 64)) for rows in (owner, np.arange(16)))
    gallery = gallery_of(test, owner, most=10)
    draws = [GalleryDraw.of(gallery, rng) for _ in range(3)]
    rank = gallery.conversations - 1
    fast = isolation_in_galleries(enroll, gallery, draws, own=np.arange(16), rank=rank, sizes=(5, 16))
    for d, draw in enumerate(draws):
        for s, size in enumerate((5, 16)):
            slow = [plain_protocol(enroll, gallery, draw, row, int(rank[row]), size, row) for row in range(16)]
            assert fast[:, s, d].tolist() == slow
    assert 0 < fast.mean() < 1


def test_the_first_test_with_a_score_that_is_none_is_named() -> None:
    scores = np.ones((5, 3))
    scores[[2, 4], 1] = np.nan
    with pytest.raises(MetricError, match=r"2 scores are NaN \(first: test 2\)"):
        nontargets_above_in_scores(scores, np.zeros(5, int))
