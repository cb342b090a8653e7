"""What every command shows alike: a progress bar on a terminal, plain lines elsewhere, tables of words and numbers."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.table import Table

    from personare.corpora.problems import Problem

QUIET_SECONDS = 10.0
WIDTH = 100  # columns where the output is no terminal


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
    done, printed = 0, time.monotonic()

    def tick(steps: int) -> None:
        nonlocal done, printed
        done += steps
        if time.monotonic() - printed > QUIET_SECONDS:
            printed = time.monotonic()
            sys.stderr.write(f"{title}: {done}/{total}\n")

    return tick


def table(title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table on stdout, words to the left, numbers to the right; 100 columns wide where it is no terminal.

    Where it would not fit, lines between the columns fall away, then space, and then long words are broken.
    """
    from rich.console import Console

    console = Console() if sys.stdout.isatty() else Console(width=WIDTH)
    wide = console.options.update(max_width=1000)
    drawn = [_drawn(title, head, rows, gap=gap) for gap in (3, 2, 1)]
    fitting = (one for one in drawn if console.measure(one, options=wide).maximum <= console.width)
    console.print(next(fitting, drawn[-1]))


def _drawn(title: str, head: Sequence[str], rows: Sequence[Sequence[str]], *, gap: int) -> Table:
    """Lay a table out with lines between its columns (a gap of 3), or with as many spaces."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    drawn = Table(title=title, title_justify="left", title_style="bold")
    if gap < 3:
        drawn.box, drawn.show_edge, drawn.pad_edge = box.SIMPLE_HEAD, False, False
        drawn.collapse_padding, drawn.padding = True, (0, gap - 1)
    for column, name in enumerate(head):
        numeric = bool(rows) and all(row[column][:1].isdigit() or row[column][:1] in "-<" for row in rows)
        widest = max(len(row[column]) for row in rows) if numeric else None  # a head may be broken, a number not
        drawn.add_column(name, justify="right" if numeric else "left", min_width=widest)
    for row in rows:
        drawn.add_row(*map(Text, row))  # as it is: brackets of an interval or a label are no markup
    return drawn


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


def problems(of_corpus: Sequence[Problem]) -> None:
    """Print what is wrong with a corpus on stderr, one line per kind of problem."""
    for problem in of_corpus:
        sys.stderr.write(f"problem: {problem.line}\n")
