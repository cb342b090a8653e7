"""Same person or not: error rates of every attacker (VPC, figures 7 and 11), what their scores disclose (ZEBRA, 3)."""

from __future__ import annotations

from collections.abc import Sequence

from personare.core.errors import MetricError, TableError
from personare.core.findings import Finding
from personare.core.tables import Scores
from personare.reports.bars import Bar, bar_figure
from personare.reports.blocks import Block, Figure, Gallery, Missing, Section, Table, Words
from personare.reports.figures import COLOURS, GREY
from personare.reports.run import ORIGINAL, Artefact, Run
from personare.reports.score_plots import ScorePicture, profile_figure, score_picture
from personare.reports.sections.choosing import Palette, groups, overall, word
from personare.reports.wording import HEAD, NUMBER_COLUMNS, rows

BARS = ("eer", "eer_kaldi")
OTHERS = ("cllr", "min_cllr", "calibration_loss", "min_dcf", "dsys", "dsys_reference")
ZEBRA = ("d_ece", "log10_l")


def detection_section(run: Run, palette: Palette) -> Section:
    """Draw EER bars of every attacker."""
    blocks: list[Block] = []
    for name in BARS:
        found = [f for f in overall(run.findings, name) if "attacker" in f.conditions]
        figures = [
            _eer(group, corpus, length, palette) for (corpus, length), group in groups(found, "corpus", "L").items()
        ]
        if figures:
            blocks.append(Gallery(figures, "Whiskers: 95 % intervals; dashed ticks: an attacker who guesses."))
    if not blocks:
        blocks.append(Missing("Not measured: error rates (EER) of the attackers."))
    more = [f for f in overall(run.findings) if f.metric.name in OTHERS]
    if more:
        blocks.append(Table("detection", "Other detection measures", HEAD, rows(more), NUMBER_COLUMNS, folded=True))
    return Section("detection", "Same person or not", blocks)


def _eer(found: Sequence[Finding], corpus: str, length: str, palette: Palette) -> Figure:
    """Draw one L: methods as groups, attackers as bars."""
    bare = [f for f in found if f.conditions.get("anonymizer") == ORIGINAL]
    bars = [Bar("no protection", who, f, None) for who, f in _without_protection(bare)]
    for finding in found:
        method, who = str(finding.conditions.get("anonymizer")), str(finding.conditions["attacker"])
        if method != ORIGINAL:
            bars.append(Bar(method, who, finding, palette.attacker(who)))
    heard = f", L = {length}" if length else ""
    name = f"{found[0].metric.name}-{word(corpus)}-L{length or 1}".replace("_", "-")
    return bar_figure(bars, name=name, title=palette.titled(corpus, f"{found[0].metric.title}{heard}"), most=0.5)


def _without_protection(found: Sequence[Finding]) -> list[tuple[str, Finding]]:
    """Give each result on original speech once, with those who reach it: attackers differ only by ear and scorer."""
    same: dict[float, list[Finding]] = {}
    for finding in found:
        same.setdefault(finding.estimate.value, []).append(finding)
    if len(same) == 1 and len(found) > 1:
        return [("any attacker", found[0])]
    return [(", ".join(str(f.conditions["attacker"]) for f in group), group[0]) for group in same.values()]


def disclosure_section(run: Run, palette: Palette, pictures: Sequence[tuple[Artefact, ScorePicture]]) -> Section:
    """Draw ECE profiles: the gap below the line of zero evidence is what an attacker learns."""
    title = "What the scores disclose (ZEBRA)"
    profiles = [_together(group, palette) for group in _by_attacker(pictures).values()]
    if not profiles:
        return Section("disclosure", title, [Missing("Not measured: the run keeps no scores to draw ECE profiles of.")])
    words = (
        "The gap between a profile and the line of zero evidence is what the attacker learns. In the legend: (D_ECE, "
        "the bits learnt on average; log10 l, the orders of magnitude by which the worst case moves the odds; its tag, "
        "from 0, nothing, and A, little, to F)."
    )
    blocks: list[Block] = [Words(words), Gallery(profiles)]
    found = [f for f in overall(run.findings) if f.metric.name in ZEBRA]
    if found:
        blocks.append(Table("zebra", "ZEBRA numbers with intervals", HEAD, rows(found), NUMBER_COLUMNS, folded=True))
    return Section("disclosure", title, blocks)


def score_pictures(run: Run) -> tuple[list[tuple[Artefact, ScorePicture]], list[str]]:
    """Read the scores of every attack at its smallest L; what cannot be drawn is a note."""
    chosen: dict[tuple[str, str, str], Artefact] = {}
    for artefact in run.of_kind("scores"):
        c = artefact.conditions
        key = (str(c.get("corpus")), str(c.get("anonymizer")), str(c.get("attacker")))
        if key not in chosen or int(c.get("L", 1)) < int(chosen[key].conditions.get("L", 1)):
            chosen[key] = artefact
    found, notes = [], []
    for artefact in chosen.values():
        try:
            frame = Scores.load(artefact.path).frame
            score, target = frame["score"].to_numpy(), frame["target"].to_numpy()
            found.append((artefact, score_picture(score[target], score[~target], _name(artefact))))
        except (MetricError, TableError) as error:
            notes.append(f"{artefact.path.name}: not drawn ({error})")
    return found, notes


def _name(artefact: Artefact) -> str:
    method = str(artefact.conditions.get("anonymizer"))
    return "no protection" if method == ORIGINAL else method


def _by_attacker(
    pictures: Sequence[tuple[Artefact, ScorePicture]],
) -> dict[tuple[str, str], list[tuple[Artefact, ScorePicture]]]:
    """Put methods under one attacker together; attackers who only hear original speech add nothing."""
    found: dict[tuple[str, str], list[tuple[Artefact, ScorePicture]]] = {}
    for artefact, picture in pictures:
        key = (str(artefact.conditions.get("corpus", "")), str(artefact.conditions.get("attacker", "")))
        found.setdefault(key, []).append((artefact, picture))
    hidden = {k: v for k, v in found.items() if any(a.conditions.get("anonymizer") != ORIGINAL for a, _ in v)}
    return hidden or found


def _together(group: Sequence[tuple[Artefact, ScorePicture]], palette: Palette) -> Figure:
    c = group[0][0].conditions
    coloured = []
    for artefact, picture in group:
        series = palette.method(str(artefact.conditions.get("anonymizer")))
        coloured.append((picture, GREY if series is None else COLOURS[series % len(COLOURS)]))
    corpus, who, heard = str(c.get("corpus", "")), str(c.get("attacker", "")), f"L = {c.get('L', 1)}"
    title = palette.titled(corpus, f"{who} attacker, {heard}")
    return profile_figure(coloured, name=f"ece-{word(corpus)}-{word(who)}", title=title)
