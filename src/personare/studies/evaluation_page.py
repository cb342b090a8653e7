"""From an evaluation to the page a colleague, a reviewer or a regulator reads."""

from __future__ import annotations

from pathlib import Path

from personare.core.audio import read_mono
from personare.core.errors import AudioError
from personare.core.findings import Finding
from personare.reports.attack_figure import attack_figure
from personare.reports.page import Clip, Page, number, save
from personare.studies.evaluate import UNPROTECTED, Evaluation

CLIPS = 4
MOST_EXPOSED = 5
KNOWS = {
    "unprotected": "Without any protection, an attacker who knows the original voices",
    "ignorant": "After anonymization, an attacker who does not know that voices were changed",
    "lazy-informed": "After anonymization, an attacker who knows the method but not the key",
    "informed": "After anonymization, an attacker who has also learnt from other people what the method does",
}


def verdict(finding: Finding) -> str:
    """Say a linkability finding as a sentence about what the attacker achieves."""
    attacker, length = str(finding.conditions["attacker"]), finding.conditions["L"]
    people = finding.conditions["N'"]
    heard = "one utterance" if length == 1 else f"{length} utterances"
    unit, estimate = finding.metric.unit, finding.estimate
    guess = number(finding.chance_level or 0.0, unit)
    apart = "distinguishable" if finding.differs_from_chance else "not distinguishable"
    return (
        f"{KNOWS.get(attacker, attacker)} and hears {heard} picks the right person out of {people} in "
        f"{number(estimate.value, unit)} of cases ({number(estimate.low, unit)} to {number(estimate.high, unit)}); "
        f"guessing would give {guess}: {apart} from chance."
    )


def page_of(evaluation: Evaluation, *, title: str) -> Page:
    """Lay out the page."""
    findings = evaluation.findings
    links = [f for f in findings if f.metric.name == "linkability"]
    protected = [f for f in links if f.conditions["attacker"] != UNPROTECTED]
    unprotected = [f for f in links if f not in protected]
    facts = evaluation.facts
    notes = list(evaluation.notes)
    if evaluation.failures:
        name, reason = evaluation.failures[0]
        notes.append(f"{len(evaluation.failures)} sounds could not be heard (first: {name}: {reason}).")
    return Page(
        title=title,
        subtitle=f"{facts['speakers']} speakers, {facts['trial utterances']} trial utterances, {facts['method']}",
        verdicts=[verdict(f) for f in [*reversed(protected), *unprotected[:1]]],
        findings=findings,
        figures=[attack_figure(findings, panels=("linkability", "eer"))],
        clips=list(_clips(evaluation)),
        exposed=_exposed(evaluation),
        notes=notes,
        facts=facts,
    )


def _exposed(evaluation: Evaluation) -> list[tuple[str, str, float]]:
    """Name the speakers whom the strongest attacker of this evaluation links most often."""
    strongest = evaluation.outcomes[-1]
    ranked = sorted(strongest.linked.items(), key=lambda entry: (-entry[1], entry[0]))
    return [(speaker, strongest.attacker, share) for speaker, share in ranked[:MOST_EXPOSED] if share > 0]


def _clips(evaluation: Evaluation) -> list[Clip]:
    """Choose one utterance of each of the first speakers; what cannot be read is a failure named elsewhere."""
    chosen = evaluation.pairs.frame.sort("speaker", "utterance").unique("speaker", keep="first", maintain_order=True)
    clips = []
    for row in chosen.head(CLIPS).iter_rows(named=True):
        try:
            original = read_mono(Path(row["audio"]), start_s=row.get("start_s") or 0.0, stop_s=row.get("end_s"))
            hidden = read_mono(Path(row["anonymized"]))
        except AudioError:
            continue
        words = f": “{row['text']}”" if row.get("text") else ""
        clips.append(Clip(f"{row['speaker']}{words}", [("original", original), ("anonymized", hidden)]))
    return clips


def write_report(evaluation: Evaluation, folder: Path, *, title: str) -> Path:
    """Write the page and the findings; give the page's path."""
    return save(page_of(evaluation, title=title), folder)


def table_rows(evaluation: Evaluation) -> tuple[list[str], list[list[str]]]:
    """Lay out the findings for the terminal: head and one row per attacker and conversation length."""
    head = ["attacker", "L", "EER (ROCCH)", "chance", "linkability", "N'", "chance", "verdict"]
    rows = []
    for outcome in evaluation.outcomes:
        lengths = sorted({int(f.conditions["L"]) for f in outcome.findings})
        for length in lengths:
            by = {f.metric.name: f for f in outcome.findings if f.conditions["L"] == length}
            eer, link = by.get("eer"), by["linkability"]
            apart = "above chance" if link.differs_from_chance else "not told from chance"
            rows.append(
                [
                    outcome.attacker,
                    str(length),
                    _cell(eer) if eer else "-",
                    number(eer.chance_level or 0.0, "%") if eer else "-",
                    _cell(link),
                    str(link.conditions["N'"]),
                    number(link.chance_level or 0.0, "%"),
                    apart if outcome.attacker != UNPROTECTED else "nothing hidden",
                ]
            )
    return head, rows


def _cell(finding: Finding) -> str:
    value, low, high = (100 * v for v in (finding.estimate.value, finding.estimate.low, finding.estimate.high))
    return f"{value:.1f} % [{low:.1f}, {high:.1f}]"
