"""What evaluate, attack, infer and listen have in common: original and anonymized speech, and how it was made."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from personare.cli import show
from personare.cli.study_progress import StudyProgress

if TYPE_CHECKING:
    from personare.api.results import Results

ORIGINAL = typer.Argument(..., metavar="ORIG", help="The original corpus.")
ANONYMIZED = typer.Argument(..., metavar="ANON", help="The same corpus after anonymization, by this tool or another.")
KEY = typer.Option(None, metavar="FILE", help="The key that pairs both.  [ANON-private/key]")
METHOD = typer.Option(
    None, "--method", metavar="NAME", help="How ANON was made, where it does not say: a method, or module:Class."
)
SETTINGS = typer.Option(None, "--set", metavar="NAME=VALUE", help="A parameter of that method.")
TRAIN = typer.Option(None, metavar="CORPUS", help="Speech of other people, for attackers who learn.")
EMBEDDER = typer.Option("ecapa", help="What turns speech into vectors: ecapa, ge2e, trained:FILE.onnx, module:Class.")
SEED = typer.Option(1, help="Chooses the split into enrolment and trial, and every draw.")
JOBS = typer.Option(1, "--jobs", "-j", min=1, help="How many processes work at once.")
GUESS_GENDER = typer.Option(
    False, "--guess-gender", help="Guess genders where not noted, for same-gender EER; marked as predicted."
)


def run_folder(anonymized: Path, name: str) -> Path:
    """Beside the anonymized folder, under its name."""
    whole = anonymized.resolve()
    return whole.with_name(f"{whole.name or 'personare'}-{name}")


def parse_lengths(text: str) -> list[int]:
    """Read ``1,3,30``."""
    from personare.core.text import whole_numbers

    return whole_numbers(text, "--lengths")


def words(text: str) -> list[str]:
    """Read ``one,two``, each once."""
    return list(dict.fromkeys(word.strip() for word in text.split(",") if word.strip()))


def watched(work: Any, **how: Any) -> Results:
    """Run something of the library behind a progress view."""
    show.one_thread()
    with StudyProgress() as watch:
        result: Results = work(**how, watch=watch)
    return result


def tell(result: Results, title: str) -> None:
    """Print what failed, the table and the notes."""
    show.failures([(f"{stage}: {item}", why) for stage, item, why in result.failures])
    for place, (head, rows) in enumerate(result.tables()):
        show.table(title if place == 0 else "What else was measured", head, rows)
    for note in result.notes:
        typer.echo(note)
