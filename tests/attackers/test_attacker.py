"""Attackers in one line; on real speech, those who know more succeed more, as theory demands."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray

from personare.attackers import embedder
from personare.attackers.attacker import Attacker
from personare.attackers.backend import Backend
from personare.attackers.scoring import TrialScores, score_all, unit_rows
from personare.attackers.split import Disguise, Heard, Split
from personare.core.audio import read_mono
from personare.core.errors import ConfigError, UnknownNameError
from personare.core.findings import Estimate
from personare.core.fingerprint import SystemIdentity
from personare.core.seeding import Key, rng_for
from personare.core.tables import Corpus, Embeddings
from personare.engine import Pool
from personare.metrics.intervals import speaker_bootstrap
from personare.metrics.privacy.eer import eer_of_levels, rocch_eer
from personare.metrics.privacy.redraws import level_values, speaker_levels

D = 12


def _some(prefix: str, speakers: int, seed: int, *, each: int = 4) -> Embeddings:
    voices = np.random.default_rng(speakers).normal(size=(speakers, D))
    who = np.repeat(np.arange(speakers), each)
    x = voices[who] + 0.4 * np.random.default_rng(seed).normal(size=(len(who), D))
    ids = tuple(f"{prefix}{seed}-{i}" for i in range(len(who)))
    return Embeddings(ids, tuple(f"{prefix}{i}" for i in who), x.astype(np.float32))


def _disguised(heard: Embeddings, draw: str) -> Heard:
    turn = np.linalg.qr(np.random.default_rng(3).normal(size=(D, D)))[0]
    return Heard(
        Embeddings(heard.ids, heard.speakers, (heard.vectors @ turn).astype(np.float32)),
        Disguise(SystemIdentity("turned"), draw),
    )


ENROLL, TEST, LEARNT = _some("t", 20, 1), _some("t", 20, 2), _some("l", 50, 3)


def _eer(scores: TrialScores) -> float:
    return float(rocch_eer(scores.targets, scores.nontargets))


def test_each_level_in_one_line() -> None:
    enroll, test, learnt = _disguised(ENROLL, "1"), _disguised(TEST, "2"), _disguised(LEARNT, "3")
    original = Attacker("original")
    assert _eer(original.attack(Split(original.knowledge, Heard(ENROLL), Heard(TEST)))) < 0.1
    ignorant = Attacker("oa")
    assert _eer(ignorant.attack(Split(ignorant.knowledge, Heard(ENROLL), test))) > 0.3
    lazy = Attacker("lazy-informed")
    assert _eer(lazy.attack(Split(lazy.knowledge, enroll, test))) < 0.1
    for informed in (Attacker("informed"), Attacker("vpc:semi-informed", as_norm=20)):
        assert _eer(informed.attack(Split(informed.knowledge, enroll, test, learnt))) < 0.1
    aligned = Attacker("aligned")
    split = Split(aligned.knowledge, Heard(ENROLL), test, learnt, Heard(LEARNT))
    assert _eer(aligned.attack(split)) < 0.1


def test_wrong_attackers_are_one_line() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'ignorant'"):
        Attacker("ignorrant")
    with pytest.raises(ConfigError, match="as_norm"):
        Attacker("informed", as_norm=-1)
    lazy = Split(Attacker("aa").knowledge, _disguised(ENROLL, "1"), _disguised(TEST, "2"))
    with pytest.raises(ConfigError, match="the split is for the lazy-informed attack, not informed"):
        Attacker("informed").attack(lazy)


def _golden(folder: Path, name: str) -> Embeddings:
    with np.load(folder / f"xvectors_{name}.npz") as file:
        ids = file["utterance"] if "utterance" in file else file["speaker"]
        return Embeddings(tuple(ids.tolist()), tuple(file["speaker"].tolist()), file["vector"])


def _only(heard: Embeddings, speakers: set[str]) -> Embeddings:
    rows = [i for i, who in enumerate(heard.speakers) if who in speakers]
    kept = [tuple(column[i] for i in rows) for column in (heard.ids, heard.speakers)]
    return Embeddings(kept[0], kept[1], heard.vectors[rows])


@pytest.mark.shared
@pytest.mark.parametrize(
    ("condition", "enroll", "test", "eer"),
    [
        ("f", "orig", "orig", 0.1013),
        ("m", "orig", "orig", 0.0272),
        ("f", "orig", "anon", 0.4936),
        ("f", "anon", "anon", 0.2903),
    ],
)
def test_cosine_on_voiceprivacy_2020_x_vectors(
    shared_folder: Path, condition: str, enroll: str, test: str, eer: float
) -> None:
    """Reference values of the golden x-vectors, computed by others' code."""
    folder = shared_folder / "golden" / "vpc2020"
    with np.load(folder / f"scores_{condition}_oo.npz") as file:
        speakers = set(file["enroll"].tolist())
    enrolled = _only(_golden(folder, f"enroll_{enroll}"), speakers)
    found = score_all(_golden(folder, f"trial_{condition}_{test}"), enrolled)
    assert _eer(found) == pytest.approx(eer, abs=6e-5)


