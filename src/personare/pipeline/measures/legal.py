"""The legal criteria for one attack at one L: can a recording be linked to a person, can a voice be isolated?

Definitions and protocol are in ``metrics.privacy`` [vauquier2025legal]; here they meet the attacker's vectors. A scorer
that is no cosine gives its own score matrix, from which linkability is counted the same way.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from personare.core.errors import MetricError
from personare.core.findings import Finding
from personare.metrics.privacy.conversations import conversations, enrolment_means
from personare.metrics.privacy.legal import link_conversations, single_out_conversations
from personare.metrics.privacy.linkability import CARD, Linkability, linkability_from_counts
from personare.metrics.privacy.nontargets_above import nontargets_above_in_scores
from personare.metrics.privacy.population import FEWEST_ENROLLED, population_linkability
from personare.pipeline.measured import Artefact, Measured
from personare.pipeline.measures.detection import enrolled_tests
from personare.pipeline.seen import Seen

if TYPE_CHECKING:
    from personare.core.tables import Embeddings


def measure_link(
    seen: Seen,
    *,
    metrics: Sequence[str],
    length: int,
    sizes: Sequence[int],
    populations: Sequence[int],
    genders: Mapping[str, str | None],
    rng: np.random.Generator,
) -> Measured:
    """Linkability over N (all enrolled last), by gender, foretold for populations; and how exposed everybody is."""
    trial, strangers = enrolled_tests(seen)
    enrolled = len(set(seen.enroll.speakers))
    chosen = tuple(sorted({*(n for n in sizes if n <= enrolled), enrolled})) if sizes else None
    found = _linked(seen, trial, length=length, sizes=chosen, rng=rng)
    findings = found.findings(L=length) if "linkability" in metrics else []
    if "linkability" in metrics:
        findings += _by_gender(found, genders, length, rng)
    notes = [f"L = {length}: {strangers} tested speakers are not enrolled and cannot be linked"] if strangers else []
    if populations and "population_linkability" in metrics and enrolled < FEWEST_ENROLLED:
        notes.append(f"L = {length}: nothing is foretold, a forecast needs {FEWEST_ENROLLED} enrolled speakers")
    elif populations and "population_linkability" in metrics:
        findings += population_linkability(
            found.nontargets_above,
            found.speakers[found.owner],
            enrolled=enrolled,
            populations=tuple(populations),
            rng=rng,
        ).findings(L=length)
    return Measured(tuple(findings), (_exposed(found, length),), tuple(notes))


def _linked(
    seen: Seen, trial: Embeddings, *, length: int, sizes: Sequence[int] | None, rng: np.random.Generator
) -> Linkability:
    enroll = seen.enroll
    if seen.by_cosine:
        sides = (trial.vectors, np.array(trial.speakers), enroll.vectors, np.array(enroll.speakers))
        return link_conversations(*sides, length=length, rng=rng, sizes=sizes).result
    people = enrolment_means(enroll.vectors, enroll.speakers)
    tests = conversations(trial.vectors, trial.speakers, length=length, rng=rng)
    place = {str(name): i for i, name in enumerate(people.speakers)}
    own = np.array([place[str(name)] for name in tests.speakers])
    counts = nontargets_above_in_scores(seen.scores(tests.vectors, people.vectors), own)
    return linkability_from_counts(counts, tests.speakers, enrolled=len(place), sizes=sizes, rng=rng)


def _by_gender(
    found: Linkability, genders: Mapping[str, str | None], length: int, rng: np.random.Generator
) -> list[Finding]:
    """Linkability of the tested people of each gender, among everybody enrolled."""
    owners = found.speakers[found.owner]
    each = np.array([genders.get(str(name)) or "" for name in owners])
    known = [gender for gender in np.unique(each).tolist() if gender]
    findings = []
    for gender in known if len(known) > 1 else ():
        rows = each == gender
        part = linkability_from_counts(
            found.nontargets_above[rows], owners[rows], enrolled=found.enrolled, sizes=(found.enrolled,), rng=rng
        )
        conditions = {"L": length, "N": found.enrolled, "gender": gender}
        findings.append(Finding(CARD, part.estimates[0], conditions, chance=part.chance[0]))
    return findings


def _exposed(found: Linkability, length: int) -> Artefact:
    frame = pl.DataFrame(
        {
            "speaker": [str(name) for name in found.speakers],
            "share": found.risk(),
            "trials": np.bincount(found.owner, minlength=len(found.speakers)),
        }
    )
    return Artefact("exposed", frame.sort("speaker"), {"L": length, "N": found.enrolled})


def measure_single(seen: Seen, *, length: int, sizes: Sequence[int], draws: int, rng: np.random.Generator) -> Measured:
    """Singling Out over the size of the crowd; the enrolled describe a voice, the tested are the crowd."""
    if not seen.by_cosine:
        raise MetricError("Singling Out compares by cosine; this attacker's scorer is another one")
    crowd, enroll = seen.trial, seen.enroll
    people = sum(1 for n in np.unique(crowd.speakers, return_counts=True)[1] if n >= 2 * length)
    chosen = tuple(sorted({n for n in sizes if n <= people})) if sizes else None
    if chosen == ():
        raise MetricError(f"L = {length}: {people} people have two conversations; none of the asked N fits")
    sides = (enroll.vectors, np.array(enroll.speakers), crowd.vectors, np.array(crowd.speakers))
    run = single_out_conversations(*sides, length=length, rng=rng, sizes=chosen, draws=draws)
    notes = [f"L = {length}: {n} speakers left out of Singling Out ({why})" for why, n in run.left_out.items()]
    return Measured(tuple(run.result.findings(L=length)), (), tuple(notes))
