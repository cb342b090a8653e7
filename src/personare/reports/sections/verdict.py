"""The top of a report: the verdict on every method, every attacker in one table, and the worst risks in words."""

from __future__ import annotations

from collections.abc import Iterable

from personare.core.findings import Finding
from personare.reports.blocks import Block, Notice, Paragraph, ReportTable, Section, Statement, Statements
from personare.reports.run import Run
from personare.reports.sections.choosing import (
    groups,
    is_original,
    largest_gallery,
    overall,
    protected,
    strongest,
    values,
)
from personare.reports.summary import COLUMNS, summary_rows
from personare.reports.verdicts import method_verdicts, risk_statement

RISKS = ("linkability", "singling_out", "risk_over_control", "eer")
TITLE = "What an attacker could say"
READING = (
    "In brackets: 95 % intervals over speakers. L: utterances the attacker has at once; N: people among whom the right "
    "one is searched. Exposed: EER or linkability lies, with its whole interval, on the attacker's side of chance."
)


def verdict_section(run: Run) -> Section:
    """Give each method's verdict, then every attacker, then the worst risks in words, the others on request."""
    every = overall(run.findings)
    risks = [f for f in every if f.metric.name in RISKS and "attacker" in f.conditions]
    if not risks:
        nothing = Notice("No attack was made, so nothing is known about risks.")
        return Section("verdict", TITLE, [nothing], ["attacks on the voices"])
    verdicts = method_verdicts(run.findings)
    blocks: list[Block] = [Statements(verdicts)] if verdicts else []
    if any(f.metric.name in COLUMNS for f in risks):
        head, rows = summary_rows(run.findings)
        first = head.index("L")
        table = ReportTable("attackers-table", "Every attacker", head, rows, range(first, len(head) - 1))
        blocks += [table, Paragraph(READING, soft=True)]
    blocks.append(Paragraph("The worst of it, as the attacker would say it:"))
    worst = [f for group in _by_metric(protected(risks)) if (f := strongest(group, every=every)) is not None]
    unprotected = _by_metric(f for f in risks if is_original(f))
    original = [f for group in unprotected if (f := strongest(group, every=every)) is not None]
    shown = [*worst, *original[:1]]
    others = [f for group in _by_metric(protected(risks), "attacker") for f in largest_gallery(group)]
    rest = [f for f in others if all(f is not one for one in shown)]
    blocks.append(Statements([_statement(f, run) for f in shown]))
    if rest:
        folded = f"What every other attack gave ({len(rest)})"
        blocks.append(Statements([_statement(f, run) for f in rest], folded=folded))
    if run.failures:
        missed = f"{len(run.failures):,} items failed, so that something may be missing here: see below."
        blocks.append(Notice(missed))
    return Section("verdict", TITLE, blocks)


def _by_metric(findings: Iterable[Finding], *names: str) -> list[list[Finding]]:
    """Put findings on the same method, of the same metric and conditions together; metrics in the order of RISKS."""
    by_metric = [
        [f for f in group if f.metric.name == metric]
        for group in groups(findings, "corpus", "anonymizer", *names).values()
        for metric in RISKS
    ]
    return [group for group in by_metric if group]


def _statement(finding: Finding, run: Run) -> Statement:
    statement = risk_statement(finding)
    if len(values(run.findings, "corpus")) > 1:
        return Statement(f"On {finding.conditions.get('corpus')}. {statement.sentence}", statement.tone)
    return statement
