"""What fits a terminal: a row per attacker with EER and linkability, the strongest marked, and all other metrics."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from personare.core.findings import Finding
from personare.metrics import CARDS
from personare.reports.finding_rows import attacker_or_listener
from personare.reports.protection import evidence, verdict
from personare.reports.run import ORIGINAL
from personare.reports.sections.choosing import (
    GENDERS,
    RISKS,
    gallery_size,
    groups,
    is_original,
    largest_gallery,
    of_risk,
    overall,
    protected,
    strongest_attack,
    utterances,
    values,
)

MARK = "*"
HEAD = [
    *(f"attacker\n({MARK} strongest)", "L", "EER\n[95 %]", "EER\nchance"),
    *("linkability\n[95 %]", "N", "linked\nchance", "verdict"),
]
COLUMNS = ("eer", "linkability")
UNPROTECTED = "unprotected"


def summary_rows(findings: Iterable[Finding]) -> tuple[list[str], list[list[str]]]:
    """Lay out one row per attacker and L: EER and linkability with interval and chance, and the verdict of the two.

    Several anonymizers, and several corpora, have a column of their own in front. The strongest attack on each method
    is marked and comes first; original speech, which shows what there was to hide, comes last, the same result of
    several attackers on it in one row. Attackers by words come after those by voice, with a mark of their own.
    """
    shown = [f for f in overall(findings) if f.metric.name in COLUMNS and "attacker" in f.conditions]
    corpora = len(values(shown, "corpus")) > 1
    methods = len({f.conditions.get("anonymizer") for f in protected(shown)}) > 1
    rows = []
    for (corpus,), here in groups(shown, "corpus").items():
        original = [f for f in here if is_original(f)]
        by_method = [*groups(protected(here), "anonymizer").items(), ((ORIGINAL,), original)]
        for (method,), group in by_method:
            before = [corpus] * corpora + [method] * methods
            rows += [[*before, *row] for row in _method_rows(group)]
    return ["corpus"] * corpora + ["method"] * methods + HEAD, rows


def _method_rows(findings: Sequence[Finding]) -> list[list[str]]:
    best = [strongest_attack(of_risk(protected(findings), risk)) for risk in RISKS]
    rows: dict[tuple[str, ...], list[str]] = {}
    for (who, _), group in sorted(groups(findings, "attacker", "L").items(), key=lambda item: _rank(item[1])):
        original = any(is_original(f) for f in group)
        mark = f" {MARK}" if any(f is one for f in group for one in best) else ""
        cells = [str(utterances(group[0])), *_cells(group), UNPROTECTED if original else verdict(evidence(group))]
        key = tuple(cells) if original else (who, *cells)
        name = f"{who}{mark}"
        if original:  # one row for all attackers with the same result on it
            name = ORIGINAL if key in rows or who == ORIGINAL else f"{ORIGINAL} ({who})"
        rows[key] = [name, *cells]
    return list(rows.values())


def _rank(group: Sequence[Finding]) -> tuple[bool, float, float, int]:
    """Order attacks: by voice first, by how much they link, by EER, from fewer utterances; what is unknown is last."""
    by_metric = {name: largest_gallery([f for f in group if f.metric.name == name])[:1] for name in COLUMNS}
    linked, errors = (
        next((f.estimate.value for f in by_metric[name] if not math.isnan(f.estimate.value)), worst)
        for name, worst in (("linkability", -math.inf), ("eer", math.inf))
    )
    return not of_risk(group, "voice"), -linked, errors, utterances(group[0])


def _cells(group: Sequence[Finding]) -> list[str]:
    """Write EER, its chance, linkability, N, its chance."""
    by_metric = {name: largest_gallery([f for f in group if f.metric.name == name])[:1] for name in COLUMNS}
    eer, linkability = (next(iter(by_metric[name]), None) for name in COLUMNS)
    return [
        "-" if eer is None else eer.text,
        "-" if eer is None else eer.chance_text,
        "-" if linkability is None else linkability.text,
        "-" if linkability is None else f"{gallery_size(linkability):,}",
        "-" if linkability is None else linkability.chance_text,
    ]


def other_rows(findings: Iterable[Finding]) -> tuple[list[str], list[list[str]]]:
    """Lay out what the table of attackers does not show: one row per metric at the smallest L and largest N.

    Several corpora, which several languages are too, have a column of their own in front.
    """
    best: dict[tuple[str, str, str, str], Finding] = {}
    for finding in overall(findings):
        c = finding.conditions
        if finding.metric.name in COLUMNS and "attacker" in c:
            continue
        who = attacker_or_listener(finding) + _about(finding)
        who += f", {GENDERS.get(str(c['gender']), c['gender'])}" if "gender" in c else ""
        key = (str(c.get("corpus", "")), str(c.get("anonymizer", "-")), who, finding.metric.name)
        if key not in best or _size(finding) > _size(best[key]):
            best[key] = finding
    order = {name: place for place, name in enumerate(CARDS)}
    corpora = len({key[0] for key in best}) > 1
    rows = [
        [
            *[key[0]] * corpora,
            key[1],
            key[2],
            f.metric.title,
            _size_text(f),
            f.text,
            f.chance_text,
            f"{f.estimate.n:,}",
            f"{f.failed:,}",
        ]
        for key, f in sorted(best.items(), key=lambda item: (item[0][0], order.get(item[0][3], len(order))))
    ]
    return ["corpus"] * corpora + ["method", "by", "metric", "at", "value [95 %]", "chance", "n", "failed"], rows


def _about(finding: Finding) -> str:
    """Say which attribute, class or value a finding is of, and what the judge was trained on."""
    c = finding.conditions
    of = next((f" of {c[name]}" for name in ("attribute", "class", "of") if name in c), "")
    return of + (f" (trained on {c['trained on']})" if "trained on" in c else "")


def _size(finding: Finding) -> tuple[int, int]:
    return -int(finding.conditions.get("L", 0)), gallery_size(finding)


def _size_text(finding: Finding) -> str:
    c = finding.conditions
    return " ".join(f"{name}={c[name]}" for name in ("L", "N") if name in c) or "-"
