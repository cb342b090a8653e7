"""The annex to an impact assessment: what was done, who could attack, the three criteria, limits, versions, digests.

Four to six pages of PDF for a data-protection officer, made by typst from the same findings as every other report.
People are numbers, no speech and no transcript is in it, and nothing depends on the day it is made.
"""

from __future__ import annotations

import re
from pathlib import Path

from personare.core.errors import OutputError
from personare.core.files import file_sha256, write_bytes
from personare.core.requirements import Requirements
from personare.reports.blocks import BulletList, Facts, Paragraph, ReportTable, Section
from personare.reports.run import Run, read_run
from personare.reports.sections.attackers import READING
from personare.reports.sections.choosing import SeriesColours, overall
from personare.reports.sections.criteria import criteria_section
from personare.reports.sections.definitions import definitions_section, literature_section
from personare.reports.sections.environment import environment_section
from personare.reports.sections.failures import ledger_blocks
from personare.reports.sections.gate import gate_section
from personare.reports.sections.redaction import without_names
from personare.reports.sections.study_settings import settings_section
from personare.reports.sections.utility import utility_section
from personare.reports.sections.verdict import verdict_section
from personare.reports.summary import summary_rows
from personare.reports.typst_markup import as_typst

TITLE = "Evidence on the anonymization of speech"
NEEDS = Requirements("a PDF report", {"typst": "pdf"})
KEPT = ("findings.json", "findings.parquet", "study.json", "environment.json", "failures.tsv")
PURPOSE = (
    "This annex documents how well voices were hidden, and what the words give away, measured by attacks on the "
    "anonymized speech. It follows the "
    "three criteria of Opinion 05/2014 of the Article 29 Working Party (singling out, linkability, inference). Every "
    "value stands with its 95 % interval over speakers and with what guessing reaches on the same trials."
)
DONE = (
    "Every person who was tested has several recordings. Some of them are known to the attacker with the person's name "
    "(enrolment); the others are attacked after anonymization (trials).",
    "Linking asks: whose voice is this, out of everybody the attacker knows by name? Verification (EER) asks: do these "
    "two recordings come from one person? Both are answered by a machine that compares voices, for every trial.",
    "The same attack is made on the speech as it was before anonymization, and by guessing: a result between the two "
    "says how much of the risk is left.",
    "Attackers differ in what they know: nothing of the method, the method without the key, or what it does to the "
    "speech of other people. Which of them were played here, and which were not, is listed below.",
    "What is uncertain because few people were tested is said by an interval: if it were repeated with other people "
    "again and again, 95 of 100 such intervals would hold the true value.",
)
LIMITS = (
    "A risk is measured against the attackers that were played, on the people who were tested. A stronger attacker, "
    "more speech of one person or other people may give other values. What was not played is named above.",
    "The voice and the words are two risks. Names, places and stories identify people whatever the voice sounds like; "
    "the risk by words counts how far an attacker gets who reads only, and does not find what a person could look up.",
    "Methods that transcribe (balanced, strong) speak English, German, French, Spanish, Italian and Portuguese. They "
    "reject recordings in other languages and omit shorter stretches; both are counted under Recordings. A wrong word "
    "that was recognized is spoken as clearly as a right one.",
    "Nothing is said about background sounds, and only the attributes listed were tested for inference.",
    "While anybody holds the key, the original recordings or a table between both, the data are pseudonymous for them.",
    "There is no legal threshold. Whether the remaining risk is acceptable is for the controller to decide and to "
    "review over time.",
)


def evidence_sections(run: Run) -> list[Section]:
    """Lay out the annex; ``run`` must name nobody."""
    sections = [
        Section("verdict", "In short", [Paragraph(PURPOSE, soft=True), *verdict_section(run).every_block]),
        Section("done", "How it was measured", [BulletList(DONE)]),
        criteria_section(run),
        _attacks(run),
        gate_section(run),
        settings_section(run),
        utility_section(run, SeriesColours(run)),
        Section("recordings", "Recordings", ledger_blocks(run)),
        _failures(run),
        Section("limits", "What this does not prove", [BulletList(LIMITS)]),
        definitions_section(run),
        literature_section(run),
        environment_section(run),
        _digests(run),
    ]
    return [section for section in sections if section.blocks]


def _attacks(run: Run) -> Section:
    """List every attack, and what was not played."""
    head, rows = summary_rows(overall(run.findings))
    plain = [" ".join(name.split()) for name in head]
    blocks: list[ReportTable | Paragraph | BulletList] = []
    if rows:
        first = plain.index("L")
        blocks += [ReportTable("attacks", "Every attacker", plain, rows, range(first, len(plain) - 1))]
        blocks += [Paragraph(READING, soft=True)]
    blocks += [BulletList(_sentences(run.notes), soft=True)] if run.notes else []
    return Section("attacks", "Who attacked, and what they reached", blocks)


def _sentences(notes: tuple[str, ...]) -> list[str]:
    """Split notes into sentences.

    >>> _sentences(("One was not played: no speech. Two; by 3.5 dB.",))
    ['One was not played: no speech.', 'Two; by 3.5 dB.']
    """
    return [part for note in notes for part in re.split(r"(?<=\.)\s+(?=[A-Z])", note) if part]


def _failures(run: Run) -> Section:
    """Count what failed, by its stage."""
    counts: dict[str, int] = {}
    for stage, _, _ in run.failures:
        counts[stage] = counts.get(stage, 0) + 1
    told = "; ".join(f"{stage}: {count:,}" for stage, count in counts.items())
    text = f"{len(run.failures):,} items failed and are missing from the numbers ({told})." if counts else ""
    return Section("failures", "What could not be measured", [Paragraph(text)] if text else [])


def _digests(run: Run) -> Section:
    """Name the files behind this annex by their SHA-256."""
    kept = {name: file_sha256(run.folder / name) for name in KEPT if (run.folder / name).is_file()}
    told = Paragraph("The numbers of this annex were taken from these files (SHA-256):", soft=True)
    return Section("digests", "Files behind this annex", [told, Facts(kept)] if kept else [])


def check_evidence(path: Path) -> None:
    """Refuse a name that is no PDF, and say what must be installed, before any work."""
    if path.suffix.lower() != ".pdf":
        raise OutputError(f"{path}: the annex is a PDF; name it .pdf")
    NEEDS.check()


def write_evidence(folder: Path, path: Path) -> Path:
    """Write the annex of a run folder as PDF."""
    check_evidence(path)
    write_bytes(path, evidence_pdf(read_run(folder)))
    return path


def evidence_pdf(run: Run) -> bytes:
    """Set the annex; the same run gives the same pages."""
    import typst

    run = without_names(run)
    version = str(run.environment.get("personare", "?"))
    source = as_typst(TITLE, run.title, evidence_sections(run), foot=f"personare {version}")
    pdf: bytes = typst.compile(source.encode(), timestamp=0, ignore_system_fonts=True)
    return pdf
