"""What every command shows alike: a progress bar on a terminal, plain lines elsewhere, tables of words and numbers."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from personare.corpora.problems import Problem

QUIET_SECONDS = 10.0


@contextlib.contextmanager
def progress(title: str, total: int) -> Iterator[Callable[[int], None]]:
    """Give a function to call with the number of steps done since; draws on stderr, so that stdout stays clean."""
    if not sys.stderr.isatty():
        yield _plain_lines(title, total)
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bars:
        task = bars.add_task(title, total=total)
        yield lambda steps: bars.update(task, advance=steps)


def _plain_lines(title: str, total: int) -> Callable[[int], None]:
    """Say how far it is every few seconds, one line each."""
    done, said = 0, time.monotonic()

    def tick(steps: int) -> None:
        nonlocal done, said
        done += steps
        if time.monotonic() - said > QUIET_SECONDS:
            said = time.monotonic()
            sys.stderr.write(f"{title}: {done}/{total}\n")

    return tick


def table(title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table on stdout; words to the left, numbers to the right."""
    from rich.console import Console
    from rich.table import Table

    drawn = Table(title=title, title_justify="left", title_style="bold")
    for column, name in enumerate(head):
        numeric = rows and all(row[column][:1].isdigit() or row[column][:1] in "-<" for row in rows)
        drawn.add_column(name, justify="right" if numeric else "left")
    for row in rows:
        drawn.add_row(*row)
    width = None if sys.stdout.isatty() else 120
    Console(width=width).print(drawn)


def one_thread() -> None:
    """Let numbers be added in one order, here as in workers: set before numpy is imported, it holds everywhere."""
    import os

    from personare.engine.local import THREAD_VARIABLES

    for name in THREAD_VARIABLES:
        os.environ.setdefault(name, "1")


def failures(rows: Sequence[tuple[str, str]], *, most: int = 10) -> None:
    """Print failures on stderr, one line each, the first few of them."""
    for name, reason in rows[:most]:
        sys.stderr.write(f"failed: {name}: {reason}\n")
    if len(rows) > most:
        sys.stderr.write(f"failed: ... and {len(rows) - most} more\n")


def problems(found: Sequence[Problem]) -> None:
    """Print what is wrong with a corpus on stderr, one line per kind of problem."""
    for problem in found:
        sys.stderr.write(f"problem: {problem.line}\n")
