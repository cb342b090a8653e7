"""What a study will do: every stage with its items, what is done already, and how long the rest will take."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

from personare.pipeline.graph import Graph
from personare.pipeline.jobs.voices import VoiceWork
from personare.pipeline.per_language import per_language
from personare.pipeline.probe import few, probe_measures, probe_sounds, probe_voices
from personare.pipeline.probe_training import probe_training
from personare.pipeline.run import HASHES, read_corpora
from personare.pipeline.speech import FileDigests, StudyCorpus, with_digests
from personare.pipeline.stages.measure import MeasureJob
from personare.pipeline.store import Store
from personare.pipeline.study import Study


@dataclass(frozen=True)
class Planned:
    """One stage: how many items are left, the seconds one of them takes (None: not probed), why it would fail."""

    kind: str
    label: str
    items: int
    left: int
    seconds_each: float | None
    trouble: str = ""

    @property
    def done(self) -> bool:
        """Whether nothing is left to do."""
        return self.left == 0


@dataclass(frozen=True)
class StudyPlan:
    """Everything a run would do, in its order."""

    stages: tuple[Planned, ...]

    def seconds(self, jobs: int) -> float:
        """Estimate the time on so many workers."""
        return sum(p.left * (p.seconds_each or 0.0) for p in self.stages) / jobs

    @property
    def unknown(self) -> list[str]:
        """Name the kinds of work whose time nobody knows beforehand."""
        return sorted({p.kind for p in self.stages if p.left and p.seconds_each is None})


def plan_study(study: Study, folder: Path, *, home: Path, probe: bool = True) -> StudyPlan:
    """Plan a study, writing nothing to ``folder``; ``probe`` times a couple of utterances in every kind of work."""
    store = Store(folder / "stages")
    with tempfile.TemporaryDirectory(prefix="personare-") as name:
        temporary = Path(name)
        study = per_language(study, stages=temporary)
        digests = _digests(store, temporary)
        corpora = {label: with_digests(one, digests) for label, one in read_corpora(study, home, store).items()}
        graph = Graph(study, corpora, home, digests)
        voices = [_voices(one, probe) for one in corpora.values() if one.wanted is not None]
        todo = {stage.label for stage in graph.stages if store.done(stage) is None}
        each: dict[str, float] = {}
        trouble: dict[str, str] = {}
        if probe and todo:
            each, trouble = _probed(
                graph, {label: few(one, temporary) for label, one in corpora.items()}, temporary, todo
            )
            each |= _measures(graph, store)
        stages = [_planned(job, store, each, trouble) for jobs in graph.waves.values() for job in jobs]
    return StudyPlan((*voices, *stages))


def _probed(
    graph: Graph, small: dict[str, StudyCorpus], temporary: Path, todo: set[str]
) -> tuple[dict[str, float], dict[str, str]]:
    """Time a couple of utterances in every kind of work."""
    tried = replace(graph, corpora=small)
    utterances = {job.stage.label: len(job.frame) for job in graph.waves["train"]}
    times, problems = probe_training(tried.waves["train"], Store(temporary / "stages"), utterances)
    each, trouble = probe_sounds(tried, temporary, todo)
    return each | times, trouble | problems


def _digests(store: Store, temporary: Path) -> FileDigests:
    """Take what an earlier run has hashed from there, and write nothing to it."""
    memory, copy = store.folder / HASHES, temporary / HASHES
    if memory.is_file():
        copy.write_bytes(memory.read_bytes())
    return FileDigests(copy)


def _voices(speech: StudyCorpus, probe: bool) -> Planned:
    assert speech.wanted is not None and speech.folder is not None
    work = VoiceWork(speech.folder, speech.wanted.rate_hz)
    items = speech.wanted.plan()
    left = sum(not work.is_ready(item) for item in items)
    each = (probe_voices(speech) if left and probe else 0.0) if probe or not left else None
    return Planned("voices", f"voices {speech.label}", len(items), left, each)


def _measures(graph: Graph, store: Store) -> dict[str, float]:
    """Time one measurement of every family that is left, for each corpus."""
    seconds: dict[str, float] = {}
    for label, corpus in graph.corpora.items():
        left = [j for j in graph.waves["measure"] if j.labels["corpus"] == label and store.done(j.stage) is None]
        one_each = {job.measure.name: job.measure for job in reversed(left)}
        times = probe_measures(corpus, list(one_each.values()), seed=graph.study.seed)
        seconds |= {job.stage.label: times[job.measure.name] for job in left if job.measure.name in times}
    return seconds


def _planned(job: MeasureJob, store: Store, each: dict[str, float], trouble: dict[str, str]) -> Planned:
    stage, done = job.stage, store.done(job.stage)
    left = 0 if done is not None and not done.failures else len(done.failures) if done else stage.items
    expected = each.get(stage.label, 0.0 if stage.kind == "generate" else None)
    return Planned(stage.kind, stage.label, stage.items, left, expected, trouble.get(stage.label, ""))
