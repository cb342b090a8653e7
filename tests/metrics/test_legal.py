"""The legal protocol from utterances: which utterances serve as what, who is left out, the golden counts at L = 1."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from personare import metrics
from personare.core.errors import MetricError
from personare.metrics.privacy.legal import link_conversations, single_out_conversations


def utterances(seed: int, *, people: int, each: int, noise: float = 1.0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    voice = np.random.default_rng(99).standard_normal((people, 12))
    owner = np.repeat([f"p{i:03d}" for i in range(people)], each)
    return np.repeat(voice, each, axis=0) + noise * rng.standard_normal((people * each, 12)), owner


@pytest.mark.shared
def test_vpc2020_counts_from_utterances(shared_folder: Path) -> None:
    folder = shared_folder / "golden" / "vpc2020"
    expected = json.loads((folder / "expected.json").read_text())["linkability_counts"]["f_aa"]
    test = np.load(folder / "xvectors_trial_f_anon.npz")
    enroll = np.load(folder / "xvectors_enroll_anon.npz")
    run = link_conversations(
        test["vector"], test["speaker"], enroll["vector"], enroll["speaker"], length=1, rng=np.random.default_rng(0)
    )
    assert [int((run.result.nontargets_above == 0).sum()), len(run.result.nontargets_above)] == expected
    assert run.left_out == {"not enrolled": len(np.setdiff1d(test["speaker"], enroll["speaker"]))}


def test_longer_conversations_link_more() -> None:
    test, enroll = utterances(1, people=40, each=9, noise=3.0), utterances(2, people=40, each=20, noise=3.0)
    runs = [link_conversations(*test, *enroll, length=n, rng=np.random.default_rng(0)) for n in (1, 3, 9)]
    values = [run.result.estimates[-1].value for run in runs]
    assert values == sorted(values) and values[2] > values[0] + 0.1
    assert [len(run.result.nontargets_above) for run in runs] == [360, 120, 40]


def test_the_papers_sampling_is_one_conversation_per_speaker_and_five_draws() -> None:
    test, enroll = utterances(1, people=40, each=9), utterances(2, people=40, each=20)
    run = link_conversations(*test, *enroll, length=3, rng=np.random.default_rng(0), paper=True, sizes=(10, 40))
    assert len(run.result.nontargets_above) == 40 and run.result.drawn is not None and run.result.drawn.shape == (5, 2)


def test_speakers_left_out_are_counted() -> None:
    vectors, owner = utterances(1, people=6, each=4)
    few = np.delete(np.arange(24), [0, 1])  # p000 keeps two utterances
    enroll = utterances(2, people=5, each=3)  # p005 is not enrolled
    run = link_conversations(vectors[few], owner[few], *enroll, length=3, rng=np.random.default_rng(0))
    assert run.left_out == {"not enrolled": 1, "under 3 utterances": 1}
    assert run.result.speakers.tolist() == ["p001", "p002", "p003", "p004"]
    with pytest.raises(MetricError, match="no test speaker is enrolled"):
        link_conversations(vectors, np.char.add("x", owner), *enroll, length=1, rng=np.random.default_rng(0))


def test_singling_out_takes_thirty_utterances_ten_conversations_and_some_predicates() -> None:
    enroll, gallery = utterances(1, people=30, each=35), utterances(2, people=30, each=25)
    run = single_out_conversations(*enroll, *gallery, length=2, rng=np.random.default_rng(0), predicates=12)
    assert run.result.isolated.shape == (12, 2, 5, 10) and run.result.sizes == (20, 30)
    assert run.left_out == {}
    few = single_out_conversations(*enroll, *gallery, length=6, rng=np.random.default_rng(0), sizes=(30,))
    assert few.result.isolated.shape == (30, 1, 5, 4), "25 utterances make four conversations of six: footnote 4"


def test_footnote_4_excludes_speakers_with_fewer_than_two_conversations() -> None:
    enroll, (vectors, owner) = utterances(1, people=10, each=5), utterances(2, people=10, each=8)
    few = np.delete(np.arange(80), np.arange(5))  # p000 keeps three utterances
    run = single_out_conversations(*enroll, vectors[few], owner[few], length=2, rng=np.random.default_rng(0))
    assert run.left_out == {"not tested": 1, "under 4 utterances": 1} and run.result.sizes == (9,)
    with pytest.raises(MetricError, match="none of 10 speakers has 2 x 30"):
        single_out_conversations(*enroll, vectors, owner, length=30, rng=np.random.default_rng(0))


def test_the_control_leaves_the_predicates_out_of_the_gallery() -> None:
    enroll, gallery = utterances(1, people=60, each=30, noise=0.2), utterances(2, people=60, each=10, noise=0.2)
    options: dict[str, Any] = {"length": 1, "predicates": 30, "sizes": (30,)}
    attack = single_out_conversations(*enroll, *gallery, rng=np.random.default_rng(0), **options)
    control = single_out_conversations(*enroll, *gallery, rng=np.random.default_rng(0), control=True, **options)
    assert attack.result.estimates[0].low > control.result.estimates[0].high
    assert (attack.result.speakers == control.result.speakers).all()


def test_one_enrolment_rule_links_and_singles_out_alike_and_the_papers_raw_mean_is_an_option() -> None:
    """A loud utterance must not outweigh the others: as the EER averages, so do link and single-out."""
    test, enroll = utterances(1, people=30, each=8, noise=2.0), utterances(2, people=30, each=30, noise=2.0)
    loudness = np.random.default_rng(3).choice([0.05, 20.0], (30 * 30, 1), p=[0.9, 0.1])
    loud = (enroll[0] * loudness, enroll[1])

    def values(enrolment: Any, *, single: bool, unit_first: bool = True) -> list[float]:
        options: dict[str, Any] = {"length": 2, "rng": np.random.default_rng(0), "unit_first": unit_first}
        if single:
            run = single_out_conversations(enrolment[0], enrolment[1], test[0], test[1], **options)
            return [e.value for e in run.result.estimates]
        return [e.value for e in link_conversations(test[0], test[1], *enrolment, **options).result.estimates]

    for single in (False, True):
        assert values(loud, single=single) == values(enroll, single=single)
        assert values(loud, single=single, unit_first=False) != values(loud, single=single)


def test_singling_out_enrols_with_30_utterances_as_the_paper_or_10_as_its_code() -> None:
    rng = np.random.default_rng(1)
    who = np.repeat(np.arange(12), 40)
    voices = (rng.normal(size=(12, 6))[who] + 2 * rng.normal(size=(480, 6))).astype(np.float32)
    half = np.tile(np.arange(40) < 35, 12)
    sides = (voices[~half], who[~half], voices[half], who[half])
    found = {n: metrics.singling_out(*sides, N=8, enrolment=n, draws=2, rng=0) for n in (10, 30)}
    assert found[30].estimate == metrics.singling_out(*sides, N=8, draws=2, rng=0).estimate
    assert found[10].estimate != found[30].estimate
    with pytest.raises(MetricError, match="at least 1 utterance"):
        metrics.singling_out(*sides, N=8, enrolment=0)
