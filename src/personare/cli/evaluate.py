"""personare evaluate: let attackers listen to an anonymized corpus and report what they achieve."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from personare.cli import show

if TYPE_CHECKING:
    from personare.pipeline.old_evaluate import Evaluation


def evaluate(
    original: Path = typer.Argument(..., metavar="ORIG", help="The original corpus."),
    anonymized: Path = typer.Argument(..., metavar="ANON", help="The same corpus after anonymization."),
    out: Path | None = typer.Option(None, "--out", metavar="DIR", help="Folder of the report.  [ANON-report]"),
    key: Path | None = typer.Option(None, metavar="FILE", help="The key that pairs both.  [ANON-private/key]"),
    embedder: str = typer.Option("ecapa", help="The attacker's ear: ecapa, ge2e, or trained:FILE.onnx."),
    train: Path | None = typer.Option(
        None, metavar="CORPUS", help="Speech of other people: a fourth, informed attacker learns from it."
    ),
    lengths: str = typer.Option("1,3", "--lengths", metavar="L,L", help="Utterances the attacker hears at once."),
    seed: int = typer.Option(1, help="Chooses the split into enrolment and trial."),
    jobs: int = typer.Option(1, "--jobs", "-j", min=1, help="How many processes listen at once."),
    guess_gender: bool = typer.Option(
        False, "--guess-gender", help="Guess genders where not noted, for same-gender EER; marked as predicted."
    ),
) -> None:
    """Prove how well voices are hidden: who can still be recognised, by whom, how often.

    Three attackers listen: one without any protection in their way, one who does not know that voices were changed,
    and one who knows the method and disguises the enrolment speech with their own key. The result is a table, a
    self-contained HTML page with sounds to listen to, and findings.json. With --train a fourth attacker, usually the
    strongest, learns from speech of other people what the method does; personare attack plays more of them.

    Examples:

        personare evaluate recordings/ anonymous/ --jobs 2

        personare evaluate recordings/ anonymous/ --train others/ --out report/
    """
    from personare.pipeline.old_evaluate import read_pair

    pairs, system, _ = read_pair(original, anonymized, key)
    run(
        with_genders(pairs, jobs) if guess_gender else pairs,
        system,
        out or report_folder(anonymized),
        embedder=embedder,
        lengths=parse_lengths(lengths),
        seed=seed,
        jobs=jobs,
        train=train,
    )


def with_genders(pairs: Any, jobs: int) -> Any:
    """Fill in genders that nobody noted, marked as predicted; say whose could not be guessed."""
    from personare.engine import engine_for
    from personare.pipeline.jobs.guess_attributes import with_guesses

    guesses = with_guesses(pairs.frame, engine=engine_for(jobs))
    show.failures(guesses.failures)
    return dataclasses.replace(pairs, frame=guesses.frame)


def report_folder(anonymized: Path) -> Path:
    """Beside the anonymized folder, under its name."""
    whole = anonymized.resolve()
    return whole.with_name(f"{whole.name or 'personare'}-report")


def parse_lengths(text: str) -> list[int]:
    """Read ``1,3,30``."""
    from personare.core.errors import ConfigError

    try:
        lengths = sorted({int(word) for word in text.split(",")})
    except ValueError:
        lengths = [0]
    if lengths[0] < 1:
        raise ConfigError(f"--lengths {text}: write whole numbers from 1 on, with commas, e.g. 1,3,30")
    return lengths


def run(
    pairs: Any,
    system: Any,
    out: Path,
    *,
    embedder: str,
    lengths: list[int],
    seed: int,
    jobs: int,
    train: Path | None = None,
) -> None:
    """Evaluate, write the report, print the table."""
    from personare.pipeline.hearing import ready
    from personare.pipeline.old_evaluation_page import table_rows, write_report

    ready(embedder)
    found = _listened(pairs, system, embedder=embedder, lengths=lengths, seed=seed, jobs=jobs, train=train)
    page = write_report(found, out, title="How well are these voices hidden?")
    show.failures(found.failures)
    head, rows = table_rows(found)
    show.table(f"{found.facts['speakers']} speakers, {found.facts['method']}", head, rows)
    for note in found.notes[1:]:
        typer.echo(note)
    typer.echo(f"report: {page}")
    if found.failures:
        raise typer.Exit(1)


def _listened(
    pairs: Any, system: Any, *, embedder: str, lengths: list[int], seed: int, jobs: int, train: Path | None
) -> Evaluation:
    """Let all attackers listen, behind one progress bar."""
    from personare.attackers.knowledge import Knowledge
    from personare.engine import engine_for
    from personare.pipeline import old_evaluate as study
    from personare.pipeline import old_knowledge as knowledge
    from personare.pipeline.old_evaluate_informed import with_informed

    lesson, more = knowledge.lesson_of(train, None, system), None
    if lesson is not None:
        levels = [Knowledge.INFORMED]
        more = knowledge.plan(pairs, levels, system=system, embedder=embedder, lesson=lesson, seed=seed)
    engine = engine_for(jobs)
    total = study.how_many_sounds(pairs, system=system, seed=seed) + (0 if more is None else len(more))
    with show.progress("listening", total) as tick:
        found = study.evaluate(
            pairs, system=system, engine=engine, embedder=embedder, seed=seed, lengths=lengths, watch=lambda _: tick(1)
        )
        return found if more is None else with_informed(found, more, engine=engine, seed=seed, watch=lambda _: tick(1))
