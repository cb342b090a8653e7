"""Whether anonymization costs some listeners more than others, or some voices: means of groups, and their effects.

After figure 18 of the VoicePrivacy 2020 paper: the difference between an evaluator's original and anonymized trials.
Deviations: the paper's third picture has groups by system, language and gender; where nobody was asked for their
language, it has system and gender here, and the first picture, which compares languages, is left out.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import polars as pl

from personare.core.tables import read_frame
from personare.core.text import number_text
from personare.metrics.privacy.listener_groups import t_test
from personare.reports.blocks import Block, Figure, FigureRow, Paragraph, ReportTable, Section
from personare.reports.people_plots import ValueSeries, means_figure
from personare.reports.run import Run
from personare.reports.sections.choosing import SeriesColours, method_label

METRICS = {"clustering_f1": "F1", "classification_change": "classification change", "purity": "purity"}
GENDERS = {"f": "female speakers", "m": "male speakers"}
LANGUAGES = {"native": "native listeners", "non-native": "non-native listeners"}
WORDS = (
    "Of every evaluator: the value of the trial of original speech less the mean of the trials with anonymized speech; "
    "0 is no difference. Diamonds: means; lines: standard errors; in brackets: evaluators. "
    "* and **: p < 0.05 and p < 0.01 by Student's t-test of two groups."
)


def group_sections(run: Run, colours: SeriesColours) -> list[Section]:
    """Lay out what groups of listeners lose, and what an analysis of variance finds."""
    blocks: list[Block] = []
    for artefact in run.of_kind("differences"):
        figures = list(_figures(read_frame(artefact.path), colours))
        if figures:
            blocks += [FigureRow(figures), Paragraph(WORDS, soft=True)]
    for artefact in run.of_kind("effects"):
        table = read_frame(artefact.path)
        if blocks and len(table):
            blocks.append(_effects(table))
    return [Section("listener-groups", "Who loses how much", blocks)] if blocks else []


def _figures(table: pl.DataFrame, colours: SeriesColours) -> Iterator[Figure]:
    """Figure 18: F1 by language (a), classification change by gender (b) and by all groups (c)."""
    spoken = table.filter(pl.col("language") != "")
    yield from _two(spoken, "clustering_f1", "language", LANGUAGES, "groups-language")
    yield from _two(table, "classification_change", "gender", GENDERS, "groups-gender")
    yield from _all(spoken if len(spoken) else table, "classification_change", colours)


def _two(table: pl.DataFrame, metric: str, column: str, names: dict[str, str], name: str) -> Iterator[Figure]:
    part = table.filter(pl.col("metric") == metric)
    found = [(label, part.filter(pl.col(column) == key)["difference"].to_numpy()) for key, label in names.items()]
    found = [(label, values) for label, values in found if len(values)]
    if len(found) == 2:
        p = t_test(found[0][1], found[1][1])
        rows = [ValueSeries(label, values, i) for i, (label, values) in enumerate(found)]
        title = f"{METRICS[metric]}, original less anonymized".capitalize()
        yield means_figure(rows, name=name, title=title, axis="difference", mark=stars(p))


def _all(table: pl.DataFrame, metric: str, colours: SeriesColours) -> Iterator[Figure]:
    part = table.filter(pl.col("metric") == metric)
    systems = part["anonymizer"].unique().sort().to_list()
    rows = []
    for system, language, gender in itertools.product(systems, ["", *LANGUAGES], ["", *GENDERS]):
        cell = part.filter(
            (pl.col("anonymizer") == system) & (pl.col("language") == language) & (pl.col("gender") == gender)
        )
        if len(cell):
            words = [method_label(system), LANGUAGES.get(language, ""), GENDERS.get(gender, "")]
            label = ", ".join(word for word in words if word)
            rows.append(ValueSeries(label, cell["difference"].to_numpy(), colours.method(system)))
    if len(rows) > 1:
        title = f"{METRICS[metric]} by group".capitalize()
        yield means_figure(rows, name="groups-all", title=title, axis="difference")


def stars(p: float) -> str:
    """Give the marks of significance.

    >>> stars(0.2), stars(0.03), stars(0.001), stars(float("nan"))
    ('', '*', '**', '')
    """
    return "**" if p < 0.01 else "*" if p < 0.05 else ""


def _effects(table: pl.DataFrame) -> ReportTable:
    """Lay out the analysis of variance."""
    rows: list[Sequence[str]] = [
        [
            METRICS[row["metric"]],
            row["effect"],
            f"{number_text(row['f'])} ({row['df']}, {row['residual_df']})",
            f"{number_text(row['p'])} {stars(row['p'])}".strip(),
            number_text(row["eta2"]),
        ]
        for row in table.iter_rows(named=True)
    ]
    caption = "Analysis of variance of the differences; F with its degrees of freedom, and partial eta squared"
    return ReportTable("effects", caption, ["of", "effect", "F", "p", "eta²"], rows, range(2, 5), folded=True)