@pytest.mark.shared
def test_plda_on_voiceprivacy_2020_x_vectors_behaves(shared_folder: Path) -> None:
    """Taught by the 20 speakers of the other gender only, it must tell speakers apart nearly as well as the cosine."""
    folder = shared_folder / "golden" / "vpc2020"
    with np.load(folder / "scores_f_oo.npz") as file:
        speakers = set(file["enroll"].tolist())
    enroll, test = _only(_golden(folder, "enroll_orig"), speakers), _golden(folder, "trial_f_orig")
    men = _golden(folder, "trial_m_orig")
    learnt = _only(men, set(men.speakers) - speakers - set(test.speakers))
    attacker = Attacker("original", backend=Backend(iterations=5))
    split = Split(attacker.knowledge, Heard(enroll), Heard(test), Heard(learnt))
    assert _eer(attacker.attack(split)) < 0.16


METHODS: dict[str, dict[str, Any]] = {"mcadams": {"alpha": (0.5, 0.9)}, "world": {}}
DISGUISES = tuple(f"enroll {i}" for i in range(5))


@dataclass(frozen=True)
class _Hidden:
    """The work of a pool: hear one recording, disguised under one drawing of pseudo-speakers, with the light ear."""

    method: str
    draw: str | None
    per_utterance: bool

    def __call__(self, row: dict[str, Any]) -> NDArray[np.float32]:
        from personare.anonymizers import anonymizer

        audio = read_mono(Path(row["audio"]))
        if self.draw is not None:
            names = (row["speaker"], row["utterance"]) if self.per_utterance else (row["speaker"],)
            hide = anonymizer(self.method, **METHODS[self.method])
            audio = hide(audio, rng=rng_for(Key.from_seed(1), self.draw, *names))
        vector: NDArray[np.float32] = embedder("ge2e")([audio])[0]
        return vector


def _embedded(corpus: pl.DataFrame, draws: Sequence[str], method: str, *, per_utterance: bool = False) -> Heard:
    """Hear every utterance as it is, or the mean over several drawings of pseudo-speakers."""
    rows = corpus.to_dicts()
    heard = []
    for draw in draws or (None,):
        found = list(Pool(2).map(_Hidden(method, draw, per_utterance), rows))
        assert all(result.ok for result in found), [result.error for result in found if not result.ok][:1]
        heard.append(unit_rows(np.stack([result.value for result in found if result.value is not None])))
    mean = Embeddings(tuple(corpus["utterance"]), tuple(corpus["speaker"]), np.mean(heard, axis=0))
    return Heard(mean, Disguise(SystemIdentity(method), draws[0], tuple(draws[1:])) if draws else None)


