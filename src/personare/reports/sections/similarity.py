"""Voice similarity: matrices of who resembles whom, and DeID against the gain of distinctiveness (VPC, fig. 13, 14)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from personare.core.errors import TableError
from personare.core.findings import Finding
from personare.core.tables import read_frame
from personare.reports.blocks import Block, Figure, FigureRow, Section
from personare.reports.matrices import matrix_figure
from personare.reports.run import ArtefactFile, Run
from personare.reports.scatter import Point, scatter_figure
from personare.reports.sections.choosing import GENDERS, SeriesColours, groups, overall, slug

if TYPE_CHECKING:
    from numpy.typing import NDArray

SIDES = ("oo", "oa", "aa")
POOLED = {"pooled": "genders pooled"}
COLUMNS = {"row_speaker", "column_speaker", "side", "value"}
READING = (
    "Each panel: original against original (upper left), original against anonymized (the other corners), anonymized "
    "against anonymized (lower right). A bright diagonal means that speakers can be distinguished, or recognised."
)
GAIN = "De-identification should be high; a gain below 0 dB means that anonymized voices are more alike than originals."


def similarity_section(run: Run, colours: SeriesColours) -> Section:
    """Draw the matrices of every method, and DeID against the gain of voice distinctiveness."""
    maps = [_matrix(artefact, colours) for artefact in run.of_kind("similarity")]
    plots = _deid(overall(run.findings), colours)
    blocks: list[Block] = [FigureRow(maps, READING)] if maps else []
    blocks += [FigureRow(plots, GAIN)] if plots else []
    unmeasured = [] if blocks else ["similarity of voices (DeID, G_VD)"]
    return Section("similarity", "Similarity of voices", blocks, unmeasured)


def _matrix(artefact: ArtefactFile, colours: SeriesColours) -> Figure:
    frame = read_frame(artefact.path)
    if not set(frame.columns) >= COLUMNS:
        raise TableError(f"{artefact.path}: needs columns row_speaker, column_speaker, side and value")
    sides = [_square(frame.filter(pl.col("side") == side)) for side in SIDES]
    c = artefact.conditions
    method, corpus, embedder, gender = (str(c.get(name, "")) for name in ("anonymizer", "corpus", "embedder", "gender"))
    name = "-".join(["similarity", *(slug(part) for part in (corpus, method, embedder, gender) if part)])
    return matrix_figure(*sides, name=name, title=colours.titled(corpus, f"{method}, by {embedder}{_whose(gender)}"))


def _whose(gender: str) -> str:
    """Name the speakers of a picture, where it does not show everybody.

    >>> _whose("f"), _whose("pooled"), _whose("")
    (', female', ', genders pooled', '')
    """
    return f", {POOLED.get(gender) or GENDERS.get(gender, gender)}" if gender else ""


def _square(frame: pl.DataFrame) -> NDArray[np.float64]:
    names = sorted(set(frame["row_speaker"].to_list()))
    place = {name: i for i, name in enumerate(names)}
    matrix = np.full((len(names), len(names)), np.nan)
    for row, column, value in frame.select("row_speaker", "column_speaker", "value").iter_rows():
        matrix[place[row], place[column]] = value
    return matrix


def _deid(findings: Sequence[Finding], colours: SeriesColours) -> list[Figure]:
    """Draw one panel per corpus, embedder and gender in which both numbers are known."""
    both_metrics = [f for f in findings if f.metric.name in ("deid", "g_vd")]
    figures = []
    for (corpus, embedder, gender), group in groups(both_metrics, "corpus", "embedder", "gender").items():
        points = []
        for (method,), pair in groups(group, "anonymizer").items():
            both = {f.metric.name: f for f in pair}
            if len(both) == 2:
                points.append(Point(method, both["deid"], both["g_vd"], colours.method(method)))
        if points:
            title = colours.titled(corpus, f"DeID against G_VD, {embedder}{_whose(gender)}")
            name = "-".join(["deid-gvd", *(slug(part) for part in (corpus, embedder, gender) if part)])
            figures.append(scatter_figure(points, name=name, title=title))
    return figures
