"""Legal risk over the size of the crowd: linkability and Singling Out, one curve per attacker and L.

Reads nothing and writes nothing: vectors in, findings and notes out. All chance comes from one public seed and the
names of what it is drawn for, so that adding an attacker or a length changes no other curve.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from personare.core.errors import MetricError, TableError
from personare.core.findings import Finding
from personare.core.seeding import Key, rng_for
from personare.metrics.privacy.control import risk_over_control
from personare.metrics.privacy.legal import LegalRun, link_conversations, single_out_conversations
from personare.metrics.privacy.population import Check, population_linkability

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from personare.core.tables import Embeddings
    from personare.metrics.privacy.linkability import Linkability
    from personare.metrics.privacy.singling_out import SinglingOut

    Sides = tuple[NDArray[np.float32], NDArray[np.str_], NDArray[np.float32], NDArray[np.str_]]


@dataclass(frozen=True)
class Pair:
    """What one attacker has: the vectors under test and those of enrolment, one row per utterance."""

    test: Embeddings
    enroll: Embeddings

    def __post_init__(self) -> None:
        both = set(self.test.ids) & set(self.enroll.ids)
        if both:
            first = f"{len(both)} utterances are in both (first: '{min(both)}')"
            raise TableError(f"test and enrolment must not share utterances; {first}")
        width = self.test.vectors.shape[1], self.enroll.vectors.shape[1]
        if width[0] != width[1]:
            same = "both must come from the same embedder"
            raise TableError(f"test vectors have {width[0]} dimensions, enrolment vectors {width[1]}; {same}")


@dataclass(frozen=True)
class Risk:
    """One attacker's success against each speaker by name, at one L and the largest N."""

    attacker: str
    length: int
    people: int
    speakers: Mapping[str, float]


@dataclass(frozen=True)
class LegalCurves:
    """All findings, in the order attacker, L, N; who is at risk; what a reader must know."""

    findings: tuple[Finding, ...]
    risks: tuple[Risk, ...]
    notes: tuple[str, ...]


def link_curves(
    pairs: Mapping[str, Pair],
    *,
    lengths: Sequence[int],
    sizes: Sequence[int] | None = None,
    populations: Sequence[int] = (),
    paper: bool = False,
    seed: int = 1,
) -> LegalCurves:
    """Measure linkability for each attacker and L; with ``populations``, foretell it for so many people too."""
    findings: list[Finding] = []
    risks: list[Risk] = []
    notes: list[str] = []
    for name, pair in pairs.items():
        possible = _possible(name, lengths, pair, conversations=1, notes=notes)
        for length in possible:
            rng = rng_for(Key.from_seed(seed), "link", name, str(length))
            run = link_conversations(*_sides(pair.test, pair.enroll), length=length, rng=rng, sizes=sizes, paper=paper)
            findings += run.found.findings(attacker=name, L=length)
            risks.append(_risk(name, run, run.found.enrolled))
            notes += _left_out(name, run)
            if populations:
                foretold, said = _forecast(run.found, name, length, populations, rng)
                findings += foretold
                notes.append(said)
    return LegalCurves(tuple(findings), tuple(risks), tuple(notes))


def single_out_curves(
    pairs: Mapping[str, Pair],
    *,
    lengths: Sequence[int],
    sizes: Sequence[int] | None = None,
    predicates: int,
    draws: int,
    folds: int,
    control: bool = False,
    seed: int = 1,
) -> LegalCurves:
    """Measure Singling Out for each attacker and L; with ``control``, the same attack on people not in the data too."""
    findings: list[Finding] = []
    risks: list[Risk] = []
    notes: list[str] = []
    choices: dict[str, Any] = {"sizes": sizes, "predicates": predicates, "draws": draws, "folds": folds}
    for name, pair in pairs.items():
        possible = _possible(name, lengths, pair, conversations=2, notes=notes)
        for length in possible:
            run = _single_out(pair, name, length, seed, **choices)
            findings += run.found.findings(attacker=name, L=length)
            risks.append(_risk(name, run, run.found.sizes[-1]))
            notes += _left_out(name, run)
            if control:
                outside = _single_out(pair, name, length, seed, control=True, **choices)
                notes.append(_control_note(name, length, run.found, outside.found))
    return LegalCurves(tuple(findings), tuple(risks), tuple(notes))


