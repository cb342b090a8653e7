"""The three criteria of the Article 29 Working Party, Opinion 05/2014 on anonymisation: measured here, and how far."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from personare.core.findings import Finding
from personare.reports.blocks import BulletList, Paragraph, ReportTable, Section
from personare.reports.finding_rows import attacker_or_listener
from personare.reports.outcomes import outcome
from personare.reports.run import Run
from personare.reports.sections.choosing import groups, overall, protected, strongest, values

TITLE = "The three legal criteria"
LIMITS = (
    "What is said can identify a speaker as well as how it is said: rows of attackers who read the words say how far. "
    "The results hold for these attackers and this corpus; a stronger attacker or other speech may give more. "
    "Whether the remaining risk is acceptable is a legal question that no number answers by itself."
)
OUTCOMES = {
    "exposed": "better than guessing",
    "not shown": "not shown to be better than guessing",
    "below chance": "below chance",
    "undecided": "not decided",
}
HEAD = ["criterion", "method", "strongest attacker", "metric", "value [95 % interval]", "guessing", "outcome"]


@dataclass(frozen=True)
class Criterion:
    """A criterion: its name, the Opinion's question, the metrics that answer it (best first), and how to measure it."""

    name: str
    question: str
    metrics: Sequence[str]
    measured_by: str


CRITERIA = (
    Criterion(
        "Singling out",
        "Is it still possible to isolate one person's records in the data?",
        ("singling_out", "rank_single_p50"),
        "the metric singling_out",
    ),
    Criterion(
        "Linkability",
        "Is it still possible to link records that concern the same person?",
        ("linkability", "rank_link_p50", "eer", "dsys"),
        "the metric linkability",
    ),
    Criterion(
        "Inference",
        "Can information about the person be inferred from the data?",
        ("risk_over_control",),
        "the metric inference, where the corpus knows an attribute such as gender",
    ),
)


def criteria_section(run: Run) -> Section:
    """Go through the three criteria; what was not measured is said in its row."""
    findings = protected(overall(run.findings))
    answers = {criterion: _rows(criterion, findings) for criterion in CRITERIA}
    if not any(answers.values()):
        return Section("criteria", TITLE, unmeasured=["the three legal criteria of WP29"])
    rows = [
        row
        for criterion, answer in answers.items()
        for row in answer or [[criterion.name, "-", "-", "-", "-", "-", "not measured"]]
    ]
    caption = "Opinion 05/2014 (WP29) asks three questions; the strongest attacker's answer for each method"
    table = ReportTable("criteria", caption, HEAD, rows, numbers=(4, 5))
    questions = BulletList([f"{c.name}: {c.question}" for c in CRITERIA])
    unknown = [f"{c.name} is measured by {c.measured_by}." for c, answer in answers.items() if not answer]
    remark = Paragraph(" ".join([*unknown, LIMITS]), soft=True)
    return Section("criteria", TITLE, [questions, table, remark])


def _rows(criterion: Criterion, findings: Sequence[Finding]) -> list[list[str]]:
    """One row per method by the best metric that was measured; none where none was."""
    for name in criterion.metrics:
        same = [f for f in findings if f.metric.name == name]
        best = [strongest(group, every=findings) for group in groups(same, "corpus", "anonymizer", "risk").values()]
        rows = [_row(criterion.name, f, several=len(values(same, "corpus")) > 1) for f in best if f is not None]
        if rows:
            return rows
    return []


def _row(name: str, finding: Finding, *, several: bool) -> list[str]:
    c = finding.conditions
    at = ", ".join(f"{key} = {c[key]:,}" for key in ("L", "N") if key in c)
    about = f" of {c['attribute']}" if "attribute" in c else ""
    where = f" on {c.get('corpus')}" if several else ""
    return [
        name,
        f"{c.get('anonymizer', '-')}{where}",
        f"{attacker_or_listener(finding)}{' (by words)' if c.get('risk') == 'words' else ''}",
        f"{finding.metric.title}{about}{f' ({at})' if at else ''}",
        finding.text,
        finding.chance_text,
        OUTCOMES[outcome(finding)],
    ]
