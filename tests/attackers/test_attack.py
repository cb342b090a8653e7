"""The one attack: each level in one line, means of directions, chance from the very trials; real speech in order."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray

import personare as pn
from personare.attackers.attack import Attack, Attacker, attack
from personare.attackers.knowledge import Knowledge, knowledge
from personare.attackers.scoring import TrialScores
from personare.attackers.split import Anonymization, EmbeddedSpeech, Split
from personare.core.errors import ConfigError
from personare.core.fingerprint import SystemIdentity
from personare.core.tables import Corpus, Embeddings
from personare.core.vectors import cosine
from personare.metrics.privacy.eer import rocch_eer
from personare.pipeline.attack_inputs import PlayedAttack
from personare.pipeline.measures import rng_of
from personare.pipeline.measures.detection import Detection
from personare.pipeline.measures.linkability import LinkabilityMeasure

D = 12


def some(prefix: str, speakers: int, seed: int, *, each: int = 4, noise: float = 0.4) -> Embeddings:
    """Speakers as random directions, the same for every prefix and seed; utterances as those directions with noise."""
    voices = np.random.default_rng(speakers).normal(size=(speakers, D))
    who = np.repeat(np.arange(speakers), each)
    x = voices[who] * (noise < 100) + noise * np.random.default_rng(seed).normal(size=(len(who), D))
    ids = tuple(f"{prefix}{seed}-{i:03d}" for i in range(len(who)))
    return Embeddings(ids, tuple(f"{prefix}{i:02d}" for i in who), x.astype(np.float32))


def turned(heard: Embeddings, draw: str) -> EmbeddedSpeech:
    """Anonymized by a system that turns every vector the same way."""
    turn = np.linalg.qr(np.random.default_rng(3).normal(size=(D, D)))[0]
    vectors = (heard.vectors @ turn).astype(np.float32)
    return EmbeddedSpeech(Embeddings(heard.ids, heard.speakers, vectors), Anonymization(SystemIdentity("turned"), draw))


ENROLL, TEST, LEARNT = some("t", 20, 1), some("t", 20, 2), some("l", 50, 3)


def eer_of(played: Attack, genders: dict[str, str] | None = None) -> float:
    trials = played.trials(played.trial, genders=genders or {})
    return float(rocch_eer(trials.targets, trials.nontargets))


def test_each_level_in_one_line() -> None:
    enroll, test, learnt = turned(ENROLL, "1"), turned(TEST, "2"), turned(LEARNT, "3")
    original = Knowledge.ORIGINAL
    assert eer_of(attack(Attacker(original), Split(original, EmbeddedSpeech(ENROLL), EmbeddedSpeech(TEST)))) < 0.1
    ignorant = knowledge("oa")
    assert eer_of(attack(Attacker(ignorant), Split(ignorant, EmbeddedSpeech(ENROLL), test))) > 0.3
    lazy = Knowledge.LAZY_INFORMED
    assert eer_of(attack(Attacker(lazy), Split(lazy, enroll, test))) < 0.1
    informed = knowledge("vpc:semi-informed")
    for attacker in (Attacker(informed), Attacker(informed, as_norm=20), Attacker(informed, scorer="wccn")):
        assert eer_of(attack(attacker, Split(informed, enroll, test, learnt))) < 0.1
    aligned = Knowledge.ALIGNED
    split = Split(aligned, EmbeddedSpeech(ENROLL), test, learnt, EmbeddedSpeech(LEARNT))
    assert eer_of(attack(Attacker(aligned), split)) < 0.1
    assert eer_of(attack(Attacker(aligned, alignment="no pairs"), split)) < 0.1


def test_wrong_attackers_are_one_line() -> None:
    with pytest.raises(ConfigError, match="as_norm"):
        Attacker(Knowledge.INFORMED, as_norm=-1)
    with pytest.raises(ConfigError, match="did you mean 'plda'"):
        Attacker(Knowledge.INFORMED, scorer="pdla")
    with pytest.raises(ConfigError, match="informed learns, and the scorer cosine cannot"):
        Attacker(Knowledge.INFORMED, scorer="cosine")
    lazy = Split(Knowledge.LAZY_INFORMED, turned(ENROLL, "1"), turned(TEST, "2"))
    with pytest.raises(ConfigError, match="the split is for the lazy-informed attack, not informed"):
        attack(Attacker(Knowledge.INFORMED), lazy)


def test_a_projection_is_compared_by_cosine_and_a_likelihood_ratio_is_not() -> None:
    enroll, test, learnt = turned(ENROLL, "1"), turned(TEST, "2"), turned(LEARNT, "3")
    split = Split(Knowledge.INFORMED, enroll, test, learnt)
    assert attack(Attacker(Knowledge.INFORMED, scorer="wccn"), split).scorer is cosine
    assert not attack(Attacker(Knowledge.INFORMED), split).by_cosine
    assert not attack(Attacker(Knowledge.INFORMED, scorer="wccn", as_norm=20), split).by_cosine


@dataclass(frozen=True)
class Loud:
    """Two speakers; one utterance of each is a hundred times as long a vector, and sounds like the other speaker."""

    seed: int

    def utterances(self, prefix: str) -> Embeddings:
        rng = np.random.default_rng(self.seed)
        rows, speakers = [], []
        for s, (own, other) in enumerate([((1.0, 0.0, 0.3), (0.0, 1.0, 0.3)), ((0.0, 1.0, 0.3), (1.0, 0.0, 0.3))]):
            rows += [np.array(own) + 0.01 * rng.normal(size=3) for _ in range(2)] + [100 * np.array(other)]
            speakers += [f"s{s}"] * 3
        return Embeddings(tuple(f"{prefix}{i}" for i in range(6)), tuple(speakers), np.stack(rows).astype(np.float32))


def test_people_are_the_mean_of_directions_however_long_vectors_are() -> None:
    """Enrolled by raw means, both would be taken for the other: two utterances of three would count for nothing."""
    plain = Embeddings(("t0", "t1"), ("s0", "s1"), np.array([[1, 0, 0.3], [0, 1, 0.3]], np.float32))
    enroll = Loud(1).utterances("e")
    assert eer_of(Attack(enroll, plain)) == 0.0
    raw = np.stack([enroll.vectors[np.array(enroll.speakers) == who].mean(0) for who in ("s0", "s1")])
    assert eer_of(Attack(Embeddings(("e0", "e1"), ("s0", "s1"), raw), plain)) == 0.5
    question = LinkabilityMeasure(length=1)
    measured = question.run(PlayedAttack(Attack(enroll, plain), 1), rng=rng_of(question, 1))
    assert measured.findings[-1].estimate.value == 1.0


def test_a_test_of_several_utterances_is_the_mean_of_directions_too() -> None:
    enroll = Embeddings(("e0", "e1"), ("s0", "s1"), np.array([[1, 0, 0.3], [0, 1, 0.3]], np.float32))
    played = PlayedAttack(Attack(enroll, Loud(2).utterances("t")), 1)
    for measure in (Detection(("eer",), 3), LinkabilityMeasure(length=3)):
        finding = measure.run(played, rng=rng_of(measure, 1)).findings[-1]
        assert finding.estimate.value == (0.0 if finding.metric.name == "eer" else 1.0)
        alone = type(measure)(length=1) if isinstance(measure, LinkabilityMeasure) else Detection(("eer",), 1)
        single = alone.run(played, rng=rng_of(alone, 1)).findings[-1]
        assert 0 < single.estimate.value < 1, "one utterance of three is taken for somebody else"


def test_noise_is_like_guessing_and_clear_voices_are_recognised() -> None:
    """Chance comes from the very trials: noise is no success although its EER is below 50 %."""
    genders = {f"s{i:02d}": "fm"[i % 2] for i in range(24)}
    noise, clear = (
        PlayedAttack(Attack(some("s", 24, 1, each=6, noise=n), some("s", 24, 2, each=6, noise=n)), 1)
        for n in (100.0, 0.1)
    )
    for measure in (Detection(("eer",), 1, genders), LinkabilityMeasure(length=1)):
        guess = measure.run(noise, rng=rng_of(measure, 1)).findings[0]
        sure = measure.run(clear, rng=rng_of(measure, 1)).findings[0]
        assert guess.differs_from_chance is False and sure.differs_from_chance is True
        if guess.metric.name == "eer":
            assert guess.estimate.value < 0.5 and 0.4 < (guess.chance_level or 0) < 0.5 and sure.estimate.value == 0.0
    link = LinkabilityMeasure(length=1)
    everybody = [link.run(one, rng=rng_of(link, 1)).findings[-1] for one in (noise, clear)]
    assert [f.chance_level for f in everybody] == [pytest.approx(1 / 24)] * 2
    assert everybody[1].estimate.value == 1.0


def test_a_speaker_alone_with_a_gender_meets_nobody() -> None:
    """Dealt out anew within a gender of one, they would be dealt to themselves and spoil the chance level."""
    played = PlayedAttack(Attack(some("s", 24, 1, noise=100.0), some("s", 24, 2, noise=100.0)), 1)
    alone = Detection(("eer",), 1, {f"s{i:02d}": "m" if i == 0 else "f" for i in range(24)})
    found = alone.run(played, rng=rng_of(alone, 1))
    assert found.findings[0].estimate.n == 23 and "1 speaker is alone" in found.notes[0]
    lone = Detection(("eer",), 1, {f"s{i:02d}": f"g{i}" for i in range(24)})
    nobody = lone.run(played, rng=rng_of(lone, 1))
    assert not nobody.findings and "nothing was detected" in nobody.notes[-1]


def test_a_number_is_the_same_whatever_else_is_asked_for() -> None:
    few, many = (
        PlayedAttack(Attack(some("s", n, 1, noise=2.0, each=2), some("s", n, 2, noise=2.0, each=2)), 1) for n in (8, 24)
    )
    genders = {f"s{i:02d}": "fm"[i % 2] for i in range(24)}

    def found(measure: Detection | LinkabilityMeasure) -> dict[str, list[tuple[float, ...]]]:
        rows: dict[str, list[tuple[float, ...]]] = {}
        for f in measure.run(few if isinstance(measure, Detection) else many, rng=rng_of(measure, 1)).findings:
            if f.conditions.get("N", 24) in (24, 10_000):
                numbers = (f.estimate.value, f.estimate.low, f.estimate.high, f.chance_level or 0.0)
                rows.setdefault(f.metric.name, []).append(numbers)
        return rows

    alone = found(Detection(("eer",), 1, genders))["eer"]
    assert len(alone) == 3 and alone == found(Detection(("min_cllr", "eer"), 1, genders))["eer"]
    forecast = ("linkability", "population_linkability")
    known, unknown = (found(LinkabilityMeasure(forecast, 1, who, (), (10_000,))) for who in (genders, {}))
    assert known["population_linkability"] == unknown["population_linkability"], "link, too, knows no genders"
    link = found(LinkabilityMeasure(length=1))["linkability"]
    assert link == unknown["linkability"] == known["linkability"][:1]
    assert link == found(LinkabilityMeasure(length=1, gallery_sizes=(2, 5, 24)))["linkability"]


def golden(folder: Path, name: str, speakers: set[str] | None = None) -> Embeddings:
    with np.load(folder / f"xvectors_{name}.npz") as file:
        ids = file["utterance"] if "utterance" in file else file["speaker"]
        whole = Embeddings(tuple(ids.tolist()), tuple(file["speaker"].tolist()), file["vector"])
    return whole if speakers is None else whole.of_speakers(speakers)


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
    enrolled = golden(folder, f"enroll_{enroll}", speakers)
    trials = Attack(enrolled, golden(folder, f"trial_{condition}_{test}"))
    everything = trials.trials(trials.trial, genders={})
    assert rocch_eer(everything.targets, everything.nontargets) == pytest.approx(eer, abs=6e-5)


@pytest.mark.slow
@pytest.mark.shared
@pytest.mark.models
@pytest.mark.parametrize("method", ["mcadams", "world"])
def test_the_order_that_theory_demands(shared_folder: Path, tmp_path: Path, method: str) -> None:
    """EER original < informed < lazy-informed <= ignorant; linkability the other way round; -s prints the table.

    The noise of a comparison is the interval of the paired difference: the same speakers redrawn for both attackers.
    """
    if method == "world":
        pytest.importorskip("pyworld", reason="the WORLD warp needs the extra 'pitch'")
    parameters = {"alpha": [0.5, 0.9]} if method == "mcadams" else {}
    frame = Corpus.load(shared_folder / "corpus" / "manifest.tsv").frame.filter(pl.col("corpus") == "speechocean762")
    attacked, train = (
        Corpus(frame.filter(pl.col("part") == part).group_by("speaker", maintain_order=True).head(n))
        for part, n in (("eval", 6), ("train", 5))
    )
    done = pn.anonymize_corpus(attacked, tmp_path / "anonymized", method=method, parameters=parameters, jobs=2)
    how = {"embedder": "ge2e", "utterances_per_trial": [1], "jobs": 2}
    result = pn.evaluate(attacked, done, train=train, out=tmp_path / "run", **how)  # type: ignore[arg-type]
    assert not result.failures
    order = ("original", "informed", "lazy-informed", "ignorant")
    eer = {level: _overall(result["eer"], level) for level in order}
    linked = {level: _overall(result["linkability"], level) for level in order}
    for level in order:
        print(f"{method:8} {level:14} EER {eer[level]:6.1%}  linkability: {linked[level]:6.1%}")
    scores = {level: _scores(result.folder, level) for level in order}
    steps = {(a, b): _difference(scores[a], scores[b]) for a, b in itertools.pairwise(order)}
    for (a, b), (low, high) in steps.items():
        print(f"{method:8} {b} - {a}: [{low:+.1%}, {high:+.1%}]")
    assert eer["original"] + 0.05 < eer["informed"] < eer["lazy-informed"] - 0.03
    assert steps["original", "informed"][0] > 0 and steps["informed", "lazy-informed"][0] > 0
    assert eer["lazy-informed"] <= eer["ignorant"] + 0.02
    assert steps["lazy-informed", "ignorant"][1] >= 0
    assert linked["original"] - 0.05 > linked["informed"] > linked["lazy-informed"] > linked["ignorant"] - 0.05


def _overall(findings: pn.Findings, level: str) -> float:
    chosen = [f for f in findings.where(knowledge=level, gender=None) if f.conditions["attacker"] == level]
    return max(chosen, key=lambda f: f.conditions.get("N", 0)).estimate.value


def _scores(folder: Path, level: str) -> pl.DataFrame:
    from personare.reports.run import read_run

    kept = [a for a in read_run(folder).of_kind("scores") if a.conditions["attacker"] == level]
    hidden = [a for a in kept if (a.conditions["anonymizer"] == "original") == (level == "original")]
    return pl.read_parquet(hidden[0].path)


def _difference(one: pl.DataFrame, other: pl.DataFrame, *, redraws: int = 300) -> tuple[float, float]:
    """The interval of the EER of the other minus the EER of the one, the tested speakers redrawn for both alike."""
    owner = dict(one.filter(pl.col("target")).select("test", "enroll").iter_rows())
    people = sorted(set(owner.values()))
    each = [_by_speaker(table, owner, people) for table in (one, other)]
    rng, found = np.random.default_rng(1), []
    for _ in range(redraws):
        drawn = rng.integers(len(people), size=len(people))
        values = [rocch_eer(*(np.concatenate([rows[i][k] for i in drawn]) for k in (0, 1))) for rows in each]
        found.append(values[1] - values[0])
    low, high = np.quantile(found, [0.025, 0.975])
    return float(low), float(high)


def _by_speaker(
    table: pl.DataFrame, owner: dict[str, str], people: list[str]
) -> list[tuple[NDArray[np.float64], NDArray[np.float64]]]:
    tested = np.array([owner[test] for test in table["test"]])
    score, target = table["score"].to_numpy(), table["target"].to_numpy()
    return [(score[(tested == who) & target], score[(tested == who) & ~target]) for who in people]


def test_the_paired_difference_is_zero_for_one_attacker_and_sure_for_a_deaf_one() -> None:
    played = Attack(some("t", 20, 1, each=1), some("t", 20, 2))
    trials: TrialScores = played.trials(played.trial, genders={})
    hearing = trials.table().frame
    assert _difference(hearing, hearing, redraws=50) == (0.0, 0.0)
    noise = np.random.default_rng(1).normal(size=len(hearing))
    assert _difference(hearing, hearing.with_columns(score=pl.Series(noise)), redraws=50)[0] > 0.1
