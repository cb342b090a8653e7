"""personare score: read score files and print every detection and ZEBRA number, with intervals and chance."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from personare.cli import show

if TYPE_CHECKING:
    from personare.core.findings import Finding
    from personare.pipeline.scoring import ScoredFile


def score(
    files: list[Path] = typer.Argument(..., metavar="FILE...", help="Score files: Kaldi text, .tsv, .parquet, .npz."),
    key: Path | None = typer.Option(None, metavar="TRIALS", help="Trials file: enroll test target|nontarget."),
    as_json: bool = typer.Option(False, "--json", help="Print JSON instead of tables."),
    plot: Path | None = typer.Option(
        None, metavar="DIR", callback=show.plot_folder, help="Draw DET, ECE and histograms there, as SVG and PDF."
    ),
    prior: float = typer.Option(0.01, help="Prior of a target for min DCF (equal costs)."),
    seed: int = typer.Option(1, help="Chooses the deals of identities that give the chance level."),
) -> None:
    """Measure what scores give away: EER, Cllr, min DCF, ZEBRA and D_sys, each with its 95 % interval.

    A text file holds 'enroll test score' (then --key says which trials are targets), 'enroll test score
    target|nontarget', or 'score target|nontarget'. A .npz holds targets and nontargets, or enroll, test, score, target.
    Intervals leave out the tested speakers, or the enrolled ones where a file does not tell who speaks. A bad file
    costs one line, the others are still measured; then the exit is 2.

    Examples:

        personare score attack.scores --key trials

        personare score before.parquet after.parquet --plot pictures/ --json
    """
    import json

    scored = _scored(files, key=key, seed=seed, prior=prior)
    if as_json:
        typer.echo(json.dumps({"files": [file.as_row() for file in scored]}, indent=2, allow_nan=False))
    else:
        for file in scored:
            _print(file)
    if plot is not None and scored:
        _plot(scored, plot)
    if len(scored) < len(files):
        raise typer.Exit(2)


def _scored(files: list[Path], *, key: Path | None, seed: int, prior: float) -> list[ScoredFile]:
    """Measure every file that can be read; say one line about each other one."""
    from personare.core.errors import PersonareError
    from personare.pipeline.scoring import score_file

    scored = []
    for path in files:
        try:
            scored.append(score_file(path, key=key, seed=seed, dcf_prior=prior))
        except PersonareError as error:
            sys.stderr.write(f"personare: {error}\n")
    return scored


def _print(file: ScoredFile) -> None:
    summary, ends = file.summary, file.tag_interval
    rows = [_row(finding) for finding in summary.findings]
    title = f"{file.path}: {summary.targets:,} target and {summary.nontargets:,} nontarget trials"
    show.table(title, ["metric", "value [95 % interval]", "chance here", "verdict", "n"], rows)
    span = f", {ends[0]} to {ends[1]} over the interval" if ends and ends[0] != ends[1] else ""
    show.text(f"ZEBRA tag {summary.tag}{span}; log10(l) of so few trials cannot exceed {summary.log10_l_maximum:.2f}")
    for note in file.notes:
        show.text(f"note: {note}")


def _row(finding: Finding) -> list[str]:
    from personare.reports.outcomes import outcome

    title = finding.metric.title
    if "prior" in finding.conditions:
        title = f"min DCF (prior {finding.conditions['prior']:g}, equal costs)"
    verdict = "-" if finding.chance_level is None else outcome(finding)
    return [title, finding.text, finding.chance_text, verdict, f"{finding.estimate.n:,}"]


def _plot(files: list[ScoredFile], folder: Path) -> None:
    from personare.pipeline.scoring import picture, picture_names
    from personare.reports.score_plots import write_score_plots

    names = picture_names([file.path for file in files])
    pictures = [picture(file, name) for file, name in zip(files, names, strict=True)]
    for path in write_score_plots(pictures, folder):
        sys.stderr.write(f"picture: {path}\n")
