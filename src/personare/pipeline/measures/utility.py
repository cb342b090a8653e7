"""What is left of words, melody and sound: the numbers of ``personare listen`` under the labels of a study."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from personare.core.findings import Finding
from personare.pipeline.listen import listen
from personare.pipeline.listening import OWN, HeardPair, ListenWork
from personare.pipeline.measured import Measured
from personare.pipeline.pairing import Pairs
from personare.pipeline.stages.listen import ListenJob, Replay, read_heard
from personare.pipeline.store import Store


@dataclass(frozen=True)
class UtilityAsk:
    """What was heard, and who heard it.

    Parameters
    ----------
    folder : the stage "listen"; rows, missing : its utterances, and those that could not be hidden.
    label, trained_on : the ear's name in the study, and whose speech it has learnt from.
    labels : the column that notes the true category, for a model of feeling.
    """

    folder: Path
    rows: list[dict[str, Any]]
    missing: tuple[str, ...]
    work: ListenWork
    label: str
    trained_on: str
    metrics: tuple[str, ...]
    seed: int
    labels: str

    @classmethod
    def of(cls, job: ListenJob, store: Store, *, metrics: tuple[str, ...], seed: int) -> UtilityAsk:
        """Gather it from the stage."""
        places = job.places(store)
        named = dict.fromkeys(("utterance", "speaker", "audio", "text", job.ear.choice.labels))
        kept = [c for c in named if c in job.frame.columns]
        rows = [
            {**{c: row[c] for c in kept}, "anonymized": str(places[row["utterance"]])}
            for row in job.frame.iter_rows(named=True)
            if row["utterance"] in places
        ]
        missing = tuple(u for u in job.frame["utterance"].to_list() if u not in places)
        work, ear = job.ear.work(store), job.ear
        told = {"label": ear.label, "trained_on": ear.choice.trained_on, "labels": ear.choice.labels}
        return cls(store.place(job.stage), rows, missing, work, metrics=metrics, seed=seed, **told)


class Recalled(ListenWork):
    """Ears that have heard everything already: nothing need be installed or fetched."""

    def check(self) -> None:
        """Nothing is missing."""


def measure_utility(ask: UtilityAsk) -> Measured:
    """Put the numbers together, as ``personare listen`` does; of the hidden side only."""
    pairs = Pairs(pl.DataFrame(ask.rows, infer_schema_length=None), ask.missing, 0)
    (called,) = ask.work.recognizers
    name = f"{OWN}{ask.label}" if called.startswith(OWN) else called  # where a recognizer lies must not matter
    heard = {u: _called(name, one) for u, one in read_heard(ask.folder).items()}
    work = Recalled(**{**ask.work.__dict__, "recognizers": (name,)})
    found = listen(pairs, work, engine=Replay(heard), seed=ask.seed, labels=ask.labels)
    kept = [f for f in found.findings if f.conditions.get("speech", "anonymized") == "anonymized"]
    return Measured(tuple(_labelled(f, ask) for f in kept if f.metric.name in ask.metrics), (), found.notes)


def _called(name: str, heard: HeardPair) -> HeardPair:
    """Call the one recognizer by this name."""
    return replace(heard, words=dict(zip([name], heard.words.values(), strict=False)))


def _labelled(finding: Finding, ask: UtilityAsk) -> Finding:
    """Call the ear by its label in the study."""
    conditions = {k: v for k, v in finding.conditions.items() if k not in ("speech", "by")}
    conditions["listener"] = ask.label
    if "by" in finding.conditions:
        conditions["listener_trained_on"] = ask.trained_on
    return replace(finding, conditions=conditions)
