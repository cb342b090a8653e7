"""De-identification (DeID) and gain of voice distinctiveness (G_VD) in a study, from matrices of voice similarity."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from types import MappingProxyType
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import polars as pl

from personare.core.errors import MetricError
from personare.core.findings import Estimate, Finding, MetricCard
from personare.metrics.privacy import similarity
from personare.pipeline.measured import Artefact, Measured
from personare.pipeline.measures import MeasureDefaults, Needs, Question
from personare.pipeline.roles import TRIAL

if TYPE_CHECKING:
    from personare.core.tables import Embeddings
    from personare.pipeline.speech import StudyCorpus
    from personare.pipeline.study import Study

Parts = tuple[list[Finding], list[Artefact], list[str]]
WITHIN = (similarity.CARD, similarity.GAIN_CARD)
POOLED = (similarity.POOLED_CARD, similarity.POOLED_GAIN_CARD)
UNKNOWN = "unknown"


def same_utterances(before: Embeddings, after: Embeddings) -> tuple[Embeddings, Embeddings]:
    """Give the rows of the utterances that are in both, in the order of their ids."""
    before, after = before.sorted(), after.sorted()
    return before.rows(_shared(before, after)), after.rows(_shared(after, before))


def _shared(these: Embeddings, those: Embeddings) -> list[int]:
    known = set(those.ids)
    return [i for i, name in enumerate(these.ids) if name in known]


@dataclass(frozen=True)
class Similarity(MeasureDefaults):
    """DeID and G_VD, the challenge's variant: within each gender, and over both only where the pooled ones are asked.

    ``genders`` are those of the tested speakers, by name. Speakers of unknown gender are compared with each other.
    """

    requested: tuple[str, ...]
    genders: Mapping[str, str | None] = field(default_factory=dict)

    name: ClassVar[str] = "similarity"
    metrics: ClassVar[tuple[str, ...]] = ("deid", "g_vd", "deid_pooled", "g_vd_pooled")
    groups: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "similarity": ("deid", "g_vd"),
        "similarity_pooled": ("deid_pooled", "g_vd_pooled"),
    }
    needs: ClassVar[Needs] = "pairs"
    cost: ClassVar[float] = 2.0

    @classmethod
    def plan(cls, question: Question) -> Iterator[Similarity]:
        """One measurement, where something was anonymized."""
        if question.anonymizer.kind != "none":
            yield cls(question.metrics, question.corpus.genders())

    @classmethod
    def corpus_problems(cls, study: Study, metrics: tuple[str, ...], corpus: StudyCorpus) -> Iterator[str]:
        """A speaker must be heard twice."""
        del study, metrics
        if corpus.counts(TRIAL).max(initial=0) < 2:
            need = "deid and g_vd compare two trial utterances of a speaker"
            yield f"metrics: {need}; nobody has two; give more utterances"

    @classmethod
    def corpus_notes(cls, study: Study, metrics: tuple[str, ...], corpus: StudyCorpus) -> Iterator[str]:
        """Say whom DeID and G_VD compare."""
        del study
        genders = corpus.genders()
        known = {genders.get(who) for who in corpus.tested} - {None, ""}
        if {"deid", "g_vd"} & set(metrics):
            if known:
                yield "DeID and G_VD compare speakers of the same gender only, as VoicePrivacy does."
            else:
                yield "Genders are unknown: DeID and G_VD compare women with men too, which VoicePrivacy does not."

    def run(self, inputs: tuple[Embeddings, Embeddings], /, *, rng: np.random.Generator) -> Measured:
        """Compare original with original, original with anonymized, anonymized with anonymized."""
        del rng
        before, after = same_utterances(*inputs)
        measured = []
        each = np.array([self.genders.get(who) or UNKNOWN for who in before.speakers])
        if self._asked(WITHIN):
            known = sorted(set(each.tolist()))
            if len(known) < 2:
                measured.append(self._measured(before, after, WITHIN))
            for gender in known if len(known) > 1 else ():
                rows = np.flatnonzero(each == gender).tolist()
                measured.append(self._of_gender(before.rows(rows), after.rows(rows), gender))
        if self._asked(POOLED):
            # one list after the other: the challenge's rule uses each pair once, so that the order counts for M_oa
            rows = np.argsort(each, kind="stable").tolist()
            measured.append(self._measured(before.rows(rows), after.rows(rows), POOLED))
        findings, artefacts, notes = ([*chain.from_iterable(parts)] for parts in zip(*measured, strict=True))
        return Measured(tuple(findings), tuple(artefacts), tuple(notes))

    def _asked(self, cards: tuple[MetricCard, ...]) -> list[str]:
        return [card.name for card in cards if card.name in self.requested]

    def _of_gender(self, before: Embeddings, after: Embeddings, gender: str) -> Parts:
        """Measure one gender; a gender that is too small for it is named in a note."""
        try:
            return self._measured(before, after, WITHIN, {"gender": gender})
        except MetricError as fault:
            return [], [], [f"DeID and G_VD, gender {gender}: not measured: {fault}"]

    def _measured(
        self,
        before: Embeddings,
        after: Embeddings,
        cards: tuple[MetricCard, MetricCard],
        conditions: Mapping[str, str] = MappingProxyType({}),
    ) -> Parts:
        matrices = similarity.voice_similarity(
            before.vectors,
            after.vectors,
            speakers=list(before.speakers),
            utterances=list(before.ids),
            variant="vpc2020",
        )
        estimates = similarity.similarity_estimates(matrices)
        asked = self._asked(cards)
        findings = [Finding(c, e, dict(conditions)) for c, e in zip(cards, estimates, strict=True) if c.name in asked]
        whose = f", gender {conditions['gender']}" if conditions else ""
        notes = [_endless(f"{f.metric.title}{whose}", f.estimate) for f in findings]
        frames = [_matrix(getattr(matrices, side), side) for side in ("oo", "oa", "aa")]
        labels = {**conditions, **({"gender": "pooled"} if cards is POOLED else {})}
        return findings, [Artefact("similarity", pl.concat(frames), labels)], [note for note in notes if note]


def _endless(title: str, estimate: Estimate) -> str:
    """Say in words what no number can: voices that are all alike."""
    if math.isinf(estimate.value):
        return f"{title}: no finite number, the anonymized voices cannot be told apart at all"
    if math.isnan(estimate.low):
        return f"{title}: too few speakers for an interval; without one of them voices cannot be told apart at all"
    return ""


def _matrix(matrix: similarity.SimilarityMatrix, side: str) -> pl.DataFrame:
    names = list(matrix.speakers)
    rows, columns = np.repeat(names, len(names)), np.tile(names, len(names))
    return pl.DataFrame(
        {"row_speaker": rows, "column_speaker": columns, "side": [side] * len(rows), "value": matrix.values.ravel()}
    )
