"""The top of a report: what an attacker could say, all methods at a glance, and whether the stated bounds are kept."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from personare.core.findings import Finding
from personare.reports.blocks import Block, Missing, Points, Section, Table, Verdict, Verdicts, Words
from personare.reports.run import ORIGINAL, Run
from personare.reports.sections.choosing import groups, hidden, largest_crowd, overall, shortest, strongest, values
from personare.reports.verdicts import judgement, verdict
from personare.reports.wording import by, number, value_with_interval

RISKS = {"linkability": "linking", "singling_out": "singling out", "risk_over_control": "inference"}
GLANCE = {
    "linkability": "linked",
    "singling_out": "singled out",
    "risk_over_control": "inferred",
    "eer": "EER",
    "wer": "WER",
    "cer": "CER",
    "f0_spearman": "melody (SCC)",
    "dnsmos": "DNSMOS",
}
TITLE = "What an attacker could say"


def verdict_section(run: Run) -> Section:
    """Say each method's worst risks first, then every other attack on request."""
    every = overall(run.findings)
    risks = [f for f in every if f.metric.name in RISKS] or [f for f in every if f.metric.name == "eer"]
    if not risks:
        return Section(
            "verdict", TITLE, [Missing("Not measured: no attack was made, so nothing is known about risks.")]
        )
    worst = [strongest(group) for group in _each(hidden(risks), "anonymizer")]
    first = [f for f in worst if f is not None]
    bare = strongest([f for f in risks if f.conditions.get("anonymizer") == ORIGINAL and f.metric == risks[0].metric])
    shown = [*first, *([bare] if bare is not None else [])]
    others = [f for group in _each(hidden(risks), "anonymizer", "attacker") for f in largest_crowd(group)]
    rest = [f for f in others if all(f is not one for one in shown)]
    blocks: list[Block] = [Words(sentence) for sentence in _headlines(first)]
    blocks.append(Verdicts([_said(f, run) for f in shown]))
    if rest:
        blocks.append(Verdicts([_said(f, run) for f in rest], folded=f"What every other attack gave ({len(rest)})"))
    if run.failures:
        blocks.append(Missing(f"{len(run.failures):,} items failed, so that something may be missing here: see below."))
    return Section("verdict", TITLE, blocks)


def _each(findings: Iterable[Finding], *names: str) -> list[list[Finding]]:
    """Put findings of the same metric and conditions together."""
    return [
        [f for f in group if f.metric.name == metric]
        for group in groups(findings, "corpus", *names).values()
        for metric in dict.fromkeys(f.metric.name for f in group)
    ]


def _said(finding: Finding, run: Run) -> Verdict:
    told = verdict(finding)
    if len(values(run.findings, "corpus")) > 1:
        return Verdict(f"On {finding.conditions.get('corpus')}. {told.sentence}", told.judgement)
    return told


def headlines(findings: Sequence[Finding]) -> list[str]:
    """Sum up every method in one sentence, by the strongest attack of each kind."""
    every = overall(findings)
    risks = [f for f in every if f.metric.name in RISKS] or [f for f in every if f.metric.name == "eer"]
    worst = [strongest(group) for group in _each(hidden(risks), "anonymizer")]
    return _headlines([f for f in worst if f is not None])


def _headlines(worst: Sequence[Finding]) -> list[str]:
    """Sum up every method in one sentence."""
    lines = []
    for (_, method), found in groups(worst, "corpus", "anonymizer").items():
        names = [RISKS.get(f.metric.name, f.metric.title) for f in found]
        beaten = [name for name, f in zip(names, found, strict=True) if judgement(f) == "exposed"]
        if beaten:
            lines.append(
                f"{method} does not hide these voices from everybody: {_and(beaten)} "
                f"work{'' if len(beaten) > 1 else 's'} better than guessing."
            )
        elif any(judgement(f) == "unknown" for f in found):
            lines.append(f"{method}: too little was measured to tell these attacks from guessing.")
        else:
            lines.append(
                f"{method}: no attack made here ({_and(names)}) can be told from guessing. A stronger attacker or more "
                "speakers may still show a risk."
            )
    return list(dict.fromkeys(lines))


