"""What every command shows alike: a progress bar on a terminal, plain lines elsewhere, tables of words and numbers."""

from __future__ import annotations

import contextlib
import inspect
import itertools
import math
import os
import sys
import textwrap
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from personare.cli.study_progress import duration
from personare.core.progress import WorkProgress

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from personare.corpora.problems import Problem
    from personare.pipeline.jobs.corpus_facts import SpeakerCount

QUIET_SECONDS = 10.0
PICTURES = (".png", ".jpg", ".jpeg", ".svg", ".pdf")
WIDTH = 100  # columns where the output is no terminal
JSON = typer.Option(False, "--json", help="Print one JSON object instead of text.")


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


@contextlib.contextmanager
def sound_progress(title: str) -> Iterator[Callable[[float, float], None]]:
    """Give a function to call with the seconds of sound done and those in all; what it draws counts whole seconds."""
    tick: Callable[[int], None] | None = None
    shown = 0
    with contextlib.ExitStack() as open_bar:

        def watch(done_s: float, total_s: float) -> None:
            nonlocal tick, shown
            if tick is None:
                tick = open_bar.enter_context(progress(title, math.ceil(total_s)))
            whole = math.ceil(total_s) if done_s >= total_s else int(done_s)
            if whole > shown:
                tick(whole - shown)
                shown = whole

        yield watch


def _plain_lines(title: str, total: int) -> Callable[[int], None]:
    """Say how far it is and how long it will take every few seconds, one line each."""
    done, printed, work = 0, time.monotonic(), WorkProgress({title: 1.0})

    def tick(steps: int) -> None:
        nonlocal done, printed
        done += steps
        work.step(title, steps / max(1, total))
        if time.monotonic() - printed > QUIET_SECONDS:
            printed = time.monotonic()
            left = f", about {duration(left_s)} left" if (left_s := work.left_s) and done < total else ""
            sys.stderr.write(f"{title}: {done}/{total}{left}\n")

    return tick


def people(examples: Sequence[SpeakerCount]) -> str:
    """Name a few of the people found, with how many utterances they have."""
    from personare.corpora.problems import plain

    return ", ".join(f"{plain(one.speaker)} ({one.utterances:,})" for one in examples)


def json_object(of: object, **more: object) -> None:
    """Print a dataclass or a mapping, and what else is known, as one JSON object; what is no number is null."""
    import dataclasses
    import json

    fields = dict(of) if isinstance(of, Mapping) else dataclasses.asdict(of)  # type: ignore[call-overload]
    plain = _without_nan({**fields, **more})
    sys.stdout.write(json.dumps(plain, indent=2, ensure_ascii=False, default=str, allow_nan=False) + "\n")


