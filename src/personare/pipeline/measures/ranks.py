"""Among how many people does a speaker vanish? The rank test of USC on one attack."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import polars as pl

from personare.core.errors import MetricError
from personare.metrics.privacy.ranks import Variant, rank_test
from personare.pipeline.measured import Artefact, Measured
from personare.pipeline.measures import MeasureDefaults, Needs, Question
from personare.pipeline.measures.lengths import enrolment_problems

if TYPE_CHECKING:
    from personare.pipeline.attack_inputs import PlayedAttack
    from personare.pipeline.resolve import ResolvedAttacker
    from personare.pipeline.speech import StudyCorpus
    from personare.pipeline.study import Study

LINK, SINGLE = ("rank_link_p50", "rank_link_p1"), ("rank_single_p50", "rank_single_p1")
REVERSED = ("rank_single_reversed_p50", "rank_single_reversed_p1")
METRICS: Mapping[Variant, tuple[str, ...]] = {
    "linkability": LINK,
    "singling_out": SINGLE,
    "singling_out_reversed": REVERSED,
}


@dataclass(frozen=True)
class Ranks(MeasureDefaults):
    """Rank percentiles of one variant.

    ``linkability`` where enrolment is anonymized too. ``singling_out`` looks for an original enrolment utterance among
    the anonymized trial utterances, as the paper's equation has it; ``singling_out_reversed`` the other way round.
    """

    requested: tuple[str, ...]
    variant: Variant = "linkability"
    tests: int = 100

    name: ClassVar[str] = "ranks"
    metrics: ClassVar[tuple[str, ...]] = (*LINK, *SINGLE, *REVERSED)
    groups: ClassVar[Mapping[str, tuple[str, ...]]] = {"ranks": (*LINK, *SINGLE), "ranks_reversed": REVERSED}
    needs: ClassVar[Needs] = "attack"

    @classmethod
    def plan(cls, question: Question) -> Iterator[Ranks]:
        """One measurement for each variant, of attackers who compare by cosine."""
        who, anonymizer = question.attacker, question.anonymizer
        if who is None or not who.by_cosine:
            return
        links = who.attacker.knowledge.enroll == "anonymized" or anonymizer.kind == "none"
        variants: tuple[Variant, ...] = ("linkability",) if links else ("singling_out", "singling_out_reversed")
        for variant in variants:
            metrics = tuple(metric for metric in question.metrics if metric in METRICS[variant])
            if metrics:
                yield cls(metrics, variant, question.study.rank_tests)

    @classmethod
    def problems(cls, study: Study, metrics: tuple[str, ...], attackers: list[ResolvedAttacker]) -> Iterator[str]:
        """Somebody must compare by cosine."""
        del study
        yield from cosine_problems(metrics, attackers)

    @classmethod
    def corpus_problems(cls, study: Study, metrics: tuple[str, ...], corpus: StudyCorpus) -> Iterator[str]:
        """Two people who are enrolled and tested."""
        del study, metrics
        yield from enrolment_problems(corpus)

    def run(self, inputs: PlayedAttack, /, *, rng: np.random.Generator) -> Measured:
        """Sort everybody by similarity, again and again."""
        attack = inputs.attack
        if not attack.by_cosine:
            raise MetricError("the rank test compares by cosine; this attacker's scorer is another one")
        both = set(attack.trial.speakers) & set(attack.enroll.speakers)
        if not both:
            raise MetricError(
                "no test speaker is enrolled; test and enrolment must share speakers under the same names"
            )
        evaluated, references = attack.trial.of_speakers(both), attack.enroll.of_speakers(both)
        if self.variant == "singling_out":  # D_e original, D_r anonymized
            evaluated, references = references, evaluated
        ranked = rank_test(
            evaluated.vectors,
            np.array(evaluated.speakers),
            references.vectors,
            np.array(references.speakers),
            variant=self.variant,
            tests=self.tests,
            rng=rng,
        )
        people = len(ranked.speakers)
        frame = pl.DataFrame(
            {"speaker": [str(s) for s in ranked.speakers], "rank": ranked.mean_ranks},
            schema_overrides={"rank": pl.Float64},
        ).with_columns(utterance=pl.lit(None, dtype=pl.String), people=pl.lit(people, dtype=pl.Int64))
        findings = tuple(f for f in ranked.findings() if f.metric.name in self.requested)
        return Measured(findings, (Artefact("ranks", frame, {"N": people, "variant": self.variant}),))


def cosine_problems(metrics: tuple[str, ...], attackers: list[ResolvedAttacker]) -> Iterator[str]:
    """Say that nobody compares by cosine."""
    if attackers and not any(one.by_cosine for one in attackers):
        yield f"metrics: {min(metrics)} compares by cosine; every attacker here has another scorer"
