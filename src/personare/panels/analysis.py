"""What a panel found: findings with intervals over evaluators, and the tables that its figures are drawn of.

The numbers of people come from ``personare.metrics``; here is only which answers each of them is made of.
EER and Cllr of a system: its target trials against its nontarget trials, both anonymized, as the objective ones are.
Deviations: VoicePrivacy's DET curves (Figure 17) have original nontargets as anchors; so have those of the report.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl

from personare.core.errors import MetricError
from personare.core.findings import Finding, MetricCard
from personare.core.seeding import Key, rng_for
from personare.metrics.privacy import clustering as clusters
from personare.metrics.privacy import listener_groups
from personare.metrics.privacy.human_attack import (
    ABX_CARD,
    CLLR_CARD,
    MIN_CLLR_CARD,
    abx_estimate,
    similarity_cllr,
    similarity_eer_finding,
)
from personare.metrics.utility import opinion
from personare.panels import Test, mos, unified
from personare.panels.collected import Answered
from personare.panels.recordings import ORIGINAL

PEOPLE = "people"
RANK_CARDS = {
    "naturalness": opinion.NATURALNESS_CARD,
    "intelligibility": opinion.INTELLIGIBILITY_CARD,
    "similarity": opinion.SIMILARITY_CARD,
}
MOS_CARDS = {"naturalness": opinion.MOS_NATURALNESS_CARD, "intelligibility": opinion.MOS_INTELLIGIBILITY_CARD}

LOST_CARDS = {
    "purity": listener_groups.PURITY_CARD,
    "clustering_f1": listener_groups.F1_CARD,
    "classification_change": listener_groups.CHANGE_CARD,
}
NATIVE = {True: "native", False: "non-native", None: ""}
FACTORS = {"system": "anonymizer", "language": "language", "gender": "gender"}


@dataclass(frozen=True, eq=False)
class PanelFindings:
    """Findings, and tables by their kind."""

    findings: tuple[Finding, ...]
    tables: dict[str, pl.DataFrame] = field(default_factory=dict)


def analyze(
    test: Test,
    rows: Sequence[Answered],
    *,
    systems: Sequence[str],
    seed: int,
    native: Mapping[str, bool | None] | None = None,
) -> PanelFindings:
    """Make the findings of one panel; checks of attention are no part of them.

    ``native`` tells of evaluators whether the language of the recordings is their first one, where they said so.
    """
    rated = [row for row in rows if not row.trial.check]
    if not rated:
        raise MetricError("nobody has answered a trial yet, so there is nothing to analyze")
    rng = rng_for(Key.from_seed(seed), "panel analysis", test)
    order = [ORIGINAL, *systems]
    if test == "clustering":
        return _clustering(rated, order, rng, native or {})
    if test == "abx":
        return PanelFindings(tuple(_chosen(rated, order, ABX_CARD)))
    if test == "expression":
        return PanelFindings(tuple(_chosen(rated, order, opinion.EXPRESSION_CARD)))
    scales = unified.SCALES if test == "unified" else mos.SCALES
    table = _ratings(rated, scales)
    found = _unified(table, order, rng) if test == "unified" else _mos(table, order)
    return PanelFindings(tuple(found), {"ratings": table})


def _ratings(rows: Sequence[Answered], scales: Sequence[str]) -> pl.DataFrame:
    """One row for every rating, with its normalized rank among those of its evaluator."""
    parts = []
    for scale in scales:
        values, who = [row.answer[scale] for row in rows], [row.evaluator for row in rows]
        parts.append(
            pl.DataFrame(
                {
                    "evaluator": who,
                    "anonymizer": [row.trial.system for row in rows],
                    "target": pl.Series([row.trial.target for row in rows], dtype=pl.Boolean),
                    "scale": scale,
                    "rating": pl.Series(values, dtype=pl.Float64),
                    "rank": opinion.normalized_ranks(values, who),
                }
            )
        )
    return pl.concat(parts)


def _of(table: pl.DataFrame, scale: str, system: str, target: bool | None = None) -> pl.DataFrame:
    found = table.filter((pl.col("scale") == scale) & (pl.col("anonymizer") == system))
    return found if target is None else found.filter(pl.col("target") == target)


def _unified(table: pl.DataFrame, systems: Sequence[str], rng: np.random.Generator) -> Iterator[Finding]:
    for scale in ("naturalness", "intelligibility"):
        for system in systems:
            yield from _ranked(scale, _of(table, scale, system), _of(table, scale, ORIGINAL), system, {})
    for target in (True, False):
        for system in systems:
            where = {"trials": "target" if target else "nontarget"}
            part = _of(table, "similarity", system, target)
            yield from _ranked("similarity", part, _of(table, "similarity", ORIGINAL, target), system, where)
    for system in systems:
        targets, nontargets = (_of(table, "similarity", system, target) for target in (True, False))
        if len(targets) and len(nontargets):
            ranks = targets["rank"].to_numpy(), nontargets["rank"].to_numpy()
            who = {
                "target_evaluators": targets["evaluator"].to_numpy(),
                "nontarget_evaluators": nontargets["evaluator"].to_numpy(),
            }
            conditions: dict[str, str | int | float] = {
                "anonymizer": system,
                "listener": PEOPLE,
                "targets": len(targets),
                "nontargets": len(nontargets),
            }
            yield similarity_eer_finding(*ranks, **who, conditions=conditions, rng=rng)
            for card, estimate in zip((CLLR_CARD, MIN_CLLR_CARD), similarity_cllr(*ranks, **who), strict=True):
                yield Finding(card, estimate, conditions)


def _ranked(
    scale: str, part: pl.DataFrame, original: pl.DataFrame, system: str, where: dict[str, str]
) -> Iterator[Finding]:
    """The mean rank of one kind of trial, and how it compares with original speech."""
    if not len(part):
        return
    values, who = part["rank"].to_numpy(), part["evaluator"].to_numpy()
    about = {"anonymizer": system, "listener": PEOPLE, **where}
    yield Finding(RANK_CARDS[scale], opinion.mean_rating(values, evaluators=who, bounds=(0.0, 1.0)), about)
    if system != ORIGINAL and len(original):
        others, them = original["rank"].to_numpy(), original["evaluator"].to_numpy()
        estimate = opinion.rated_above(values, others, evaluators=who, other_evaluators=them)
        p = opinion.mann_whitney(values, others).p
        yield Finding(opinion.RATED_ABOVE_CARD, estimate, {**about, "scale": scale, "p": p})


def _mos(table: pl.DataFrame, systems: Sequence[str]) -> Iterator[Finding]:
    for scale, card in MOS_CARDS.items():
        for system in systems:
            part = _of(table, scale, system)
            if len(part):
                who = part["evaluator"].to_numpy()
                estimate = opinion.mean_rating(part["rating"].to_numpy(), evaluators=who, bounds=card.bounds)
                yield Finding(card, estimate, {"anonymizer": system, "listener": PEOPLE, "ratings": len(part)})


def _chosen(rows: Sequence[Answered], systems: Sequence[str], card: MetricCard) -> Iterator[Finding]:
    """Give for each system the share of right choices between A and B."""
    for system in systems:
        part = [row for row in rows if row.trial.system == system]
        if part:
            right = [row.answer["choice"] == row.trial.answer for row in part]
            estimate = abx_estimate(right, evaluators=[row.evaluator for row in part])
            about: dict[str, str | int | float] = {
                "anonymizer": system,
                "listener": PEOPLE,
                "evaluators": len({row.evaluator for row in part}),
            }
            yield Finding(card, estimate, about)


def _clustering(
    rows: Sequence[Answered], systems: Sequence[str], rng: np.random.Generator, native: Mapping[str, bool | None]
) -> PanelFindings:
    scored = []
    for row in rows:
        placed, speakers = _placed(row)
        scored.append(
            {
                "evaluator": row.evaluator,
                "anonymizer": row.trial.system,
                "gender": row.trial.gender,
                "purity": clusters.purity(placed, speakers),
                "clustering_f1": clusters.macro_f1(placed, speakers),
                "classification_change": clusters.classification_change(row.answer["moves"], len(placed)),
            }
        )
    table = pl.DataFrame(scored)
    control = table.filter(pl.col("anonymizer") == ORIGINAL)
    findings = []
    for card in (clusters.PURITY_CARD, clusters.F1_CARD, clusters.CHANGE_CARD):
        score = {"purity": clusters.purity, "clustering_f1": clusters.macro_f1}.get(card.name)
        for system in systems:
            part = table.filter(pl.col("anonymizer") == system)
            if not len(part):
                continue
            about: dict[str, str | int | float] = {"anonymizer": system, "listener": PEOPLE, "trials": len(part)}
            if system != ORIGINAL and len(control):
                about["p"] = opinion.mann_whitney(part[card.name].to_numpy(), control[card.name].to_numpy()).p
            values, who = part[card.name].to_numpy(), part["evaluator"].to_numpy()
            estimate = opinion.mean_rating(values, evaluators=who, bounds=card.bounds)
            trials = [_placed(row) for row in rows if row.trial.system == system]
            chance = None if score is None else clusters.chance_level(score, trials, rng=rng)
            findings.append(Finding(card, estimate, about, chance=chance))
    lost = _differences(table, native)
    findings += _lost(lost, systems)
    return PanelFindings(tuple(findings), {"clusterings": table, "differences": lost, "effects": _effects(lost)})


def _differences(table: pl.DataFrame, native: Mapping[str, bool | None]) -> pl.DataFrame:
    """One row for every evaluator and metric: original less anonymized, with what the evaluator and the speech were."""
    rows = []
    for (evaluator,), part in table.group_by(["evaluator"], maintain_order=True):
        hidden = part.filter(pl.col("anonymizer") != ORIGINAL)
        who, system = str(evaluator), set(hidden["anonymizer"])
        for metric in LOST_CARDS:
            found = listener_groups.differences(
                part[metric].to_numpy(),
                control=(part["anonymizer"] == ORIGINAL).to_numpy(),
                evaluators=part["evaluator"].to_numpy(),
            )
            if found and len(system) == 1:
                spoken = NATIVE[native.get(who)]
                rows.append((who, next(iter(system)), hidden["gender"][0], spoken, metric, found[who]))
    columns = ("evaluator", "anonymizer", "gender", "language", "metric", "difference")
    return pl.DataFrame(rows, schema={**dict.fromkeys(columns[:-1], pl.String), columns[-1]: pl.Float64}, orient="row")


def _lost(table: pl.DataFrame, systems: Sequence[str]) -> Iterator[Finding]:
    for metric, card in LOST_CARDS.items():
        for system in systems:
            part = table.filter((pl.col("metric") == metric) & (pl.col("anonymizer") == system))
            if len(part):
                values, who = part["difference"].to_numpy(), part["evaluator"].to_numpy()
                estimate = opinion.mean_rating(values, evaluators=who, bounds=card.bounds)
                yield Finding(card, estimate, {"anonymizer": system, "listener": PEOPLE, "evaluators": len(part)})


def _effects(table: pl.DataFrame) -> pl.DataFrame:
    """The analysis of variance of every metric by system, language and gender, of those who said their language."""
    rows = []
    for metric in LOST_CARDS:
        part = table.filter(pl.col("metric") == metric)
        known = part.filter(pl.col("language") != NATIVE[None])
        used = known if len(known) else part
        factors = {name: used[column].to_list() for name, column in FACTORS.items()}
        for e in listener_groups.effects(used["difference"].to_numpy(), factors):
            rows.append((metric, e.name, e.f, e.df, e.residual_df, e.p, e.eta2))
    texts, numbers = dict.fromkeys(("metric", "effect"), pl.String), dict.fromkeys(("f", "p", "eta2"), pl.Float64)
    counts = dict.fromkeys(("df", "residual_df"), pl.Int64)
    order = ("metric", "effect", "f", "df", "residual_df", "p", "eta2")
    every = {**texts, **numbers, **counts}
    return pl.DataFrame(rows, schema={name: every[name] for name in order}, orient="row")


def _placed(row: Answered) -> tuple[list[int], list[str]]:
    sounds = row.trial.stimuli
    return [row.answer["clusters"][s.token] for s in sounds], [s.speaker for s in sounds]
