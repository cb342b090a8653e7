"""Two runs side by side: what differs, by how much, and whether the intervals leave room for chance."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from personare.core.findings import Finding
from personare.core.text import number_text
from personare.reports.blocks import Block, Facts, Figure, Gallery, Missing, Section, Table, Verdict, Verdicts, Words
from personare.reports.differences import Pair, difference_figure
from personare.reports.page import Page, distinct
from personare.reports.report import write_page
from personare.reports.run import Run, read_run
from personare.reports.sections.choosing import groups, overall, shortest, values, word
from personare.reports.wording import COUNTS, NAMED, by, condition

SAME = ("corpus", "anonymizer", "attacker", "knowledge", "embedder", "scorer", "L", "N", "gender")
ALSO = ("listener", "listener_trained_on", "attribute", "frames", "prior")
Overlap = Literal["yes", "no", "unknown"]
HEAD = ["method", "by", "metric", "under", "1", "2", "2 - 1", "intervals overlap", "better"]
CAUTION = (
    "Intervals that do not overlap show a difference; intervals that overlap do not show that there is none. Each run "
    "draws its own keys and trials, and a difference between corpora or speakers is a difference too."
)


@dataclass(frozen=True, eq=False)
class Compared:
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
class Comparison:
    """Two runs, what both measured, and how many findings only one has."""

    first: Run
    second: Run
    pairs: tuple[Compared, ...]
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


def compare_runs(first: Path, second: Path) -> Comparison:
    """Read two run folders and pair what they have in common; one corpus each need not bear the same label."""
    one, two = read_run(first), read_run(second)
    single = all(len(values(run.findings, "corpus")) <= 1 for run in (one, two))
    several = [[f for f in run.findings if "speaker" not in f.conditions] for run in (one, two)]  # nobody by name
    keyed = [{_key(f, corpus=not single): f for f in findings} for findings in several]
    both = [Compared(f, keyed[1][key]) for key, f in keyed[0].items() if key in keyed[1]]
    return Comparison(one, two, tuple(both), len(keyed[0]) - len(both), len(keyed[1]) - len(both))


def _key(finding: Finding, *, corpus: bool) -> tuple[str, ...]:
    names = [name for name in (*SAME, *ALSO) if corpus or name != "corpus"]
    return (finding.metric.name, *(str(finding.conditions.get(name, "")) for name in names))


def _row(pair: Compared) -> list[str]:
    f = pair.first
    shown = [x.text for x in (pair.first, pair.second)]
    sign = "+" if pair.difference > 0 else ""
    method = str(f.conditions.get("anonymizer", "-"))
    return [
        method,
        by(f),
        f.metric.title,
        _under(f) or "-",
        *shown,
        f"{sign}{_points(pair)}",
        pair.overlap,
        pair.better,
    ]


def _under(finding: Finding) -> str:
    """Write the conditions that have no column of their own."""
    return condition(finding, without=(*NAMED, *COUNTS, "listener_trained_on", "tag"))


def _points(pair: Compared) -> str:
    """Write a difference; shares differ by percentage points."""
    text = number_text(pair.difference, pair.first.metric.unit)
    return text.replace(" %", " points")


def headline(found: Comparison) -> list[Compared]:
    """Choose what fits a terminal: whole crowds, fewest utterances, most people."""
    wanted = {id(f) for f in overall([p.first for p in found.pairs])}
    rest = [p for p in found.pairs if id(p.first) in wanted]
    chosen: list[Compared] = []
    by_first = {id(p.first): p for p in rest}
    for group in groups([p.first for p in rest], "corpus", "anonymizer", "attacker", "listener", "embedder").values():
        for name in dict.fromkeys(f.metric.name for f in group):
            same = shortest([f for f in group if f.metric.name == name])
            most = max(int(f.conditions.get("N", 0)) for f in same)
            chosen += [by_first[id(f)] for f in same if int(f.conditions.get("N", 0)) == most]
    return chosen


def summary_rows(found: Comparison) -> tuple[list[str], list[list[str]]]:
    """Lay the headline out for a terminal."""
    return HEAD, [_row(pair) for pair in headline(found)]


def page_of_comparison(found: Comparison) -> Page:
    """Lay out the page."""
    title = f"{found.first.title} (1) against {found.second.title} (2)"
    if not found.pairs:
        labels = [", ".join(values(run.findings, "anonymizer")) or "none" for run in (found.first, found.second)]
        said = f"No finding has the same conditions in both. Methods in 1: {labels[0]}; in 2: {labels[1]}."
        return Page(title, found.sentence, [Section("compared", "Side by side", [Missing(said)]), _runs(found)])
    main = headline(found)
    apart = [p for p in found.pairs if p.overlap == "no"]
    shown = Verdicts([Verdict(_said(p)) for p in main if p.overlap == "no"])
    first: list[Block] = [Words(found.sentence), shown if shown.verdicts else Missing("No headline number differs.")]
    numbers = (4, 5, 6)
    sections = [
        Section("verdict", "What changed", [*first, Words(CAUTION, soft=True)]),
        Section("pictures", "Both runs in pictures", [Gallery(_figures(main), "Whiskers: 95 % intervals.")]),
        Section(
            "compared",
            "Side by side",
            [
                Table("compared", "The main numbers of both runs", HEAD, [_row(p) for p in main], numbers),
                Table("apart", "All that differ beyond their intervals", HEAD, [_row(p) for p in apart], numbers, True),
                Table("all", "All findings of both runs", HEAD, [_row(p) for p in found.pairs], numbers, True),
            ],
        ),
        _runs(found),
    ]
    return Page(title, found.sentence, distinct(sections))


def _said(pair: Compared) -> str:
    f = pair.first
    under = f" ({_under(f)})" if _under(f) else ""
    where = f"{f.conditions.get('anonymizer', '')}, {by(f)}{under}"
    values_told = f"{f.value_text} became {pair.second.value_text}"
    return f"{where}: {f.metric.title} {values_told}; the intervals do not overlap, and run {pair.better} is better."


def _figures(pairs: Sequence[Compared]) -> list[Figure]:
    """Draw one panel per metric."""
    metrics = dict.fromkeys(p.first.metric.name for p in pairs)
    figures = []
    for name in metrics:
        same = [p for p in pairs if p.first.metric.name == name]
        drawn = [Pair(f"{p.first.conditions.get('anonymizer', '-')}, {by(p.first)}", p.first, p.second) for p in same]
        figures.append(difference_figure(drawn, name=f"compared-{word(name)}", title=same[0].first.metric.title))
    return figures


def _runs(found: Comparison) -> Section:
    """Say what was run."""
    entries = {}
    for name, run in (("1", found.first), ("2", found.second)):
        entries[f"run {name}"] = f"{run.title} ({run.folder.resolve().name})"
        entries[f"run {name}, methods"] = ", ".join(values(run.findings, "anonymizer")) or "-"
        entries[f"run {name}, attackers"] = ", ".join(values(run.findings, "attacker")) or "-"
        entries[f"run {name}, seed"] = str(run.environment.get("seed", "-"))
        entries[f"run {name}, personare"] = str(run.environment.get("personare", "-"))
    return Section("runs", "The two runs", [Facts(entries)])


def write_comparison(found: Comparison, target: Path) -> list[Path]:
    """Write the page and its tables."""
    return write_page(page_of_comparison(found), target, formats=("html", "markdown", "latex", "figures"))
