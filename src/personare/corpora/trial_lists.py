"""Lists of trials (who is enrolled, who is heard, is it the same) become Trials; those nobody can answer are named."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from personare.core.tables import Trials
from personare.corpora.problems import Problem, found


def checked_trials(
    rows: Sequence[tuple[str, str, bool]], *, tests: set[str], enrolls: set[str] | None, bad: list[str], place: str
) -> tuple[Trials | None, list[Problem]]:
    """Make Trials of the rows whose utterances are there (``enrolls`` None: enrolled elsewhere), each once."""
    frame = pl.DataFrame(rows, schema={"enroll": pl.String, "test": pl.String, "target": pl.Boolean}, orient="row")
    known = frame["test"].is_in(list(tests))
    if enrolls is not None:
        known &= frame["enroll"].is_in(list(enrolls))
    first = frame.select(pl.struct("enroll", "test").is_first_distinct()).to_series()
    problems = [
        *found("bad-line", place, bad),
        *found("bad-trial", place, [f"{e} {t}" for e, t, _ in frame.filter(~known).iter_rows()]),
        *found("duplicate-trial", place, [f"{e} {t}" for e, t, _ in frame.filter(known & ~first).iter_rows()]),
    ]
    kept = frame.filter(known & first)
    return (None if kept.is_empty() else Trials(kept)), problems
