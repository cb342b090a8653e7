"""Every attacker in one table, the strongest first, and the worst risks as an attacker would say them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from personare.core.findings import Finding
from personare.reports.blocks import Block, Paragraph, ReportTable, Section, Statement, Statements
from personare.reports.outcomes import risk_statement
from personare.reports.run import Run
from personare.reports.sections.choosing import (
    groups,
    is_original,
    largest_gallery,
    of_risk,
    overall,
    protected,
    strongest,
    values,
)
from personare.reports.summary import COLUMNS, summary_rows
from personare.reports.verdicts import judged_methods

RISKS = ("linkability", "singling_out", "risk_over_control", "eer")
TITLE = "What an attacker could say"
READING = (
    "In brackets: 95 % intervals over speakers. L: utterances the attacker has at once; N: people among whom the right "
    "one is searched. Exposed: by EER or linkability a guesser would do as well in at most 2.5 % of cases."
)


def attackers_section(run: Run) -> Section:
    """List every attacker, then the worst risks in words, the others on request."""
    every = overall(run.findings)
    risks = [f for f in every if f.metric.name in RISKS and "attacker" in f.conditions]
    if not risks:
        return Section("attackers", TITLE)
    blocks: list[Block] = []
    if any(f.metric.name in COLUMNS for f in risks):
        head, rows = summary_rows(run.findings)
        first = head.index("L")
        table = ReportTable("attackers-table", "Every attacker", head, rows, range(first, len(head) - 1))
        blocks += [table, Paragraph(READING, soft=True)]
    blocks.append(Paragraph("The worst of it, as the attacker would say it:"))
    worst = [f for group in _by_metric(protected(risks), "risk") if (f := strongest(group, every=every)) is not None]
    unprotected = _by_metric(f for f in of_risk(risks, "voice") if is_original(f))
    original = [f for group in unprotected if (f := strongest(group, every=every)) is not None]
    shown = [*worst, *original[:1]]
    others = [f for group in _by_metric(protected(risks), "attacker") for f in largest_gallery(group)]
    rest = [f for f in others if all(f is not one for one in shown)]
    green = {(one.corpus, one.method) for one in judged_methods(every) if one.tone == "not-shown"}
    blocks.append(Statements([_statement(f, run, green) for f in shown]))
    if rest:
        folded = f"What every other attack gave ({len(rest)})"
        blocks.append(Statements([_statement(f, run, green) for f in rest], folded=folded))
    return Section("attackers", TITLE, blocks)


def _by_metric(findings: Iterable[Finding], *names: str) -> list[list[Finding]]:
    """Put findings on the same method, of the same metric and conditions together; metrics in the order of RISKS."""
    by_metric = [
        [f for f in group if f.metric.name == metric]
        for group in groups(findings, "corpus", "anonymizer", *names).values()
        for metric in RISKS
    ]
    return [group for group in by_metric if group]


def _statement(finding: Finding, run: Run, green: set[tuple[str, str]]) -> Statement:
    """Say one attack; one that fails is marked green only where the whole verdict on the method is."""
    where = (str(finding.conditions.get("corpus", "")), str(finding.conditions.get("anonymizer", "")))
    statement = risk_statement(finding, protects=where in green)
    if len(values(run.findings, "corpus")) > 1:
        return replace(statement, sentence=f"On {finding.conditions.get('corpus')}. {statement.sentence}")
    return statement
