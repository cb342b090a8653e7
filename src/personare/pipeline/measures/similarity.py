"""Who resembles whom: de-identification and gain of voice distinctiveness, from matrices of voice similarity."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import polars as pl

from personare.core.findings import Estimate, Finding
from personare.metrics.privacy import similarity
from personare.pipeline.measured import Artefact, Measured
from personare.pipeline.measures import MeasureDefaults, Needs, Question
from personare.pipeline.roles import TRIAL

if TYPE_CHECKING:
    from personare.core.tables import Embeddings
    from personare.pipeline.speech import StudyCorpus
    from personare.pipeline.study import Study

CARDS = (similarity.CARD, similarity.GAIN_CARD)


def same_utterances(before: Embeddings, after: Embeddings) -> tuple[Embeddings, Embeddings]:
    """Give the rows of the utterances that are in both, in the order of their ids."""
    before, after = before.sorted(), after.sorted()
    return before.rows(_shared(before, after)), after.rows(_shared(after, before))


def _shared(these: Embeddings, those: Embeddings) -> list[int]:
    known = set(those.ids)
    return [i for i, name in enumerate(these.ids) if name in known]


@dataclass(frozen=True)
class Similarity(MeasureDefaults):
    """DeID and G_VD, the challenge's variant."""

    requested: tuple[str, ...]

    name: ClassVar[str] = "similarity"
    metrics: ClassVar[tuple[str, ...]] = ("deid", "g_vd")
    groups: ClassVar[Mapping[str, tuple[str, ...]]] = {"similarity": ("deid", "g_vd")}
    needs: ClassVar[Needs] = "pairs"
    cost: ClassVar[float] = 2.0

    @classmethod
    def plan(cls, question: Question) -> Iterator[Similarity]:
        """One measurement, where something was anonymized."""
        if question.anonymizer.kind != "none":
            yield cls(question.metrics)

    @classmethod
    def corpus_problems(cls, study: Study, metrics: tuple[str, ...], corpus: StudyCorpus) -> Iterator[str]:
        """A speaker must be heard twice."""
        del study, metrics
        if corpus.counts(TRIAL).max(initial=0) < 2:
            need = "deid and g_vd compare two trial utterances of a speaker"
            yield f"metrics: {need}; nobody has two; give more utterances"

    def run(self, inputs: tuple[Embeddings, Embeddings], /, *, rng: np.random.Generator) -> Measured:
        """Compare original with original, original with anonymized, anonymized with anonymized."""
        del rng
        before, after = same_utterances(*inputs)
        matrices = similarity.voice_similarity(
            before.vectors,
            after.vectors,
            speakers=list(before.speakers),
            utterances=list(before.ids),
            variant="vpc2020",
        )
        estimates = similarity.similarity_estimates(matrices)
        findings = [Finding(c, e) for c, e in zip(CARDS, estimates, strict=True) if c.name in self.requested]
        notes = [_endless(f.metric.title, f.estimate) for f in findings]
        frames = [_matrix(getattr(matrices, side), side) for side in ("oo", "oa", "aa")]
        artefact = Artefact("similarity", pl.concat(frames))
        return Measured(tuple(findings), (artefact,), tuple(note for note in notes if note))


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
