"""Can a recording be linked to a person? Linkability of one attack at one L, over the number of people.

Definition and protocol are in ``metrics.privacy`` [vauquier2025legal]; here they meet the attacker's vectors. A scorer
that is no cosine gives its own score matrix, from which linkability is counted the same way.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import polars as pl

from personare.core.errors import MetricError
from personare.core.findings import Finding
from personare.metrics.privacy.linkability import (
    PAPER_DRAWS,
    Linkability,
    link_finding,
    linkability_from_counts,
    linkability_from_scores,
)
from personare.metrics.privacy.population import FEWEST_ENROLLED, population_linkability
from personare.metrics.privacy.vectors import target_columns
from personare.pipeline.measured import Artefact, Measured
from personare.pipeline.measures import Needs, Question
from personare.pipeline.measures.lengths import (
    AtLength,
    enrolment_problems,
    length_notes,
    length_problems,
    possible_lengths,
)

if TYPE_CHECKING:
    from personare.core.tables import Embeddings
    from personare.pipeline.attack_inputs import PlayedAttack
    from personare.pipeline.resolve import ResolvedAttacker
    from personare.pipeline.speech import StudyCorpus
    from personare.pipeline.study import Study

FORECAST = "population_linkability"


@dataclass(frozen=True)
class LinkabilityMeasure(AtLength):
    """Linkability at one L.

    Parameters
    ----------
    gallery_sizes : numbers of enrolled people N; without: 20, 50, 100, ... and all, who always come last.
    populations : sizes beyond the corpus for which it is forecast.
    paper : one test per speaker and five random enrolments, as published, instead of all of both.
    """

    requested: tuple[str, ...] = ("linkability",)
    length: int = 1
    genders: Mapping[str, str | None] = field(default_factory=dict)
    gallery_sizes: tuple[int, ...] = ()
    populations: tuple[int, ...] = ()
    paper: bool = False

    name: ClassVar[str] = "linkability"
    metrics: ClassVar[tuple[str, ...]] = ("linkability", FORECAST)
    needs: ClassVar[Needs] = "attack"

    @classmethod
    def plan(cls, question: Question) -> Iterator[LinkabilityMeasure]:
        """One measurement for each L."""
        study, corpus = question.study, question.corpus
        for length in possible_lengths(study, corpus, sampled=corpus.sampled):
            yield cls(question.metrics, length, corpus.genders(), study.gallery_sizes, study.populations)

    @classmethod
    def problems(cls, study: Study, metrics: tuple[str, ...], attackers: list[ResolvedAttacker]) -> Iterator[str]:
        """A forecast needs to know for how many people."""
        del attackers
        if FORECAST in metrics and not study.populations:
            yield f"metrics: {FORECAST} needs populations, e.g. populations: [10000, 1000000]"

    @classmethod
    def corpus_problems(cls, study: Study, metrics: tuple[str, ...], corpus: StudyCorpus) -> Iterator[str]:
        """Enough utterances for every L, enough people for every N."""
        yield from enrolment_problems(corpus)
        yield from length_problems(study, corpus)
        if not study.skip_impossible:
            yield from cls._too_few_people(study, metrics, corpus)

    @classmethod
    def corpus_notes(cls, study: Study, metrics: tuple[str, ...], corpus: StudyCorpus) -> Iterator[str]:
        """Who is left out of which L, and which N are."""
        yield from length_notes(study, corpus)
        if study.skip_impossible:
            yield from (f"left out: {line}" for line in cls._too_few_people(study, metrics, corpus))

    @classmethod
    def _too_few_people(cls, study: Study, metrics: tuple[str, ...], corpus: StudyCorpus) -> Iterator[str]:
        enrolled, most = len(corpus.enrolled), max(study.gallery_sizes, default=0)
        if most > enrolled:
            yield f"gallery_sizes: N = {most} is impossible for linkability, {enrolled} speakers are enrolled"
        smaller = [n for n in study.populations if n <= enrolled]
        if smaller:
            rule = f"{smaller[0]} is no more than the {enrolled} enrolled speakers"
            yield f"populations: {rule}; measure it with gallery_sizes"
        if study.populations and FORECAST in metrics and enrolled < FEWEST_ENROLLED:
            yield f"populations: a forecast needs at least {FEWEST_ENROLLED} enrolled speakers, there are {enrolled}"

    def run(self, inputs: PlayedAttack, /, *, rng: np.random.Generator) -> Measured:
        """Measure it over N (all enrolled last), by gender, forecast for populations; and how exposed everybody is.

        The forecast has draws of its own: it is the same whether genders are known or not.
        """
        gallery, every = inputs.linked_gallery, inputs.tests(self.length)
        tests = every.of_speakers(set(gallery.speakers))
        if not tests.ids:
            raise MetricError("no tested speaker is enrolled; test and enrolment must name the same speakers")
        enrolled = len(gallery.ids)
        sizes = tuple(sorted({*(n for n in self.gallery_sizes if n <= enrolled), enrolled})) or None
        linked = self._linked(inputs, tests, sizes if self.gallery_sizes else None, rng)
        findings = []
        if "linkability" in self.requested:
            findings += _with_always(linked, linked.findings(L=self.length))
            findings += _by_gender(linked, self.genders, self.length)
        notes = list(self._left_out(inputs, tests, every))
        if self.populations and FORECAST in self.requested:
            more, note = self._forecast(linked, rng.spawn(1)[0])
            findings, notes = findings + more, [*notes, note]
        return Measured(tuple(findings), (_exposed(linked, self.length),), tuple(note for note in notes if note))

    def _linked(
        self, inputs: PlayedAttack, tests: Embeddings, sizes: tuple[int, ...] | None, rng: np.random.Generator
    ) -> Linkability:
        gallery, owners = inputs.linked_gallery, np.array(tests.speakers)
        draws = PAPER_DRAWS if self.paper else None
        if self.paper:
            order = rng.permutation(len(owners))
            tests = tests.rows(np.sort(order[np.unique(owners[order], return_index=True)[1]]))
            owners = np.array(tests.speakers)
        if inputs.attack.by_cosine:
            above, enrolled = inputs.nontargets_above(tests), len(gallery.ids)
            return linkability_from_counts(above, owners, enrolled=enrolled, sizes=sizes, draws=draws, rng=rng)
        target = target_columns(owners, np.array(gallery.speakers))
        scores = inputs.attack.scores(tests)
        return linkability_from_scores(scores, target, owners, sizes=sizes, draws=draws, rng=rng)

    def _left_out(self, inputs: PlayedAttack, tests: Embeddings, every: Embeddings) -> Iterator[str]:
        unenrolled = set(every.speakers) - set(tests.speakers)
        short = set(inputs.attack.trial.speakers) - set(every.speakers)
        if unenrolled:
            yield f"L = {self.length}: {len(unenrolled)} tested speakers are not enrolled and cannot be linked"
        if short:
            yield f"L = {self.length}: {len(short)} speakers have fewer than {self.length} utterances"

    def _forecast(self, linked: Linkability, rng: np.random.Generator) -> tuple[list[Finding], str]:
        where, owners = f"L = {self.length}", linked.speakers[linked.owner]
        if linked.enrolled < FEWEST_ENROLLED:
            return [], f"{where}: nothing is forecast, a forecast needs {FEWEST_ENROLLED} enrolled speakers"
        try:
            forecast = population_linkability(
                linked.nontargets_above, owners, enrolled=linked.enrolled, populations=self.populations, rng=rng
            )
        except MetricError as error:  # the measured curve stands without a forecast
            return [], f"{where}: no forecast, because {error}"
        errors = ", ".join(f"{c.error:+.3f} at {c.factor} x the people" for c in forecast.checks)
        checked = errors or "not checkable, fewer than 200 enrolled: too few speakers for an interval"
        reach = f"supported up to {forecast.trusted_to():,} people; beyond that nobody has checked it"
        return forecast.findings(L=self.length), f"{where}: forecast error {checked}; {reach}"


def _by_gender(linked: Linkability, genders: Mapping[str, str | None], length: int) -> list[Finding]:
    """Linkability of the tested people of each gender, among everybody enrolled."""
    parts = linked.by_group(genders)
    return [
        link_finding(part.estimate, part.chance[-1], {"L": length, "N": linked.enrolled, "gender": gender})
        for gender, part in parts.items()
        if len(parts) > 1
    ]


def _with_always(linked: Linkability, findings: list[Finding]) -> list[Finding]:
    """Add to the finding of the largest N how many people are linked in every test, and how many by guessing.

    The tests of one person resemble each other, most of all where one pseudo-speaker stands for all of them. Who
    guesses once per person links tested / N people every time, as many as a random permutation leaves in place.
    """
    always = {
        "always_linked": int((linked.risk() >= 1).sum()),
        "always_guessed": len(linked.speakers) / linked.enrolled,
    }
    return [*findings[:-1], replace(findings[-1], conditions={**findings[-1].conditions, **always})]


def _exposed(linked: Linkability, length: int) -> Artefact:
    frame = pl.DataFrame(
        {
            "speaker": [str(name) for name in linked.speakers],
            "share": linked.risk(),
            "trials": np.bincount(linked.owner, minlength=len(linked.speakers)),
        }
    )
    return Artefact("exposed", frame.sort("speaker"), {"L": length, "N": linked.enrolled})
