"""The page of a listening panel: what people said first, then how they said it, then every definition and number."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from personare.core.findings import Finding
from personare.reports.blocks import BulletList, Facts, Section, Statement, Statements
from personare.reports.page import Page, distinct
from personare.reports.run import ORIGINAL, Run
from personare.reports.sections.choosing import SeriesColours, overall
from personare.reports.sections.definitions import definitions_section, literature_section, numbers_section
from personare.reports.sections.environment import environment_section
from personare.reports.sections.people import people_sections

TESTS = {
    "unified": "unified test: intelligibility, naturalness and similarity, from 1 to 10",
    "clustering": "speaker clustering: recordings put together by voice",
    "abx": "A/B/X: whose voice it is",
    "expression": "expression: which rendering is said like the original",
    "mos": "MOS: naturalness and intelligibility, from 1 to 5",
}
PRIVACY = {
    "eer_people": "who rate how alike two recordings of {method} sound err {value} of the time",
    "abx": "find the speaker of {method} among two in {value} of the triplets",
    "purity": "put {value} of the recordings of {method} with those of their speaker",
}
KEPT = {
    "expression_found": "find which of two recordings of {method} is said like the original in {value} of the triplets"
}
OPINIONS = {"mos_naturalness": "naturalness", "mos_intelligibility": "intelligibility"}
INTERVALS = (
    "Intervals are at 95 % and leave out one evaluator after the other: what another panel of such people would say "
    "about the same recordings. Trials that check attention are no part of any number."
)


def is_panel(run: Run) -> bool:
    """Whether a run folder holds what people said."""
    return isinstance(run.environment.get("panel"), Mapping)


def page_of_panel(run: Run) -> Page:
    """Lay out the page of a panel."""
    about: Mapping[str, Any] = run.environment["panel"]
    test, colours = str(about.get("test", "")), SeriesColours(run)
    evaluators, answers = int(about.get("evaluators", 0)), int(about.get("answers", 0))
    facts = Facts(
        {
            "test": TESTS.get(test, test),
            "evaluators": f"{evaluators:,}",
            "answers": f"{answers:,}",
            "methods": ", ".join(str(name) for name in about.get("systems", ())) or "-",
        }
    )
    notes = [BulletList(run.notes, soft=True)] if run.notes else []
    summary = Section("summary", "In short", [Statements([_said(f) for f in _headlines(run)]), *notes], aside=[facts])
    sections = [
        summary,
        *people_sections(run, colours),
        definitions_section(run, intervals=INTERVALS),
        numbers_section(run),
        environment_section(run),
        literature_section(run),
    ]
    subtitle = f"Listening panel, {TESTS.get(test, test)}; {evaluators} evaluators, {answers} answers"
    return Page(run.title, subtitle, distinct([s for s in sections if s.blocks]), run.findings)


def _headlines(run: Run) -> list[Finding]:
    """Choose what is said in words: how well people recognise speakers, else what they think of the speech."""
    every = overall(run.findings)
    attacks = [f for f in every if f.metric.name in (*PRIVACY, *KEPT)]
    return attacks or [f for f in every if f.metric.name in OPINIONS]


def _said(finding: Finding) -> Statement:
    """Say one number as a sentence; against guessing where there is such a level."""
    system = str(finding.conditions["anonymizer"])
    method = "original speech" if system == ORIGINAL else f"speech by {system}"
    pattern = {**PRIVACY, **KEPT}.get(finding.metric.name)
    if pattern is None:
        scale = f"from {finding.metric.bounds[0]:g} to {finding.metric.bounds[1]:g}"
        return Statement(
            f"People rate the {OPINIONS[finding.metric.name]} of {method} {finding.text}, {scale}.", "plain"
        )
    guess = "" if finding.chance_level is None else f"; guessing gives {finding.chance_text}"
    sentence = f"People {pattern.format(method=method, value=finding.text)}{guess}."
    if finding.metric.name in KEPT:
        return Statement(sentence, "plain")
    better = finding.differs_from_chance is True and _beats_chance(finding)
    return Statement(sentence, "plain" if system == ORIGINAL else "exposed" if better else "not-shown")


def _beats_chance(finding: Finding) -> bool:
    level = finding.chance_level
    if level is None:
        return False
    lower = finding.metric.better == "lower"
    return finding.estimate.low > level if lower else finding.estimate.high < level
