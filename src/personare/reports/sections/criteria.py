"""The three criteria of the Article 29 Working Party, Opinion 05/2014 on anonymisation: measured here, and how far."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from personare.core.findings import Finding
from personare.reports.blocks import Block, Missing, Points, Section, Table, Words
from personare.reports.run import Run
from personare.reports.sections.choosing import groups, hidden, overall, strongest, values
from personare.reports.verdicts import judgement
from personare.reports.wording import by

LIMITS = (
    "What is said can identify a speaker as well as how it is said: words are not assessed by these measures. The "
    "results hold for the attackers played here and this corpus; a stronger attacker or other speech may give more. "
    "Whether the remaining risk is acceptable is a legal question that no number answers by itself."
)
WORDS = {"exposed": "better than guessing", "hidden": "not shown to be better than guessing", "unknown": "not decided"}


@dataclass(frozen=True)
class Criterion:
    """A criterion: its name, the Opinion's question, the metrics that answer it (best first), and what is lacking."""

    name: str
    question: str
    metrics: Sequence[str]
    lacking: str


CRITERIA = (
    Criterion(
        "Singling out",
        "Is it still possible to isolate one person's records in the data?",
        ("singling_out", "rank_single_p50"),
        "Not measured in this run: add the metric singling_out to the study.",
    ),
    Criterion(
        "Linkability",
        "Is it still possible to link records that concern the same person?",
        ("linkability", "rank_link_p50", "eer", "dsys"),
        "Not measured in this run: add the metric linkability to the study.",
    ),
    Criterion(
        "Inference",
        "Can information about the person be inferred from the data?",
        ("risk_over_control",),
        "Not measured in this run: what the voices still tell about people (gender, age, health, origin) is unknown. "
        "The metric inference measures gender where the corpus knows it.",
    ),
)


def criteria_section(run: Run) -> Section:
    """Go through the three criteria."""
    rows, lacking = list[list[str]](), list[Block]()
    for criterion in CRITERIA:
        found = _rows(criterion, hidden(overall(run.findings)))
        rows += found or [[criterion.name, "-", "-", "-", "-", "-", "not measured"]]
        if not found:
            lacking.append(Missing(f"{criterion.name}: {criterion.lacking}"))
    table = Table(
        "criteria",
        "Opinion 05/2014 (WP29) asks three questions; the strongest attacker's answer for each method",
        ["criterion", "method", "strongest attacker", "metric", "value", "guessing", "outcome"],
        rows,
        numbers=(4, 5),
    )
    questions = [f"{c.name}: {c.question}" for c in CRITERIA]
    blocks: list[Block] = [Points(questions), table, *lacking, Words(LIMITS, soft=True)]
    return Section("criteria", "The three legal criteria", blocks)


def _rows(criterion: Criterion, findings: Sequence[Finding]) -> list[list[str]]:
    """One row per method by the best metric that was measured; none where none was."""
    for name in criterion.metrics:
        found = [f for f in findings if f.metric.name == name]
        best = [strongest(group) for group in groups(found, "corpus", "anonymizer").values()]
        rows = [_row(criterion.name, f, many=len(values(found, "corpus")) > 1) for f in best if f is not None]
        if rows:
            return rows
    return []


def _row(name: str, finding: Finding, *, many: bool) -> list[str]:
    c = finding.conditions
    at = ", ".join(f"{key} = {c[key]:,}" for key in ("L", "N") if key in c)
    about = f" of {c['attribute']}" if "attribute" in c else ""
    where = f" on {c.get('corpus')}" if many else ""
    return [
        name,
        f"{c.get('anonymizer', '-')}{where}",
        by(finding),
        f"{finding.metric.title}{about}{f' ({at})' if at else ''}",
        finding.text,
        finding.chance_text,
        WORDS.get(judgement(finding), "-"),
    ]
