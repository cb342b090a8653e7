"""Stage "measure": one question of one family of metrics, from vectors or observations to findings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from personare.core.fingerprint import SystemIdentity
from personare.pipeline.attack_choices import choices_of
from personare.pipeline.attack_inputs import AttackInputs, PlayedAttack, VectorFile
from personare.pipeline.measures import Measure, measure_facts, rng_of
from personare.pipeline.resolve import ResolvedAttacker
from personare.pipeline.stages.embed import VECTORS, EmbedJob
from personare.pipeline.stages.generate import GenerateJob
from personare.pipeline.stages.listen import ListenJob
from personare.pipeline.store import Stage, Store
from personare.pipeline.waves import WholeStage


@dataclass(frozen=True, eq=False)
class VectorSource:
    """Vectors of a job, and how that speech was anonymized: (system, token of the draw)."""

    job: EmbedJob | GenerateJob
    anonymization: tuple[SystemIdentity, str] | None = None

    def file(self, store: Store) -> VectorFile:
        """Where the vectors lie."""
        return VectorFile(store.place(self.job.stage) / VECTORS, self.anonymization)


@dataclass(frozen=True, eq=False)
class AttackSources:
    """Where the speech of one attack comes from; see ``AttackInputs``."""

    attacker: ResolvedAttacker
    trial: VectorSource
    enroll: tuple[VectorSource, ...] = ()
    training: VectorSource | None = None
    training_original: VectorSource | None = None
    more_training: tuple[VectorSource, ...] = ()  # further draws of the same speech
    spare: tuple[VectorSource, ...] = ()
    calibration: tuple[tuple[VectorSource, ...], VectorSource] | None = None

    @property
    def attacked(self) -> list[VectorSource]:
        """The speech of the people who are attacked."""
        return [*self.enroll, self.trial]

    @property
    def all(self) -> list[VectorSource]:
        """All speech, in a fixed order."""
        rest = [one for one in (self.training, self.training_original) if one is not None]
        others = [*self.calibration[0], self.calibration[1]] if self.calibration else []
        return [*self.attacked, *rest, *self.more_training, *self.spare, *others]

    def facts(self) -> dict[str, Any]:
        """What the attack depends on besides its vectors."""
        shape = [len(self.enroll), self.training is not None, self.training_original is not None]
        calibration = 0 if self.calibration is None else len(self.calibration[0])
        return {**self.attacker.facts(), "sources": [*shape, calibration, len(self.more_training), len(self.spare)]}

    def inputs(self, store: Store, seed: int) -> AttackInputs:
        """Give the files."""

        def file(source: VectorSource | None) -> VectorFile | None:
            return None if source is None else source.file(store)

        calibration = None
        if self.calibration is not None:
            calibration = (tuple(s.file(store) for s in self.calibration[0]), self.calibration[1].file(store))
        return AttackInputs(
            self.attacker.attacker,
            tuple(source.file(store) for source in self.enroll),
            self.trial.file(store),
            tuple(one.file(store) for one in (self.training, *self.more_training) if one is not None),
            file(self.training_original),
            tuple(one.file(store) for one in self.spare),
            calibration,
            seed,
        )


@dataclass(frozen=True, eq=False)
class MeasureJob(WholeStage):
    """Answer one question; ``labels`` are the study's own words for it and no part of the key.

    Exactly one of ``attack``, ``pair`` (vectors before and after) and ``listen`` is there, as the measure needs.
    """

    label: str
    labels: Mapping[str, str]
    measure: Measure
    seed: int
    attack: AttackSources | None = None
    pair: tuple[VectorSource, VectorSource] | None = None
    listen: ListenJob | None = None

    @property
    def sources(self) -> list[VectorSource]:
        """Every set of vectors it needs."""
        return self.attack.all if self.attack else [*(self.pair or ())]

    @cached_property
    def stage(self) -> Stage:
        """What it depends on: the question, the attack, and all vectors or observations."""
        facts: dict[str, Any] = {"question": measure_facts(self.measure), "seed": self.seed}
        inputs = [source.job.stage for source in self.sources]
        if self.attack is not None:
            facts["attack"] = self.attack.facts()
        if self.listen is not None:
            facts["listen"] = self.listen.facts()
            inputs.append(self.listen.stage)
        return Stage("measure", self.label, facts, tuple(inputs))

    def work(self, store: Store) -> MeasureWork:
        """The work, for any process."""
        inputs: Any = None
        if self.attack is not None:
            inputs = self.attack.inputs(store, self.seed)
        elif self.pair is not None:
            inputs = tuple(source.file(store) for source in self.pair)
        elif self.listen is not None:
            from personare.pipeline.measures.utility import observations_of

            inputs = observations_of(self.listen, store, self.seed)
        return MeasureWork(self.measure, inputs, self.seed, self._failed(store), store.place(self.stage))

    def _failed(self, store: Store) -> int:
        """Count the attacked utterances that could not be anonymized or embedded."""
        sources = self.attack.attacked if self.attack else self.sources
        every = {stage.key: stage for source in sources for stage in _attacked_stages(source.job.stage)}
        return sum(len(done.failures) for stage in every.values() if (done := store.done(stage)) is not None)


def _attacked_stages(stage: Stage) -> Iterator[Stage]:
    """Give a stage and what it builds on, but not what only serves to learn from others."""
    yield stage
    for one in stage.inputs:
        if one.kind != "estimate":
            yield from _attacked_stages(one)


@dataclass(frozen=True)
class MeasureWork:
    """One measurement; writes its findings into ``target``."""

    measure: Measure
    inputs: Any
    seed: int
    failed: int
    target: Path

    def __call__(self, item: str) -> int:
        """Measure; gives the number of findings."""
        del item
        opened = self._opened()
        measured = self.measure.run(opened, rng=rng_of(self.measure, self.seed))
        findings = tuple(replace(f, failed=f.failed + self.failed) for f in measured.findings)
        artefacts = (
            (*measured.artefacts, *choices_of(opened)) if isinstance(opened, PlayedAttack) else measured.artefacts
        )
        replace(measured, findings=findings, artefacts=artefacts).save(self.target)
        return len(findings)

    def _opened(self) -> Any:
        """Read what the measure needs."""
        if self.measure.needs == "attack":
            return self.inputs.played()
        if self.measure.needs == "training":
            return self.inputs.split()
        if self.measure.needs == "pairs":
            return tuple(file.read().embeddings for file in self.inputs)
        return self.inputs
