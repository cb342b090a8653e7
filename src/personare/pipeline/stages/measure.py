"""Stage "measure": one family of metrics for one attack (or one listener), from vectors and words to findings."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from personare.core.errors import MetricError
from personare.core.seeding import Key, rng_for
from personare.pipeline.measured import Measured
from personare.pipeline.measures.detection import measure_detection
from personare.pipeline.measures.legal import measure_link, measure_single
from personare.pipeline.measures.utility import UtilitySpec, measure_utility
from personare.pipeline.measures.voices import measure_inference, measure_ranks, measure_similarity
from personare.pipeline.seen import Side, View
from personare.pipeline.stages.embed import VECTORS, HearJob, InventJob
from personare.pipeline.stages.listen import ListenJob
from personare.pipeline.store import Stage, Store
from personare.pipeline.waves import WholeStage

Vectors = HearJob | InventJob


@dataclass(frozen=True, eq=False)
class Voiced:
    """Vectors of a job, and how that speech was disguised: (system, mark of the draw)."""

    job: Vectors
    disguise: tuple[str, str] | None = None

    def side(self, store: Store) -> Side:
        """Where the vectors lie."""
        return Side(store.place(self.job.stage) / VECTORS, self.disguise)


@dataclass(frozen=True)
class Ask:
    """What to measure; plain values, so that they are part of the stage's key."""

    family: str
    metrics: tuple[str, ...]
    seed: int
    names: tuple[str, ...]
    """What chance is drawn for: the family, the system, the attack, L; never a label."""
    length: int = 1
    sizes: tuple[int, ...] = ()
    populations: tuple[int, ...] = ()
    draws: int = 5
    rank_tests: int = 100
    links: bool = True
    genders: Mapping[str, str | None] = field(default_factory=dict)
    listed: tuple[tuple[str, str], ...] | None = None
    attribute: str = ""
    known: Mapping[str, str | None] = field(default_factory=dict)
    """For inference: what is guessed, and its value for every speaker."""

    def facts(self) -> dict[str, Any]:
        """The settings, long lists as a hash."""
        tables = [sorted(table.items()) for table in (self.genders, self.known)]
        long = json.dumps([*tables, self.listed], default=str)
        plain = {k: v for k, v in self.__dict__.items() if k not in ("genders", "known", "listed")}
        return {**plain, "about": hashlib.sha256(long.encode()).hexdigest()}


@dataclass(frozen=True, eq=False)
class MeasureJob(WholeStage):
    """Measure one family; ``labels`` name the study's own words for it and are no part of the key."""

    label: str
    labels: Mapping[str, str]
    ask: Ask
    assault: Mapping[str, Any] = field(default_factory=dict)
    speech: Mapping[str, Voiced] = field(default_factory=dict)
    listen: ListenJob | None = None
    embedder: str = ""

    @cached_property
    def stage(self) -> Stage:
        """What it depends on: the question, the attack, and all vectors or words."""
        facts = {"ask": self.ask.facts(), "attack": dict(self.assault), "sides": sorted(self.speech)}
        inputs = [self.speech[name].job.stage for name in sorted(self.speech)]
        if self.listen is not None:
            return Stage("measure", self.label, facts | {"listen": self.listen.facts()}, (*inputs, self.listen.stage))
        return Stage("measure", self.label, facts, tuple(inputs))

    def work(self, store: Store) -> MeasureWork:
        """The work, for any process."""
        sides = {name: voiced.side(store) for name, voiced in self.speech.items()}
        utility = None
        if self.listen is not None:
            utility = UtilitySpec.of(self.listen, store, metrics=self.ask.metrics, seed=self.ask.seed)
        return MeasureWork(
            self.ask, dict(self.assault), sides, self.embedder, utility, self._failed(store), store.place(self.stage)
        )

    def _failed(self, store: Store) -> int:
        """Count the attacked utterances that could not be hidden or heard."""
        stages = [
            v.job.stage for name, v in self.speech.items() if name.startswith(("enroll", "trial", "original", "hidden"))
        ]
        every = {s.key: s for stage in stages for s in (stage, *stage.inputs)}
        return sum(len(done.failures) for s in every.values() if (done := store.done(s)) is not None)


@dataclass(frozen=True)
class MeasureWork:
    """One measurement; writes its findings into ``target``."""

    ask: Ask
    assault: dict[str, Any]
    sides: dict[str, Side]
    embedder: str
    utility: UtilitySpec | None
    failed: int
    target: Path

    def __call__(self, item: str) -> int:
        """Measure; gives the number of findings."""
        del item
        rng = rng_for(Key.from_seed(self.ask.seed).child("study"), "measure", *self.ask.names)
        found = self._measured(rng)
        findings = tuple(replace(f, failed=f.failed + self.failed) for f in found.findings)
        replace(found, findings=findings).save(self.target)
        return len(findings)

    def _measured(self, rng: np.random.Generator) -> Measured:
        ask = self.ask
        if self.utility is not None:
            return measure_utility(self.utility)
        if ask.family == "similarity":
            pair = (self.sides["original"].path, self.sides["hidden"].path)
            return measure_similarity(*pair, metrics=ask.metrics, rng=rng)
        view = self._view()
        if ask.family == "inference":
            return measure_inference(view.split(), attribute=ask.attribute, known=ask.known, rng=rng)
        seen = view.seen()
        if ask.family == "detection":
            told = {"metrics": ask.metrics, "length": ask.length, "genders": ask.genders, "listed": ask.listed}
            return measure_detection(seen, **told, rng=rng)  # type: ignore[arg-type]
        if ask.family == "link":
            crowd = {"sizes": ask.sizes, "populations": ask.populations, "genders": ask.genders}
            return measure_link(seen, metrics=ask.metrics, length=ask.length, **crowd, rng=rng)  # type: ignore[arg-type]
        if ask.family == "single":
            return measure_single(seen, length=ask.length, sizes=ask.sizes, draws=ask.draws, rng=rng)
        if ask.family == "ranks":
            return measure_ranks(seen, metrics=ask.metrics, links=ask.links, tests=ask.rank_tests, rng=rng)
        raise MetricError(f"no family of metrics '{ask.family}'")

    def _view(self) -> View:
        sides, calibration = self.sides, None
        if "calibration enroll" in sides:
            calibration = ((sides["calibration enroll"],), sides["calibration trial"])
        return View(
            knowledge=self.assault["knowledge"],
            embedder=self.embedder,
            scorer=self.assault["scorer"],
            enroll=tuple(sides[name] for name in sorted(sides) if name.startswith("enroll")),
            trial=sides["trial"],
            training=sides.get("training"),
            training_original=sides.get("training original"),
            calibration=calibration,
            as_norm=self.assault["as_norm"],
            alignment=self.assault["alignment"] or "pairs",
        )
