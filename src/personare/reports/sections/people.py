"""Who is hidden less well: results by gender, and the most exposed speakers."""

from __future__ import annotations

from collections.abc import Sequence

from personare.core.findings import Finding
from personare.core.tables import read_frame
from personare.core.text import number_text
from personare.reports.bars import Bar, bar_figure
from personare.reports.blocks import Block, Figure, Gallery, Missing, Section, Table, Words
from personare.reports.exposed_plot import exposed_figure
from personare.reports.run import ORIGINAL, Artefact, Run
from personare.reports.sections.choosing import Palette, groups, hidden, shortest, word
from personare.reports.wording import HEAD, NUMBER_COLUMNS, rows

GENDERS = {"f": "female", "m": "male", "x": "other"}
MOST_EXPOSED = 10
ORDER = ("linkability", "eer")


def people_section(run: Run, palette: Palette) -> Section:
    """Show both breakdowns, or say that there is none."""
    blocks: list[Block] = []
    parted = [f for f in run.findings if "gender" in f.conditions]
    figures = [_gender(group, palette) for group in _parted(parted)]
    if figures:
        blocks.append(Gallery(figures, "By gender of the tested speakers. Whiskers: 95 % intervals; dashed: guessing."))
        blocks.append(Table("genders", "All results by gender", HEAD, rows(parted), NUMBER_COLUMNS, folded=True))
    else:
        blocks.append(Missing("Not measured by gender: the corpus does not know it, or has one only."))
    chosen = _strongest(run)
    panels = [_exposed(artefact, run, palette) for artefact in chosen]
    if panels:
        said = "A method is as good as its worst case: the speakers linked most often, by the strongest attacker."
        blocks += [Words(said), Gallery(panels), _table(chosen, run)]
    else:
        blocks.append(Missing("Not measured by speaker: no linking attack was made on hidden voices."))
    return Section("people", "Who is hidden less well", blocks)


def _parted(found: Sequence[Finding]) -> list[list[Finding]]:
    """Give the findings of each corpus and metric, hidden speech only, fewest utterances, most people."""
    groups_found = []
    for group in groups(hidden(found), "corpus").values():
        for name in ORDER:
            same = shortest([f for f in group if f.metric.name == name])
            if same:
                groups_found.append(same)
    return groups_found


def _gender(found: Sequence[Finding], palette: Palette) -> Figure:
    genders = sorted({str(f.conditions["gender"]) for f in found})
    bars = [
        Bar(
            f"{f.conditions.get('anonymizer')}, {f.conditions.get('attacker')}",
            GENDERS.get(str(f.conditions["gender"]), str(f.conditions["gender"])),
            f,
            genders.index(str(f.conditions["gender"])),
        )
        for f in found
    ]
    corpus, length = str(found[0].conditions.get("corpus", "")), found[0].conditions.get("L", 1)
    title = palette.titled(corpus, f"{found[0].metric.title} by gender, L = {length}")
    return bar_figure(bars, name=f"gender-{word(corpus)}-{found[0].metric.name}", title=title)


def _strongest(run: Run) -> list[Artefact]:
    """Choose the attack that links most people, for each corpus and method, at the smallest L."""
    best: dict[tuple[str, str], tuple[float, Artefact]] = {}
    tables = [a for a in run.of_kind("exposed") if a.conditions.get("anonymizer") != ORIGINAL]
    least = min((int(a.conditions.get("L", 1)) for a in tables), default=1)
    for artefact in tables:
        frame = read_frame(artefact.path)
        if int(artefact.conditions.get("L", 1)) != least or not len(frame):
            continue
        mean = float(frame["share"].cast(float).mean() or 0.0)  # type: ignore[arg-type]
        key = (str(artefact.conditions.get("corpus", "")), str(artefact.conditions.get("anonymizer", "")))
        if key not in best or mean > best[key][0]:
            best[key] = (mean, artefact)
    return [artefact for _, artefact in best.values()]


def _ranked(artefact: Artefact, run: Run) -> list[tuple[str, float, int]]:
    """Give (speaker as the report calls them, share, tests), the most exposed first."""
    corpus = str(artefact.conditions.get("corpus", ""))
    rows = read_frame(artefact.path).select("speaker", "share", "trials").iter_rows()
    found = [(run.called.get((corpus, str(s)), str(s)), float(v), int(n)) for s, v, n in rows]
    return sorted(found, key=lambda row: (-row[1], row[0]))


def _exposed(artefact: Artefact, run: Run, palette: Palette) -> Figure:
    c, ranked = artefact.conditions, _ranked(artefact, run)
    corpus, method, by = (str(c.get(name, "")) for name in ("corpus", "anonymizer", "attacker"))
    return exposed_figure(
        [(who, share) for who, share, _ in ranked[:MOST_EXPOSED] if share > 0] or [(ranked[0][0], 0.0)],
        everybody=len(ranked),
        chance=1 / int(c.get("N", len(ranked))),
        series=palette.method(method),
        name=f"exposed-{word(corpus)}-{word(method)}",
        title=palette.titled(corpus, f"{method}, {by} attacker"),
    )


def _table(chosen: Sequence[Artefact], run: Run) -> Table:
    found = []
    for artefact in chosen:
        c = artefact.conditions
        for speaker, share, trials in _ranked(artefact, run):
            names = [str(c.get("anonymizer", "")), str(c.get("attacker", "")), f"{c.get('L', 1)}", f"{c.get('N', '-')}"]
            found.append([speaker, *names, number_text(share, "%"), f"{trials:,}"])
    head = ["speaker", "method", "attacker", "L", "N", "tests linked", "tests"]
    return Table(
        "exposed", "Every speaker under the strongest attacker", head, found, numbers=(3, 4, 5, 6), folded=True
    )
