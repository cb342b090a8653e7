"""personare study: one file says what to compare, one command does it."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from personare.cli import show

if TYPE_CHECKING:
    from personare.pipeline.run import Ran
    from personare.pipeline.study import Study

app = typer.Typer(no_args_is_help=True, help="Compare methods, attackers and listeners as one file says.")

Other = tuple[Path | None, int | None, int | None]
STUDY = typer.Argument(..., metavar="STUDY", help="A study file (YAML).")
OUT = typer.Option(None, "--out", metavar="RUN", help="The run folder.  [STUDY-run, in the current folder]")
CORPUS = typer.Option(None, "--corpus", metavar="PATH", help="Run on this corpus instead of the study's own.")
SPEAKERS = typer.Option(None, "--speakers", min=1, help="With --corpus: at most so many people of each part.")
UTTERANCES = typer.Option(
    None, "--utterances", min=1, help="With --corpus: at most so many utterances of each of them."
)
JOBS = typer.Option(1, "--jobs", "-j", min=1, help="How many processes work at once.")


@app.command("run")
def run(
    study: Path = STUDY,
    out: Path | None = OUT,
    corpus: Path | None = CORPUS,
    speakers: int | None = SPEAKERS,
    utterances: int | None = UTTERANCES,
    engine: str = typer.Option("local", help="Where the work is done: local, or ray (a cluster)."),
    jobs: int = JOBS,
    resume: bool = typer.Option(False, "--resume", help="Go on in a used folder; only what is missing is done."),
) -> None:
    """Run a study: hide, attack, listen, measure, and judge the stated bounds.

    The run folder then holds findings.parquet, findings.json, environment.json, gate.json, failures.tsv, tables for
    pictures and a few sounds; personare report RUN makes the page. The same study gives the same findings, on any
    number of workers. The exit code is 1 when a bound of the study is not kept.

    Examples:

        personare study run my-study.yaml --jobs 2

        personare study run recipes/legal-figure1.yaml --corpus LibriSpeech/test-clean --speakers 40 --out run-libri
    """
    _one_thread()
    from personare.cli.study_progress import StudyProgress
    from personare.engine import engine_named
    from personare.pipeline.run import open_folder, run_study

    folder = out or _folder(study)
    machine = engine_named(engine, jobs)
    open_folder(folder, resume=resume)
    chosen = _checked(study, (corpus, speakers, utterances), folder, quiet=True)
    with StudyProgress() as watch:
        ran = run_study(
            chosen,
            folder,
            engine=machine,
            written=study.read_text(encoding="utf-8"),
            home=study.resolve().parent,
            resume=resume,
            watch=watch,
        )
    _tell(ran)


@app.command("check")
def check(
    study: Path = STUDY,
    out: Path | None = OUT,
    corpus: Path | None = CORPUS,
    speakers: int | None = SPEAKERS,
    utterances: int | None = UTTERANCES,
) -> None:
    """Say everything that is wrong with a study before hours of work; nothing is hidden, heard or written.

    Files, methods, parameters, models, enough utterances for every L and enough people for every N. One line for each
    problem, and exit code 2.

    Examples:

        personare study check my-study.yaml
    """
    _one_thread()
    _checked(study, (corpus, speakers, utterances), out or _folder(study), quiet=False)
    typer.echo(f"{study}: can run")


@app.command("plan")
def plan(
    study: Path = STUDY,
    out: Path | None = OUT,
    corpus: Path | None = CORPUS,
    speakers: int | None = SPEAKERS,
    utterances: int | None = UTTERANCES,
    jobs: int = JOBS,
    probe: bool = typer.Option(True, "--probe/--no-probe", help="Time a couple of utterances in every kind of work."),
) -> None:
    """List what a study will do, what is done already, and how long the rest will take.

    A couple of utterances go through every kind of work and are timed; nothing is written to the run folder.

    Examples:

        personare study plan my-study.yaml --jobs 2
    """
    _one_thread()
    from personare.cli.study_progress import duration
    from personare.pipeline.estimate import plan_study

    folder = out or _folder(study)
    chosen = _checked(study, (corpus, speakers, utterances), folder, quiet=True)
    found = plan_study(chosen, folder, home=study.resolve().parent, probe=probe)
    rows = [
        [
            p.label,
            str(p.items),
            "done" if p.done else str(p.left),
            "-" if p.done or p.seconds_each is None else f"{p.seconds_each:.2g} s",
            "-" if p.done or p.seconds_each is None else duration(p.left * p.seconds_each),
        ]
        for p in found.stages
    ]
    show.table(f"{study}: {len(rows)} stages", ["stage", "items", "left", "each", "together"], rows)
    show.failures([(p.label, p.trouble) for p in found.stages if p.trouble])
    left = sum(not p.done for p in found.stages)
    about = f", about {duration(found.seconds(jobs))} on {jobs} worker{'s' if jobs > 1 else ''}" if probe else ""
    typer.echo(f"left: {left} of {len(rows)} stages{about}")
    if probe and found.unknown:
        typer.echo(f"not in this estimate: {', '.join(found.unknown)}")


def _checked(path: Path, other: Other, folder: Path, *, quiet: bool) -> Study:
    """Read and check; problems are printed, all of them, and end the command."""
    from personare.pipeline.check import check_study
    from personare.pipeline.folder import STAGES
    from personare.pipeline.read import file_problems
    from personare.pipeline.study import read_study

    problems = file_problems(path)
    if not problems:
        study = _on(read_study(path), *other)
        found = check_study(study, folder / STAGES, home=path.resolve().parent)
        problems = list(found.problems)
        for note in found.notes if not (quiet and problems) else ():
            sys.stderr.write(f"note: {note}\n")
    for line in problems:
        shown = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in " ".join(line.split()))
        sys.stderr.write(f"personare: {shown}\n")
    if problems:
        raise typer.Exit(2)
    return study


def _on(study: Study, corpus: Path | None, speakers: int | None, utterances: int | None) -> Study:
    """Put another corpus in the place of the study's own, or a part of it."""
    from personare.pipeline.study import with_corpus

    if corpus is None and (speakers or utterances):
        raise typer.BadParameter(
            "--speakers and --utterances choose from --corpus; a study says its own numbers itself"
        )
    return study if corpus is None else with_corpus(study, corpus, speakers=speakers, utterances=utterances)


