"""Data with known truth for ``honesty.py``: voices, scores, similarities, words, ratings, guesses and verdicts.

A world draws a data set of so many speakers and gives what every metric says about it. ``informed=False`` draws one in
which there is nothing to find. Speakers differ, their utterances resemble each other, and an anonymized voice has an
offset of its own that has nothing to do with its owner.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from statistics import NormalDist
from typing import Any

import numpy as np

from personare.core.findings import Finding
from personare.metrics import card
from personare.metrics.privacy import control, human_attack, relink, similarity, source_similarity
from personare.metrics.privacy.chance import Identities
from personare.metrics.privacy.eer import eer_finding
from personare.metrics.privacy.legal import link_conversations, single_out_conversations
from personare.metrics.privacy.ranks import rank_test
from personare.metrics.privacy.summary import score_summary
from personare.metrics.utility.concordance import ccc_estimate
from personare.metrics.utility.quality import mean_estimate
from personare.metrics.utility.recall import uar_chance, uar_estimate
from personare.metrics.utility.wer import WordErrors, wer_estimate
from personare.reports.outcomes import outcome
from personare.reports.verdicts import judged_methods

Found = Iterator[tuple[str, Finding]]
DIMENSIONS, EACH = 12, 6
LOUDNESS = 0.8  # of what differs between two utterances of one speaker
BIG, ROUNDS = 1000, 12
DEALS = 119  # of identities, in data sets with nothing to find
RANKED = 50  # tests of each speaker


@dataclass(frozen=True)
class World:
    """One kind of data: ``findings(people, rng, informed=)``; truths by metric, where endless speakers have one."""

    name: str
    findings: Callable[..., Found]
    truths: Callable[[], dict[str, float]] | None = dict
    can_be_empty: bool = True
    judged: tuple[str, ...] = ()
    utility: tuple[str, ...] = ()

    def is_privacy(self, metric: str) -> bool:
        """Whether a result is called exposed."""
        return metric not in self.utility


def voices(people: int, rng: np.random.Generator, *, kept: float, each: int = EACH) -> tuple[Any, Any, Any]:
    """Draw enrolled vectors [people * each, d], tested ones, and the speaker of each row; ``kept`` of the voice."""
    own = rng.normal(size=(people, DIMENSIONS))
    sides = [kept * own + rng.normal(size=own.shape) for _ in range(2)]
    rows = [np.repeat(side, each, axis=0) for side in sides]
    heard = [side + LOUDNESS * rng.normal(size=side.shape) for side in rows]
    return heard[0], heard[1], np.repeat(np.arange(people), each)


def unit(x: Any) -> Any:
    """Scale rows to length 1."""
    return x / np.linalg.norm(x, axis=-1, keepdims=True)


def trials(people: int, rng: np.random.Generator, *, kept: float, tests: int = EACH) -> dict[str, Any]:
    """Compare every test, so many of each speaker, with every enrolled mean of six utterances."""
    enroll, test, who = voices(people, rng, kept=kept)
    means = unit(unit(enroll).reshape(people, EACH, -1).mean(axis=1))
    some = np.tile(np.arange(EACH) < tests, people)
    test, who = test[some], who[some]
    scores = unit(test) @ means.T
    target = who[:, None] == np.arange(people)[None, :]
    tested, enrolled = np.broadcast_to(who[:, None], target.shape), np.broadcast_to(np.arange(people), target.shape)
    names = Identities(tested[target], tested[~target], enrolled[~target])
    llrs = 12 * scores - 4
    sides = {"target_speakers": tested[target], "nontarget_speakers": tested[~target], "identities": names}
    return {"targets": llrs[target], "nontargets": llrs[~target], **sides}


KEPT = 1.0


def detection(people: int, rng: np.random.Generator, *, informed: bool) -> Found:
    """Every metric of scores."""
    given = trials(people, rng, kept=KEPT if informed else 0.0)
    found = score_summary(**given, dcf_prior=0.1, rng=rng, deals=40 if informed else DEALS)
    yield from ((f.metric.name, f) for f in found.findings if f.metric.name != "dsys_reference")


@cache
def detection_truths() -> dict[str, float]:
    """The same of several times a thousand speakers, enrolled as in every data set; one test of each is enough."""
    rng = np.random.default_rng(0)
    rows = [score_values_of(trials(BIG, rng, kept=KEPT, tests=1)) for _ in range(ROUNDS)]
    return {name: float(np.mean([row[name] for row in rows])) for name in rows[0]}


def score_values_of(given: dict[str, Any]) -> dict[str, float]:
    """Compute the values alone."""
    from personare.metrics.privacy.detection import min_dcf
    from personare.metrics.privacy.dsys import dsys_of_levels
    from personare.metrics.privacy.eer import kaldi_eer
    from personare.metrics.privacy.levels import levels_of
    from personare.metrics.privacy.summary import score_values

    t, n = given["targets"], given["nontargets"]
    levels = levels_of(t, n)
    values = score_values(t, n) | {"eer_kaldi": kaldi_eer(t, n), "min_dcf": min_dcf(t, n, prior=0.1)}
    return values | {"dsys": dsys_of_levels(levels.targets, levels.nontargets)}


def legal(people: int, rng: np.random.Generator, *, informed: bool) -> Found:
    """Linkability with six tests a speaker, with one, among half of the people; ranks."""
    enroll, test, who = voices(people, rng, kept=0.7 if informed else 0.0)
    half = max(2, people // 2)
    linked = link_conversations(test, who, enroll, who, length=1, rng=rng, sizes=(half, people)).result
    yield from zip(("linkability, N = half", "linkability"), linked.findings(), strict=True)
    once = link_conversations(test, who, enroll, who, length=EACH, rng=rng, sizes=(half, people)).result
    yield from zip(("linkability, one test, N = half", "linkability, one test"), once.findings(), strict=True)
    ranked = rank_test(test, who, enroll, who, variant="linkability", tests=RANKED, rng=rng)
    yield from ((f.metric.name, f) for f in ranked.findings())


def singling_out(people: int, rng: np.random.Generator, *, informed: bool) -> Found:
    """Singling Out; with nothing to find, a conversation tells nothing about its speaker."""
    enroll, test, who = voices(people, rng, kept=0.7, each=10)
    if not informed:
        test = rng.normal(size=test.shape)
    run = single_out_conversations(enroll, who, test, who, length=1, rng=rng, draws=5)
    yield from (("singling_out", f) for f in run.result.findings()[-1:])


def pairs(people: int, rng: np.random.Generator) -> tuple[Any, Any, list[str]]:
    """Draw vectors of utterances before and after."""
    own, offset = (rng.normal(size=(people, 16)) for _ in range(2))
    before = np.repeat(own, EACH, axis=0)
    after = 0.3 * before + np.repeat(0.6 * offset, EACH, axis=0)
    noise = [0.9 * rng.normal(size=before.shape) for _ in range(2)]
    return before + noise[0], after + noise[1], [str(i) for i in np.repeat(np.arange(people), EACH)]


def alike(people: int, rng: np.random.Generator, *, informed: bool) -> Found:
    """DeID, G_VD and SIM."""
    del informed
    before, after, who = pairs(people, rng)
    names = [str(i) for i in range(len(who))]
    matrices = similarity.voice_similarity(before, after, speakers=who, utterances=names, variant="vpc2020")
    deid, gain = similarity.similarity_estimates(matrices)
    yield from (("deid", Finding(similarity.CARD, deid)), ("g_vd", Finding(similarity.GAIN_CARD, gain)))
    yield "sim", Finding(source_similarity.CARD, source_similarity.sim_estimate(before, after, speakers=who))


@cache
def alike_truths() -> dict[str, float]:
    """The same of several times three hundred speakers."""
    rng, rows = np.random.default_rng(0), []
    for _ in range(8):
        before, after, who = pairs(300, rng)
        names = [str(i) for i in range(len(who))]
        m = similarity.voice_similarity(before, after, speakers=who, utterances=names, variant="vpc2020")
        rows.append(
            (
                similarity.deid(m.oa, m.oo),
                similarity.g_vd(m.aa, m.oo),
                float((unit(before) * unit(after)).sum(1).mean()),
            )
        )
    return dict(zip(("deid", "g_vd", "sim"), np.mean(rows, axis=0).tolist(), strict=True))


def words(people: int, rng: np.random.Generator, *, informed: bool) -> Found:
    """WER and CER: speakers differ (their rates have a beta law), utterances of one share its rate."""
    del informed
    who = np.repeat(np.arange(people), EACH)
    for name, hardness, length in (("wer", 10.0, (5, 25)), ("cer", 4.0, (30, 120))):
        rate = rng.beta(0.12 * hardness, 0.88 * hardness, size=people)[who]
        spoken = rng.integers(*length, size=len(who))
        wrong, none = rng.binomial(spoken, rate), np.zeros(len(who), dtype=np.int64)
        errors = WordErrors(wrong, none, none, spoken)
        yield name, Finding(card(name), wer_estimate(errors, speakers=[str(i) for i in who]))


def ratings(people: int, rng: np.random.Generator, *, informed: bool) -> Found:
    """Means over utterances: opinions, intelligibility, pitch; nothing to find is a correlation of 0."""
    who = np.repeat(np.arange(people), EACH)
    for name, middle, between, within in (
        ("dnsmos", 3.2, 0.3, 0.3),
        ("stoi", 0.75, 0.08, 0.06),
        ("pesq", 1.5, 0.2, 0.2),
    ):
        values = middle + between * rng.normal(size=people)[who] + within * rng.normal(size=len(who))
        yield (
            name,
            Finding(
                card(name), mean_estimate(np.clip(values, *card(name).bounds), speakers=who, bounds=card(name).bounds)
            ),
        )
    for name, middle in (("f0_spearman", 0.6 if informed else 0.0), ("voicing_error", 0.1)):
        spread = 0.2 if name == "f0_spearman" else 0.02
        values = middle + spread * (rng.normal(size=people)[who] + rng.normal(size=len(who)))
        yield (
            name,
            Finding(
                card(name), mean_estimate(np.clip(values, *card(name).bounds), speakers=who, bounds=card(name).bounds)
            ),
        )


def affect(people: int, rng: np.random.Generator, *, informed: bool) -> Found:
    """UAR of four emotions and CCC of a rating; with nothing to find, they have nothing to do with the truth."""
    each = 8
    who = np.repeat(np.arange(people), each)
    truth = np.tile(np.arange(4), len(who) // 4)
    skill = np.clip(0.5 + 0.15 * rng.normal(size=people), 0, 1)[who] if informed else np.zeros(len(who))
    guess = np.where(rng.random(len(who)) < skill, truth, rng.integers(0, 4, size=len(who)))
    estimate = uar_estimate(truth, guess, speakers=who)
    yield "uar", Finding(card("uar"), estimate, chance=uar_chance(truth))
    before = rng.normal(size=people)[who] + rng.normal(size=len(who))
    share = 0.7 if informed else 0.0
    after = share * before + 0.5 * rng.normal(size=people)[who] + 0.5 * rng.normal(size=len(who))
    yield "ccc", Finding(card("ccc"), ccc_estimate(before, after, speakers=who))


@cache
def affect_truths() -> dict[str, float]:
    """The same of many speakers."""
    found = dict(affect(20_000, np.random.default_rng(0), informed=True))
    return {name: finding.estimate.value for name, finding in found.items()}


def inference(people: int, rng: np.random.Generator, *, informed: bool) -> Found:
    """Risk beyond the control of guessing one of two values."""
    right, control_right = 0.85 if informed else 0.5, 0.5
    hits, others = int((rng.random(people) < right).sum()), int((rng.random(people) < control_right).sum())
    if others < people:
        risk = control.attack_risk(hits, people, control_successes=others, control_attempts=people, baseline=0.5)
        yield "risk_over_control", risk.finding({})


def listeners(people: int, rng: np.random.Generator, *, informed: bool) -> Found:
    """Answers of so many people: A/B/X, similarity of twelve pairs each, opinions; and originals found again."""
    who = np.repeat(np.arange(people), 12)
    skill = np.clip(0.65 + 0.1 * rng.normal(size=people), 0, 1)[who] if informed else np.full(len(who), 0.5)
    right = rng.random(len(who)) < skill
    yield "abx", Finding(human_attack.ABX_CARD, human_attack.abx_estimate(right, evaluators=who))
    kind, own = np.tile(np.arange(2), len(who) // 2), 0.5 * rng.normal(size=people)[who]
    rated = own + rng.normal(size=len(who)) + (kind if informed else 0)
    same, other = kind == 1, kind == 0
    by: dict[str, Any] = {"target_evaluators": who[same], "nontarget_evaluators": who[other]}
    yield "eer_people", human_attack.similarity_eer_finding(rated[same], rated[other], **by, conditions={}, rng=rng)
    found = (rng.random(len(who)) < rng.beta(1.2, 2.8, size=people)[who]).astype(float)
    likeness = np.stack([found, 1 - found], axis=1)
    relinked = relink.relink_estimate(likeness, np.zeros(len(who), dtype=int), speakers=who)
    yield "relink_duration", Finding(relink.DURATION_CARD, relinked)


def listener_truths() -> dict[str, float]:
    """The mean skill; the error of two bell curves one apart, whose width is that of people and ratings; a beta law."""
    return {"abx": 0.65, "eer_people": NormalDist().cdf(-0.5 / 1.25**0.5), "relink_duration": 0.3}


def headline(people: int, rng: np.random.Generator, *, informed: bool) -> Found:
    """The verdict on a method over four attackers, EER and linkability of each: the strongest counts."""
    del informed
    findings: list[Finding] = []
    for attacker in ("ignorant", "lazy-informed", "semi-informed", "informed"):
        where: dict[str, Any] = {"corpus": "c", "anonymizer": "m", "attacker": attacker, "knowledge": attacker, "L": 1}
        enroll, test, who = voices(people, rng, kept=0.0)
        linked = link_conversations(test, who, enroll, who, length=1, rng=rng, sizes=(people,)).result
        findings += linked.findings(**where)
        findings.append(eer_finding(**trials(people, rng, kept=0.0), conditions=where, rng=rng))
    (judged,) = judged_methods(findings)
    exposed = judged.protection in ("not protected", "partly protected")
    one = next((f for f in findings if outcome(f) == "exposed"), findings[0])
    p = 0.0 if exposed else 1.0
    yield "verdict on a method, 4 attackers", Finding(one.metric, one.estimate, {}, 0, one.chance, p, 1.0)


LEVELLED = ("eer", "eer_kaldi", "min_cllr", "min_dcf", "d_ece", "log10_l", "dsys")
WORLDS: dict[str, Callable[[], World]] = {
    "detection": lambda: World("detection", detection, detection_truths, judged=LEVELLED),
    "legal": lambda: World("legal", legal),
    "singling-out": lambda: World("singling out", singling_out),
    "similarity": lambda: World("similarity", alike, alike_truths, can_be_empty=False),
    "words": lambda: World("words", words, lambda: {"wer": 0.12, "cer": 0.12}, can_be_empty=False),
    "ratings": lambda: World("ratings", ratings, judged=("f0_spearman",), utility=("f0_spearman",)),
    "affect": lambda: World("affect", affect, affect_truths, utility=("uar", "ccc")),
    "inference": lambda: World("inference", inference, lambda: {"risk_over_control": 0.7}),
    "listeners": lambda: World("listeners", listeners, listener_truths, judged=("abx", "eer_people")),
    "headline": lambda: World("headline", headline, None),
}
