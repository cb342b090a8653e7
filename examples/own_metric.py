"""A metric of your own: how often does everything a person said lead to the right name? Rank-1 identification.

A metric family is one frozen dataclass: its fields are one question, its class says what it gives and needs, ``run``
answers. Put this file where Python finds it (PYTHONPATH), and name it in a study beside the metrics that are built in:

    metrics: [eer, "own_metric:TopOne"]

or register it in a program with ``personare.register_metric("identification", TopOne)`` and ask for ``top_one``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from personare.attackers.scoring import enrolled
from personare.core.findings import Finding, MetricCard
from personare.metrics.intervals import wilson
from personare.pipeline.measured import Measured
from personare.pipeline.measures import MeasureDefaults, Needs, Question
from personare.pipeline.measures.lengths import enrolment_problems

if TYPE_CHECKING:
    from personare.pipeline.attack_inputs import PlayedAttack
    from personare.pipeline.speech import StudyCorpus
    from personare.pipeline.study import Study

# What every table and report says about the number: who defined it, how to read it, when not to trust it.
CARD = MetricCard(
    name="top_one",
    title="Rank-1 identification",
    better="lower",
    bounds=(0.0, 1.0),
    chance=None,  # 1/N, which depends on the corpus: every finding brings its own
    cite="ISO/IEC 19795-1:2021, identification rate at rank 1",
    reading="The attacker has heard all trial speech of a person and says one name. This is how often it is right.",
    caution="Falls with the number of enrolled people N: compare only at the same N.",
    unit="%",
)


@dataclass(frozen=True)
class TopOne(MeasureDefaults):
    """The share of tested people whose highest score in the gallery is their own; ties are not identifications.

    Everybody is tested once, so that people are independent trials and Wilson's interval holds.
    """

    requested: tuple[str, ...] = ("top_one",)

    name: ClassVar[str] = "identification"
    metrics: ClassVar[tuple[str, ...]] = ("top_one",)
    needs: ClassVar[Needs] = "attack"

    @classmethod
    def plan(cls, question: Question) -> Iterator[TopOne]:
        """One measurement for every attack."""
        yield cls(question.metrics)

    @classmethod
    def corpus_problems(cls, study: Study, metrics: tuple[str, ...], corpus: StudyCorpus) -> Iterator[str]:
        """Two people must be enrolled and tested; ``personare study check`` says so before any work."""
        del study, metrics
        yield from enrolment_problems(corpus)

    def run(self, inputs: PlayedAttack, /, *, rng: np.random.Generator) -> Measured:
        """Compare the mean of each person's trial utterances with everybody in the gallery."""
        del rng  # nothing is drawn
        gallery, trial = inputs.gallery, inputs.attack.trial.of_speakers(set(inputs.gallery.speakers))
        tested = enrolled(trial)
        scores = inputs.attack.scores(tested)
        own = np.array(tested.speakers)[:, None] == np.array(gallery.speakers)[None, :]
        right = scores[own] > np.where(own, -np.inf, scores).max(axis=1)
        people = len(gallery.ids)
        estimate = wilson(int(right.sum()), len(right))
        return Measured((Finding(CARD, estimate, {"N": people}, chance=1 / people),))
