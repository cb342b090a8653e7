"""How work on many recordings looks: a bar that moves within a long one too, and how long the rest takes."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from personare.cli.show import QUIET_SECONDS, progress
from personare.cli.study_progress import duration
from personare.core.progress import WorkProgress

if TYPE_CHECKING:
    from personare.core.corpus_parts import CorpusParts
    from personare.core.tables import Corpus
    from personare.pipeline.jobs.speaker_check import CheckedCorpus


@contextlib.contextmanager
def work_progress(title: str) -> Iterator[Callable[[WorkProgress], None]]:
    """Give a function to be told how far the work is; draws a bar on a terminal, plain lines elsewhere."""
    if not sys.stderr.isatty():
        yield plain_lines(title)
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[words]}"))
    with Progress(*columns, console=Console(stderr=True), transient=True) as bars:
        task = bars.add_task(title, total=1.0, words="")
        yield lambda now: bars.update(task, completed=now.share, words=words_of(now))


def plain_lines(title: str, *, clock: Callable[[], float] = time.monotonic) -> Callable[[WorkProgress], None]:
    """Say how far it is every few seconds, one line each."""
    said = clock()

    def told(now: WorkProgress) -> None:
        nonlocal said
        if now.done < now.total and clock() - said > QUIET_SECONDS:
            said = clock()
            sys.stderr.write(f"{title}: {words_of(now)}\n")

    return told


def words_of(now: WorkProgress) -> str:
    """Say how many are done, how much of the work that is, and how long the rest takes.

    >>> words_of(WorkProgress({"long": 3.0, "short": 1.0}))
    '0/2, 0 %'
    """
    left_s = now.left_s
    rest = f", about {duration(left_s)} left" if left_s else ""
    return f"{now.done:,}/{now.total:,}, {int(100 * now.share)} %{rest}"


def checked_speakers(corpus: Corpus | CorpusParts, *, most_s: float | None = None) -> CheckedCorpus:
    """Check a corpus for several speakers in one recording, with a bar; ``most_s`` seconds of sound at most."""
    from personare.pipeline.jobs.speaker_check import check_corpus

    with progress("checking for several speakers", len(corpus)) as tick:
        return check_corpus(corpus, most_s=most_s, watch=lambda _: tick(1))