def _and(words: Sequence[str]) -> str:
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def glance_section(run: Run) -> Section:
    """Show all methods in one table: the strongest attacker's result, and what is left of the speech."""
    every = overall(run.findings)
    columns = [name for name in GLANCE if any(f.metric.name == name for f in every)]
    if not columns:
        return Section("glance", "All methods at a glance", [Missing("Not measured: there are no findings.")])
    rows = []
    for (corpus, method), found in groups(every, "corpus", "anonymizer").items():
        cells = [_cell([f for f in found if f.metric.name == name]) for name in columns]
        where = f" on {corpus}" if len(values(every, "corpus")) > 1 else ""
        rows.append([f"{'no protection' if method == ORIGINAL else method}{where}", *cells])
    table = Table(
        "glance",
        "Strongest attacker of each risk among the most people; 95 % intervals in brackets",
        ["method", *(GLANCE[name] for name in columns)],
        rows,
        numbers=range(1, len(columns) + 1),
    )
    said = [_asked(name, [f for f in every if f.metric.name == name]) for name in columns]
    return Section("glance", "All methods at a glance", [table, Points([s for s in said if s], soft=True)])


def _cell(found: Sequence[Finding]) -> str:
    """Write the strongest attacker's result and who it was, or the first listener's."""
    best = strongest(found if "attacker" in (found[0].conditions if found else {}) else shortest(found)[:1])
    if best is None:
        return "-"
    c = best.conditions
    who = ", ".join([str(c["attacker"]), *([f"L = {c['L']}"] if "L" in c else [])]) if "attacker" in c else ""
    return "\n".join(part for part in (value_with_interval(best), who) if part)


def _asked(name: str, found: Sequence[Finding]) -> str:
    """Say what a column holds where it needs saying."""
    crowd = sorted({int(f.conditions["N"]) for f in largest_crowd(found) if "N" in f.conditions})
    chance = [f.chance_level for f in largest_crowd(found) if f.chance_level is not None]
    people = f" out of {crowd[-1]:,} people" if crowd else ""
    if not chance or "attacker" not in found[0].conditions:
        who = by(found[0])
        better = f"{found[0].metric.better} is better"
        return f"{GLANCE[name]}: as {who} hears it; {better}." if found[0].conditions.get("listener") else ""
    low, high = (number(v, found[0].metric.unit) for v in (min(chance), max(chance)))
    if name == "risk_over_control":
        return f"{GLANCE[name]}: {low} is what works on strangers as well; see the verdicts for what was guessed."
    safer = f" {found[0].metric.better.capitalize()} is safer." if found[0].metric.better == "higher" else ""
    return f"{GLANCE[name]}{people}: guessing gives {low if low == high else f'{low} to {high}'}.{safer}"


def gate_section(run: Run) -> Section:
    """Say whether the acceptable risks that the study states are kept."""
    title = "The privacy gate"
    if not run.gate:
        return Section("gate", title, [Missing("Not judged: the study states no acceptable risk (bounds).")])
    broken = [entry for entry in run.gate if not entry.get("held")]
    verdicts = [
        Verdict(f"{len(broken)} of {len(run.gate)} bounds are not kept: the gate is closed.", "broken")
        if broken
        else Verdict(f"All {len(run.gate)} bounds are kept: the gate is open.", "kept")
    ]
    rows = [_gate_row(entry) for entry in sorted(run.gate, key=lambda e: bool(e.get("held")))]
    head = ["outcome", "bound", "on", "tested", "value", "limit"]
    table = Table("gate", "Every stated bound, the broken ones first", head, rows, numbers=(4, 5))
    note = "Unless the study says otherwise, the unfavourable end of the interval is tested: no evidence is no proof."
    return Section("gate", title, [Verdicts(verdicts), table, Words(note, soft=True)])


def _gate_row(entry: Mapping[str, Any]) -> list[str]:
    bound, found = entry.get("bound", {}), entry.get("finding") or {}
    unit = str(found.get("unit", ""))
    rule = "at most" if bound.get("at_most") is not None else "at least"
    names = ("corpus", "anonymizer", "attacker", "listener", "gender", "L", "N")
    where = found.get("conditions") or bound
    on = ", ".join(f"{name} {where[name]}" for name in names if where.get(name) is not None)
    tested = {"high": "upper end", "low": "lower end", "value": "value"}.get(str(entry.get("tested")), "")
    value = entry.get("value")
    shown = "not measured" if not found else number(value, unit) if value is not None else "unknown"
    title = str(found.get("title") or bound.get("metric", ""))
    return [
        "kept" if entry.get("held") else "NOT kept",
        f"{title} {rule}",
        on,
        tested,
        shown,
        number(entry.get("limit"), unit),
    ]
