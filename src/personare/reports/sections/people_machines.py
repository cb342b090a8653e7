"""People beside machines: what listeners say of each method, against what attackers and recognizers reached in the run.

After figures 20 (EER; the other privacy metrics likewise) and 21 (utility) of the VoicePrivacy 2020 paper.
Deviations: one point for each method and machine; the paper has one for each method and test set.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from personare.core.findings import Estimate, Finding
from personare.core.tables import read_frame
from personare.metrics import card
from personare.reports.blocks import Figure, FigureRow, Paragraph, Section
from personare.reports.run import Run
from personare.reports.scatter import Point, scatter_figure
from personare.reports.sections.choosing import SeriesColours, groups, method_label, overall, slug

PRIVACY = {"eer": "eer_people", "cllr": "cllr_people", "min_cllr": "min_cllr_people"}  # machine: people
UTILITY = ("naturalness", "intelligibility", "mos_naturalness", "mos_intelligibility")
COMPARED = "Each point: one method. Across: a program that compares voices; upwards: people."
UNDERSTOOD = "Each point: one method. Across: words that a program gets wrong; upwards: how people rate the speech."


def machine_sections(run: Run, colours: SeriesColours) -> list[Section]:
    """Lay out privacy and utility, each by people against machines."""
    people = [f for f in overall(run.findings) if f.conditions.get("listener") == "people"]
    values = list(_objective(run))
    privacy = list(_privacy(values, people, colours))
    utility = list(_utility(values, people, colours))
    sections = []
    if privacy:
        words = Paragraph(COMPARED, soft=True)
        sections.append(Section("machines", "People beside machines", [FigureRow(privacy), words]))
    if utility:
        words = Paragraph(UNDERSTOOD, soft=True)
        sections.append(Section("machine-utility", "Utility by people and by machines", [FigureRow(utility), words]))
    return sections


def _objective(run: Run) -> Iterator[Finding]:
    """What machines reached, as the panel kept it; panels of earlier versions kept EERs only."""
    for artefact in run.of_kind("objective"):
        for row in read_frame(artefact.path).iter_rows(named=True):
            estimate = Estimate(row["value"], _or_nan(row["low"]), _or_nan(row["high"]), 0)
            about = {"anonymizer": row["system"], "machine": row["attacker"]}
            yield Finding(card(row.get("metric", "eer")), estimate, about)


def _privacy(values: Sequence[Finding], people: Sequence[Finding], colours: SeriesColours) -> Iterator[Figure]:
    """Figure 20: every attacker of the run against people."""
    for metric, theirs in PRIVACY.items():
        for (attacker,), group in groups([f for f in values if f.metric.name == metric], "machine").items():
            points = _points(group, [f for f in people if f.metric.name == theirs], colours)
            if points:
                short = {"eer": "EER", "cllr": "Cllr", "min_cllr": "min Cllr"}[metric]
                name = f"people-{slug(attacker)}" if metric == "eer" else f"people-{slug(metric)}-{slug(attacker)}"
                yield scatter_figure(points, name=name, title=f"{short} of people, against the {attacker} attacker")


def _utility(values: Sequence[Finding], people: Sequence[Finding], colours: SeriesColours) -> Iterator[Figure]:
    """Figure 21: the word error rate of every recognizer of the run against what people rated."""
    for (recognizer,), group in groups([f for f in values if f.metric.name == "wer"], "machine").items():
        for scale in UTILITY:
            points = _points(group, [f for f in people if f.metric.name == scale], colours)
            if points:
                title = f"{points[0].y.metric.title}, against the words of {recognizer}"
                yield scatter_figure(points, name=f"utility-{slug(scale)}-{slug(recognizer)}", title=title)


def _points(machine: Sequence[Finding], people: Sequence[Finding], colours: SeriesColours) -> list[Point]:
    said = {str(f.conditions["anonymizer"]): f for f in people}
    return [
        Point(method_label(name), f, said[name], colours.method(name))
        for f in machine
        if (name := str(f.conditions["anonymizer"])) in said
    ]


def _or_nan(value: float | None) -> float:
    return float("nan") if value is None else value
