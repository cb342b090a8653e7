"""Whole voices: who resembles whom (VPC, figures 13 and 14), and among how many people a speaker vanishes (USC)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from personare.core.errors import TableError
from personare.core.findings import Finding
from personare.core.tables import read_frame
from personare.core.text import number_text
from personare.reports.blocks import Block, Figure, Gallery, Missing, Section, Table, Words
from personare.reports.matrices import matrix_figure
from personare.reports.rank_plots import Ranked, rank_figure
from personare.reports.run import ORIGINAL, Artefact, Run
from personare.reports.scatter import Point, scatter_figure
from personare.reports.sections.choosing import Palette, groups, overall, values, word

SIDES = ("oo", "oa", "aa")
VARIANTS = {"link": "linkability", "single": "singling out"}


def similarity_section(run: Run, palette: Palette) -> Section:
    """Draw the matrices of every method, and DeID against the gain of voice distinctiveness."""
    blocks: list[Block] = []
    maps = [_matrix(artefact, palette) for artefact in run.of_kind("similarity")]
    if maps:
        reading = (
            "Each panel: original against original (upper left), original against hidden (the other corners), hidden "
            "against hidden (lower right). A bright diagonal means that people can be told apart, or found again."
        )
        blocks += [Gallery(maps, reading)]
    else:
        blocks.append(Missing("Not measured: voice similarity matrices (metrics deid, g_vd)."))
    plots = _deid(overall(run.findings), palette)
    if plots:
        caption = "De-identification should be high; a gain below 0 dB means that hidden voices sound more alike."
        blocks.append(Gallery(plots, caption))
    elif maps:
        blocks.append(Missing("Not measured: DeID against G_VD, because one of the two was not asked for."))
    return Section("similarity", "Who resembles whom", blocks)


def _matrix(artefact: Artefact, palette: Palette) -> Figure:
    frame = read_frame(artefact.path)
    if not {"row_speaker", "column_speaker", "side", "value"} <= set(frame.columns):
        raise TableError(f"{artefact.path}: needs columns row_speaker, column_speaker, side and value")
    sides = [_square(frame.filter(pl.col("side") == side)) for side in SIDES]
    c = artefact.conditions
    method, corpus, ear = (str(c.get(name, "")) for name in ("anonymizer", "corpus", "embedder"))
    name = f"similarity-{word(corpus)}-{word(method)}-{word(ear)}"
    return matrix_figure(*sides, name=name, title=palette.titled(corpus, f"{method}, heard by {ear}"))


def _square(frame: pl.DataFrame) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    names = sorted(set(frame["row_speaker"].to_list()))
    place = {name: i for i, name in enumerate(names)}
    matrix = np.full((len(names), len(names)), np.nan)
    for row, column, value in frame.select("row_speaker", "column_speaker", "value").iter_rows():
        matrix[place[row], place[column]] = value
    return matrix


def _deid(findings: Sequence[Finding], palette: Palette) -> list[Figure]:
    """Draw one panel per corpus and ear in which both numbers are known."""
    found = [f for f in findings if f.metric.name in ("deid", "g_vd")]
    figures = []
    for (corpus, ear), group in groups(found, "corpus", "embedder").items():
        points = []
        for (method,), pair in groups(group, "anonymizer").items():
            both = {f.metric.name: f for f in pair}
            if len(both) == 2:
                points.append(Point(method, both["deid"], both["g_vd"], palette.method(method)))
        if points:
            title = palette.titled(corpus, f"DeID against G_VD, {ear}")
            figures.append(scatter_figure(points, name=f"deid-gvd-{word(corpus)}-{word(ear)}", title=title))
    return figures


def ranks_section(run: Run, palette: Palette) -> Section:
    """Show ranks as in table 2 of USC, and how they lie over the speakers."""
    found = [f for f in overall(run.findings) if f.metric.name.startswith("rank_")]
    if not found:
        return Section(
            "ranks", "Among how many people a speaker vanishes", [Missing("Not measured: rank percentiles.")]
        )
    words = (
        "The attacker sorts everybody by likeness. p50: half of the speakers hide among at least so many people; p1, "
        "the speech k-anonymity factor: 99 % of them do. Guessing puts the right person in the middle."
    )
    blocks: list[Block] = [Words(words), _rank_table(found)]
    figures = _rank_figures(run, found, palette)
    blocks.append(Gallery(figures) if figures else Missing("The run keeps no ranks of single speakers to draw."))
    return Section("ranks", "Among how many people a speaker vanishes", blocks)


def _rank_table(found: Sequence[Finding]) -> Table:
    rows, many = [], len(values(found, "corpus")) > 1
    for (corpus, method, who), group in groups(found, "corpus", "anonymizer", "attacker").items():
        by_name = {f.metric.name.removeprefix("rank_"): f for f in group}
        where = f" on {corpus}" if many else ""
        cells = [by_name[k].text if k in by_name else "-" for k in _columns()]
        people = str(group[0].conditions.get("N", "-"))
        guess = [by_name[k] for k in _columns() if k in by_name]
        rows.append([f"{'no protection' if method == ORIGINAL else method}{where}", who, people, *cells, _guess(guess)])
    head = [
        "method",
        "attacker",
        "N",
        *(f"{VARIANTS[k.split('_')[0]]} {k.split('_')[1]}" for k in _columns()),
        "guessing",
    ]
    caption = "Mean rank of the right person, percentiles over speakers (as table 2 of USC); higher is safer"
    return Table("ranks", caption, head, rows, numbers=range(2, 8))


def _columns() -> list[str]:
    return [f"{variant}_{percentile}" for variant in VARIANTS for percentile in ("p50", "p1")]


def _guess(found: Sequence[Finding]) -> str:
    told = {f.metric.name.rpartition("_")[2]: number_text(f.chance_level) for f in found}
    return ", ".join(f"{name} {value}" for name, value in told.items())


def _rank_figures(run: Run, found: Sequence[Finding], palette: Palette) -> list[Figure]:
    """Draw one panel per corpus, attacker and kind of test; methods as lines."""
    panels: dict[tuple[str, str, str], list[tuple[Ranked, int, float]]] = {}
    for artefact in run.of_kind("ranks"):
        c = artefact.conditions
        same = [f for f in found if all(f.conditions.get(k) == c.get(k) for k in ("corpus", "anonymizer", "attacker"))]
        frame = read_frame(artefact.path)
        by_end = {f.metric.name.rpartition("_")[2]: f for f in same}
        if "p50" not in by_end or not len(frame):
            continue
        kind = same[0].metric.name.split("_")[1]
        method = str(c.get("anonymizer", ""))
        label = "no protection" if method == ORIGINAL else method
        p1 = by_end["p1"].estimate.value if "p1" in by_end else float("nan")
        ranked = Ranked(label, frame["rank"].to_numpy(), by_end["p50"].estimate.value, p1, palette.method(method))
        key = (str(c.get("corpus", "")), str(c.get("attacker", "")), kind)
        people = int(c.get("N", len(frame)))
        panels.setdefault(key, []).append((ranked, people, by_end["p50"].chance or 0.0))
    return [
        rank_figure(
            [one[0] for one in group],
            people=group[0][1],
            guess=group[0][2],
            name=f"ranks-{word(corpus)}-{word(who)}-{kind}",
            title=palette.titled(corpus, f"{who} attacker, {VARIANTS.get(kind, kind)}"),
        )
        for (corpus, who, kind), group in panels.items()
        if any(one[0].series is not None for one in group) or len(panels) == 1
    ]
