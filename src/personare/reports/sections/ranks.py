"""Rank of the right speaker among all: percentiles as in table 2 of USC, and how ranks lie over the speakers."""

from __future__ import annotations

from collections.abc import Sequence

from personare.core.findings import Finding
from personare.core.tables import read_frame
from personare.reports.blocks import Block, Figure, FigureRow, Paragraph, ReportTable, Section
from personare.reports.rank_plots import RankCurve, rank_figure
from personare.reports.run import Run
from personare.reports.sections.choosing import SeriesColours, groups, method_label, overall, slug, values

VARIANTS = {"link": "linkability", "single": "singling out", "single_reversed": "singling out reversed"}
KINDS = {"linkability": "link", "singling_out": "single", "singling_out_reversed": "single_reversed"}
COLUMNS = [f"{variant}_{percentile}" for variant in VARIANTS for percentile in ("p50", "p1")]
TITLE = "Rank of the right speaker"
READING = (
    "The attacker sorts everybody by similarity. p50: for half of the speakers the right one has at least this rank; "
    "p1, the speech k-anonymity factor: for 99 % of them. Guessing puts the right person in the middle."
)
CAPTION = "Mean rank of the right person, percentiles over speakers (as table 2 of USC); higher is safer"


def ranks_section(run: Run, colours: SeriesColours) -> Section:
    """Show the table, and how ranks lie over the speakers."""
    ranks = [f for f in overall(run.findings) if f.metric.name.startswith("rank_")]
    if not ranks:
        return Section("ranks", TITLE, unmeasured=["rank percentiles"])
    blocks: list[Block] = [Paragraph(READING), _table(ranks)]
    figures = _figures(run, ranks, colours)
    blocks += [FigureRow(figures)] if figures else []
    return Section("ranks", TITLE, blocks)


def _table(ranks: Sequence[Finding]) -> ReportTable:
    rows, several = [], len(values(ranks, "corpus")) > 1
    columns = [name for name in COLUMNS if any(f.metric.name == f"rank_{name}" for f in ranks)]
    for (corpus, method, who), group in groups(ranks, "corpus", "anonymizer", "attacker").items():
        by_name = {f.metric.name.removeprefix("rank_"): f for f in group}
        where = f" on {corpus}" if several else ""
        cells = [by_name[k].text if k in by_name else "-" for k in columns]
        chance = {k.rpartition("_")[2]: by_name[k].chance_text for k in columns if k in by_name}
        guessing = "\n".join(f"{percentile} {text}" for percentile, text in chance.items())
        people = str(group[0].conditions.get("N", "-"))
        rows.append([f"{method_label(method)}{where}", who, people, *cells, guessing])
    titles = [f"{VARIANTS[variant]} {percentile}" for variant, _, percentile in (k.rpartition("_") for k in columns)]
    head = ["method", "attacker", "N", *titles, "guessing"]
    return ReportTable("ranks", CAPTION, head, rows, numbers=range(2, len(head)))


def _kind(finding: Finding) -> str:
    return finding.metric.name.removeprefix("rank_").rpartition("_")[0]


def _figures(run: Run, ranks: Sequence[Finding], colours: SeriesColours) -> list[Figure]:
    """Draw one panel per corpus, attacker and kind of test; methods as lines."""
    panels: dict[tuple[str, str, str], list[tuple[RankCurve, int, float]]] = {}
    for artefact in run.of_kind("ranks"):
        c = artefact.conditions
        same = [f for f in ranks if all(f.conditions.get(k) == c.get(k) for k in ("corpus", "anonymizer", "attacker"))]
        if "variant" in c:  # one attack may be measured in both directions
            same = [f for f in same if _kind(f) == KINDS[str(c["variant"])]]
        frame = read_frame(artefact.path)
        by_percentile = {f.metric.name.rpartition("_")[2]: f for f in same}
        if "p50" not in by_percentile or not len(frame):
            continue
        kind = _kind(same[0])
        method = str(c.get("anonymizer", ""))
        p50 = by_percentile["p50"]
        p1 = by_percentile["p1"].estimate.value if "p1" in by_percentile else float("nan")
        ranks_by_speaker = frame["rank"].to_numpy()
        curve = RankCurve(method_label(method), ranks_by_speaker, p50.estimate.value, p1, colours.method(method))
        key = (str(c.get("corpus", "")), str(c.get("attacker", "")), kind)
        panels.setdefault(key, []).append((curve, int(c.get("N", len(frame))), p50.chance or 0.0))
    return [
        rank_figure(
            [curve for curve, _, _ in group],
            people=group[0][1],
            guess=group[0][2],
            name=f"ranks-{slug(corpus)}-{slug(who)}-{kind}",
            title=colours.titled(corpus, f"{who} attacker, {VARIANTS.get(kind, kind)}"),
        )
        for (corpus, who, kind), group in panels.items()
        if any(curve.series is not None for curve, _, _ in group) or len(panels) == 1
    ]
