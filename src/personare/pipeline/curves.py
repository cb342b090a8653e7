"""Legal risk over the number of people, from files of speaker vectors: the same measures as a study's, one per L.

Reads nothing and writes nothing: vectors in, findings and notes out. The draws are those of a study with the same seed,
so that ``personare embed`` and ``personare link`` give the numbers of ``personare evaluate`` to the last digit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from personare.attackers.attack import Attack
from personare.core.errors import MetricError, TableError
from personare.core.findings import Finding
from personare.core.tables import Embeddings
from personare.engine import Engine
from personare.pipeline.attack_inputs import PlayedAttack
from personare.pipeline.measured import Measured
from personare.pipeline.measures import Measure, rng_of
from personare.pipeline.measures.linkability import FORECAST, LinkabilityMeasure
from personare.pipeline.measures.ranks import Ranks
from personare.pipeline.measures.singling_out import SinglingOutMeasure


@dataclass(frozen=True, eq=False)
class VectorPair:
    """What one attacker has: the vectors under test and those of enrolment, one row per utterance."""

    test: Embeddings
    enroll: Embeddings

    def __post_init__(self) -> None:
        fewer, more = sorted((self.test.ids, self.enroll.ids), key=len)
        both = set(fewer).intersection(more)  # no set of a million ids
        if both:
            first = f"{len(both)} utterances are in both (first: '{min(both)}')"
            raise TableError(f"test and enrolment must not share utterances; {first}")
        width = self.test.vectors.shape[1], self.enroll.vectors.shape[1]
        if width[0] != width[1]:
            same = "both must come from the same embedder"
            raise TableError(f"test vectors have {width[0]} dimensions, enrolment vectors {width[1]}; {same}")


@dataclass(frozen=True)
class SpeakerRisk:
    """One attacker's success against each speaker by name, at one L and the largest N."""

    attacker: str
    length: int
    people: int
    speakers: Mapping[str, float]


@dataclass(frozen=True)
class RiskCurves:
    """All findings, in the order attacker, L, N; who is at risk; what a reader must know."""

    findings: tuple[Finding, ...]
    risks: tuple[SpeakerRisk, ...]
    notes: tuple[str, ...]


def link_curves(
    pairs: Mapping[str, VectorPair],
    *,
    lengths: Sequence[int],
    sizes: Sequence[int] = (),
    populations: Sequence[int] = (),
    paper: bool = False,
    seed: int = 1,
    engine: Engine | None = None,
) -> RiskCurves:
    """Measure linkability for each attacker and L; with ``populations``, forecast it for so many people too.

    ``engine`` compares with parts of the gallery elsewhere; the counts are those of this process.
    """
    metrics = ("linkability", FORECAST) if populations else ("linkability",)
    question = LinkabilityMeasure(metrics, 1, {}, tuple(sizes), tuple(populations), paper)
    return _curves(pairs, [replace(question, length=length) for length in lengths], tests=1, seed=seed, engine=engine)


def single_out_curves(
    pairs: Mapping[str, VectorPair],
    *,
    lengths: Sequence[int],
    sizes: Sequence[int] = (),
    predicates: int,
    draws: int,
    folds: int,
    control: bool = False,
    seed: int = 1,
    engine: Engine | None = None,
) -> RiskCurves:
    """Measure Singling Out for each attacker and L; with ``control``, the same attack on people not in the data too.

    ``engine`` compares parts of the enrolled voices elsewhere; the outcomes are those of this process.
    """
    question = SinglingOutMeasure(("singling_out",), 1, tuple(sizes), draws, predicates, folds, control)
    return _curves(pairs, [replace(question, length=length) for length in lengths], tests=2, seed=seed, engine=engine)


def rank_findings(pairs: Mapping[str, VectorPair], *, tests: int, original: bool, seed: int = 1) -> list[Finding]:
    """Sort everybody by likeness for each attacker; ``original`` says that enrolment is original speech."""
    metrics = ("rank_single_p50", "rank_single_p1") if original else ("rank_link_p50", "rank_link_p1")
    question = Ranks(metrics, "singling_out" if original else "linkability", tests)
    findings: list[Finding] = []
    for name, pair in pairs.items():
        attack = PlayedAttack(Attack(pair.enroll.sorted(), pair.test.sorted()), seed)
        measured = _asked(question, attack, name, seed)
        findings += [replace(f, conditions={"attacker": name, **f.conditions}) for f in measured.findings]
    return findings


def _curves(
    pairs: Mapping[str, VectorPair],
    questions: Sequence[LinkabilityMeasure | SinglingOutMeasure],
    *,
    tests: int,
    seed: int,
    engine: Engine | None = None,
) -> RiskCurves:
    findings: list[Finding] = []
    risks: list[SpeakerRisk] = []
    notes: list[str] = []
    for name, pair in pairs.items():
        attack = PlayedAttack(Attack(pair.enroll.sorted(), pair.test.sorted()), seed, engine)
        possible, left_out = _possible(pair, [one.length for one in questions], tests=tests)
        notes += [f"{name}, {line}" for line in left_out]
        _refuse_sizes(name, questions[0], len(set(pair.enroll.speakers)))
        for question in (one for one in questions if one.length in possible):
            measured = _asked(question, attack, name, seed)
            findings += [replace(f, conditions={"attacker": name, **f.conditions}) for f in measured.findings]
            notes += [f"{name}, {note}" for note in measured.notes]
            risks += [_risk(name, question.length, measured)]
    return RiskCurves(tuple(findings), tuple(risks), tuple(notes))


def _refuse_sizes(name: str, question: LinkabilityMeasure | SinglingOutMeasure, enrolled: int) -> None:
    """Refuse a number of people that nobody could be looked for among."""
    large = [n for n in question.gallery_sizes if n > enrolled]
    if large:
        raise MetricError(f"{name}: N = {large[0]} is impossible, {enrolled} speakers are enrolled; ask for less")


def _asked(question: Measure, attack: PlayedAttack, name: str, seed: int) -> Measured:
    try:
        return question.run(attack, rng=rng_of(question, seed))
    except MetricError as error:
        raise MetricError(f"{name}: {error}") from None


def _possible(pair: VectorPair, lengths: Sequence[int], *, tests: int) -> tuple[list[int], list[str]]:
    """Keep the L for which somebody has enough utterances; note the others, refuse when none is left."""
    enrolled = set(pair.enroll.speakers)
    counts = Counter(speaker for speaker in pair.test.speakers if speaker in enrolled)
    most = max(counts.values(), default=0) // tests
    possible = [length for length in lengths if length <= most]
    needs = f"needs a speaker, tested and enrolled, with {tests} x L utterances under test"
    if not possible:
        raise MetricError(f"L = {min(lengths)} {needs}; the most are {most * tests}")
    return possible, [f"L = {length}: not measured, {needs}" for length in lengths if length > most]


def _risk(name: str, length: int, measured: Measured) -> SpeakerRisk:
    (artefact,) = measured.artefacts
    shares = dict(artefact.frame.select("speaker", "share").iter_rows())
    return SpeakerRisk(name, length, int(artefact.conditions["N"]), shares)