def _without_nan(value: object) -> object:
    if isinstance(value, Mapping):
        return {str(name): _without_nan(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_without_nan(one) for one in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def records(head: Sequence[str], rows: Sequence[Sequence[object]]) -> list[dict[str, object]]:
    """Give the rows of a table by the names of its columns, for JSON."""
    return [dict(zip(head, row, strict=True)) for row in rows]


def plot_folder(path: Path | None) -> Path | None:
    """Refuse the name of a picture where a folder is asked for, before any work is done."""
    if path is not None and path.suffix.lower() in PICTURES:
        from personare.core.errors import OutputError

        raise OutputError(f"{path}: pictures are drawn into a folder, as .svg and .pdf; give the name of a folder")
    return path


def table(title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table on stdout, words to the left, numbers to the right; 100 columns wide where it is no terminal.

    Where it would not fit, lines between the columns fall away, then space; then numbers that are the same in all rows
    are said below it, what rows have in common in front becomes a heading over them, and intervals take a line of
    their own. Words are broken only where all of that is not enough.
    """
    console = _console()
    wide = console.options.update(max_width=1000)
    drawn, below = next(
        (
            one
            for one in _layouts(title, head, rows, width=console.width)
            if console.measure(one[0], options=wide).maximum <= console.width
        ),
        (_drawn(title, head, rows, gap=1, firm=False), ""),
    )
    console.print(drawn)
    if below:
        text(below)


def text(words: str) -> None:
    """Print sentences on stdout, on a terminal without breaking words; elsewhere a line stays a line."""
    if not (sys.stdout.isatty() or _columns()):
        sys.stdout.write(f"{words}\n")
        return
    from personare.reports.page import NO_BREAK, unbroken

    sys.stdout.write(f"{_lines(unbroken(words), _console().width).replace(NO_BREAK, ' ')}\n")


def description(of: type) -> str:
    """Give what a class says of itself as plain text: marks of code are for other readers."""
    return (inspect.getdoc(of) or "").replace("``", "")


def aside(words: str) -> None:
    """Print a sentence on stderr, on a terminal without breaking words; elsewhere a line stays a line."""
    if sys.stderr.isatty():
        from rich.console import Console

        words = _lines(words, Console(stderr=True).width)
    sys.stderr.write(f"{words}\n")


def definitions(rows: Mapping[str, str], *, indent: int = 0) -> list[str]:
    """Lay out names and what they mean, the latter in as many lines as the screen needs; else a line stays a line."""
    from personare.reports.page import NO_BREAK, unbroken

    room = max(map(len, rows)) + indent + 2
    fits = _console().width - room if sys.stdout.isatty() or _columns() else 0
    lines = []
    for name, meaning in rows.items():
        broken = _lines(unbroken(meaning), fits).replace(NO_BREAK, " ").split("\n") if fits > 0 else [meaning]
        lines.append(f"{' ' * indent}{name}".ljust(room) + broken[0])
        lines += [" " * room + line for line in broken[1:]]
    return lines


def _lines(words: str, width: int) -> str:
    """Break text into lines between words only."""
    filled = (textwrap.fill(line, width, break_long_words=False, break_on_hyphens=False) for line in words.split("\n"))
    return "\n".join(filled)


def _console() -> Console:
    from rich.console import Console

    return Console(width=None if sys.stdout.isatty() else _columns() or WIDTH)


def _columns() -> int:
    """How wide the user says that the screen is; 0 where nobody says it."""
    told = os.environ.get("COLUMNS", "")
    return int(told) if told.isdigit() else 0


def _layouts(
    title: str, head: Sequence[str], rows: Sequence[Sequence[str]], *, width: int
) -> Iterator[tuple[Table, str]]:
    """Give the table in ever narrower layouts, each with the line that belongs below it."""
    for gap in (3, 2, 1):
        yield _drawn(title, head, rows, gap=gap), ""
    head, rows, below = _without_constants(head, rows)
    yield from ((_drawn(title, head, rows, gap=gap), below) for gap in (2, 1))
    headings = sum(row[0] != before[0] for before, row in itertools.pairwise(rows)) + 1
    folded = int(len(head) > 1 and 2 * headings <= len(rows))
    yield from ((_drawn(title, head, rows, gap=gap, folded=folded), below) for gap in (2, 1))
    stacked = [[cell.replace(" [", "\n[") for cell in row] for row in rows]
    for cells in (rows, stacked):
        yield _drawn(title, *_squeezed(head, cells, width, folded=folded), gap=1, folded=folded), below


def _squeezed(
    head: Sequence[str], rows: Sequence[Sequence[str]], width: int, *, folded: int
) -> tuple[list[str], list[list[str]]]:
    """Break words of the widest columns into lines, between words, until the table is as narrow as asked."""
    columns = range(folded, len(head))
    words = [i for i in columns if not _numeric(rows, i)]
    cells = {i: [row[i] for row in rows] + ([head[i]] if i in words else head[i].split()) for i in columns}
    wide = {i: max(len(line) for cell in cells[i] for line in cell.split("\n")) for i in columns}
    least = {i: max(len(word) for cell in cells[i] for word in cell.split()) for i in words}
    indent = 2 * folded
    while sum(wide.values()) + len(wide) - 1 + indent > width:
        widest = max((i for i in words if wide[i] > least[i]), key=lambda i: wide[i], default=None)
        if widest is None:
            break
        wide[widest] -= 1
    broken = [[_lines(cell, wide[i]) if i in words else cell for i, cell in enumerate(row)] for row in rows]
    return [_lines(name, wide[i]) if i in words else name for i, name in enumerate(head)], broken


def _without_constants(head: Sequence[str], rows: Sequence[Sequence[str]]) -> tuple[list[str], list[list[str]], str]:
    """Take out columns of numbers that are the same in all rows; gives what is left, and a line that says them."""
    plain = [i for i in range(1, len(head)) if _numeric(rows, i) and "[" not in rows[0][i]]  # no measured values
    same = [i for i in plain if len({row[i] for row in rows}) == 1 < len(rows)]
    kept = [i for i in range(len(head)) if i not in same]
    told = ", ".join(f"{' '.join(head[i].split())} {rows[0][i]}" for i in same if rows[0][i] != "-")
    below = f"In all rows: {told}." if told else ""
    return [head[i] for i in kept], [[row[i] for i in kept] for row in rows], below


def _numeric(rows: Sequence[Sequence[str]], column: int) -> bool:
    return bool(rows) and all(row[column][:1].isdigit() or row[column][:1] in "-<" for row in rows)


def _drawn(
    title: str, head: Sequence[str], rows: Sequence[Sequence[str]], *, gap: int, folded: int = 0, firm: bool = True
) -> Table:
    """Lay a table out with lines between its columns (a gap of 3), or with as many spaces.

    The first ``folded`` columns become headings over their rows; ``firm`` numbers keep their width.
    """
    from rich import box
    from rich.table import Table
    from rich.text import Text

    drawn = Table(title=Text(title), title_justify="left", title_style="bold")
    if gap < 3:
        drawn.box, drawn.show_edge, drawn.pad_edge = box.SIMPLE_HEAD, False, False
        drawn.collapse_padding, drawn.padding = True, (0, gap - 1)
    for column, name in list(enumerate(head))[folded:]:
        numeric = _numeric(rows, column)
        lines = [line for row in rows for line in row[column].split("\n")]
        widest = max(map(len, lines)) if numeric and firm else None  # a head may be broken, a number not
        drawn.add_column(name, justify="right" if numeric else "left", min_width=widest)
    heading: Sequence[str] = ()
    for row in rows:
        if folded and row[:folded] != heading:
            heading = row[:folded]
            drawn.add_row(Text(", ".join(heading), style="bold"))
        first = "\n".join(f"  {line}" for line in row[folded].split("\n")) if folded else row[0]
        drawn.add_row(*map(Text, (first, *row[folded + 1 :])))  # as it is: brackets are no markup
    return drawn


def one_thread() -> None:
    """Let numbers be added in one order, here as in workers: set before numpy is imported, it holds everywhere."""
    from personare.engine.local import THREAD_VARIABLES

    for name in THREAD_VARIABLES:
        os.environ.setdefault(name, "1")


def failures(rows: Sequence[tuple[str, str]], *, most: int = 10) -> None:
    """Print the first failures on stderr, one line each; a reason that begins with the name says it once."""
    for name, reason in rows[:most]:
        aside(f"failed: {reason}" if reason.startswith(f"{name}: ") else f"failed: {name}: {reason}")
    if len(rows) > most:
        aside(f"failed: ... and {len(rows) - most} more")


def problems(of_corpus: Sequence[Problem]) -> None:
    """Print what is wrong with a corpus on stderr, one line per kind of problem."""
    for problem in of_corpus:
        aside(f"problem: {problem.line}")
