"""Differences between speakers: results by gender, and the speakers whom the strongest attacker links most often."""

from __future__ import annotations

from collections.abc import Sequence

from personare.core.findings import Finding
from personare.core.tables import read_frame
from personare.core.text import number_text
from personare.reports.bar_figures import FindingBar, bar_figure, exposed_figure
from personare.reports.blocks import Block, BulletList, Figure, FigureRow, Paragraph, ReportTable, Section
from personare.reports.finding_rows import findings_table
from personare.reports.run import ORIGINAL, ArtefactFile, Run
from personare.reports.sections.choosing import GENDERS, SeriesColours, fewest_utterances, groups, protected, slug

MOST_EXPOSED = 10
METRICS = ("linkability", "eer")
BY_GENDER = "By gender of the tested speakers. Whiskers: 95 % intervals; dashed: guessing."
EXPOSED = "A method is as good as its worst case: the speakers linked most often by voice, by the strongest attacker."


def speakers_section(run: Run, colours: SeriesColours) -> Section:
    """Show both breakdowns, as far as there are any."""
    blocks: list[Block] = []
    unmeasured = []
    by_gender = [f for f in run.findings if "gender" in f.conditions]
    figures = [_gender_figure(group, colours) for group in _metric_groups(by_gender)]
    if figures:
        blocks.append(FigureRow(figures, BY_GENDER))
        blocks.append(findings_table(by_gender, name="genders", caption="All results by gender"))
    else:
        unmeasured.append("results by gender (unknown in the corpus, or only one)")
    attacks = _strongest_attacks(run)
    panels = [_exposed_figure(artefact, run, colours) for artefact in attacks]
    if panels:
        blocks += [Paragraph(EXPOSED), BulletList([_counted(a, run) for a in attacks]), FigureRow(panels)]
        blocks.append(_table(attacks, run))
    else:
        unmeasured.append("results by speaker")
    return Section("speakers", "Differences between speakers", blocks, unmeasured)


def _metric_groups(findings: Sequence[Finding]) -> list[list[Finding]]:
    """Give the findings of each corpus and metric, anonymized speech only, fewest utterances."""
    chosen = []
    for group in groups(protected(findings), "corpus").values():
        for name in METRICS:
            same = fewest_utterances([f for f in group if f.metric.name == name])
            if same:
                chosen.append(same)
    return chosen


def _gender_figure(findings: Sequence[Finding], colours: SeriesColours) -> Figure:
    genders = sorted({str(f.conditions["gender"]) for f in findings})
    bars = [
        FindingBar(
            f"{f.conditions.get('anonymizer')}, {f.conditions.get('attacker')}",
            GENDERS.get(str(f.conditions["gender"]), str(f.conditions["gender"])),
            f,
            genders.index(str(f.conditions["gender"])),
        )
        for f in findings
    ]
    corpus, length = str(findings[0].conditions.get("corpus", "")), findings[0].conditions.get("L", 1)
    title = colours.titled(corpus, f"{findings[0].metric.title} by gender, L = {length}")
    return bar_figure(bars, name=f"gender-{slug(corpus)}-{findings[0].metric.name}", title=title)


def _strongest_attacks(run: Run) -> list[ArtefactFile]:
    """Choose the attack that links most people, for each corpus and method, at the smallest L."""
    best: dict[tuple[str, str], tuple[float, ArtefactFile]] = {}
    tables = [
        a
        for a in run.of_kind("exposed")
        if ORIGINAL not in (a.conditions.get("anonymizer"), a.conditions.get("knowledge"))
        and a.conditions.get("risk") != "words"
    ]
    fewest = min((int(a.conditions.get("L", 1)) for a in tables), default=1)
    for artefact in tables:
        frame = read_frame(artefact.path)
        if int(artefact.conditions.get("L", 1)) != fewest or not len(frame):
            continue
        mean = float(frame["share"].to_numpy().mean())
        key = (str(artefact.conditions.get("corpus", "")), str(artefact.conditions.get("anonymizer", "")))
        if key not in best or mean > best[key][0]:
            best[key] = (mean, artefact)
    return [artefact for _, artefact in best.values()]


def _shares(artefact: ArtefactFile, run: Run) -> list[tuple[str, float, int]]:
    """Give (speaker as the report calls them, share, tests), the most exposed first."""
    corpus = str(artefact.conditions.get("corpus", ""))
    rows = read_frame(artefact.path).select("speaker", "share", "trials").iter_rows()
    named = [(run.speaker_labels.get((corpus, str(s)), str(s)), float(v), int(n)) for s, v, n in rows]
    return sorted(named, key=lambda row: (-row[1], row[0]))


def _exposed_figure(artefact: ArtefactFile, run: Run, colours: SeriesColours) -> Figure:
    c, shares = artefact.conditions, _shares(artefact, run)
    corpus, method, by = (str(c.get(name, "")) for name in ("corpus", "anonymizer", "attacker"))
    return exposed_figure(
        [(who, share) for who, share, _ in shares[:MOST_EXPOSED] if share > 0] or [(shares[0][0], 0.0)],
        everybody=len(shares),
        chance=1 / int(c.get("N", len(shares))),
        series=colours.method(method),
        name=f"exposed-{slug(corpus)}-{slug(method)}",
        title=colours.titled(corpus, f"{method}, {by} attacker"),
    )


def _counted(artefact: ArtefactFile, run: Run) -> str:
    """Count the ties: who is linked in all of their tests, of which guessing links some as well, and who in none."""
    c, rows = artefact.conditions, _shares(artefact, run)
    always, never = sum(share >= 1 for _, share, _ in rows), sum(share <= 0 for _, share, _ in rows)
    guessed = len(rows) / int(c.get("N", len(rows)))  # who guesses once per person
    heard = f"{c.get('attacker')} attacker, L = {c.get('L', 1)}"
    where = f" on {c.get('corpus')}" if len({a.conditions.get("corpus") for a in run.of_kind("exposed")}) > 1 else ""
    counts = f"{always:,} of {len(rows):,} people are linked in all of their tests (guessing: up to {guessed:.1f})"
    counts += f", {never:,} in none"
    return f"{c.get('anonymizer')}{where} ({heard}): {counts}."


def _table(attacks: Sequence[ArtefactFile], run: Run) -> ReportTable:
    rows = []
    for artefact in attacks:
        c = artefact.conditions
        for speaker, share, trials in _shares(artefact, run):
            names = [str(c.get("anonymizer", "")), str(c.get("attacker", "")), f"{c.get('L', 1)}", f"{c.get('N', '-')}"]
            rows.append([speaker, *names, number_text(share, "%"), f"{trials:,}"])
    head = ["speaker", "method", "attacker", "L", "N", "tests linked", "tests"]
    caption = "Every speaker under the strongest attacker"
    return ReportTable("exposed", caption, head, rows, numbers=(3, 4, 5, 6), folded=True)
