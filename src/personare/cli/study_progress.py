"""How a running study looks: live bars with rates and time left on a terminal, clean lines elsewhere."""

from __future__ import annotations

import sys
import time
from collections import deque
from collections.abc import Sequence
from typing import Any

WORDS = {
    "voices": "inventing voices",
    "anonymize": "anonymizing",
    "embed": "embedding",
    "generate": "generating vectors",
    "train": "training recognizers",
    "listen": "listening",
    "measure": "measuring",
}
QUIET_SECONDS, QUIET_SHARE = 15.0, 0.2  # a line after so long, or after this share of the time so far
RECENT = 50  # items by which the rate is judged: the first ones may have been there already


class StudyProgress:
    """Watches a study; draws on stderr (or a given rich ``screen``), so that stdout stays clean."""

    def __init__(self, screen: Any = None) -> None:
        self._screen = screen
        self._live: Any = None
        self._task: Any = None
        self._done = self._total = self._failed = 0
        self._title, self._began, self._said = "", 0.0, 0.0
        self._times: deque[float] = deque(maxlen=RECENT)

    def __enter__(self) -> StudyProgress:
        if self._screen is None and sys.stderr.isatty():
            from rich.console import Console

            self._screen = Console(stderr=True)
        if self._screen is not None:
            self._live = bars(self._screen)
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._close()
        if self._live is not None:
            self._live.stop()

    def began(self, wave: str, jobs: Sequence[Any], items: int) -> None:
        """A wave begins."""
        self._close()
        self._done, self._total, self._failed = 0, items, 0
        stages = f" ({len(jobs)} stage{'s' if len(jobs) > 1 else ''})" if jobs else ""
        self._title = WORDS.get(wave, wave) + stages
        self._began = self._said = time.monotonic()
        self._times = deque(maxlen=RECENT)
        if items and self._live is not None:
            self._task = self._live.add_task(self._title, total=items, stage="", failed="")

    def did(self, job: Any, result: Any) -> None:
        """One item is done."""
        now = time.monotonic()
        self._done += 1
        self._failed += not result.ok
        self._times.append(now)
        if self._live is not None and self._task is not None:
            stage = job.stage.label if job is not None else ""
            self._live.update(self._task, advance=1, stage=stage, failed=self._counted())
        elif self._live is None and now - self._said > max(QUIET_SECONDS, QUIET_SHARE * (now - self._began)):
            self._said = now
            sys.stderr.write(f"{self._title}: {self._done}/{self._total}{self._rate()}\n")

    def ended(self, job: Any, failures: Sequence[tuple[str, str]], seconds: float) -> None:
        """A stage is complete; only failures are worth a line."""
        del seconds
        if failures and self._live is None:
            name, why = failures[0]
            sys.stderr.write(f"failed: {job.stage.label}: {len(failures)} items (first: {name}: {why})\n")

    def _rate(self) -> str:
        """Say how fast it goes, from the first item on: before it, models were loaded."""
        if len(self._times) < 2:
            return ""
        rate = (len(self._times) - 1) / max(1e-6, self._times[-1] - self._times[0])
        return f", {rate:.2g} a second, about {duration((self._total - self._done) / rate)} left"

    def _counted(self) -> str:
        return f"{self._failed} failed" if self._failed else ""

    def _close(self) -> None:
        if self._live is not None and self._task is not None:
            self._live.update(self._task, stage="")
        if self._title and self._total and self._live is None:
            took, failed = duration(time.monotonic() - self._began), self._counted()
            sys.stderr.write(f"{self._title}: {self._done} done in {took}{f', {failed}' if failed else ''}\n")
        self._title, self._task = "", None


def duration(seconds: float) -> str:
    """Say a time as a person would.

    >>> duration(42), duration(150), duration(8000)
    ('42 s', '2.5 min', '2.2 h')
    """
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.1f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def bars(console: Any) -> Any:
    """Make the live view: a line for each kind of work, what is being done now at its end; never wrapped."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, TextColumn, TimeRemainingColumn
    from rich.table import Column
    from rich.text import Text

    class Rate(ProgressColumn):
        """Items a second."""

        def render(self, task: Any) -> Text:
            speed = task.finished_speed or task.speed
            return Text("" if speed is None else f"{speed:.0f}/s" if speed >= 10 else f"{speed:.2g}/s")

    columns = (
        TextColumn("{task.description}", table_column=Column(no_wrap=True)),
        BarColumn(bar_width=20),
        MofNCompleteColumn(),
        Rate(),
        TimeRemainingColumn(elapsed_when_finished=True),
        TextColumn("[red]{task.fields[failed]}", table_column=Column(no_wrap=True)),
        TextColumn("[dim]{task.fields[stage]}", table_column=Column(no_wrap=True, overflow="ellipsis", ratio=1)),
    )
    return Progress(*columns, console=console, expand=True)
