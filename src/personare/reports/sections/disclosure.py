"""What an attacker learns from scores: ECE profiles with the three ZEBRA numbers (figure 3 of the ZEBRA paper)."""

from __future__ import annotations

from collections.abc import Sequence

from personare.core.errors import MetricError, TableError
from personare.core.tables import Scores
from personare.reports.blocks import Block, Figure, FigureRow, Paragraph, Section
from personare.reports.figures import COLOURS, GREY
from personare.reports.finding_rows import findings_table
from personare.reports.run import ORIGINAL, ArtefactFile, Run
from personare.reports.score_plots import ScorePicture, profile_figure, score_picture
from personare.reports.sections.choosing import SeriesColours, method_label, overall, slug

ZEBRA = ("d_ece", "log10_l")
TITLE = "What the scores disclose (ZEBRA)"
READING = (
    "The gap between a profile and the line of zero evidence is what the attacker learns. In the legend: (D_ECE, "
    "the bits learnt on average; log10 l, the orders of magnitude by which the worst case moves the odds; its tag, "
    "from 0, nothing, and A, little, to F)."
)
Drawn = tuple[ArtefactFile, ScorePicture]


def disclosure_section(run: Run, colours: SeriesColours, drawn: Sequence[Drawn]) -> Section:
    """Draw ECE profiles: the gap below the line of zero evidence is what an attacker learns."""
    numbers = [f for f in overall(run.findings) if f.metric.name in ZEBRA]
    if not numbers or not drawn:
        return Section("disclosure", TITLE, unmeasured=["what the scores disclose (ZEBRA)"])
    profiles = [_together(group, colours) for group in _by_attacker(drawn).values()]
    table = findings_table(numbers, name="zebra", caption="ZEBRA numbers with intervals")
    blocks: list[Block] = [Paragraph(READING), FigureRow(profiles), table]
    return Section("disclosure", TITLE, blocks)


def score_pictures(run: Run) -> tuple[list[Drawn], list[str]]:
    """Read the scores of every attack at its smallest L, where ZEBRA was asked for; what cannot be drawn is a note."""
    if not any(f.metric.name in ZEBRA for f in run.findings):
        return [], []
    chosen: dict[tuple[str, str, str], ArtefactFile] = {}
    for artefact in run.of_kind("scores"):
        c = artefact.conditions
        key = (str(c.get("corpus")), str(c.get("anonymizer")), str(c.get("attacker")))
        if key not in chosen or int(c.get("L", 1)) < int(chosen[key].conditions.get("L", 1)):
            chosen[key] = artefact
    drawn, notes = [], []
    for artefact in chosen.values():
        try:
            frame = Scores.load(artefact.path).frame
            score, target = frame["score"].to_numpy(), frame["target"].to_numpy()
            name = method_label(str(artefact.conditions.get("anonymizer")))
            drawn.append((artefact, score_picture(score[target], score[~target], name)))
        except (MetricError, TableError) as error:
            notes.append(f"{artefact.path.name}: not drawn ({error})")
    return drawn, notes


def _by_attacker(drawn: Sequence[Drawn]) -> dict[tuple[str, str], list[Drawn]]:
    """Put methods under one attacker together; attackers of original speech alone add nothing."""
    grouped: dict[tuple[str, str], list[Drawn]] = {}
    for artefact, picture in drawn:
        key = (str(artefact.conditions.get("corpus", "")), str(artefact.conditions.get("attacker", "")))
        grouped.setdefault(key, []).append((artefact, picture))
    on_methods = {k: v for k, v in grouped.items() if any(a.conditions.get("anonymizer") != ORIGINAL for a, _ in v)}
    return on_methods or grouped


def _together(group: Sequence[Drawn], colours: SeriesColours) -> Figure:
    c = group[0][0].conditions
    coloured = []
    for artefact, picture in group:
        series = colours.method(str(artefact.conditions.get("anonymizer")))
        coloured.append((picture, GREY if series is None else COLOURS[series % len(COLOURS)]))
    corpus, who = str(c.get("corpus", "")), str(c.get("attacker", ""))
    title = colours.titled(corpus, f"{who} attacker, L = {c.get('L', 1)}")
    return profile_figure(coloured, name=f"ece-{slug(corpus)}-{slug(who)}", title=title)
