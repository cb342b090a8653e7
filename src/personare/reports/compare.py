"""Two runs side by side: what differs, by how much, and whether the intervals overlap."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from personare.core.findings import Finding
from personare.core.text import number_text
from personare.reports.blocks import (
    Block,
    Facts,
    Figure,
    FigureRow,
    Notice,
    Paragraph,
    ReportTable,
    Section,
    Statement,
    Statements,
)
from personare.reports.difference_figure import DifferenceRow, difference_figure
from personare.reports.finding_rows import COUNTS, NAMED, attacker_or_listener, conditions_text
from personare.reports.page import Page, distinct
from personare.reports.report import write_page
from personare.reports.run import Run, read_run
from personare.reports.sections.choosing import fewest_utterances, gallery_size, groups, overall, slug, values

SAME = ("corpus", "anonymizer", "attacker", "knowledge", "embedder", "scorer", "L", "N", "gender", "trial_list")
ALSO = ("listener", "listener_trained_on", "attribute", "frames", "prior")
Overlap = Literal["yes", "no", "unknown"]
HEAD = ["method", "by", "metric", "under", "1", "2", "2 - 1", "intervals overlap", "better"]
CAUTION = (
    "Intervals that do not overlap show a difference; intervals that overlap do not show that there is none. Each run "
    "draws its own keys and trials, and a difference between corpora or speakers is a difference too."
)


@dataclass(frozen=True, eq=False)
class FindingPair:
    """The same finding in both runs."""

    first: Finding
    second: Finding

    @property
    def difference(self) -> float:
        """Second minus first."""
        return self.second.estimate.value - self.first.estimate.value

    @property
    def overlap(self) -> Overlap:
        """Whether the two intervals share a value."""
        a, b = self.first.estimate, self.second.estimate
        if any(math.isnan(x) for x in (a.low, a.high, b.low, b.high)):
            return "unknown"
        return "yes" if a.low <= b.high and b.low <= a.high else "no"

    @property
    def better(self) -> str:
        """Which run is better by the numbers alone."""
        if self.difference == 0 or math.isnan(self.difference):
            return "-"
        higher = self.first.metric.better == "higher"
        return "2" if (self.difference > 0) == higher else "1"


@dataclass(frozen=True, eq=False)
class RunComparison:
    """Two runs, what both measured, and how many findings only one has."""

    first: Run
    second: Run
    pairs: tuple[FindingPair, ...]
    only_first: int
    only_second: int

    @property
    def sentence(self) -> str:
        """What came out, in one line."""
        apart = [p for p in self.pairs if p.overlap == "no"]
        wins = {name: sum(p.better == name for p in apart) for name in ("1", "2")}
        return (
            f"{len(self.pairs)} findings are in both runs; {len(apart)} of them differ beyond their intervals "
            f"({wins['1']} better in 1, {wins['2']} better in 2). Only in 1: {self.only_first}, only in 2: "
            f"{self.only_second}."
        )


def compare_runs(first: Path, second: Path) -> RunComparison:
    """Read two run folders and pair what they have in common; one corpus each need not bear the same label."""
    one, two = read_run(first), read_run(second)
    single = all(len(values(run.findings, "corpus")) <= 1 for run in (one, two))
    several = [[f for f in run.findings if "speaker" not in f.conditions] for run in (one, two)]  # not about one person
    keyed = [{_key(f, corpus=not single): f for f in findings} for findings in several]
    both = [FindingPair(f, keyed[1][key]) for key, f in keyed[0].items() if key in keyed[1]]
    return RunComparison(one, two, tuple(both), len(keyed[0]) - len(both), len(keyed[1]) - len(both))


def _key(finding: Finding, *, corpus: bool) -> tuple[str, ...]:
    names = [name for name in (*SAME, *ALSO) if corpus or name != "corpus"]
    return (finding.metric.name, *(str(finding.conditions.get(name, "")) for name in names))


def _row(pair: FindingPair) -> list[str]:
    f = pair.first
    shown = [x.text for x in (pair.first, pair.second)]
    sign = "+" if pair.difference > 0 else ""
    method = str(f.conditions.get("anonymizer", "-"))
    return [
        method,
        attacker_or_listener(f),
        f.metric.title,
        _under(f) or "-",
        *shown,
        f"{sign}{_points(pair)}",
        pair.overlap,
        pair.better,
    ]


def _under(finding: Finding) -> str:
    """Write the conditions that have no column of their own."""
    return conditions_text(finding, without=(*NAMED, *COUNTS, "listener_trained_on", "tag"))


def _points(pair: FindingPair) -> str:
    """Write a difference; shares differ by percentage points."""
    text = number_text(pair.difference, pair.first.metric.unit)
    return text.replace(" %", " points")


def headline(comparison: RunComparison) -> list[FindingPair]:
    """Choose what fits a terminal: about everybody, fewest utterances, largest gallery."""
    by_first = {id(p.first): p for p in comparison.pairs}
    chosen: list[FindingPair] = []
    everybody = overall([p.first for p in comparison.pairs])
    for group in groups(everybody, "corpus", "anonymizer", "attacker", "listener", "embedder").values():
        for name in dict.fromkeys(f.metric.name for f in group):
            same = fewest_utterances([f for f in group if f.metric.name == name])
            most = max(map(gallery_size, same))
            chosen += [by_first[id(f)] for f in same if gallery_size(f) == most]
    return chosen


def comparison_rows(comparison: RunComparison) -> tuple[list[str], list[list[str]]]:
    """Lay the headline out for a terminal."""
    return HEAD, [_row(pair) for pair in headline(comparison)]


def page_of_comparison(comparison: RunComparison) -> Page:
    """Lay out the page."""
    title = f"{comparison.first.title} (1) against {comparison.second.title} (2)"
    if not comparison.pairs:
        runs = (comparison.first, comparison.second)
        labels = [", ".join(values(run.findings, "anonymizer")) or "none" for run in runs]
        nothing = f"No finding has the same conditions in both. Methods in 1: {labels[0]}; in 2: {labels[1]}."
        side_by_side = Section("compared", "Side by side", [Notice(nothing)])
        return Page(title, comparison.sentence, [side_by_side, _runs(comparison)])
    main = headline(comparison)
    apart = [p for p in comparison.pairs if p.overlap == "no"]
    changes = Statements([Statement(_change(p)) for p in main if p.overlap == "no"])
    first: list[Block] = [Paragraph(comparison.sentence)]
    first.append(changes if changes.statements else Notice("No headline number differs."))
    tables = [
        _table("compared", "The main numbers of both runs", main, folded=False),
        _table("apart", "All that differ beyond their intervals", apart, folded=True),
        _table("all", "All findings of both runs", comparison.pairs, folded=True),
    ]
    sections = [
        Section("verdict", "What changed", [*first, Paragraph(CAUTION, soft=True)]),
        Section("figures", "Both runs in figures", [FigureRow(_figures(main), "Whiskers: 95 % intervals.")]),
        Section("compared", "Side by side", tables),
        _runs(comparison),
    ]
    return Page(title, comparison.sentence, distinct(sections))


def _table(name: str, caption: str, pairs: Sequence[FindingPair], *, folded: bool) -> ReportTable:
    return ReportTable(name, caption, HEAD, [_row(p) for p in pairs], numbers=(4, 5, 6), folded=folded)


def _change(pair: FindingPair) -> str:
    f = pair.first
    under = f" ({_under(f)})" if _under(f) else ""
    change = f"{f.value_text} became {pair.second.value_text}"
    better = f"the intervals do not overlap, and run {pair.better} is better."
    return f"{_method_and_who(f)}{under}: {f.metric.title} {change}; {better}"


def _figures(pairs: Sequence[FindingPair]) -> list[Figure]:
    """Draw one panel per metric."""
    figures = []
    for name in dict.fromkeys(p.first.metric.name for p in pairs):
        same = [p for p in pairs if p.first.metric.name == name]
        rows = [DifferenceRow(_method_and_who(p.first), p.first, p.second) for p in same]
        figures.append(difference_figure(rows, name=f"compared-{slug(name)}", title=same[0].first.metric.title))
    return figures


def _method_and_who(finding: Finding) -> str:
    return f"{finding.conditions.get('anonymizer', '-')}, {attacker_or_listener(finding)}"


def _runs(comparison: RunComparison) -> Section:
    """Say what was run."""
    entries = {}
    for name, run in (("1", comparison.first), ("2", comparison.second)):
        entries[f"run {name}"] = f"{run.title} ({run.folder.resolve().name})"
        entries[f"run {name}, methods"] = ", ".join(values(run.findings, "anonymizer")) or "-"
        entries[f"run {name}, attackers"] = ", ".join(values(run.findings, "attacker")) or "-"
        entries[f"run {name}, seed"] = str(run.environment.get("seed", "-"))
        entries[f"run {name}, personare"] = str(run.environment.get("personare", "-"))
    return Section("runs", "The two runs", [Facts(entries)])


def write_comparison(comparison: RunComparison, target: Path) -> list[Path]:
    """Write the page and its tables."""
    return write_page(page_of_comparison(comparison), target, formats=("html", "markdown", "latex", "figures"))
