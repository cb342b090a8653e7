"""Singling Out: every fold against a plain loop, guessing against simulation and quoted values, laws, bad input."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from personare.core.errors import MetricError
from personare.core.vectors import cosine
from personare.metrics.privacy.gallery import Gallery, GalleryDraw, gallery_of, isolation_in_galleries
from personare.metrics.privacy.isolation import highest
from personare.metrics.privacy.singling_chance import TRIVIAL, chance_at_rank, chance_of_isolation
from personare.metrics.privacy.singling_out import CARD, singling_out, singling_out_control

Floats = NDArray[np.float64]


def gallery_with(
    seed: int, *, people: int, fewest: int = 10, most: int = 10, noise: float = 1.0
) -> tuple[Floats, NDArray[np.intp], Floats, NDArray[np.intp]]:
    """Enrolment of each person, and their conversations: vectors and speakers."""
    rng = np.random.default_rng(seed)
    voice = rng.standard_normal((people, 6))
    owner = np.repeat(np.arange(people), rng.integers(fewest, most + 1, people))
    enroll = voice + 0.3 * noise * rng.standard_normal(voice.shape)
    return enroll, np.arange(people), voice[owner] + noise * rng.standard_normal((len(owner), 6)), owner


def plain_protocol(
    enroll: Floats, gallery: Gallery, draw: GalleryDraw, own: int, rank: int, size: int, row: int
) -> list[bool]:
    """The protocol of section 3.4 for one predicate, one draw and one size, written as the paper tells it."""
    others = [s for s in draw.order if s != own]
    members = [own, *others[: size - 1]]
    outcomes = []
    for fold in range(gallery.folds):
        test: list[float] = []
        calibration: list[float] = []
        for s in members:
            rows = range(gallery.start[s], gallery.start[s] + gallery.conversations[s])
            for c in rows:
                x, e = gallery.vectors[c], enroll[row]
                score = float(x @ e / np.sqrt((x @ x) * (e @ e)))
                is_test = draw.place[c] == fold % gallery.conversations[s]
                (test if is_test else calibration).append(score)
        assert len(test) == size, "one test entry per person"
        calibration.sort(reverse=True)
        threshold = (calibration[rank - 1] + calibration[rank]) / 2
        outcomes.append(sum(score > threshold for score in test) == 1)
    return outcomes


def check_against_plain(seed: int, sizes: Sequence[int], **kind: Any) -> NDArray[np.bool_]:
    enroll, names, test, owner = gallery_with(seed, **kind)
    gallery = gallery_of(test, owner, most=10)
    rng = np.random.default_rng(seed)
    draws = [GalleryDraw.of(gallery, rng) for _ in range(2)]
    rank = gallery.conversations - 1
    fast = isolation_in_galleries(enroll, gallery, draws, own=names, rank=rank, sizes=sizes)
    for row in range(0, len(names), max(1, len(names) // 7)):
        for d, draw in enumerate(draws):
            for s, size in enumerate(sizes):
                slow = plain_protocol(enroll, gallery, draw, int(names[row]), int(rank[row]), size, row)
                assert fast[row, s, d].tolist() == slow, (row, size, d)
    return fast


# reference: the plain loop over folds


def test_every_fold_equals_the_plain_protocol_in_small_galleries() -> None:
    fast = check_against_plain(1, (2, 5, 20, 39, 40), people=40)
    assert 0.2 < fast.mean() < 1.0


def test_every_fold_equals_the_plain_protocol_from_sorted_lists(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("personare.metrics.privacy.gallery.DIRECT_CELLS", 100)
    monkeypatch.setattr("personare.metrics.privacy.gallery.DEPTH", 14)
    monkeypatch.setattr("personare.metrics.privacy.gallery.BLOCK_CELLS", 9000)
    monkeypatch.setattr("personare.metrics.privacy.isolation.STRIDE", 4)
    check_against_plain(2, (5, 30, 80), people=80, noise=2.0)


def test_footnote_4_few_conversations_per_speaker() -> None:
    fast = check_against_plain(3, (2, 6, 25), people=25, fewest=2, most=10)
    assert fast.shape == (25, 3, 2, 10)
    assert check_against_plain(4, (4, 12), people=12, fewest=2, most=2).shape[3] == 2, "two conversations, two folds"


def test_voices_so_close_that_one_fold_fills_the_list(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("personare.metrics.privacy.gallery.DEPTH", 10)  # always too shallow: ten calibrate
    check_against_plain(5, (20, 30), people=30)


@pytest.mark.parametrize("people", [40, 120])
def test_voices_whose_cosines_single_precision_cannot_tell_apart(people: int) -> None:
    """All cosines lie within 2e-7 of each other; in double precision every voice isolates its owner."""
    rng = np.random.default_rng(8)
    voice, owner = rng.uniform(-1, 1, (people, 6)), np.repeat(np.arange(people), 10)
    heard = voice[owner] + 0.001 * rng.standard_normal((len(owner), 6))
    squeezed = [np.hstack([np.ones((len(x), 1)), 1e-4 * x]) for x in (voice, heard)]
    scores = cosine(squeezed[0], squeezed[1])
    assert np.ptp(scores) < 2e-7
    found = singling_out(squeezed[0], np.arange(people), squeezed[1], owner, sizes=(20, people), draws=2)
    assert [e.value for e in found.estimates] == [1.0, 1.0]


def test_all_ten_folds_differ() -> None:
    enroll, names, test, owner = gallery_with(6, people=60)
    found = singling_out(enroll, names, test, owner, sizes=(60,))
    assert found.isolated.shape == (60, 1, 5, 10)
    folds = found.isolated[:, 0].reshape(60, -1)
    assert len({tuple(column) for column in folds.T.tolist()}) == 50, "50 runs, 50 different tests"
    gallery = gallery_of(test, owner, most=10)
    place = GalleryDraw.of(gallery, np.random.default_rng(0)).place
    for fold in range(10):
        assert sorted(owner[place == fold]) == list(range(60)), "each fold tests each speaker once"


@pytest.mark.parametrize(("columns", "many"), [(30, 5), (30, 30), (1100, 12), (5000, 40), (5000, 1)])
def test_the_highest_scores_are_those_of_a_full_sort(columns: int, many: int) -> None:
    block = np.random.default_rng(columns).standard_normal((4, columns)).astype(np.float32)
    found = highest(block, many)
    assert found.shape == (4, many)
    assert (found == np.argsort(-block, axis=1, kind="stable")[:, :many]).all()
    crowded = np.zeros((1, 4000), dtype=np.float32)  # every guess of a bound keeps far too many
    crowded[0, [7, 300, 3999]] = [3.0, 2.0, 1.0]
    assert highest(crowded, 3).tolist() == [[7, 300, 3999]]
    mixed = np.vstack([crowded] * 400 + [np.random.default_rng(0).standard_normal((3, 4000)).astype(np.float32)])
    assert (highest(mixed, 3) == np.argsort(-mixed, axis=1, kind="stable")[:, :3]).all()


# closed forms: chance


@pytest.mark.parametrize(
    ("people", "each", "quoted"),
    [(20, 9, 0.3583), (100, 9, 0.3530), (1000, 9, 0.3527), (1000, 5, 0.338), (1000, 3, 0.322), (1000, 1, 0.279)],
)
def test_chance_agrees_with_the_values_measured_elsewhere(people: int, each: int, quoted: float) -> None:
    assert chance_of_isolation(people, calibration=each * people, rank=each) == pytest.approx(quoted, abs=0.006)


@pytest.mark.parametrize(("people", "each"), [(20, 9), (20, 1), (3, 2)])
def test_chance_agrees_with_simulation(people: int, each: int) -> None:
    rng = np.random.default_rng(7)
    hits = runs = 0
    for _ in range(8):
        calibration = np.sort(rng.standard_normal((10_000, each * people), dtype=np.float32), axis=1)
        threshold = (calibration[:, -each] + calibration[:, -each - 1]) / 2
        above = (rng.standard_normal((10_000, people), dtype=np.float32) > threshold[:, None]).sum(axis=1)
        hits, runs = hits + int((above == 1).sum()), runs + 10_000
    chance = chance_of_isolation(people, calibration=each * people, rank=each)
    assert abs(hits / runs - chance) < 4 * math.sqrt(chance * (1 - chance) / runs)


def test_a_threshold_at_the_score_itself_has_the_closed_form() -> None:
    rng = np.random.default_rng(8)
    threshold = np.sort(rng.random((40_000, 90)), axis=1)[:, -9]
    rate = ((rng.random((40_000, 10)) > threshold[:, None]).sum(axis=1) == 1).mean()
    assert abs(rate - chance_at_rank(10, calibration=90, rank=9)) < 0.01
    low, high = (chance_at_rank(500, calibration=4500, rank=r) for r in (9, 10))
    assert low < chance_of_isolation(500, calibration=4500, rank=9) < max(high, TRIVIAL)


def test_noise_singles_out_at_the_chance_of_the_protocol_not_at_37_percent() -> None:
    rng = np.random.default_rng(9)
    enroll, test = rng.standard_normal((150, 200)), rng.standard_normal((1500, 200))
    found = singling_out(enroll, np.arange(150), test, np.repeat(np.arange(150), 10), sizes=(20, 150))
    for estimate, chance in zip(found.estimates, found.chance, strict=True):
        assert abs(estimate.value - chance) < 0.02
        assert estimate.low < chance < estimate.high
    assert CARD.chance == TRIVIAL == pytest.approx(0.3679, abs=1e-4)


def test_distinct_voices_are_always_isolated_and_identical_ones_never() -> None:
    names = np.arange(30)
    distinct = singling_out(np.eye(30), names, np.eye(30).repeat(10, axis=0), names.repeat(10), sizes=(30,))
    assert distinct.estimates[0].value == 1.0 and (distinct.risk() == 1.0).all()
    same = singling_out(np.ones((30, 4)), names, np.ones((300, 4)), names.repeat(10), sizes=(2, 30))
    assert [e.value for e in same.estimates] == [0.0, 0.0]
    assert same.estimates[0].high > 0, "30 speakers who are never isolated do not prove zero"


def test_the_control_takes_the_speakers_out_of_the_gallery() -> None:
    enroll, names, test, owner = gallery_with(10, people=200, noise=0.2)
    attack = singling_out(enroll[:60], names[:60], test, owner, sizes=(100,))
    control = singling_out_control(enroll[:60], names[:60], test, owner, sizes=(100,))
    assert attack.estimates[0].low > control.estimates[0].high
    with pytest.raises(MetricError, match="not enrolled"):
        singling_out_control(enroll, names, test, owner)


# laws


@settings(max_examples=8)
@given(st.integers(0, 10**6))
def test_scale_and_names_change_nothing(seed: int) -> None:
    enroll, names, test, owner = gallery_with(seed, people=12, fewest=3)
    plain = singling_out(enroll, names, test, owner, sizes=(3, 12))
    letters = np.array([f"speaker{i:02d}" for i in range(12)])
    scale = np.random.default_rng(seed).uniform(0.1, 9, (len(test), 1))
    named = singling_out(7 * enroll, letters, test * scale, letters[owner], sizes=(3, 12))
    assert (plain.isolated == named.isolated).all()
    order = np.random.default_rng(seed).permutation(12)
    shuffled = singling_out(enroll[order], names[order], test, owner, sizes=(3, 12))
    assert (plain.isolated[order] == shuffled.isolated).all(), "one predicate does not depend on the others"


def test_sizes_can_be_asked_for_one_by_one() -> None:
    enroll, names, test, owner = gallery_with(12, people=50)
    both = singling_out(enroll, names, test, owner, sizes=(10, 50))
    for s, size in enumerate((10, 50)):
        alone = singling_out(enroll, names, test, owner, sizes=(size,))
        assert (alone.isolated[:, 0] == both.isolated[:, s]).all()
    assert (both.risk(10) == both.isolated[:, 0].mean(axis=(1, 2))).all()
    with pytest.raises(MetricError, match="known: 10, 50"):
        both.risk(11)


# degenerate


def test_bad_input_is_one_line() -> None:
    enroll, names, test, owner = gallery_with(13, people=8, fewest=3, most=3)
    once = np.append(owner[3:], 0)
    cases: list[tuple[tuple[Any, ...], dict[str, Any], str]] = [
        ((enroll, names, test * np.nan, owner), {}, "NaN"),
        ((enroll[:, :3], names, test, owner), {}, "3 dimensions, test vectors 6"),
        ((enroll, names + 1, test, owner), {}, "not enrolled|first: '8'"),
        ((enroll, names * 0, test, owner), {}, "repeats"),
        ((enroll, names, np.vstack([test[3:], test[:1]]), once), {}, "one conversation only \\(first: '0'\\)"),
        ((enroll, names, np.zeros((0, 6)), []), {}, "no test vectors"),
        ((enroll, names, test, owner), {"sizes": (1,)}, "within 2..8"),
        ((enroll, names, test, owner), {"sizes": (9,)}, "within 2..8"),
        ((enroll, names, test, owner), {"sizes": ()}, "got none"),
        ((enroll, names, test, owner), {"draws": 0}, "draws must be at least 1"),
        ((enroll, names, test, owner), {"folds": 1}, "at least 2 folds"),
    ]
    for args, options, says in cases:
        with pytest.raises(MetricError, match=says) as caught:
            singling_out(*args, **options)
        assert "\n" not in str(caught.value)
    for people, calibration, rank in ((0, 9, 1), (5, 9, 9), (5, 9, 0)):
        with pytest.raises(MetricError):
            chance_of_isolation(people, calibration=calibration, rank=rank)
    with pytest.raises(MetricError):
        chance_at_rank(5, calibration=9, rank=10)
