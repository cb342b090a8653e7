"""What stays useful: the findings of one listener over the utterances it observed, under the labels of a study."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from personare.core.findings import Finding
from personare.core.observations import SummaryContext
from personare.core.protocols import Listener
from personare.core.seeding import Key
from personare.pipeline.measured import Measured
from personare.pipeline.stages.listen import ListenJob, read_observations
from personare.pipeline.store import Store


@dataclass(frozen=True)
class UtilitySpec:
    """What is measured of one listener; plain values, for any process.

    Parameters
    ----------
    folder : the stage "listen" with the rows.
    label, trained_on : the listener's name in the study, and whose speech it has learnt from.
    name : the listener's name in ``SummaryContext``; speakers, noted, total : of the utterances.
    metrics : what the study asks for.
    """

    folder: Path
    listener: Listener
    label: str
    trained_on: str
    name: str
    speakers: Mapping[str, str]
    noted: Mapping[str, Mapping[str, str]]
    total: int
    metrics: tuple[str, ...]
    seed: int

    @classmethod
    def of(cls, job: ListenJob, store: Store, *, metrics: tuple[str, ...], seed: int) -> UtilitySpec:
        """Gather it from the stage."""
        listener = job.listener.made(store)
        return cls(
            store.place(job.stage),
            listener,
            job.listener.label,
            job.listener.choice.trained_on,
            job.listener.name,
            speakers_of(job.frame),
            noted_of(job.frame, listener.columns),
            len(job.frame),
            metrics,
            seed,
        )


def measure_utility(spec: UtilitySpec) -> Measured:
    """Summarize the rows; of the anonymized side, and of what the study asks for."""
    context = SummaryContext(spec.name, spec.speakers, spec.total, Key.from_seed(spec.seed), spec.noted)
    summary = spec.listener.summarize(read_observations(spec.folder), context)
    kept = [f for f in summary.findings if f.conditions.get("speech", "anonymized") == "anonymized"]
    findings = tuple(_labelled(f, spec) for f in kept if f.metric.name in spec.metrics)
    return Measured(findings, (), summary.notes)


def _labelled(finding: Finding, spec: UtilitySpec) -> Finding:
    """Call the listener by its label in the study."""
    conditions = {k: v for k, v in finding.conditions.items() if k not in ("speech", "by")}
    conditions["listener"] = spec.label
    if "by" in finding.conditions:
        conditions["listener_trained_on"] = spec.trained_on
    return replace(finding, conditions=conditions)


def speakers_of(frame: pl.DataFrame) -> dict[str, str]:
    """Who speaks, by utterance."""
    return dict(frame.select("utterance", "speaker").iter_rows())


def noted_of(frame: pl.DataFrame, columns: Iterable[str]) -> dict[str, dict[str, str]]:
    """What was noted, by column and utterance; empty cells and columns that are not there are left out."""
    return {column: _noted(frame.select("utterance", column).rows()) for column in columns if column in frame.columns}


def _noted(rows: Sequence[tuple[Any, ...]]) -> dict[str, str]:
    return {str(utterance): str(value) for utterance, value in rows if value}
