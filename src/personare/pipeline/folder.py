"""The run folder: findings, artefacts, clips, failures and environment, put together from the stages for any reader.

Everything here is derived: deleting it and running again gives the same files. No file holds a key, and none but the
stages holds more sound than the few clips that were asked for.
"""

from __future__ import annotations

import dataclasses
import json
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import polars as pl

from personare.core.files import atomic_path, write_text
from personare.core.findings import Finding
from personare.core.ledger import Ledger
from personare.core.tables import write_frame
from personare.pipeline.check_speech import not_played_notes, speech_notes
from personare.pipeline.clips import write_clips
from personare.pipeline.environment import environment_of
from personare.pipeline.gate import Verdict, judged, row_of
from personare.pipeline.given import given_ledger
from personare.pipeline.graph import Graph
from personare.pipeline.measured import load
from personare.pipeline.stages.listen import ListenJob, read_observations
from personare.pipeline.store import Store

CONDITIONS: dict[str, Any] = {
    "corpus": pl.String,
    "anonymizer": pl.String,
    "attacker": pl.String,
    "knowledge": pl.String,
    "embedder": pl.String,
    "scorer": pl.String,
    "L": pl.Int64,
    "N": pl.Int64,
    "gender": pl.String,
    "trial_list": pl.String,
    "speaker": pl.String,
    "listener": pl.String,
    "listener_trained_on": pl.String,
}
COLUMNS: dict[str, Any] = {
    "metric": pl.String,
    "title": pl.String,
    "value": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "n": pl.Int64,
    "chance": pl.Float64,
    "differs_from_chance": pl.Boolean,
    "p_better": pl.Float64,
    "p_worse": pl.Float64,
    "failed": pl.Int64,
    "cite": pl.String,
    "better": pl.String,
    "unit": pl.String,
    **CONDITIONS,
    "other": pl.String,
}
ARTEFACTS, STAGES = "artefacts", "stages"


@dataclasses.dataclass(frozen=True, eq=False)
class RunFolder:
    """What a run ended with."""

    folder: Path
    findings: tuple[Finding, ...]
    verdicts: tuple[Verdict, ...]
    failures: tuple[tuple[str, str, str], ...]
    notes: tuple[str, ...]
    ledger: Ledger | None = None

    @property
    def held(self) -> bool:
        """Whether every stated bound is kept."""
        return all(verdict.held for verdict in self.verdicts)


def write_folder(graph: Graph, store: Store, folder: Path) -> RunFolder:
    """Write everything but the stages and the log."""
    findings: list[Finding] = []
    listed: list[dict[str, Any]] = []
    notes = [graph.study.notes] if graph.study.notes else []
    notes += not_played_notes(graph.anonymizers, graph.attackers)
    notes += [f"{s.label}: {note}" for s in graph.corpora.values() for note in speech_notes(graph.study, s)]
    measured: dict[tuple[str, str], list[str]] = {}
    target = folder / ARTEFACTS
    shutil.rmtree(target, ignore_errors=True)
    for job in graph.measures:
        if store.done(job.stage) is None or not (store.place(job.stage) / "findings.json").is_file():
            continue
        saved = load(store.place(job.stage))
        findings += [dataclasses.replace(f, conditions={**job.labels, **f.conditions}) for f in saved.findings]
        for note in saved.notes:
            measured.setdefault((job.labels["corpus"], note), []).append(job.label.removeprefix("measure "))
        for kind, path, conditions in saved.artefacts:
            name = f"{kind}-{len(listed):04d}.parquet"
            with atomic_path(target / name) as part:
                shutil.copyfile(path, part)
            listed.append({"kind": kind, "file": f"{ARTEFACTS}/{name}", "conditions": {**job.labels, **conditions}})
    notes += [_said_once(corpus, note, measures) for (corpus, note), measures in measured.items()]
    failures = tuple(_failures(graph, store))
    listed += write_clips(graph, store, folder)
    verdicts = tuple(judged(graph.study.bounds, findings))
    ledger = _ledger(graph)
    _write(folder, graph, findings, listed, verdicts, failures, notes, ledger)
    return RunFolder(folder, tuple(findings), verdicts, failures, tuple(dict.fromkeys(notes)), ledger)


