"""What an anonymized voice still tells about its owner: gender, age group, accent, or whatever else a table knows.

The attacker learns from other people, whose speech they anonymize themselves, and then hears all trial utterances of a
target together. Beside the attack stand the majority guess, and the same attack on somebody else's voice (the control).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from personare.attackers.inference import infer_attribute
from personare.core.errors import PersonareError
from personare.metrics.privacy import control
from personare.pipeline.measured import Measured
from personare.pipeline.measures import MeasureDefaults, Needs, Question
from personare.pipeline.roles import TRAIN, TRIAL

if TYPE_CHECKING:
    from personare.attackers.split import Split
    from personare.pipeline.resolve import ResolvedAttacker
    from personare.pipeline.speech import StudyCorpus
    from personare.pipeline.study import Study


@dataclass(frozen=True)
class Inference(MeasureDefaults):
    """One attribute: its name and its value for every speaker, where known."""

    requested: tuple[str, ...]
    attribute: str
    known: Mapping[str, str | None] = field(default_factory=dict)

    name: ClassVar[str] = "inference"
    metrics: ClassVar[tuple[str, ...]] = ("risk_over_control",)
    groups: ClassVar[Mapping[str, tuple[str, ...]]] = {"inference": ("risk_over_control",)}
    needs: ClassVar[Needs] = "training"

    @property
    def label(self) -> str:
        """Which attribute."""
        return f" of {self.attribute}"

    @property
    def draws_for(self) -> tuple[str, ...]:
        """Which attribute."""
        return (self.attribute,)

    @classmethod
    def plan(cls, question: Question) -> Iterator[Inference]:
        """One measurement for each attribute, of attackers who learn from anonymized speech."""
        who = question.attacker
        if who is None or not who.attacker.knowledge.needs_training or question.anonymizer.kind == "none":
            return
        for name in question.study.attributes:
            yield cls(question.metrics, name, dict(question.corpus.attribute(name)))

    @classmethod
    def problems(cls, study: Study, metrics: tuple[str, ...], attackers: list[ResolvedAttacker]) -> Iterator[str]:
        """Somebody must learn."""
        del study, metrics
        if attackers and not any(one.attacker.knowledge.needs_training for one in attackers):
            yield "metrics: inference needs an attacker who learns (informed, semi-informed or aligned)"

    @classmethod
    def corpus_problems(cls, study: Study, metrics: tuple[str, ...], corpus: StudyCorpus) -> Iterator[str]:
        """What is guessed must be noted for the attacked, and have two values among those who are learnt from."""
        del metrics
        for name in study.attributes:
            try:
                known = corpus.attribute(name)
            except PersonareError as error:
                yield f"attributes: {error}"
                continue
            values = {known.get(who) for who in corpus.of(TRAIN)["speaker"]} - {None, ""}
            attacked = {who for who in corpus.of(TRIAL)["speaker"] if known.get(who)}
            if len(values) < 2:
                yield f"attributes: {name} needs two values among the train speakers, there are {len(values)}"
            if len(attacked) < 2:
                yield f"attributes: {name} is noted for {len(attacked)} of the tested speakers; at least 2 are needed"

    def run(self, inputs: Split, /, *, rng: np.random.Generator) -> Measured:
        """Guess the attribute of everybody, beyond what another person's voice gives."""
        inferred = infer_attribute(inputs, self.known, rng=rng)
        risk = control.attack_risk(
            inferred.successes,
            inferred.attempts,
            control_successes=inferred.control_successes,
            control_attempts=inferred.attempts,
            baseline=inferred.baseline,
        )
        conditions: dict[str, str | int | float] = {
            "attribute": self.attribute,
            "attack": risk.attack.value,
            "control": risk.control.value,
            "baseline": risk.baseline,
        }
        notes = [f"{self.attribute}: {risk.sentence}"]
        if inferred.unknown:
            lacking = f"nobody noted it for {inferred.unknown} of the attacked speakers, who are left out"
            notes.append(f"{self.attribute}: {lacking}")
        return Measured((risk.finding(conditions),), (), tuple(notes))