@pytest.mark.slow
@pytest.mark.shared
@pytest.mark.models
@pytest.mark.parametrize("method", sorted(METHODS))
def test_the_order_that_theory_demands(shared_folder: Path, method: str) -> None:
    """EER original < informed < lazy-informed <= ignorant; linkability the other way round; -s prints the table.

    The noise of a comparison is the interval of the paired difference: the same speakers redrawn for both attackers.
    """
    if method == "world":
        pytest.importorskip("pyworld", reason="the WORLD warp needs the extra 'pitch'")
    frame = Corpus.load(shared_folder / "corpus" / "manifest.tsv").frame.filter(pl.col("corpus") == "speechocean762")
    genders = dict(zip(frame["speaker"], frame["gender"], strict=True))
    attacked = frame.filter(pl.col("part") == "eval").group_by("speaker", maintain_order=True)
    train = frame.filter(pl.col("part") == "train").group_by("speaker", maintain_order=True).head(5)
    known, unknown = attacked.head(3), attacked.tail(3)
    plain = [_embedded(part, (), method) for part in (known, unknown)]
    enroll, test = _embedded(known, DISGUISES, method), _embedded(unknown, ("test",), method)
    learnt = _embedded(train, ("train",), method, per_utterance=True)
    parts = {
        "original": (*plain,),
        "informed": (enroll, test, learnt),
        "lazy-informed": (enroll, test),
        "ignorant": (plain[0], test),
    }
    scores, eer, linked = {}, {}, {}
    for name, heard in parts.items():
        attacker = Attacker(name, "ge2e")
        split = Split(attacker.knowledge, heard[0], heard[1], heard[2] if len(heard) > 2 else None)
        scores[name] = attacker.attack(split, genders=genders)
        eer[name], linked[name] = _eer(scores[name]), _linked(attacker.attack(split))
        print(f"{method:8} {name:14} EER {eer[name]:6.1%}  linkability among 80: {linked[name]:6.1%}")
    steps = {(a, b): _difference(scores[a], scores[b]) for a, b in itertools.pairwise(parts)}
    for (a, b), step in steps.items():
        print(f"{method:8} {b} - {a}: {step.value:+.1%} [{step.low:+.1%}, {step.high:+.1%}]")
    assert eer["original"] + 0.05 < eer["informed"] < eer["lazy-informed"] - 0.03
    assert steps["original", "informed"].low > 0 and steps["informed", "lazy-informed"].low > 0
    assert eer["lazy-informed"] <= eer["ignorant"] + 0.02
    assert steps["lazy-informed", "ignorant"].high >= 0
    assert linked["original"] - 0.05 > linked["informed"] > linked["lazy-informed"] > linked["ignorant"] - 0.05


def _difference(one: TrialScores, other: TrialScores) -> Estimate:
    """EER of the other minus EER of the one, with an interval over speakers who are redrawn for both alike."""
    each = [_by_speaker(scores) for scores in (one, other)]
    return speaker_bootstrap(
        lambda drawn: (each[1](drawn) - each[0](drawn))[:, 0],
        speakers=len(one.enroll.ids),
        rng=np.random.default_rng(1),
        centred=True,
    )


def _by_speaker(scores: TrialScores) -> Callable[[NDArray[np.float64]], NDArray[np.float64]]:
    owner = np.array(scores.test.speakers)[scores.test_at]
    who = {"target_speakers": owner[scores.target], "nontarget_speakers": owner[~scores.target]}
    return level_values(speaker_levels(scores.targets, scores.nontargets, **who), [eer_of_levels])


def test_the_paired_difference_is_zero_for_one_attacker_and_sure_for_a_deaf_one() -> None:
    enrolled_, test = _some("t", 20, 1, each=1), _some("t", 20, 2)
    hearing = score_all(test, enrolled_)
    nothing = _difference(hearing, hearing)
    assert (nothing.low, nothing.value, nothing.high) == (0, 0, 0)
    deaf = replace(hearing, score=np.random.default_rng(1).normal(size=len(hearing.score)).astype(np.float32))
    assert _difference(hearing, deaf).low > 0.1


def _linked(scores: TrialScores) -> float:
    """Share of tests whose best enrolled speaker is the right one."""
    order = np.lexsort((-scores.score, scores.test_at))
    first = np.unique(scores.test_at[order], return_index=True)[1]
    return float(scores.target[order][first].mean())
