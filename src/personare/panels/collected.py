"""Answers beside the design: what was heard, what was answered, how long it took; who did not pay attention."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from personare.panels import Test
from personare.panels.folder import PanelFolder, PlannedTrial
from personare.panels.store import AnswerStore

MOST_SIMILAR_OTHER, LEAST_SIMILAR_SAME, MOST_INTELLIGIBLE_NOISE = 5, 6, 2


@dataclass(frozen=True)
class Answered:
    """One answer and its trial; ``seconds`` from when the trial was shown until it was answered, None if unknown."""

    evaluator: str
    trial: PlannedTrial
    answer: Mapping[str, Any]
    listening: Mapping[str, Any]
    answered: float
    seconds: float | None


def collect(panel: PanelFolder, store: AnswerStore) -> list[Answered]:
    """Put every answer beside its trial."""
    planned = {(t.session, t.number): t for trials in panel.sessions.values() for t in trials}
    return [
        Answered(
            row["evaluator"],
            planned[row["session"], row["trial"]],
            row["answer"],
            row["listening"],
            row["answered"],
            None if row["shown"] is None else row["answered"] - row["shown"],
        )
        for row in store.answers()
    ]


def inattentive(test: Test, rows: Sequence[Answered]) -> dict[str, list[str]]:
    """Name the evaluators who answered a check wrongly, and which."""
    failed: dict[str, list[str]] = {}
    for row in rows:
        if row.trial.check and not _right(test, row):
            failed.setdefault(row.evaluator, []).append(row.trial.check)
    return failed


def _right(test: Test, row: Answered) -> bool:
    """Whether a check was answered as everybody does who listens."""
    check, answer = row.trial.check, row.answer
    if check == "noise":
        return bool(answer["intelligibility"] <= MOST_INTELLIGIBLE_NOISE)
    if check == "other gender":
        return bool(answer["similarity"] <= MOST_SIMILAR_OTHER)
    if check == "copies":
        by_speaker: dict[str, set[int]] = {}
        for sound in row.trial.stimuli:
            by_speaker.setdefault(sound.speaker, set()).add(answer["clusters"][sound.token])
        used = [next(iter(clusters)) for clusters in by_speaker.values() if len(clusters) == 1]
        return len(used) == len(by_speaker) and len(set(used)) == len(used)
    if test in ("abx", "expression"):
        return bool(answer["choice"] == row.trial.answer)
    return bool(answer["similarity"] >= LEAST_SIMILAR_SAME)


def answers_frame(rows: Sequence[Answered]) -> pl.DataFrame:
    """Lay answers out for export: one row each, what was heard, the answer by its parts, and the timing."""
    table = []
    for row in rows:
        t = row.trial
        plain = {name: value for name, value in row.answer.items() if not isinstance(value, Mapping)}
        clusters = row.answer.get("clusters")
        table.append(
            {
                "evaluator": row.evaluator,
                "session": t.session,
                "trial": t.number,
                "system": t.system,
                "target": t.target,
                "check": t.check,
                "speakers": " ".join(s.speaker for s in t.stimuli),
                "stimuli": " ".join(s.token for s in t.stimuli),
                "right_choice": t.answer or None,
                **{
                    name: plain.get(name)
                    for name in ("naturalness", "intelligibility", "similarity", "choice", "moves")
                },
                "clusters": " ".join(str(clusters[s.token]) for s in t.stimuli) if clusters else None,
                "answered": row.answered,
                "seconds": row.seconds,
                "page_ms": row.listening["page_ms"],
                "played_ms": sum(row.listening["played_ms"].values()),
                "plays": sum(row.listening["plays"].values()),
            }
        )
    schema = {
        **dict.fromkeys(("evaluator", "system", "check", "speakers", "stimuli", "right_choice", "choice"), pl.String),
        **dict.fromkeys(("session", "trial", "naturalness", "intelligibility", "similarity", "moves"), pl.Int64),
        **dict.fromkeys(("page_ms", "played_ms", "plays"), pl.Int64),
        **dict.fromkeys(("answered", "seconds"), pl.Float64),
        "target": pl.Boolean,
        "clusters": pl.String,
    }
    order = list(table[0]) if table else list(schema)
    return pl.DataFrame(table, schema={name: schema[name] for name in order})
