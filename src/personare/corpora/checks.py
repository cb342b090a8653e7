"""What is looked for in the rows of a corpus: each check says what it must see together, and serves parts of any size.

Some look at one row: they leave out what cannot be kept, and name it. The others look at all rows of an utterance, of a
speaker or of an audio file; they give the rows that are wrong, which are told in the order of the table.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import polars as pl

from personare.core.pieces import grouped
from personare.core.tables import Corpus
from personare.corpora.problems import Problem, found
from personare.corpora.walking import are_files, is_there, leaves

# a name that begins at the root or climbs (..), or holds a control character
UNSAFE_NAME = r"(^[/\\])|((^|[/\\])\.\.([/\\]|$))|([\x00-\x1f\x7f])"
ROW = "\trow"  # the number of a row in the table that was read
TIMES = {"start_s": 0.0, "end_s": float("inf")}  # a segment begins and ends with its file where nothing is said
Checked = tuple[pl.DataFrame, list[Problem]]


# ---- one row


def named(frame: pl.DataFrame, place: str) -> Checked:
    """Leave out what has no id or no speaker."""
    frame = frame.with_columns(pl.col(tuple(Corpus.required)).cast(pl.String))
    frame, nameless = _left_out(frame, _blank(frame["utterance"]), "no-utterance", place, named="audio")
    frame, ownerless = _left_out(frame, _blank(frame["speaker"]), "no-speaker", place)
    return frame, nameless + ownerless


def safe(frame: pl.DataFrame, place: str) -> Checked:
    """Leave out names that could lead outside a folder."""
    unsafe = frame["utterance"].str.contains(UNSAFE_NAME) | frame["speaker"].str.contains(UNSAFE_NAME)
    return _left_out(frame, unsafe, "unsafe-name", place)


def first_only(frame: pl.DataFrame, place: str, *, again: pl.Series) -> Checked:
    """Leave out the rows whose utterance was there before; ``again`` are their numbers."""
    return _left_out(frame, frame[ROW].is_in(again.implode()), "duplicate-utterance", place)


def present(frame: pl.DataFrame, place: str) -> Checked:
    """Leave out what names no file; a pipe or a folder that is there is another fault than a missing file."""
    each = frame["audio"].drop_nulls().unique()
    each = each.to_frame().sort(each.str.extract(r"^(.*)/").fill_null(""), each)["audio"]  # folder after folder
    there = each.filter(pl.Series(are_files(each), dtype=pl.Boolean))
    missing = ~frame["audio"].is_in(there.implode()).fill_null(False)
    if not missing.any():
        return frame, []
    named: dict[bool, list[str]] = {False: [], True: []}
    for utterance, audio in frame.filter(missing).select("utterance", "audio").iter_rows():
        named[bool(audio) and is_there(audio)].append(f"{utterance} -> {audio}" if audio else str(utterance))
    problems = [*found("missing-audio", place, named[False]), *found("not-a-file", place, named[True])]
    return frame.filter(~missing), problems


def inside(frame: pl.DataFrame, place: str) -> Checked:
    """Leave out recordings that a link of the corpus takes from outside it."""
    each = frame["audio"].drop_nulls().unique()
    outside = each.filter(pl.Series([leaves(path) for path in each], dtype=pl.Boolean))
    return _left_out(frame, frame["audio"].is_in(outside.implode()).fill_null(False), "outside-link", place)


def elsewhere(frame: pl.DataFrame, place: str) -> Checked:
    """Leave out what names nothing at all; the files lie elsewhere and cannot be asked for."""
    return _left_out(frame, _blank(frame["audio"]), "orphan-entry", place)


def possible(frame: pl.DataFrame, place: str) -> Checked:
    """Leave out segments that cannot be."""
    if "start_s" not in frame.columns:
        return frame, []
    start, end = (frame[column].fill_null(edge) for column, edge in TIMES.items())
    finite = start.is_finite() & (frame["end_s"].is_finite() | frame["end_s"].is_null())
    return _left_out(frame, ~(finite & (start >= 0) & (end > start)), "bad-segment", place)


def trimmed(frame: pl.DataFrame) -> pl.DataFrame:
    """Cut blanks off transcripts; an empty one is none."""
    if "text" not in frame.columns:
        return frame
    text = frame["text"].cast(pl.String)
    return frame.with_columns(pl.select(pl.when(~_blank(text)).then(text.str.strip_chars())).to_series().alias("text"))


def without_text(frames: Iterable[pl.DataFrame]) -> Iterator[str]:
    """Name the utterances without a transcript, of frames that were trimmed."""
    for frame in frames:
        yield from frame.filter(pl.col("text").is_null())["utterance"]


def _left_out(frame: pl.DataFrame, bad: pl.Series, kind: str, place: str, *, named: str = "utterance") -> Checked:
    if not bad.any():
        return frame, []
    names = [str(n) for n in frame.filter(bad)[named].to_list()]
    return frame.filter(~bad), found(kind, place, names)


def _blank(column: pl.Series) -> pl.Series:
    return column.is_null() | (column.str.strip_chars() == "").fill_null(True)


# ---- all rows of an utterance, an audio file, a speaker


def repeated(frames: Iterable[pl.DataFrame]) -> pl.Series:
    """Give the numbers of the rows whose utterance was there before."""
    narrow = (frame.select(ROW, "utterance") for frame in frames)
    again = [one.filter(~one["utterance"].is_first_distinct())[ROW] for one in grouped(narrow, "utterance")]
    return pl.concat(again).sort()


def crowded(frames: Iterable[pl.DataFrame], track: list[str]) -> tuple[list[str], list[str]]:
    """Name the segments that begin before another of the same file (and channel) has ended, and files listed twice.

    Segments are named by file and time, files in the order of the table, or by name where they have segments.
    """
    inside, again = [], []
    times: list[str] = []
    for one in grouped(frames, "audio"):
        times = [column for column in TIMES if column in one.columns]
        order = one.with_columns(pl.col(column).fill_null(TIMES[column]) for column in times)
        repeat = order.filter(order.select(*track, *times).is_duplicated())
        again.append(repeat.select(ROW, "audio").unique("audio", keep="first", maintain_order=True))
        if times:
            order = order.sort(*track, *times, maintain_order=True)
            reached = pl.col("end_s").shift(1).cum_max().over(track)
            inside.append(order.filter((reached > pl.col("start_s")).fill_null(False)))
    segments = pl.concat(inside).sort(*track, *times, ROW)["utterance"].to_list() if inside else []
    return segments, pl.concat(again).sort("audio" if times else ROW)["audio"].to_list()


def mixed(frames: Iterable[pl.DataFrame]) -> list[str]:
    """Name the speakers who have more than one gender, sorted."""
    several = []
    for one in grouped((frame.select("speaker", "gender").drop_nulls().unique() for frame in frames), "speaker"):
        each = one.group_by("speaker").agg(pl.col("gender").n_unique())
        several.append(each.filter(pl.col("gender") > 1)["speaker"])
    return sorted(pl.concat(several)) if several else []


def unnamed(things: Iterable[pl.Series], names: Iterable[pl.Series]) -> list[str]:
    """Give those of ``things`` that are none of ``names``, sorted and each once."""
    marked = ((series.drop_nulls().unique(), thing) for thing, of in ((True, things), (False, names)) for series in of)
    frames = (pl.DataFrame({"name": each.cast(pl.String)}).with_columns(thing=thing) for each, thing in marked)
    lacking = [
        one.group_by("name").agg(pl.col("thing").all()).filter(pl.col("thing"))["name"]
        for one in grouped(frames, "name")
    ]
    return sorted(pl.concat(lacking)) if lacking else []
