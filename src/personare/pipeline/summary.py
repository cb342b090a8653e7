"""The few lines of a study that fit a terminal: the headline metrics of every anonymizer against every attacker."""

from __future__ import annotations

from collections.abc import Iterable

from personare.core.findings import Finding
from personare.metrics import CARDS

# the breakdowns and curves are for the report; a terminal shows the smallest L and the largest N of each
Key = tuple[str, str, str, str]


def summary_rows(findings: Iterable[Finding]) -> tuple[list[str], list[list[str]]]:
    """Lay out one row per corpus, anonymizer, attacker or listener, and metric: smallest L, largest N."""
    best: dict[Key, Finding] = {}
    for finding in findings:
        c = finding.conditions
        if "gender" in c or c.get("frames") == "all":
            continue
        who = str(c.get("attacker") or c.get("listener") or c.get("embedder") or "-")
        who += f" of {c['attribute']}" if "attribute" in c else f" of {c['of']}" if "of" in c else ""
        key = (str(c.get("corpus")), str(c.get("anonymizer")), who, finding.metric.name)
        if key not in best or _size(finding) > _size(best[key]):
            best[key] = finding
    order = list(CARDS)
    places = {metric: order.index(metric) if metric in CARDS else len(order) for *_, metric in best}
    rows = [
        [key[1], key[2], f.metric.title, _at(f), _number(f), _interval(f), _chance(f), str(f.estimate.n), str(f.failed)]
        for key, f in sorted(best.items(), key=lambda kv: (kv[0][0], places[kv[0][3]]))
    ]
    return ["anonymizer", "by", "metric", "at", "value", "95 % interval", "chance", "n", "failed"], rows


def _size(finding: Finding) -> tuple[int, int]:
    return -int(finding.conditions.get("L", 0)), int(finding.conditions.get("N", 0))


def _at(finding: Finding) -> str:
    c = finding.conditions
    return " ".join(f"{name}={c[name]}" for name in ("L", "N") if name in c) or "-"


def _number(finding: Finding) -> str:
    return f"{finding.estimate.value:.3g}"


def _interval(finding: Finding) -> str:
    e = finding.estimate
    return f"{e.low:.3g} to {e.high:.3g}" if e.low == e.low else "-"


def _chance(finding: Finding) -> str:
    return "-" if finding.chance_level is None else f"{finding.chance_level:.3g}"
