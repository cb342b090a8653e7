"""From an evaluation to the page a colleague, a reviewer or a regulator reads."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from personare.core.audio import read_mono
from personare.core.errors import AudioError
from personare.core.findings import Finding
from personare.core.text import number_text
from personare.pipeline.old_evaluate import UNPROTECTED, Evaluation
from personare.reports.bar_figures import FindingBar, bar_figure
from personare.reports.blocks import (
    AudioExample,
    AudioExamples,
    BulletList,
    Facts,
    FigureRow,
    Paragraph,
    ReportTable,
    Section,
    Statements,
)
from personare.reports.page import Page
from personare.reports.report import write_page
from personare.reports.sections.sounds import WARNING
from personare.reports.verdicts import risk_statement

CLIPS = 4
MOST_EXPOSED = 5
HEAD = ["attacker", "metric", "under", "value [95 % interval]", "chance", "differs from chance"]


def page_of(evaluation: Evaluation, *, title: str) -> Page:
    """Lay out the page."""
    findings, facts = evaluation.findings, evaluation.facts
    links = [f for f in findings if f.metric.name == "linkability"]
    protected = [f for f in links if f.conditions["attacker"] != UNPROTECTED]
    unprotected = [f for f in links if f not in protected]
    said = Statements([risk_statement(f) for f in [*reversed(protected), *unprotected[:1]]])
    sections = [
        Section("verdict", "What an attacker could say", [said]),
        Section("numbers", "The numbers", [_numbers(findings)]),
        Section("picture", "The picture", [attack_figure(findings, panels=("linkability", "eer"))]),
        *_exposed_section(evaluation),
        Section("sounds", "Listen", [Paragraph(WARNING, soft=True), AudioExamples(_clips(evaluation))]),
        Section(
            "notes",
            "What was measured, what was not",
            [BulletList(_notes(evaluation)), BulletList(_readings(findings))],
        ),
        Section("facts", "To repeat it", [Facts(facts)]),
    ]
    subtitle = f"{facts['speakers']} speakers, {facts['trial utterances']} trial utterances, {facts['method']}"
    return Page(title, subtitle, sections, findings)


def _numbers(findings: Sequence[Finding]) -> ReportTable:
    differs = {True: "yes", False: "no", None: "-"}
    rows = [
        [
            str(f.conditions["attacker"]),
            f.metric.title,
            ", ".join(f"{name} = {value}" for name, value in f.conditions.items() if name != "attacker"),
            f.text,
            f.chance_text,
            differs[f.differs_from_chance],
        ]
        for f in findings
    ]
    return ReportTable(
        "findings", "Every attacker, with intervals and the level of guessing", HEAD, rows, numbers=(3, 4)
    )


def _notes(evaluation: Evaluation) -> list[str]:
    notes = list(evaluation.notes)
    if evaluation.failures:
        name, reason = evaluation.failures[0]
        notes.append(f"{len(evaluation.failures)} sounds could not be heard (first: {name}: {reason}).")
    return notes


def _readings(findings: Sequence[Finding]) -> list[str]:
    """Say how each metric is read."""
    cards = {f.metric.name: f.metric for f in findings}.values()
    return [f"{card.title} [{card.cite}]: {card.reading} {card.caution}" for card in cards]


def _exposed_section(evaluation: Evaluation) -> list[Section]:
    rows = [[speaker, attacker, number_text(share, "%")] for speaker, attacker, share in _exposed(evaluation)]
    head = ["speaker", "attacker", "utterances linked"]
    table = ReportTable("exposed", "Whom the strongest attacker links most often", head, rows, numbers=(2,))
    return [Section("exposed", "The most exposed speakers", [table])] if rows else []


def _exposed(evaluation: Evaluation) -> list[tuple[str, str, float]]:
    """Name the speakers whom the strongest attacker of this evaluation links most often."""
    strongest = evaluation.outcomes[-1]
    ranked = sorted(strongest.linked.items(), key=lambda entry: (-entry[1], entry[0]))
    return [(speaker, strongest.attacker, share) for speaker, share in ranked[:MOST_EXPOSED] if share > 0]


def _clips(evaluation: Evaluation) -> list[AudioExample]:
    """Choose one utterance of each of the first speakers; what cannot be read is a failure named elsewhere."""
    chosen = evaluation.pairs.frame.sort("speaker", "utterance").unique("speaker", keep="first", maintain_order=True)
    clips = []
    for row in chosen.head(CLIPS).iter_rows(named=True):
        try:
            original = read_mono(Path(row["audio"]), start_s=row.get("start_s") or 0.0, stop_s=row.get("end_s"))
            hidden = read_mono(Path(row["anonymized"]))
        except AudioError:
            continue
        words = f": “{row['text']}”" if row.get("text") else ""
        clips.append(AudioExample(f"{row['speaker']}{words}", [("original", original), ("anonymized", hidden)]))
    return clips


def write_report(evaluation: Evaluation, folder: Path, *, title: str) -> Path:
    """Write the page and the findings; give the page's path."""
    return write_page(page_of(evaluation, title=title), folder, formats=("html", "json"))[0]


def table_rows(evaluation: Evaluation) -> tuple[list[str], list[list[str]]]:
    """Lay out the findings for the terminal: head and one row per attacker and conversation length."""
    head = ["attacker", "L", "EER (ROCCH)", "chance", "linkability", "N'", "chance", "verdict"]
    rows = []
    for outcome in evaluation.outcomes:
        lengths = sorted({int(f.conditions["L"]) for f in outcome.findings})
        for length in lengths:
            by = {f.metric.name: f for f in outcome.findings if f.conditions["L"] == length}
            eer, link = by.get("eer"), by["linkability"]
            apart = "above chance" if link.differs_from_chance else "not told from chance"
            rows.append(
                [
                    outcome.attacker,
                    str(length),
                    eer.text if eer else "-",
                    eer.chance_text if eer else "-",
                    link.text,
                    str(link.conditions["N'"]),
                    link.chance_text,
                    apart if outcome.attacker != UNPROTECTED else "nothing hidden",
                ]
            )
    return head, rows


def attack_figure(findings: Sequence[Finding], *, panels: Sequence[str]) -> FigureRow:
    """Draw one panel per metric name in ``panels``, one bar per finding, grouped by the number of utterances."""
    attackers = list(dict.fromkeys(str(f.conditions.get("attacker", "")) for f in findings))
    figures = []
    for name in panels:
        group = sorted((f for f in findings if f.metric.name == name), key=lambda f: int(f.conditions.get("L", 1)))
        if group:
            bars = [_bar(f, attackers) for f in group]
            figures.append(bar_figure(bars, name=name, title=group[0].metric.title, most=group[0].metric.bounds[1]))
    return FigureRow(figures, "Bars: estimate; whiskers: 95 % interval; dashed: an attacker who guesses.")


def _bar(finding: Finding, attackers: list[str]) -> FindingBar:
    length, who = finding.conditions.get("L", 1), str(finding.conditions.get("attacker", ""))
    speech = "from one utterance" if length == 1 else f"from {length} utterances"
    return FindingBar(speech, who, finding, attackers.index(who))