def _single_out(pair: Pair, name: str, length: int, seed: int, **choices: Any) -> LegalRun[SinglingOut]:
    """Run one protocol; the control draws the same conversations and the same enrolled voices."""
    rng = rng_for(Key.from_seed(seed), "single-out", name, str(length))
    return single_out_conversations(*_sides(pair.enroll, pair.test), length=length, rng=rng, **choices)


def _possible(name: str, lengths: Sequence[int], pair: Pair, *, conversations: int, notes: list[str]) -> list[int]:
    """Keep the lengths for which somebody has enough utterances; note the others, refuse when none is left."""
    enrolled = set(pair.enroll.speakers)
    counts = Counter(speaker for speaker in pair.test.speakers if speaker in enrolled)
    most = max(counts.values(), default=0) // conversations
    possible = [length for length in lengths if length <= most]
    needs = f"needs a speaker, tested and enrolled, with {conversations} x L utterances under test"
    if not possible:
        raise MetricError(f"{name}: L = {min(lengths)} {needs}; the most are {most * conversations}")
    notes += [f"{name}, L = {length}: not measured, {needs}" for length in lengths if length > most]
    return possible


def _sides(one: Embeddings, two: Embeddings) -> Sides:
    return one.vectors, np.array(one.speakers), two.vectors, np.array(two.speakers)


def _risk(name: str, run: LegalRun[Linkability] | LegalRun[SinglingOut], people: int) -> Risk:
    speakers = (str(speaker) for speaker in run.found.speakers.tolist())
    return Risk(name, run.length, people, dict(zip(speakers, run.found.risk().tolist(), strict=True)))


def _left_out(name: str, run: LegalRun[Linkability] | LegalRun[SinglingOut]) -> list[str]:
    return [f"{name}, L = {run.length}: {n} speakers left out ({why})" for why, n in run.left_out.items()]


def _forecast(
    found: Linkability, name: str, length: int, populations: Sequence[int], rng: np.random.Generator
) -> tuple[list[Finding], str]:
    try:
        foretold = population_linkability(
            found.strangers, found.speakers[found.owner], enrolled=found.enrolled, populations=populations, rng=rng
        )
    except MetricError as error:  # the measured curve stands without a forecast
        return [], f"{name}, L = {length}: no forecast, because {error}"
    errors = ", ".join(_checked(check) for check in foretold.checks) or "not checkable, fewer than 200 enrolled"
    reach = f"supported up to {foretold.trusted_to():,} people; beyond that nobody has checked it"
    return foretold.findings(attacker=name, L=length), f"{name}, L = {length}: forecast error {errors}; {reach}"


def _checked(check: Check) -> str:
    return f"{check.error:+.3f} at {check.factor} x the people"


def _control_note(name: str, length: int, attack: SinglingOut, control: SinglingOut) -> str:
    """Compare with the control at the largest size both have."""
    shared = [size for size in attack.sizes if size in control.sizes]
    if not shared:
        return f"{name}, L = {length}: the control has no number of people in common with the attack; choose sizes"
    pair = [found.estimates[found.sizes.index(shared[-1])] for found in (attack, control)]
    extra = risk_over_control(*pair)
    words = f"{pair[0].text('%')} in the data, {pair[1].text('%')} outside"
    says = "the data add risk" if extra.low > 0 else "the data add no risk that this attack shows"
    return f"{name}, L = {length}, N = {shared[-1]}: isolated {words} (control): {says}"
