"""personare study: one file says what to compare, one command does it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from personare.cli import given, show

if TYPE_CHECKING:
    from personare.api import Results
    from personare.pipeline.study import Study

app = typer.Typer(no_args_is_help=True, help="Compare methods, attackers and listeners as one file says.")

Other = tuple[Path | None, int | None, int | None, Path | None, Path | None]
STUDY = typer.Argument(..., metavar="STUDY", help="A study file (YAML).")
OUT = typer.Option(None, "--out", metavar="RUN", help="The run folder.  [STUDY-run, in the current folder]")
CORPUS = typer.Option(None, "--corpus", metavar="PATH", help="Run on this corpus instead of the study's own.")
SPEAKERS = typer.Option(None, "--speakers", min=1, help="With --corpus: at most so many people of each part.")
UTTERANCES = typer.Option(
    None, "--utterances", min=1, help="With --corpus: at most so many utterances of each of them."
)
POOL = typer.Option(
    None, "--pool", metavar="FILE", help="Speaker vectors that pseudo-speakers are generated from (.npz)."
)
TRAIN = typer.Option(None, "--train", metavar="PATH", help="Speech of other people, for attackers to learn from.")
JOBS = typer.Option(1, "--jobs", "-j", min=1, help="How many processes work at once.")


@app.command("run")
def run(
    study: Path = STUDY,
    out: Path | None = OUT,
    corpus: Path | None = CORPUS,
    speakers: int | None = SPEAKERS,
    utterances: int | None = UTTERANCES,
    pool: Path | None = POOL,
    train: Path | None = TRAIN,
    engine: str = given.ENGINE,
    address: str | None = given.ADDRESS,
    jobs: int = JOBS,
    resume: bool = typer.Option(False, "--resume", help="Go on in a used folder; only what is missing is done."),
    as_json: bool = show.JSON,
) -> None:
    """Run a study: anonymize, attack, listen, measure, and judge the stated bounds.

    The run folder then holds findings.parquet, findings.json, environment.json, gate.json, failures.tsv, tables for
    pictures and a few sounds; personare report RUN makes the page. The same study gives the same findings, on any
    number of workers. The exit code is 1 when a bound of the study is not kept.

    Examples:

        personare study run my-study.yaml --jobs 2

        personare study run study.yaml --corpus LibriSpeech/ --speakers 40 --out run
    """
    show.one_thread()
    from personare import api
    from personare.cli.study_progress import StudyProgress
    from personare.engine import engine_named

    machine = engine_named(engine, jobs, address)
    with StudyProgress() as watch:
        result = api.run_study(
            study,
            out or _folder(study),
            corpus=corpus,
            speakers=speakers,
            utterances=utterances,
            pool=pool,
            train=train,
            resume=resume,
            engine=machine,
            watch=watch,
        )
    _tell(result, as_json=as_json)


@app.command("check")
def check(
    studies: list[Path] = typer.Argument(..., metavar="STUDY", help="Study files (YAML)."),
    out: Path | None = OUT,
    corpus: Path | None = CORPUS,
    speakers: int | None = SPEAKERS,
    utterances: int | None = UTTERANCES,
    pool: Path | None = POOL,
    train: Path | None = TRAIN,
    as_json: bool = show.JSON,
) -> None:
    """Say everything that is wrong with studies before hours of work; nothing is anonymized, embedded or written.

    Files, methods, parameters, models, enough utterances for every L and enough people for every N. One line for each
    problem, and exit code 2.

    Examples:

        personare study check my-study.yaml

        personare study check recipes/*.yaml
    """
    from personare.core.errors import PersonareError, StudyError

    show.one_thread()
    if as_json and len(studies) > 1:
        raise typer.BadParameter("--json describes one study; name one")
    problems: list[str] = []
    for study in studies:
        try:
            chosen = _checked(study, (corpus, speakers, utterances, pool, train), out or _folder(study))
        except PersonareError as error:
            if len(studies) == 1:
                raise
            lines = error.problems if isinstance(error, StudyError) else [str(error)]
            problems += [line if line.startswith(str(study)) else f"{study}: {line}" for line in lines]
            continue
        if as_json:
            show.json_object({"study": str(study), "title": chosen.title, "can_run": True})
        else:
            typer.echo(f"{study}: can run")
    if problems:
        raise StudyError(problems)


@app.command("plan")
def plan(
    study: Path = STUDY,
    out: Path | None = OUT,
    corpus: Path | None = CORPUS,
    speakers: int | None = SPEAKERS,
    utterances: int | None = UTTERANCES,
    pool: Path | None = POOL,
    train: Path | None = TRAIN,
    jobs: int = JOBS,
    probe: bool = typer.Option(True, "--probe/--no-probe", help="Time a couple of utterances in every kind of work."),
    as_json: bool = show.JSON,
) -> None:
    """List what a study will do, what is done already, and how long the rest will take.

    A couple of utterances go through every kind of work and are timed; nothing is written to the run folder.

    Examples:

        personare study plan my-study.yaml --jobs 2
    """
    show.one_thread()
    from personare.cli.study_progress import duration
    from personare.pipeline.estimate import plan_study

    folder = out or _folder(study)
    chosen = _checked(study, (corpus, speakers, utterances, pool, train), folder)
    found = plan_study(chosen, folder, home=study.resolve().parent, probe=probe)
    show.failures([(p.label, p.trouble) for p in found.stages if p.trouble])
    if as_json:
        expected_s = found.seconds(jobs) if probe else None
        show.json_object(found, expected_s=expected_s, not_in_this_estimate=list(found.unknown) if probe else None)
        return
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
    head = ["stage", "items", "left", "each", "together"]
    shown = len(head) if probe else head.index("each")
    show.table(f"{study}: {len(rows)} stages", head[:shown], [row[:shown] for row in rows])
    left = sum(not p.done for p in found.stages)
    about = f", about {duration(found.seconds(jobs))} on {jobs} worker{'s' if jobs > 1 else ''}" if probe else ""
    typer.echo(f"left: {left} of {len(rows)} stages{about}")
    if probe and found.unknown:
        show.text(f"not in this estimate: {', '.join(found.unknown)}")


def _checked(path: Path, other: Other, folder: Path) -> Study:
    """Read and check; problems end the command, all of them named; notes are printed."""
    from personare.core.errors import StudyError
    from personare.pipeline.check import check_study
    from personare.pipeline.folder import STAGES
    from personare.pipeline.read import file_problems
    from personare.pipeline.study import read_study

    problems = file_problems(path)
    if problems:
        raise StudyError(problems)
    study = _on(read_study(path), *other)
    checked = check_study(study, folder / STAGES, home=path.resolve().parent)
    for note in checked.notes:
        show.aside(f"note: {note}")
    if checked.problems:
        raise StudyError(checked.problems)
    return study


def _on(
    study: Study,
    corpus: Path | None,
    speakers: int | None,
    utterances: int | None,
    pool: Path | None,
    train: Path | None,
) -> Study:
    """Put another corpus in the place of the study's own, or a part of it, another pool and other training speech."""
    from personare.pipeline.study import with_corpus, with_pool, with_training

    if corpus is None and (speakers or utterances):
        raise typer.BadParameter(
            "--speakers and --utterances choose from --corpus; a study says its own numbers itself"
        )
    other = study if corpus is None else with_corpus(study, corpus, speakers=speakers, utterances=utterances)
    other = other if train is None else with_training(other, train)
    return other if pool is None else with_pool(other, pool)


def _tell(result: Results, *, as_json: bool) -> None:
    """Print what was found, what failed and whether the bounds are kept; the exit code says the last."""
    if as_json:
        show.json_object(result.to_json(), folder=result.folder, stages=result.stages, done_now=result.executed)
    else:
        _print(result)
    if not len(result):
        show.aside("personare: nothing could be measured; see failures.tsv in the run folder")
    if not all(verdict.held for verdict in result.verdicts) or not len(result):
        raise typer.Exit(1)


def _print(result: Results) -> None:
    for place, (head, rows) in enumerate(result.tables()):
        title = f"{len(result)} findings -> {result.folder}" if place == 0 else "What else was measured"
        show.table(title, head, rows)
    if result.verdict:
        show.text(result.verdict)
    show.failures(given.once_each(result.failures))
    for note in result.notes:
        show.aside(f"note: {note}")
    typer.echo(f"stages: {result.stages}, done now: {result.executed}, failures: {len(result.failures)}")
    for verdict in result.verdicts:
        show.text(f"bound: {verdict.sentence}")


def _folder(study: Path) -> Path:
    return Path(f"{study.stem}-run")
