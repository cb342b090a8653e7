"""How much a voice still sounds like the recording it was made from: SIM, the cosine before and after."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from personare.core.findings import Finding
from personare.metrics.privacy import source_similarity
from personare.pipeline.measured import Measured
from personare.pipeline.measures import MeasureDefaults, Needs, Question
from personare.pipeline.measures.similarity import same_utterances

if TYPE_CHECKING:
    from personare.core.tables import Embeddings


@dataclass(frozen=True)
class SourceSimilarity(MeasureDefaults):
    """SIM of every trial utterance that was embedded before and after."""

    requested: tuple[str, ...]

    name: ClassVar[str] = "source similarity"
    metrics: ClassVar[tuple[str, ...]] = ("sim",)
    needs: ClassVar[Needs] = "pairs"

    @classmethod
    def plan(cls, question: Question) -> Iterator[SourceSimilarity]:
        """One measurement, where something was anonymized."""
        if question.anonymizer.kind != "none":
            yield cls(question.metrics)

    def run(self, inputs: tuple[Embeddings, Embeddings], /, *, rng: np.random.Generator) -> Measured:
        """Compare each utterance with what was made of it."""
        del rng
        before, after = same_utterances(*inputs)
        estimate = source_similarity.sim_estimate(before.vectors, after.vectors, speakers=np.array(before.speakers))
        return Measured((Finding(source_similarity.CARD, estimate),))
