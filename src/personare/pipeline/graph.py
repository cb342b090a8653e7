"""From a study to its stages: what must be hidden, heard and measured, and which of them builds on which."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from personare.attackers.knowledge import Knowledge
from personare.listeners import ctc_settings
from personare.pipeline.resolve import Assault, Hiding, Who, assaults, hidings, key_of, mark_of
from personare.pipeline.roles import CALIBRATION, ENROLMENT, TRAIN, TRIAL
from personare.pipeline.speech import Speech
from personare.pipeline.stages.anonymize import hide_job
from personare.pipeline.stages.embed import HearJob, InventJob
from personare.pipeline.stages.listen import ListenJob
from personare.pipeline.stages.measure import Ask, MeasureJob, Vectors, Voiced
from personare.pipeline.stages.train import TeachJob
from personare.pipeline.store import Stage
from personare.pipeline.study import ORIGINAL, Study
from personare.pipeline.study_listener import StudyListener, study_listeners
from personare.pipeline.wishes import NEED_LLRS, of_family

WAVES = ("hide", "hear", "invent", "teach", "listen", "measure")
PER_LENGTH = ("detection", "link", "single")


@dataclass(frozen=True, eq=False)
class Graph:
    """A study, its speech, and every job; jobs of one wave do not build on each other.

    With ``sample``, a few utterances stand for the speech: everything is asked of them, though they are too few.
    """

    study: Study
    speech: dict[str, Speech]
    folder: Path
    sample: bool = False

    @cached_property
    def hidings(self) -> list[Hiding]:
        """The anonymizers."""
        return hidings(self.study, self.folder)

    @cached_property
    def assaults(self) -> list[Assault]:
        """The attackers."""
        return assaults(self.study, self.hidings)

    @cached_property
    def measures(self) -> list[MeasureJob]:
        """Every measurement, in the order of the study."""
        return [job for speech in self.speech.values() for way in self.hidings for job in self._of(speech, way)]

    @cached_property
    def waves(self) -> dict[str, list[Any]]:
        """All jobs by wave, each stage once."""
        found: dict[str, dict[str, Any]] = {name: {} for name in WAVES}

        def add(job: Any) -> None:
            if job.stage.key not in found[job.stage.kind]:
                found[job.stage.kind][job.stage.key] = job
                for one in _before(job):
                    add(one)

        for job in self.measures:
            add(job)
        for speech in self.speech.values():  # clips need the hidden trial speech even where nothing else does
            for way in self.hidings if self.study.clips else ():
                if way.kind == "sound":
                    add(hide_job(self.study, speech, TRIAL, way, "owner"))
        return {name: list(jobs.values()) for name, jobs in found.items()}

    @property
    def stages(self) -> list[Stage]:
        """Every stage, in the order of work."""
        return [job.stage for jobs in self.waves.values() for job in jobs]

    def _of(self, speech: Speech, way: Hiding) -> Iterator[MeasureJob]:
        for assault in self.assaults:
            if assault.knowledge is Knowledge.ORIGINAL and way.kind != "none":
                continue  # nothing hidden is heard by an attacker of unprotected speech
            if assault.similar is not None and assault.similar.recipe.system == way.recipe.system:
                continue  # semi-informed means another system
            for family in ("detection", "link", "single", "ranks", "inference"):
                yield from self._attack(speech, way, assault.against(way), family)
        if way.kind != "none":
            yield from self._similarity(speech, way)
        if way.kind != "vectors":
            yield from self._utility(speech, way)

    def _attack(self, speech: Speech, way: Hiding, assault: Assault, family: str) -> Iterator[MeasureJob]:
        metrics = of_family(self.study, family)
        if family == "ranks":
            links = assault.knowledge.enroll == "anonymized" or way.kind == "none"
            metrics = tuple(m for m in metrics if m.startswith("rank_link") == links)
        if not metrics or not _fits(assault, family, way):
            return
        swap = family == "single" and speech.swapped
        sides = self._sides(speech, way, assault, swap=swap, llrs=bool(set(metrics) & set(NEED_LLRS)))
        labels = {
            "corpus": speech.label,
            "anonymizer": way.label,
            "attacker": assault.label,
            "knowledge": assault.knowledge.value,
            "embedder": assault.choice.embedder.partition(":")[0],
            "scorer": assault.scorer,
        }
        where = f"measure {speech.label} {way.label} {assault.label}: {family}"
        for told, ask in self._asks(speech, way, assault, family, metrics, swap):
            yield MeasureJob(where + told, labels, ask, assault.facts(), sides, embedder=assault.choice.embedder)

    def _asks(
        self, speech: Speech, way: Hiding, assault: Assault, family: str, metrics: tuple[str, ...], swap: bool
    ) -> Iterator[tuple[str, Ask]]:
        """Give every question of a family, with what its stage's label adds: each L, each attribute."""
        if family == "inference":
            for name in self.study.attributes:
                ask = self._ask(speech, way, assault, family, metrics, 1)
                known = dict(speech.attribute(name))
                yield f" of {name}", replace(ask, names=(*ask.names, name), attribute=name, known=known)
            return
        for length in self.study.conversations if family in PER_LENGTH else (1,):
            if self.sample or _enough(speech, family, swap, length):  # else said by check: too few utterances
                told = f", L = {length}" if family in PER_LENGTH else ""
                yield told, self._ask(speech, way, assault, family, metrics, length)

    def _ask(
        self, speech: Speech, way: Hiding, assault: Assault, family: str, metrics: tuple[str, ...], length: int
    ) -> Ask:
        names = (family, way.system, json.dumps(assault.facts(), sort_keys=True), str(length))
        ask = Ask(family, metrics, self.study.seed, names, length, genders=speech.genders())
        if family == "detection" and speech.trials is not None:
            rows = speech.trials.frame.select("enroll", "test").iter_rows()
            return replace(ask, listed=tuple((str(e), str(t)) for e, t in rows))
        if family == "link":
            return replace(ask, sizes=self.study.people, populations=self.study.populations)
        if family == "single":
            return replace(ask, sizes=self.study.people, draws=self.study.repetitions)
        links = assault.knowledge.enroll == "anonymized" or way.kind == "none"
        return replace(ask, rank_tests=self.study.rank_tests, links=links) if family == "ranks" else ask

    def _sides(self, speech: Speech, way: Hiding, assault: Assault, *, swap: bool, llrs: bool) -> dict[str, Voiced]:
        """Give every set of vectors that an attacker of this knowledge may have."""
        ear, level = assault.choice.embedder, assault.knowledge
        enroll, trial = (TRIAL, ENROLMENT) if swap else (ENROLMENT, TRIAL)
        hidden = way.kind != "none"

        def side(role: str, who: Who, speech_kind: str) -> Voiced:
            by = way if hidden and speech_kind == "anonymized" else None
            return self._voiced(speech, role, ear, by, who)

        found = {"enroll": side(enroll, "attacker", level.enroll), "trial": side(trial, "owner", level.trial)}
        for draw in range(2, assault.facts()["disguises"] + 1):
            found[f"enroll {draw}"] = self._voiced(speech, enroll, ear, way, "attacker", draw)
        if assault.learns:
            learnt = assault.similar or way
            by = learnt if level.needs_training else None
            found["training"] = self._voiced(speech, TRAIN, ear, by, "training")
        if level is Knowledge.ALIGNED:
            found["training original"] = self._voiced(speech, TRAIN, ear, None, "training")
        if llrs and len(speech.of(CALIBRATION[0])):
            found["calibration enroll"] = side(CALIBRATION[0], "attacker", level.enroll)
            found["calibration trial"] = side(CALIBRATION[1], "calibration", level.trial)
        return found

    def _voiced(self, speech: Speech, role: str, ear: str, way: Hiding | None, who: Who, draw: int = 1) -> Voiced:
        original = HearJob(f"hear {speech.label} {role} by {ear.partition(':')[0]}", speech.of(role), ear)
        if way is None or way.kind == "none":
            return Voiced(original)
        disguise = (way.recipe.system, mark_of(key_of(self.study, who, draw)))
        job: Vectors
        if way.kind == "vectors":
            pool = HearJob(f"hear {speech.label} {TRAIN} by {ear.partition(':')[0]}", speech.of(TRAIN), ear)
            recipe = replace(way.recipe, level="utterance") if who == "training" else way.recipe
            label = f"invent {speech.label} {role} by {way.label} ({who})"
            keys = (key_of(self.study, who, draw), key_of(self.study, "system"))
            job = InventJob(label, original, pool, recipe, *keys)
        else:
            hidden = hide_job(self.study, speech, role, way, who, draw)
            job = HearJob(f"{original.label}, hidden by {way.label} ({who})", speech.of(role), ear, hidden)
        return Voiced(job, disguise)

    def _similarity(self, speech: Speech, way: Hiding) -> Iterator[MeasureJob]:
        metrics = of_family(self.study, "similarity")
        for ear in dict.fromkeys(a.choice.embedder for a in self.assaults) if metrics else ():
            sides = {
                "original": self._voiced(speech, TRIAL, ear, None, "owner"),
                "hidden": self._voiced(speech, TRIAL, ear, way, "owner"),
            }
            labels = {"corpus": speech.label, "anonymizer": way.label, "embedder": ear.partition(":")[0]}
            ask = Ask("similarity", metrics, self.study.seed, ("similarity", way.system))
            label = f"measure {speech.label} {way.label}: similarity by {labels['embedder']}"
            yield MeasureJob(label, labels, ask, speech=sides, embedder=ear)

    def _utility(self, speech: Speech, way: Hiding) -> Iterator[MeasureJob]:
        metrics = of_family(self.study, "utility")
        hidden = hide_job(self.study, speech, TRIAL, way, "owner") if way.kind == "sound" else None
        for listener in self._listeners(speech):
            if hidden is None and listener.made().needs_original:
                continue
            label = f"listen {speech.label} {way.label} by {listener.label}"
            job = ListenJob(label, speech.of(TRIAL), listener, hidden)
            labels = {"corpus": speech.label, "anonymizer": way.label}
            ask = Ask("utility", metrics, self.study.seed, ("utility",))
            yield MeasureJob(f"measure {speech.label} {way.label}: {listener.label}", labels, ask, listen=job)

    def _listeners(self, speech: Speech) -> Iterator[StudyListener]:
        ways = {way.label: way for way in self.hidings}
        for listener in study_listeners(self.study, self.folder):
            if not listener.trained_by_study:
                yield listener
                continue
            hidden, choice = None, listener.choice
            if choice.trained_on != ORIGINAL:
                hidden = hide_job(self.study, speech, TRAIN, ways[choice.trained_on], "training")
            settings = replace(ctc_settings.chosen(choice.config), seed=self.study.seed)
            label = f"teach {speech.label} {listener.label} on {choice.trained_on}"
            yield replace(listener, training=TeachJob(label, speech.of(TRAIN), settings, hidden))


def _fits(assault: Assault, family: str, way: Hiding) -> bool:
    """Whether a family can be measured for an attack: check says so for those that cannot."""
    if family in ("single", "ranks"):
        return assault.scorer != "plda" and not assault.choice.as_norm
    return family != "inference" or (assault.knowledge.needs_training and way.kind != "none")


def _enough(speech: Speech, family: str, swap: bool, length: int) -> bool:
    """Whether two people have a conversation of this length, or two of them for Singling Out."""
    counts = speech.of(ENROLMENT if swap else TRIAL)["speaker"].value_counts()["count"]
    return bool((counts >= (2 * length if family == "single" else length)).sum() >= 2)


def _before(job: Any) -> Iterator[Any]:
    """Give the jobs whose results a job needs."""
    if isinstance(job, MeasureJob):
        yield from (voiced.job for voiced in job.speech.values())
        if job.listen is not None:
            yield job.listen
    elif isinstance(job, InventJob):
        yield from (job.original, job.pool)
    elif isinstance(job, ListenJob):
        yield from (one for one in (job.hidden, job.listener.training) if one is not None)
    elif isinstance(job, HearJob | TeachJob) and job.hidden is not None:
        yield job.hidden
