"""What stays useful of an anonymized corpus: several listeners over the same pairs, as findings with intervals.

The same work, rows and summaries as a study's stages "listen" and "measure", kept in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from personare.core.errors import ConfigError, CorpusError, did_you_mean
from personare.core.findings import Finding
from personare.core.observations import ObservedUtterance, SummaryContext
from personare.core.protocols import Listener
from personare.core.seeding import Key
from personare.engine import Engine
from personare.listeners import listener as make_listener
from personare.pipeline.jobs.guess_attributes import labels_of
from personare.pipeline.measures.utility import noted_of, speakers_of
from personare.pipeline.observe import ObserveWork, in_batches
from personare.pipeline.stages.listen import pair_of

USUAL = ("moonshine", "pitch", "pesq", "stoi", "estoi", "dnsmos")
SHOWN_ELSEWHERE = {"speech", "frames", "by", "of", "reference", "words", "letters", "S", "D", "I", "classes"}
Failures = tuple[tuple[str, str], ...]


@dataclass(frozen=True, eq=False)
class Pairs:
    """Originals with their anonymized audio (column ``anonymized``), and utterances that have none."""

    frame: pl.DataFrame
    missing: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class UtilityFindings:
    """Findings of all listeners, (utterance, reason) for everything that could not be observed, and notes."""

    findings: tuple[Finding, ...]
    failures: Failures
    notes: tuple[str, ...]


def make_listeners(
    names: Sequence[str], settings: Mapping[str, Mapping[str, Any]] | None = None
) -> dict[str, Listener]:
    """Make listeners by name and check that all they need is there; ``settings`` are their parameters, by name."""
    if not names:
        raise ConfigError(f"no listener is named; the usual ones are: {', '.join(USUAL)}")
    given = dict(settings or {})
    for name in given:
        if name not in names and name not in {one.partition(":")[0] for one in names}:
            raise ConfigError(f"a parameter is set for '{name}', which does not listen; {did_you_mean(name, names)}")
    made = {name: make_listener(name, **given.get(name, given.get(name.partition(":")[0], {}))) for name in names}
    for listener in made.values():
        listener.check()
    return made


def listen(
    pairs: Pairs,
    listeners: Mapping[str, Listener],
    *,
    engine: Engine,
    seed: int = 1,
    by: str | None = None,
    remember: bool = True,
    watch: Callable[[int], None] = lambda _: None,
) -> UtilityFindings:
    """Observe every pair with every listener and summarize.

    Parameters
    ----------
    listeners : by the name they are reported under.
    seed : chooses the bootstrap's redraws.
    by : a column (gender, age_group, part, ...): findings for each of its values too.
    remember : keep observations in the cache folder.
    watch : called with the number of pairs observed, batch by batch.
    """
    groups = _groups(pairs, by)
    findings: list[Finding] = []
    failures = [(utterance, "has no anonymized counterpart") for utterance in pairs.missing]
    notes: list[str] = []
    for name, listener in listeners.items():
        rows, failed = _observed(pairs.frame, name, ObserveWork(listener, remember), engine, watch)
        failures += failed
        noted = noted_of(pairs.frame, listener.columns)
        total = len(pairs.frame) + len(pairs.missing)
        context = SummaryContext(name, speakers_of(pairs.frame), total, Key.from_seed(seed), noted)
        summary = listener.summarize(rows, context)
        findings += summary.findings
        notes += summary.notes
        for value in sorted(set(groups.values())):
            own = [row for row in rows if groups[row.utterance] == value]
            part = replace(context, total=sum(group == value for group in groups.values()))
            findings += [
                replace(f, conditions={**f.conditions, str(by): value}) for f in listener.summarize(own, part).findings
            ]
    return UtilityFindings(tuple(findings), tuple(failures), tuple(dict.fromkeys(notes)))


def _groups(pairs: Pairs, by: str | None) -> dict[str, str]:
    if by is None:
        return {}
    if by not in pairs.frame.columns:
        hint = "; --guess fills gender and age_group by machine" if by in ("gender", "age_group") else ""
        raise CorpusError(f"the corpus has no column '{by}'; {did_you_mean(by, pairs.frame.columns)}{hint}")
    return labels_of(pairs.frame, by)


def _observed(
    frame: pl.DataFrame, name: str, work: ObserveWork, engine: Engine, watch: Callable[[int], None]
) -> tuple[list[ObservedUtterance], list[tuple[str, str]]]:
    """Observe all pairs; give the rows in the corpus' own order, and what failed."""
    pairs = [pair_of(row, Path(row["anonymized"])) for row in frame.iter_rows(named=True)]
    rows: dict[str, ObservedUtterance] = {}
    reasons: dict[str, list[str]] = {}
    for result in engine.map(work, in_batches(pairs, type(work.listener))):
        watch(len(result.item))
        values = result.value or [result.error or "failed"] * len(result.item)
        for pair, value in zip(result.item, values, strict=True):
            if isinstance(value, str):
                reasons[pair.utterance] = [value]
            else:
                rows[pair.utterance] = value
                reasons[pair.utterance] = value.reasons
    order = [pair.utterance for pair in pairs]
    failures = [(utterance, f"{name}: {why}") for utterance in order for why in reasons[utterance]]
    return [rows[utterance] for utterance in order if utterance in rows], failures


def table_rows(found: UtilityFindings) -> tuple[list[str], list[list[str]]]:
    """Lay out the findings for a terminal."""
    head = ["measure", "of", "value [95 % interval]", "speakers", "failed", "better"]
    return head, [_row(finding) for finding in found.findings]


def _row(finding: Finding) -> list[str]:
    e, conditions = finding.estimate, finding.conditions
    words = [str(conditions[k]) for k in ("speech", "frames", "by", "of") if k in conditions]
    words += [f"{k} {v}" for k, v in conditions.items() if k not in SHOWN_ELSEWHERE]
    of = ", ".join(words) or "anonymized beside original"
    return [finding.metric.title, of, finding.text, str(e.n), str(finding.failed), finding.metric.better]


def as_json(found: UtilityFindings) -> dict[str, Any]:
    """Everything, for machines."""
    return {
        "findings": [finding.as_row() for finding in found.findings],
        "failures": [{"utterance": utterance, "reason": reason} for utterance, reason in found.failures],
        "notes": list(found.notes),
    }
