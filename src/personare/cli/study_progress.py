"""How a running study looks: live bars with rates and time left on a terminal, clean lines elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from typing import Any

WORDS = {
    "voices": "inventing voices",
    "hide": "hiding voices",
    "hear": "attackers listen",
    "invent": "inventing vectors",
    "teach": "teaching recognizers",
    "listen": "friendly ears listen",
    "measure": "measuring",
}
QUIET_SECONDS = 15.0


class StudyProgress:
    """Watches a study; draws on stderr, so that stdout stays clean."""

    def __init__(self) -> None:
        self._live: Any = None
        self._task: Any = None
        self._done = self._total = 0
        self._title, self._began, self._said = "", 0.0, 0.0

    def __enter__(self) -> StudyProgress:
        if sys.stderr.isatty():
            self._live = _bars()
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._close()
        if self._live is not None:
            self._live.stop()

    def began(self, wave: str, jobs: Sequence[Any], items: int) -> None:
        """A wave begins."""
        self._close()
        self._done, self._total = 0, items
        self._title = WORDS.get(wave, wave) + (f" ({len(jobs)} stages)" if jobs else "")
        self._began = self._said = time.monotonic()
        if items and self._live is not None:
            self._task = self._live.add_task(self._title, total=items, stage="", failed="")

    def did(self, job: Any, result: Any) -> None:
        """One item is done."""
        self._done += 1
        if self._live is not None and self._task is not None:
            stage = job.stage.label if job is not None else ""
            self._live.update(self._task, advance=1, stage=stage if result.ok else f"failed: {stage}")
        elif self._live is None and time.monotonic() - self._said > QUIET_SECONDS:
            self._said = time.monotonic()
            sys.stderr.write(f"{self._title}: {self._done}/{self._total}, {self._rate():.2g} a second{self._left()}\n")

    def ended(self, job: Any, failures: Sequence[tuple[str, str]], seconds: float) -> None:
        """A stage is complete; only failures are worth a line."""
        del seconds
        if failures and self._live is None:
            name, why = failures[0]
            sys.stderr.write(f"failed: {job.stage.label}: {len(failures)} items (first: {name}: {why})\n")

    def _rate(self) -> float:
        return self._done / max(1e-6, time.monotonic() - self._began)

    def _left(self) -> str:
        seconds = (self._total - self._done) / max(1e-6, self._rate())
        return f", about {duration(seconds)} left"

    def _close(self) -> None:
        if self._title and self._total and self._live is None:
            took = time.monotonic() - self._began
            sys.stderr.write(f"{self._title}: {self._done} done in {duration(took)}\n")
        self._title, self._task = "", None


def duration(seconds: float) -> str:
    """Say a time as a person would.

    >>> duration(42), duration(150), duration(8000)
    ('42 s', '2.5 min', '2.2 h')
    """
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.1f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def _bars() -> Any:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, TextColumn, TimeRemainingColumn
    from rich.text import Text

    class Rate(ProgressColumn):
        """Items a second."""

        def render(self, task: Any) -> Text:
            speed = task.finished_speed or task.speed
            return Text("" if speed is None else f"{speed:.2g}/s")

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        Rate(),
        TimeRemainingColumn(),
        TextColumn("[dim]{task.fields[stage]}"),
    )
    return Progress(*columns, console=Console(stderr=True))
