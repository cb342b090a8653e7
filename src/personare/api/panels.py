"""Listening panels in Python: make one of a run, analyze its answers, export them; people answer in the browser."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from personare.api.results import Findings
from personare.core.errors import UnknownNameError, did_you_mean

if TYPE_CHECKING:
    from personare.pipeline.jobs.panel import MadePanel


@dataclass(frozen=True, eq=False, repr=False)
class PanelResults(Findings):
    """What people found.

    Parameters
    ----------
    folder : a run folder, which ``personare report`` reads too; page : its report.
    inattentive : evaluators who failed a check of attention, and which; notes : what a reader must know.
    """

    folder: Path
    page: Path
    inattentive: dict[str, list[str]]
    notes: tuple[str, ...] = ()


def make_panel(
    run: str | Path,
    folder: str | Path,
    *,
    test: str = "unified",
    sessions: int = 20,
    trials: int | None = None,
    title: str = "",
    contact: str = "",
    language: str = "",
    seed: int = 1,
) -> MadePanel:
    """Make a listening panel of a run folder that still has its stages; ``personare panel serve`` shows it to people.

    Parameters
    ----------
    test : ``unified``, ``clustering``, ``abx``, ``expression`` or ``mos``.
    sessions : how many are dealt; people share them evenly. trials : of each; None as the papers have.
    language : of the recordings: people are then asked whether it is their first one.
    """
    from personare.panels import TESTS
    from personare.pipeline.jobs.panel import make_panel as make

    known = next((name for name in TESTS if name == test), None)
    if known is None:
        raise UnknownNameError(f"no listening test '{test}'; {did_you_mean(test, TESTS)}")
    return make(
        Path(run),
        Path(folder),
        test=known,
        sessions=sessions,
        trials=trials,
        title=title,
        contact=contact,
        language=language,
        seed=seed,
    )


def analyze_panel(folder: str | Path, *, out: str | Path | None = None, attentive_only: bool = False) -> PanelResults:
    """Analyze the answers of a panel and write the report; ``attentive_only`` leaves out who failed a check."""
    from personare.pipeline.jobs.panel_analysis import analyze_panel as analyze
    from personare.reports.report import write_run_report

    found = analyze(Path(folder), out=None if out is None else Path(out), attentive_only=attentive_only)
    page = write_run_report(found.folder)[0]
    return PanelResults(found.findings, found.folder, page, found.inattentive, found.notes)


def export_panel(folder: str | Path, file: str | Path) -> tuple[int, str]:
    """Write every answer of a panel to a .csv or .parquet file, one row each; give how many, and which kind."""
    from personare.pipeline.jobs.panel_analysis import export_panel as export

    return export(Path(folder), Path(file))
