"""The first screen of a report: each method's verdict, a picture of all, the next step, and what was tested."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from personare.core.findings import Finding
from personare.core.tables import read_frame
from personare.reports.blocks import Block, Facts, FigureRow, Notice, ReportTable, Section, Statement, Statements
from personare.reports.outcomes import listed
from personare.reports.protection import evidence
from personare.reports.run import ORIGINAL, Run
from personare.reports.sections.choosing import gallery_size, of_each_corpus, people, utterances, values
from personare.reports.verdict_figure import verdict_figure
from personare.reports.verdicts import MethodVerdict, judged_methods

TITLE = "Verdict"
TESTED = "What was tested"
PICTURE = (
    "By voice: the strongest attack, on its way from guessing to speech without protection; beyond half of it a method "
    "does not protect. Pale: 95 % interval. Circles: the best of every other attacker."
)


def verdict_section(run: Run) -> Section:
    """Say what to think of each method and what to do next, then what was tested."""
    verdicts = judged_methods(run.findings, run.notes)
    statements = [v.statement for v in verdicts]
    blocks: list[Block] = [] if verdicts else [Notice("No attack was made, so nothing is known about risks.")]
    if verdicts:
        blocks += [Statements(once_each(statements))]
    if run.failures:
        missed = f"{len(run.failures):,} items failed, so that something may be missing here: see below."
        blocks.append(Notice(missed))
    heard = [v for v in verdicts if v.attacks]
    picture = [FigureRow([verdict_figure(heard)], PICTURE)] if heard else []
    blocks += [risks_table(verdicts)] if verdicts else []
    unmeasured = [] if heard else ["attacks on the voices"]
    return Section("verdict", TITLE, blocks, unmeasured, aside=[*picture, Facts(tested(run), TESTED)])


def once_each(statements: Sequence[Statement]) -> list[Statement]:
    """Say a next step that several methods share once, after them."""
    shared = {step for step, count in Counter(s.next_step for s in statements).items() if count > 1 and step}
    without = [replace(s, next_step="") if s.next_step in shared else s for s in statements]
    for step in sorted(shared):
        names = listed([s.label.rpartition(": ")[0] for s in statements if s.next_step == step])
        everybody = all(s.next_step == step for s in statements)
        without.append(Statement("", "plain", next_step=step if everybody else f"{names}: {step}"))
    return without


def tested(run: Run) -> dict[str, str]:
    """Name the speech, how much of it, the day, the version and the command."""
    attacks = evidence(run.findings)
    attacked, gallery = of_each_corpus(attacks, people), of_each_corpus(attacks, gallery_size)
    trials = _tested_utterances(run)
    facts = {
        "corpus": ", ".join(values(run.findings, "corpus")),
        "people": f"{attacked} attacked{f', searched among {gallery}' if gallery else ''}" if attacked else "",
        "utterances": f"{trials} attacked" if trials else "",
        "date": run.date,
        "version": f"personare {run.environment['personare']}" if run.environment.get("personare") else "",
        "command": run.command,
    }
    return {name: value for name, value in facts.items() if value}


def _tested_utterances(run: Run) -> str:
    """Count, of each corpus, the utterances of the attack that used most of them one by one; "" if one has no such."""
    tables = [a for a in run.of_kind("exposed") if a.conditions.get("anonymizer") != ORIGINAL]
    most = dict.fromkeys((a.conditions.get("corpus") for a in tables), 0)
    for a in tables:
        if a.conditions.get("L", 1) == 1:
            corpus = a.conditions.get("corpus")
            most[corpus] = max(most[corpus], int(read_frame(a.path)["trials"].sum()))
    return " and ".join(f"{count:,}" for count in most.values()) if all(most.values()) else ""


def risks_table(verdicts: Sequence[MethodVerdict]) -> ReportTable:
    """Lay out two numbers for each method: the strongest attack by voice, and by words."""
    several = len({v.corpus for v in verdicts}) > 1
    rows = []
    for one in verdicts:
        name = f"{one.method} on {one.corpus}" if several else one.method
        for risk, attack in (("by voice", one.strongest), ("by words", one.words.strongest)):
            rows.append([name, risk, *_cells(attack)])
    head = ["method", "risk", "strongest attacker", "L", "N", "metric", "value [95 %]", "guessing"]
    return ReportTable("risks", "Both risks: the strongest attack by voice and by words", head, rows, (3, 4, 6, 7))


def _cells(attack: Finding | None) -> list[str]:
    if attack is None:
        return ["not measured", *["-"] * 5]
    gallery = gallery_size(attack)
    return [
        str(attack.conditions.get("attacker", "-")),
        str(utterances(attack)),
        f"{gallery:,}" if gallery else "-",
        attack.metric.title,
        attack.text,
        attack.chance_text,
    ]
