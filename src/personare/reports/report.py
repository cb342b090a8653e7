"""From a run folder to its report: one page, the same in Markdown and LaTeX, all findings as tables, every figure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from personare.core.errors import UnknownNameError, did_you_mean
from personare.core.files import write_text
from personare.reports.blocks import Section
from personare.reports.exports import as_csv, as_json
from personare.reports.latex import as_latex
from personare.reports.markdown import as_markdown
from personare.reports.page import Page, distinct, render, save_figures
from personare.reports.panel_page import is_panel, page_of_panel
from personare.reports.run import ORIGINAL, Run, read_run
from personare.reports.sections.attack_bars import attack_bars_section
from personare.reports.sections.attackers import attackers_section
from personare.reports.sections.audit import audit_section
from personare.reports.sections.choosing import SeriesColours, of_each_corpus, people, values
from personare.reports.sections.criteria import criteria_section
from personare.reports.sections.definitions import (
    definitions_section,
    literature_section,
    numbers_section,
    unmeasured_section,
)
from personare.reports.sections.disclosure import disclosure_section, score_pictures
from personare.reports.sections.environment import environment_section
from personare.reports.sections.failures import failures_section
from personare.reports.sections.gallery_sizes import gallery_section
from personare.reports.sections.gate import gate_section
from personare.reports.sections.overview import overview_section
from personare.reports.sections.ranks import ranks_section
from personare.reports.sections.redaction import with_names, without_names
from personare.reports.sections.similarity import similarity_section
from personare.reports.sections.sounds import SoundChoice, sounds_section
from personare.reports.sections.speakers import speakers_section
from personare.reports.sections.study_settings import settings_section
from personare.reports.sections.tradeoff import tradeoff_section
from personare.reports.sections.utility import utility_section
from personare.reports.sections.verdict import verdict_section

FOLDER, FIGURES = "report", "figures"
FILES: Mapping[str, tuple[str, Callable[[Page], str]]] = {
    "html": ("report.html", render),
    "markdown": ("report.md", as_markdown),
    "latex": ("tables.tex", as_latex),
    "csv": ("findings.csv", lambda page: as_csv(page.findings)),
    "json": ("findings.json", as_json),
}
FORMATS = (*FILES, "figures")


def page_of_run(run: Run, *, names: bool = False, sounds: SoundChoice = "anonymized") -> Page:
    """Lay out the whole page.

    Parameters
    ----------
    names : shows names, ids and paths of the corpus; without, people are numbers.
    sounds : no speech at all, a few anonymized utterances without their text, or the originals and texts beside them.
    """
    if is_panel(run):
        return page_of_panel(run)
    pictures, undrawn = score_pictures(run)
    run = replace(run, notes=(*run.notes, *undrawn))
    run = with_names(run) if names else without_names(run)
    colours = SeriesColours(run)
    sections: list[Section] = [
        verdict_section(run),
        gate_section(run),
        overview_section(run),
        attackers_section(run),
        criteria_section(run),
        tradeoff_section(run, colours),
        gallery_section(run, colours),
        attack_bars_section(run, colours),
        disclosure_section(run, colours, pictures),
        similarity_section(run, colours),
        ranks_section(run, colours),
        utility_section(run, colours),
        speakers_section(run, colours),
        sounds_section(run, sounds),
        audit_section(run),
        failures_section(run),
        settings_section(run),
        definitions_section(run),
        numbers_section(run),
        environment_section(run),
    ]
    shown = [
        section for section in (*sections, unmeasured_section(sections), literature_section(run)) if section.blocks
    ]
    return Page(run.title, subtitle(run), distinct(shown), run.findings)


def subtitle(run: Run) -> str:
    """Say in one line what was compared."""
    methods = [name for name in values(run.findings, "anonymizer") if name != ORIGINAL]
    attackers, listeners = values(run.findings, "attacker"), values(run.findings, "listener")
    attacked = of_each_corpus((f for f in run.findings if "attacker" in f.conditions), people)
    corpora = values(run.findings, "corpus")
    parts = [
        _counted("method", methods),
        _counted("attacker", attackers),
        _counted("listener", listeners),
        f"{attacked} attacked speakers" if attacked else "",
        f"corpus {', '.join(corpora)}" if corpora else "",
    ]
    return "; ".join(part for part in parts if part) or "nothing was measured"


def _counted(noun: str, names: Sequence[str]) -> str:
    return f"{len(names)} {noun}{'s' if len(names) > 1 else ''}: {', '.join(names)}" if names else ""


def write_run_report(
    folder: Path,
    *,
    out: Path | None = None,
    formats: Sequence[str] = FORMATS,
    names: bool = False,
    sounds: SoundChoice = "anonymized",
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
    for name, (file, text_of) in FILES.items():
        if name in formats:
            write_text(target / file, text_of(page))
            written.append(target / file)
    if "figures" in formats or "markdown" in formats:
        written += save_figures(page, target / FIGURES)
    return written
