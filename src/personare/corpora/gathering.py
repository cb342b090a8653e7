"""From the rows a layout gives to a checked Corpus and Trials: every fault found, counted, never dropped in silence."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import polars as pl

from personare.core.errors import CorpusError
from personare.core.tables import Corpus, Trials
from personare.corpora.genders import normalized
from personare.corpora.problems import Problem, found
from personare.corpora.walking import Tree, are_files

# a name that begins at the root or climbs (..), or holds a control character
UNSAFE_NAME = r"(^[/\\])|((^|[/\\])\.\.([/\\]|$))|([\x00-\x1f\x7f])"
Checked = tuple[pl.DataFrame, list[Problem]]


@dataclass(frozen=True)
class Reading:
    """What a layout was read as: the corpus, why this layout, every problem met, and notes worth a line.

    Rows that could not be kept are named in ``problems``; whoever uses ``corpus`` shows them.
    """

    corpus: Corpus
    layout: str
    evidence: str
    problems: tuple[Problem, ...] = ()
    trials: Trials | None = None
    notes: tuple[str, ...] = ()


def gather(
    frame: pl.DataFrame,
    *,
    layout: str,
    evidence: str,
    place: str,
    problems: Iterable[Problem] = (),
    notes: Iterable[str] = (),
    trials: Trials | None = None,
    present: bool = True,
) -> Reading:
    """Check candidate rows (utterance, speaker, audio as full path, and what else is known) and make the Reading.

    ``present`` leaves out what names no file; False where files lie elsewhere.
    """
    faults, remarks = list(problems), list(notes)
    for check in CHECKS if present else [check for check in CHECKS if check is not _present]:
        frame, more = check(frame, place)
        faults += more
    if "gender" in frame.columns:
        frame, odd = normalized(frame)
        remarks += odd
        frame, more = _one_gender_each(frame, place)
        faults += more
    if frame.is_empty():
        why = f" ({faults[0].line})" if faults else ""
        raise CorpusError(f"{place}: read as '{layout}', no utterance is left{why}")
    unused = [c for c in ("gender", "text", "start_s", "end_s", "part") if c in frame.columns]
    frame = frame.drop(c for c in unused if frame[c].null_count() == len(frame))
    return Reading(Corpus(frame), layout, evidence, tuple(faults), trials, tuple(remarks))


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


def refuse_person_channels(frame: pl.DataFrame, place: str) -> None:
    """Refuse recordings in which each channel is another person, where one file must be one person."""
    if "person_channel" in frame.columns:
        raise CorpusError(
            f"{place}: each channel of a file is another person, and this command listens to one person per file; "
            "write each channel into a file of its own first"
        )


def orphans(tree: Tree, entries: pl.Series, *, place: str) -> list[Problem]:
    """Find the audio files of a tree that no entry names (``entries`` are full paths)."""
    files = pl.DataFrame({"file": tree.audio()}, schema={"file": pl.String})
    whole = files.select(pl.concat_str(pl.lit(tree.place("")), "file").alias("place"))["place"]
    return found("orphan-audio", place, files["file"].filter(~whole.is_in(entries.implode())))


def idle_speakers(listed: Iterable[str], frame: pl.DataFrame, *, place: str) -> list[Problem]:
    """Find the listed speakers that no row belongs to."""
    return found("idle-speaker", place, sorted(set(listed) - set(frame["speaker"].drop_nulls())))


def _left_out(frame: pl.DataFrame, bad: pl.Series, kind: str, place: str, *, named: str = "utterance") -> Checked:
    if not bad.any():
        return frame, []
    names = [str(n) for n in frame.filter(bad)[named].to_list()]
    return frame.filter(~bad), found(kind, place, names)


def _blank(column: pl.Series) -> pl.Series:
    return column.is_null() | (column.str.strip_chars() == "").fill_null(True)


def _named(frame: pl.DataFrame, place: str) -> Checked:
    frame = frame.with_columns(pl.col("utterance", "speaker", "audio").cast(pl.String))
    frame, nameless = _left_out(frame, _blank(frame["utterance"]), "no-utterance", place, named="audio")
    frame, ownerless = _left_out(frame, _blank(frame["speaker"]), "no-speaker", place)
    return frame, nameless + ownerless


def _safe(frame: pl.DataFrame, place: str) -> Checked:
    unsafe = frame["utterance"].str.contains(UNSAFE_NAME) | frame["speaker"].str.contains(UNSAFE_NAME)
    return _left_out(frame, unsafe, "unsafe-name", place)


def _unique(frame: pl.DataFrame, place: str) -> Checked:
    again = ~frame["utterance"].is_first_distinct()
    frame_kept, problems = _left_out(frame, again, "duplicate-utterance", place)
    once = [Problem(p.kind, p.place, tuple(dict.fromkeys(p.names))) for p in problems]
    return frame_kept, once


def _present(frame: pl.DataFrame, place: str) -> Checked:
    each = frame["audio"].drop_nulls().unique()
    each = each.to_frame().sort(each.str.extract(r"^(.*)/").fill_null(""), each)["audio"]  # folder after folder
    there = each.filter(pl.Series(are_files(each), dtype=pl.Boolean))
    missing = ~frame["audio"].is_in(there.implode()).fill_null(False)
    if not missing.any():
        return frame, []
    bad = frame.filter(missing)
    names = [f"{u} -> {a}" if a else str(u) for u, a in bad.select("utterance", "audio").iter_rows()]
    return frame.filter(~missing), found("missing-audio", place, names)


def _segments(frame: pl.DataFrame, place: str) -> Checked:
    """Leave out impossible segments, report overlapping ones and files listed twice."""
    if "start_s" not in frame.columns:
        return frame, _twice(frame, [c for c in ("audio", "person_channel") if c in frame.columns], place)
    start, end = frame["start_s"].fill_null(0.0), frame["end_s"].fill_null(float("inf"))
    frame, problems = _left_out(frame, ~((start >= 0) & (end > start)), "bad-segment", place)
    order = frame.with_columns(pl.col("start_s").fill_null(0.0), pl.col("end_s").fill_null(float("inf")))
    track = [c for c in ("audio", "person_channel") if c in frame.columns]
    order = order.sort(*track, "start_s", "end_s", maintain_order=True)
    reached = pl.col("end_s").shift(1).cum_max().over(track)
    inside = order.filter((reached > pl.col("start_s")).fill_null(False))
    problems += found("overlapping-segment", place, inside["utterance"])
    return frame, problems + _twice(order, [*track, "start_s", "end_s"], place)


def _twice(frame: pl.DataFrame, columns: Sequence[str], place: str) -> list[Problem]:
    repeated = frame.filter(frame.select(columns).is_duplicated())
    return found("duplicate-file", place, repeated["audio"].unique(maintain_order=True))


def _texts(frame: pl.DataFrame, place: str) -> Checked:
    if "text" not in frame.columns:
        return frame, []
    empty = _blank(frame["text"].cast(pl.String))
    if empty.all():  # no transcripts at all is a fact, not a fault
        return frame.drop("text"), []
    frame = frame.with_columns(text=pl.when(~empty).then(pl.col("text").cast(pl.String).str.strip_chars()))
    return frame, found("empty-text", place, frame.filter(empty)["utterance"])


def _one_gender_each(frame: pl.DataFrame, place: str) -> Checked:
    counted = frame.group_by("speaker", maintain_order=True).agg(pl.col("gender").drop_nulls().n_unique())
    mixed = counted.filter(pl.col("gender") > 1)["speaker"].to_list()
    if mixed:
        frame = frame.with_columns(gender=pl.when(~pl.col("speaker").is_in(mixed)).then(pl.col("gender")))
    return frame, found("mixed-gender", place, sorted(mixed))


CHECKS: tuple[Callable[[pl.DataFrame, str], Checked], ...] = (_named, _safe, _unique, _present, _segments, _texts)
