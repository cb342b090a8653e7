"""From a run folder to its report: one page, the same in Markdown and LaTeX, all findings as tables, every picture."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from personare.core.errors import UnknownNameError, did_you_mean
from personare.core.files import write_text
from personare.reports.latex import as_latex
from personare.reports.markdown import as_markdown
from personare.reports.page import Page, as_json, distinct, render, save_figures
from personare.reports.run import ORIGINAL, Run, read_run
from personare.reports.sections import (
    closing,
    compared,
    criteria,
    crowds,
    detection,
    people,
    usefulness,
    verdict,
    voices,
)
from personare.reports.sections.choosing import Palette, values
from personare.reports.sections.naming import with_numbers, without_names
from personare.reports.spreadsheet import as_csv

FOLDER, FIGURES = "report", "figures"
FILES: Mapping[str, tuple[str, Callable[[Page], str]]] = {
    "html": ("report.html", render),
    "markdown": ("report.md", as_markdown),
    "latex": ("tables.tex", as_latex),
    "csv": ("findings.csv", lambda page: as_csv(page.findings)),
    "json": ("findings.json", as_json),
}
FORMATS = (*FILES, "figures")


def page_of_run(run: Run, *, names: bool = False, sounds: bool = True) -> Page:
    """Lay out the whole page; ``names`` shows who is who, without ``sounds`` no voice is in it."""
    pictures, undrawn = detection.score_pictures(run)
    run = replace(run, notes=(*run.notes, *undrawn))
    run = with_numbers(run) if names else without_names(run)
    palette = Palette(run)
    sections = [
        verdict.verdict_section(run),
        verdict.glance_section(run),
        verdict.gate_section(run),
        criteria.criteria_section(run),
        usefulness.tradeoff_section(run, palette),
        crowds.crowds_section(run, palette),
        detection.detection_section(run, palette),
        detection.disclosure_section(run, palette, pictures),
        voices.similarity_section(run, palette),
        voices.ranks_section(run, palette),
        usefulness.usefulness_section(run, palette),
        people.people_section(run, palette),
        closing.sounds_section(run, wanted=sounds),
        closing.failures_section(run),
        compared.compared_section(run),
        closing.methods_section(run),
        closing.numbers_section(run),
        closing.repeat_section(run),
    ]
    return Page(run.title, subtitle(run), distinct(sections), run.findings)


def subtitle(run: Run) -> str:
    """Say in one line what was compared."""
    methods = [name for name in values(run.findings, "anonymizer") if name != ORIGINAL]
    attackers, listeners = values(run.findings, "attacker"), values(run.findings, "listener")
    speakers = max((f.estimate.n for f in run.findings if "attacker" in f.conditions), default=0)
    parts = [
        _many("method", methods),
        _many("attacker", attackers),
        _many("listener", listeners),
        f"{speakers} attacked speakers" if speakers else "",
        f"corpus {', '.join(values(run.findings, 'corpus'))}" if values(run.findings, "corpus") else "",
    ]
    return "; ".join(part for part in parts if part) or "nothing was measured"


def _many(word: str, names: Sequence[str]) -> str:
    return f"{len(names)} {word}{'s' if len(names) > 1 else ''}: {', '.join(names)}" if names else ""


def write_run_report(
    folder: Path,
    *,
    out: Path | None = None,
    formats: Sequence[str] = FORMATS,
    names: bool = False,
    sounds: bool = True,
) -> list[Path]:
    """Write the report of a run folder; gives the files written, the page first."""
    for name in formats:
        if name not in FORMATS:
            raise UnknownNameError(f"no format '{name}'; {did_you_mean(name, FORMATS)}")
    page = page_of_run(read_run(folder), names=names, sounds=sounds)
    return write_page(page, out or folder / FOLDER, formats=formats)


def write_page(page: Page, target: Path, *, formats: Sequence[str]) -> list[Path]:
    """Write a page in several formats below ``target``."""
    written = []
    for name, (file, written_as) in FILES.items():
        if name in formats:
            write_text(target / file, written_as(page))
            written.append(target / file)
    if "figures" in formats or "markdown" in formats:
        written += save_figures(page, target / FIGURES)
    return written
