"""What evaluate, attack, infer and listen have in common: original and anonymized speech, and how it was made."""

from __future__ import annotations

from collections.abc import Sequence
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
_EMBEDDERS = "What turns speech into vectors: ecapa, wespeaker, energy, ..., several as ecapa+energy, trained:FILE.onnx"
EMBEDDER = typer.Option("ecapa", help=f"{_EMBEDDERS}, module:Class.")
ANY_EMBEDDER = typer.Option(None, "--embedder", metavar="NAME", help=f"{_EMBEDDERS}.  [all that are there]")
QUICK = typer.Option(False, "--quick", help="Plain attackers with one embedder: quicker, and easier to pass.")
SEED = typer.Option(1, help="Chooses the split into enrolment and trial, and every draw.")
JOBS = typer.Option(1, "--jobs", "-j", min=1, help="How many processes work at once.")
SPEAKER_FROM = typer.Option(
    None,
    "--speaker-from",
    metavar="RULE",
    help="Who speaks in ORIG, as for personare anonymize.  [as ANON was made]",
)
SPOKEN_LANGUAGE = typer.Option(
    None,
    "--language",
    metavar="CODE|auto",
    help="Language of all speech, e.g. de; auto identifies it.  [the corpus' own, else identified]",
)
LANGUAGE = typer.Option(
    None,
    "--language",
    metavar="CODE|auto",
    help="Language of all speech in ORIG, e.g. de; auto identifies it.  [the corpus' own column]",
)
ENGINE = typer.Option("local", "--engine", help="Where the work is done: local, or ray (a cluster).")
ADDRESS = typer.Option(None, "--address", metavar="ADDRESS", help="The Ray cluster to join; without, RAY_ADDRESS.")
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


def tell(result: Results, title: str, *, side_by_side: bool = False, as_json: bool = False, **more: object) -> None:
    """Print what failed, the tables, the verdict and the notes; or all of it, and ``more``, as JSON.

    ``side_by_side`` prints one table with a row per method instead.
    """
    show.failures(once_each(result.failures))
    if as_json:
        show.json_object({"title": title, **result.to_json()}, **more)
        return
    tables = [result.comparison()] if side_by_side else result.tables()
    for place, (head, rows) in enumerate(tables):
        show.table(title if place == 0 else "What else was measured", head, rows)
    if result.verdict:
        show.text(result.verdict)
    for note in result.notes:
        show.text(note)


def once_each(failures: Sequence[tuple[str, str, str]]) -> list[tuple[str, str]]:
    """Name what failed, and why; a recording that fails in several stages for one reason is said once.

    >>> once_each([("embed a", "u1", "not audio"), ("embed b", "u1", "not audio"), ("embed a", "u2", "empty")])
    [('u1, in 2 stages', 'not audio'), ('embed a: u2', 'empty')]
    """
    stages: dict[tuple[str, str], list[str]] = {}
    for stage, item, why in failures:
        stages.setdefault((item, why), []).append(stage)
    return [
        (f"{names[0]}: {item}" if len(names) == 1 else f"{item}, in {len(names)} stages", why)
        for (item, why), names in stages.items()
    ]
