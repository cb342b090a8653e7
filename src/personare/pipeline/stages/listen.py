"""Stage "listen": what one listener observes in the trial speech before and after anonymization, one row per utterance.

Where several utterances at once are quicker they are observed together, which changes no letter of the rows.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl

from personare.core.files import write_text
from personare.core.observations import ObservedUtterance
from personare.engine import Result
from personare.pipeline.observe import ObserveWork, UtterancePair, in_batches
from personare.pipeline.speech import content_of
from personare.pipeline.stages.anonymize import AnonymizedSpeech
from personare.pipeline.store import Failures, Stage, Store
from personare.pipeline.study_listener import StudyListener

OBSERVATIONS = "observations.jsonl"


@dataclass(frozen=True, eq=False)
class ListenJob:
    """Observe every utterance of ``frame`` and its anonymized version; without one, the original for both."""

    label: str
    frame: pl.DataFrame
    listener: StudyListener
    hidden: AnonymizedSpeech | None = None

    @cached_property
    def stage(self) -> Stage:
        """What it depends on: the speech, and the exact listener."""
        facts = {"listener": self.listener.fingerprint, "speech": content_of(self.frame)}
        inputs = [job.stage for job in (self.hidden, self.listener.training) if job is not None]
        return Stage("listen", self.label, facts, tuple(inputs), items=len(self.frame))

    def facts(self) -> dict[str, Any]:
        """What findings depend on besides the observations: names, settings, and what was noted of every utterance."""
        listener = self.listener.made()
        columns = ["utterance", *(column for column in listener.columns if column in self.frame.columns)]
        noted = json.dumps(self.frame.select(columns).rows(), default=str)
        return {
            "listener": self.listener.label,
            "name": self.listener.name,
            "trained on": self.listener.choice.trained_on,
            "metrics": listener.metrics,
            "summary": listener.summary_fingerprint,
            "columns": listener.columns,
            "noted": hashlib.sha256(noted.encode()).hexdigest(),
        }

    def items(self, store: Store) -> Sequence[tuple[UtterancePair, ...]]:
        """Every utterance that could be anonymized, alone or in batches."""
        return in_batches(self.pairs(store), self.listener.declared)

    def pairs(self, store: Store) -> list[UtterancePair]:
        """The utterances one by one, in the order of the speech."""
        rows = self.frame.iter_rows(named=True)
        if self.hidden is None:
            return [pair_of(row, None) for row in rows]
        files, channel = self.hidden.files(store), self.hidden.channel_of
        there = (row for row in rows if row["utterance"] in files)
        return [pair_of(row, files[row["utterance"]], channel(row["utterance"])) for row in there]

    def work(self, store: Store) -> ObserveWork:
        """The work of this listener."""
        return ObserveWork(self.listener.made(store))

    def name(self, item: Any) -> str:
        """Failures are named by utterance; those of a batch beyond the first are named in ``finish``."""
        return str(item[0].utterance)

    def finish(self, store: Store, results: Sequence[Result[Any, Any]]) -> Failures:
        """Write the rows in the order of the speech, whatever the batches were."""
        rows: dict[str, ObservedUtterance] = {}
        reasons: dict[str, str] = {}
        for result in results:
            if not result.ok:  # a worker died: the first of the batch is named already
                reasons |= {pair.utterance: result.error or "failed" for pair in result.item[1:]}
                continue
            for pair, row in zip(result.item, result.value or (), strict=True):
                if isinstance(row, str):
                    reasons[pair.utterance] = row
                else:
                    rows[pair.utterance] = row
        order = self.frame["utterance"].to_list()
        lines = [rows[utterance].to_json() for utterance in order if utterance in rows]
        write_text(store.place(self.stage) / OBSERVATIONS, "\n".join([*lines, ""]))
        return tuple((utterance, reasons[utterance]) for utterance in order if utterance in reasons)


def pair_of(row: dict[str, Any], anonymized: Path | None, channel: int | None = None) -> UtterancePair:
    """Make a pair of a row of a corpus: its audio, or the part of it from ``start_s`` to ``end_s``, or one channel."""
    part = (row.get("start_s") or 0.0, row.get("end_s"), row.get("person_channel"))
    return UtterancePair(row["utterance"], Path(row["audio"]), anonymized, *part, channel, row.get("language") or None)


def read_observations(folder: Path) -> list[ObservedUtterance]:
    """Read the rows of a stage."""
    lines = (folder / OBSERVATIONS).read_text(encoding="utf-8").splitlines()
    return [ObservedUtterance.from_json(line) for line in lines]