def _ledger(graph: Graph) -> Ledger | None:
    """Account for the recordings of the one folder that was given; None where there is none, or several."""
    given = {one.label: one.given for one in graph.anonymizers if one.given is not None}
    pairs = [(graph.corpora[corpus], speech, given[label]) for (corpus, label), speech in graph.paired.items()]
    return given_ledger(*pairs[0]) if len(pairs) == 1 else None


def _said_once(corpus: str, note: str, measures: list[str]) -> str:
    """Say what one measurement noted with its name, what several noted alike once for the corpus.

    >>> _said_once("calls", "L = 1: one is alone", ["calls mcadams lazy-informed: detection, L = 1"])
    'calls mcadams lazy-informed: detection, L = 1: one is alone'
    """
    if len(measures) > 1:
        return f"{corpus}: {note}"
    length, _, rest = note.partition(": ")
    return f"{measures[0]}: {rest if rest and measures[0].endswith(length) else note}"


def _write(
    folder: Path,
    graph: Graph,
    findings: list[Finding],
    listed: list[dict[str, Any]],
    verdicts: Iterable[Verdict],
    failures: Iterable[tuple[str, str, str]],
    notes: list[str],
    ledger: Ledger | None,
) -> None:
    write_frame(findings_frame(findings), folder / "findings.parquet")
    rows = [row_of(finding) for finding in findings]
    known = {} if ledger is None else {"ledger": ledger.to_dict()}
    told = {"study": graph.study.title, "findings": rows, "notes": list(dict.fromkeys(notes)), **known}
    _json(folder / "findings.json", told)
    _json(folder / "artefacts.json", listed)
    _json(folder / "gate.json", [verdict.as_row() for verdict in verdicts])
    _json(folder / "environment.json", environment_of(graph))
    _json(folder / "study.json", dataclasses.asdict(graph.study))
    lines = ["\t".join(_plain(cell) for cell in row) for row in failures]
    write_text(folder / "failures.tsv", "\n".join(["stage\titem\twhy", *lines]) + "\n")


def findings_frame(findings: Iterable[Finding]) -> pl.DataFrame:
    """Lay findings out as a table; conditions without a column of their own go to ``other``, as JSON."""
    rows = []
    for finding in findings:
        e, conditions = finding.estimate, dict(finding.conditions)
        known = {name: conditions.pop(name, None) for name in CONDITIONS}
        rows.append(
            {
                "metric": finding.metric.name,
                "title": finding.metric.title,
                "value": e.value,
                "low": e.low,
                "high": e.high,
                "n": e.n,
                "chance": finding.chance_level,
                "differs_from_chance": finding.differs_from_chance,
                "p_better": finding.p_better,
                "p_worse": finding.p_worse,
                "failed": finding.failed,
                "cite": finding.metric.cite,
                "better": finding.metric.better,
                "unit": finding.metric.unit,
                **known,
                "other": json.dumps(conditions, sort_keys=True) if conditions else None,
            }
        )
    return pl.DataFrame(rows, schema=COLUMNS)


def _failures(graph: Graph, store: Store) -> Iterable[tuple[str, str, str]]:
    """List what failed in every stage, and what a listener could not observe in a sound it was given."""
    for jobs in graph.waves.values():
        for job in jobs:
            done = store.done(job.stage)
            for item, why in done.failures if done else ():
                yield job.stage.label, item, why
            if isinstance(job, ListenJob) and done is not None:
                for row in read_observations(store.place(job.stage)):
                    for why in row.reasons:
                        yield job.stage.label, row.utterance, why


def _json(path: Path, content: Any) -> None:
    write_text(path, json.dumps(content, indent=1, default=str, allow_nan=False) + "\n")


def _plain(cell: str) -> str:
    return " ".join(cell.split())