def _tell(ran: Ran) -> None:
    """Print what was found, what failed and whether the bounds are kept."""
    from personare.reports.summary import other_rows, summary_rows
    from personare.reports.verdicts import method_verdicts

    outcome = ran.outcome
    for title, (head, rows) in {
        f"{len(outcome.findings)} findings -> {outcome.folder}": summary_rows(outcome.findings),
        "What else was measured": other_rows(outcome.findings),
    }.items():
        if rows:
            show.table(title, head, rows)
    for statement in method_verdicts(outcome.findings):
        typer.echo(statement.sentence)
    show.failures([(f"{stage}: {item}", why) for stage, item, why in outcome.failures])
    typer.echo(f"stages: {ran.stages}, done now: {ran.executed}, failures: {len(outcome.failures)}")
    for verdict in outcome.verdicts:
        typer.echo(f"bound: {verdict.sentence}")
    if not outcome.findings:
        sys.stderr.write("personare: nothing could be measured; see failures.tsv in the run folder\n")
    if not outcome.held or not outcome.findings:
        raise typer.Exit(1)


def _one_thread() -> None:
    """Let numbers be added in one order, here as in workers: set before numpy is imported, it holds everywhere."""
    from personare.engine.local import THREAD_VARIABLES

    for name in THREAD_VARIABLES:
        os.environ.setdefault(name, "1")


def _folder(study: Path) -> Path:
    return Path(f"{study.stem}-run")
