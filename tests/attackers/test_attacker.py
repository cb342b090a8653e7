"""Attackers in one line; on real speech, those who know more succeed more, as theory demands."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from personare.attackers import embedder
from personare.attackers.attacker import Attacker
from personare.attackers.backend import Backend
from personare.attackers.scoring import TrialScores, score_all
from personare.attackers.split import Disguise, Heard, Split
from personare.core.audio import read_mono
from personare.core.errors import ConfigError, UnknownNameError
from personare.core.seeding import Key, rng_for
from personare.core.tables import Corpus, Embeddings
from personare.metrics.privacy.eer import rocch_eer

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
        Embeddings(heard.ids, heard.speakers, (heard.vectors @ turn).astype(np.float32)), Disguise("turned", draw)
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


def _embedded(corpus: pl.DataFrame, draw: str | None, method: str, *, per_utterance: bool) -> Heard:
    """Hear every utterance with the light ear, disguised under one drawing of pseudo-speakers."""
    from personare.anonymizers import anonymizer

    ear, hide = embedder("ge2e"), anonymizer(method, **METHODS[method])

    def vectors() -> Iterator[Any]:
        for row in corpus.iter_rows(named=True):
            audio = read_mono(Path(row["audio"]))
            if draw is not None:
                names = (row["speaker"], row["utterance"]) if per_utterance else (row["speaker"],)
                audio = hide(audio, rng=rng_for(Key.from_seed(1), draw, *names))
            yield ear([audio])[0]

    heard = Embeddings(tuple(corpus["utterance"]), tuple(corpus["speaker"]), np.stack(list(vectors())))
    return Heard(heard, None if draw is None else Disguise(method, draw))


@pytest.mark.slow
@pytest.mark.shared
@pytest.mark.models
@pytest.mark.parametrize("method", sorted(METHODS))
def test_the_order_that_theory_demands(shared_folder: Path, method: str) -> None:
    """EER original < informed < lazy-informed <= ignorant; linkability the other way round; -s prints the table."""
    if method == "world":
        pytest.importorskip("pyworld", reason="the WORLD warp needs the extra 'pitch'")
    frame = Corpus.load(shared_folder / "corpus" / "manifest.tsv").frame.filter(pl.col("corpus") == "speechocean762")
    genders = dict(zip(frame["speaker"], frame["gender"], strict=True))
    attacked = frame.filter(pl.col("part") == "eval").group_by("speaker", maintain_order=True)
    train = frame.filter(pl.col("part") == "train").group_by("speaker", maintain_order=True).head(5)
    known, unknown = attacked.head(3), attacked.tail(3)
    originals = [_embedded(part, None, method, per_utterance=False) for part in (known, unknown)]
    enroll, test = (
        _embedded(part, draw, method, per_utterance=False) for part, draw in ((known, "enroll"), (unknown, "test"))
    )
    learnt = _embedded(train, "train", method, per_utterance=True)
    parts = {
        "original": (*originals,),
        "ignorant": (originals[0], test),
        "lazy-informed": (enroll, test),
        "informed": (enroll, test, learnt),
    }
    eer, linked = {}, {}
    for name, heard in parts.items():
        attacker = Attacker(name, "ge2e")
        split = Split(attacker.knowledge, *heard)
        eer[name] = _eer(attacker.attack(split, genders=genders))
        linked[name] = _linked(attacker.attack(split))
        print(f"{method:8} {name:14} EER {eer[name]:6.1%}  linkability among 80: {linked[name]:6.1%}")
    assert eer["original"] + 0.05 < eer["informed"] < eer["lazy-informed"] - 0.03
    assert eer["lazy-informed"] <= eer["ignorant"] + 0.02
    assert linked["original"] - 0.05 > linked["informed"] > linked["lazy-informed"] > linked["ignorant"] - 0.05


def _linked(scores: TrialScores) -> float:
    """Share of tests whose best enrolled speaker is the right one."""
    order = np.lexsort((-scores.score, scores.test_at))
    first = np.unique(scores.test_at[order], return_index=True)[1]
    return float(scores.target[order][first].mean())
