"""What people heard in a listening panel: ratings, trades of errors, clusters, triplets, and machines beside people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import polars as pl

from personare.core.findings import Finding
from personare.core.tables import read_frame
from personare.reports.bar_figures import FindingBar, bar_figure
from personare.reports.blocks import Block, Figure, FigureRow, ReportTable, Section
from personare.reports.figures import GREY, series_colour
from personare.reports.people_plots import (
    ValueSeries,
    cumulative_figure,
    density_figure,
    people_det_figure,
    violin_figure,
)
from personare.reports.run import ORIGINAL, Run
from personare.reports.score_plots import DetCurve, det_curve
from personare.reports.sections.choosing import SeriesColours, groups, method_label, overall
from personare.reports.sections.listener_groups import group_sections
from personare.reports.sections.people_machines import machine_sections

# what a column of the table at the top shows: the metric, the kind of trials where there are two, its heading
COLUMNS = (
    ("eer_people", "", "EER"),
    ("cllr_people", "", "Cllr"),
    ("min_cllr_people", "", "min Cllr"),
    ("abx", "", "speaker found"),
    ("expression_found", "", "expression\nfound"),
    ("purity", "", "purity"),
    ("clustering_f1", "", "F1"),
    ("classification_change", "", "changes"),
    ("mos_naturalness", "", "naturalness"),
    ("mos_intelligibility", "", "intelligibility"),
    ("naturalness", "", "naturalness"),
    ("intelligibility", "", "intelligibility"),
    ("similarity", "target", "similarity,\ntarget"),
    ("similarity", "nontarget", "similarity,\nnontarget"),
)
MOST_WIDE = 5  # columns of numbers that stand beside their intervals
HEADLINES = tuple(dict.fromkeys(name for name, _, _ in COLUMNS))
RATINGS = (
    "Ratings are ranks among all that one evaluator rated, from 0 to 1, so that nobody's habit of rating high or low "
    "counts. Bars: the middle half; dots: medians; numbers: means; the dashed line: median of the first method."
)
TRADES = (
    "Naturalness and intelligibility: original target speech against other speech; near the diagonal, both are rated "
    "alike. Similarity: speech against original speech of other people; near the diagonal, nobody is recognised."
)


def people_sections(run: Run, colours: SeriesColours) -> list[Section]:
    """Lay out everything that people said, figure by figure."""
    numbers = [f for f in overall(run.findings) if f.metric.name in HEADLINES]
    sections = [Section("people", "What people said", [_table(numbers), *_bars(numbers, colours)])] if numbers else []
    for artefact in run.of_kind("ratings"):
        ratings = read_frame(artefact.path)
        if ratings["target"].drop_nulls().len():
            violins = FigureRow(list(_violins(ratings, colours)), RATINGS)
            sections.append(Section("ratings", "How speech was rated", [violins]))
            trades = FigureRow(list(_trades(ratings, colours)), TRADES)
            sections.append(Section("trades", "Can people tell? (DET)", [trades]))
    for artefact in run.of_kind("clusterings"):
        sections.append(Section("clusters", "How recordings were put together", [_clusters(artefact.path, colours)]))
    return [*sections, *group_sections(run, colours), *machine_sections(run, colours)]


def _table(numbers: Sequence[Finding]) -> ReportTable:
    """Lay out one row for each method, and under it what guessing gives."""
    shown = [c for c in COLUMNS if any(_in_column(f, *c[:2]) for f in numbers)]
    rows = []
    for (method,), group in groups(numbers, "anonymizer").items():
        cells = [next((f.text for f in group if _in_column(f, *c[:2])), "-") for c in shown]
        if len(shown) > MOST_WIDE:
            cells = [cell.replace(" [", "\n[") for cell in cells]
        rows.append([method_label(method), *cells])
    guessing = [_guessing([f for f in numbers if _in_column(f, *c[:2])]) for c in shown]
    if set(guessing) != {"-"}:
        rows.append(["guessing", *guessing])
    caption = "Means over evaluators; 95 % intervals in brackets"
    return ReportTable("people", caption, ["method", *(c[2] for c in shown)], rows, range(1, len(shown) + 1))


def _guessing(same: Sequence[Finding]) -> str:
    """Say what guessing gives; where it differs from method to method, from the least to the most."""
    levels = sorted((f.chance_level, f.chance_text) for f in same if f.chance_level is not None)
    if not levels:
        return "-"
    least, most = levels[0][1], levels[-1][1]
    return least if least == most else f"{least.removesuffix(' %')} to\n{most}"


def _in_column(finding: Finding, metric: str, trials: str) -> bool:
    kind = finding.conditions.get("trials", "")
    return finding.metric.name == metric and (not trials or kind == trials)


def _bars(numbers: Sequence[Finding], colours: SeriesColours) -> Iterator[Block]:
    """Draw what has one number for each system and no distribution of its own."""
    figures = []
    for name in ("abx", "expression_found", "mos_naturalness", "mos_intelligibility"):
        same = [f for f in numbers if f.metric.name == name]
        bars = [FindingBar("", *_label(f), colours.method(str(f.conditions["anonymizer"]))) for f in same]
        if bars:
            most = same[0].metric.bounds[1]
            figures.append(bar_figure(bars, name=name.replace("_", "-"), title=same[0].metric.title, most=most))
    if figures:
        yield FigureRow(figures, "Whiskers: 95 % intervals over evaluators.")


def _label(finding: Finding) -> tuple[str, Finding]:
    return method_label(str(finding.conditions["anonymizer"])), finding


def _systems(table: pl.DataFrame) -> list[str]:
    return [name for name in table["anonymizer"].unique(maintain_order=True).to_list() if name != ORIGINAL]


def _series(table: pl.DataFrame, scale: str, system: str, target: bool | None, colours: SeriesColours) -> ValueSeries:
    part = table.filter((pl.col("scale") == scale) & (pl.col("anonymizer") == system))
    if target is not None:
        part = part.filter(pl.col("target") == target)
    kind = "" if system != ORIGINAL else ", target" if target else ", nontarget"
    label = f"{method_label(system)}{kind if target is not None else ''}"
    return ValueSeries(label, part["rank"].to_numpy(), colours.method(system))


def _violins(table: pl.DataFrame, colours: SeriesColours) -> Iterator[Figure]:
    """Figure 16: naturalness, intelligibility, similarity of target and of nontarget trials."""
    systems = _systems(table)
    panels: list[tuple[str, bool | None, str]] = [
        ("naturalness", None, "Naturalness"),
        ("intelligibility", None, "Intelligibility"),
        ("similarity", True, "Similarity, anonymized target speech"),
        ("similarity", False, "Similarity, anonymized nontarget speech"),
    ]
    for scale, target, title in panels:
        rows = [_series(table, scale, ORIGINAL, known, colours) for known in (True, False)]
        rows += [_series(table, scale, system, target, colours) for system in systems]
        rows = [row for row in rows if len(row.values)]
        level = float(np.median(rows[2].values)) if len(rows) > 2 else None
        suffix = "" if target is None else "-target" if target else "-nontarget"
        yield violin_figure(rows, name=f"violin-{scale}{suffix}", title=title, axis="normalized rank", level=level)


def _trades(table: pl.DataFrame, colours: SeriesColours) -> Iterator[Figure]:
    """Figure 17: the four kinds of DET curves, original speech in grey."""
    systems = _systems(table)

    def values(scale: str, system: str, target: bool | None) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        return _series(table, scale, system, target, colours).values

    for scale in ("naturalness", "intelligibility"):
        anchor = values(scale, ORIGINAL, True)
        others = [(ORIGINAL, values(scale, ORIGINAL, False)), *((s, values(scale, s, None)) for s in systems)]
        drawn = [_curve(anchor, against, system, colours) for system, against in others if len(anchor) and len(against)]
        if drawn:
            yield people_det_figure(drawn, name=f"det-{scale}", title=f"{scale.capitalize()}: original against other")
    anchor = values("similarity", ORIGINAL, False)
    for target in (True, False):
        others = [(ORIGINAL, values("similarity", ORIGINAL, True))]
        others += [(s, values("similarity", s, target)) for s in systems]
        drawn = [
            _curve(positive, anchor, system, colours) for system, positive in others if len(positive) and len(anchor)
        ]
        kind = "target" if target else "nontarget"
        if drawn:
            title = f"Similarity of anonymized {kind} speech, against original nontargets"
            yield people_det_figure(drawn, name=f"det-similarity-{kind}", title=title)


def _curve(
    positive: np.ndarray[tuple[int], np.dtype[np.float64]],
    negative: np.ndarray[tuple[int], np.dtype[np.float64]],
    system: str,
    colours: SeriesColours,
) -> DetCurve:
    series = colours.method(system)
    colour = GREY if series is None else series_colour(series)
    return det_curve(positive, negative, name=method_label(system), colour=colour)


def _clusters(path: Path, colours: SeriesColours) -> FigureRow:
    """Figure 19: purity of every kind of trial, and purity beside F1 on the control trials."""
    table = read_frame(path)
    kinds = [
        ValueSeries(method_label(str(name)), part["purity"].to_numpy(), colours.method(str(name)))
        for (name,), part in sorted(
            table.group_by(["anonymizer"], maintain_order=True), key=lambda one: one[0] != (ORIGINAL,)
        )
    ]
    figures = [density_figure(kinds, name="purity", title="Clustering purity", axis="purity of a trial")]
    control = table.filter(pl.col("anonymizer") == ORIGINAL)
    if len(control):
        both = [
            ValueSeries(t, control[c].to_numpy(), i)
            for i, (c, t) in enumerate((("purity", "purity"), ("clustering_f1", "F1")))
        ]
        title = "Original speech: purity and F1"
        figures.append(cumulative_figure(both, name="purity-cumulative", title=title, axis="at most"))
    return FigureRow(
        figures, "Original speech only in the control trials; half of the recordings elsewhere are anonymized."
    )
