"""A manifest read in parts of a few rows gives the rows, problems, notes and errors of the same table read whole."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corpora.small_parts import TYPES, small, write_table
from personare.core.errors import CorpusError, PersonareError, TableError
from personare.corpora import read_corpus, read_in_parts
from personare.corpora.manifest import KNOWN, read_listed
from personare.corpora.problems import Problem

Told = tuple[pl.DataFrame, tuple[Problem, ...], tuple[str, ...], str] | tuple[type[Exception], str]


def whole(path: Path) -> Told:
    try:
        reading = read_corpus(path, layout="manifest", person_channels=True)
    except PersonareError as error:
        return type(error), str(error)
    frame = reading.corpus.frame
    known = frame.select(name for name in frame.columns if name in KNOWN)
    return known, reading.problems, reading.notes, reading.evidence


def in_parts(path: Path, rows: int, buckets: int) -> Told:
    try:
        with small(rows, buckets), read_in_parts(path, layout="manifest") as reading:
            parts = list(reading.corpus.frames())
            assert all(len(part) <= rows for part in parts) and len(reading.corpus) == sum(map(len, parts))
            assert list(parts[0].columns) == list(reading.corpus.columns)
            for column in reading.corpus.columns:  # each alone is the same as with the others
                alone = pl.concat(reading.corpus.frames(column))[column]
                assert alone.equals(pl.concat(parts)[column], null_equal=True)
            return reading.corpus.whole().frame, reading.problems, reading.notes, reading.evidence
    except PersonareError as error:
        return type(error), str(error)


def same(one: Told, other: Told) -> None:
    assert type(one[0]) is type(other[0]) and one[1:] == other[1:]
    if isinstance(one[0], pl.DataFrame) and isinstance(other[0], pl.DataFrame):
        assert one[0].schema == other[0].schema and one[0].equals(other[0])
    else:
        assert one == other


NAMES = [f"u{n}" for n in range(12)]
FAULTS: dict[str, dict[str, list[Any]]] = {
    "nothing": {"utterance": NAMES, "speaker": list("aabbccddeeff"), "audio": ["x.wav", "y.wav"] * 6},
    "duplicates": {
        "utterance": ["u1", "u2", "u1", "u3", "u2", "u1", "u4"],
        "speaker": ["a"] * 7,
        "audio": ["x.wav"] * 7,
        "text": ["1", "2", "3", "4", "5", "6", "7"],
    },
    "missing audio": {
        "utterance": NAMES[:7],
        "speaker": ["a"] * 7,
        "audio": ["x.wav", "gone.wav", None, "y.wav", "", "gone/too.wav", "x.wav"],
    },
    "blank ids": {
        "utterance": ["u1", " ", "u3", None, "u5", "", "u7"],
        "speaker": ["a", "b", None, "d", "", " ", "g"],
        "audio": ["x.wav"] * 7,
    },
    "unsafe names": {
        "utterance": ["u1", "../u2", "/u3", "u\n4", "u5"],
        "speaker": ["a", "b", "c", "d", ".."],
        "audio": ["x.wav"] * 5,
    },
    "genders": {
        "utterance": NAMES,
        "speaker": list("abcabcabcddd"),
        "audio": ["x.wav"] * 12,
        "gender": ["f", "Male", None, "m", "m", "odd", "odd", None, "even", "w", "woman", "unknown"],
    },
    "only mixed genders": {
        "utterance": NAMES[:6],
        "speaker": list("ababab"),
        "audio": ["y.wav"] * 6,
        "gender": ["f", "m", "m", "f", "f", None],
    },
    "texts": {
        "utterance": NAMES[:6],
        "speaker": ["a"] * 6,
        "audio": ["x.wav"] * 6,
        "text": [None, " ", "hello ", "", "you", None],
    },
    "no text, no part": {
        "utterance": NAMES[:6],
        "speaker": ["a"] * 6,
        "audio": ["x.wav"] * 6,
        "text": [None, " ", "", "", None, None],
        "part": [None] * 6,
        "gender": ["?"] * 6,
    },
    "text only where the audio is missing": {
        "utterance": NAMES[:4],
        "speaker": ["a"] * 4,
        "audio": ["x.wav", "gone.wav", "y.wav", "x.wav"],
        "text": ["", "words", None, ""],
    },
    "segments": {
        "utterance": NAMES,
        "speaker": ["a"] * 12,
        "audio": ["x.wav", "y.wav", "x.wav", "y.wav"] * 3,
        "start_s": [0.0, 0.0, 5.0, None, 4.0, 1.0, 9.0, -1.0, 9.5, 2.0, 9.0, 3.0],
        "end_s": [5.0, 1.0, 6.0, None, 5.5, 1.0, 9.4, 2.0, 10.0, 3.0, 9.4, None],
    },
    "people on channels": {
        "utterance": NAMES[:8],
        "speaker": list("abcdabcd"),
        "audio": ["x.wav", "y.wav"] * 4,
        "person_channel": [1, 1, 2, 2, 1, None, 2, 1],
        "start_s": [0.0, 0.0, 0.0, 1.0, 2.0, 2.0, 1.0, 0.5],
        "end_s": [1.0, 1.0, 1.0, 2.0, 3.0, None, 2.0, 0.7],
        "seconds": [1.0] * 8,
        "mine": list(range(8)),
    },
    "nothing is left": {"utterance": ["u1", "u2", "u3"], "speaker": ["a"] * 3, "audio": ["gone.wav"] * 3},
    "no rows": {"utterance": [], "speaker": [], "audio": []},
    "no speaker": {"utterance": ["u1"], "audio": ["x.wav"]},
}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with sounds, some of which no table names, and a list of speakers, some of whom say nothing."""
    folder = tmp_path_factory.mktemp("corpus")
    (folder / "more").mkdir()
    for name in ("x.wav", "y.wav", "stray.wav", "more/other.flac", "more/x.wav"):
        (folder / name).touch()
    (folder / "speakers.tsv").write_text("speaker\tage\na\t1\nzoe\t2\nb\t3\nyan\t4\n")
    return folder


@pytest.mark.parametrize("rows", [1, 2, 3, 5])
@pytest.mark.parametrize("fault", FAULTS)
def test_parts_tell_what_the_whole_table_tells(place: Path, fault: str, rows: int) -> None:
    write_table(place, FAULTS[fault])
    for path in (place, place / "manifest.parquet"):
        same(whole(path), in_parts(path, rows, buckets=3))


def test_the_whole_table_tells_every_fault(place: Path) -> None:
    """What the parts are compared with is not silent."""
    kinds = set()
    for columns in FAULTS.values():
        told = whole(write_table(place, columns))
        kinds |= {problem.kind for problem in told[1] if isinstance(problem, Problem)}
    rows = {"no-utterance", "no-speaker", "unsafe-name", "duplicate-utterance", "missing-audio", "bad-segment"}
    groups = {"overlapping-segment", "duplicate-file", "mixed-gender", "empty-text", "orphan-audio", "idle-speaker"}
    assert kinds == rows | groups


def column(*values: Any) -> st.SearchStrategy[Any]:
    return st.sampled_from([None, *values])


ROW = st.fixed_dictionaries(
    {
        "utterance": column("", "u1", "u2", "u3", "u4", "u5", "u6", "u7", "../u8"),
        "speaker": column(" ", "a", "b", "c", "köbi", "a/.."),
        "audio": column("", "x.wav", "y.wav", "more/x.wav", "more/../x.wav", "gone.wav"),
    },
    optional={
        "gender": column("f", "m", "Female", "odd", "Odd", "unknown", ""),
        "text": column("", " ", "words", " more words "),
        "start_s": column(0.0, 1.0, 2.0, -1.0),
        "end_s": column(1.0, 2.0, 3.0),
        "part": column("train"),
        "person_channel": column(1, 2),
    },
)


@settings(max_examples=150)
@given(rows=st.lists(ROW, max_size=16), part=st.integers(1, 5), buckets=st.integers(1, 4), inside=st.booleans())
def test_any_rows_are_told_alike(
    place: Path, rows: list[dict[str, Any]], part: int, buckets: int, inside: bool
) -> None:
    names = [name for name in TYPES if any(name in row for row in rows)] or ["utterance", "speaker", "audio"]
    path = write_table(place, {name: [row.get(name) for row in rows] for name in names})
    path = path if inside else path / "manifest.parquet"
    same(whole(path), in_parts(path, part, buckets))


def test_numbers_that_are_none_are_told_alike(tmp_path: Path) -> None:
    """The first in the order of the table, in whichever column."""
    columns = {"utterance": list("abcd"), "speaker": list("abcd"), "audio": list("abcd")}
    times = {"start_s": ["1", "2", "3", "late"], "end_s": ["2", "3", "never", "5"]}
    pl.DataFrame(columns | times).write_parquet(tmp_path / "manifest.parquet")
    expected = (TableError, f"{tmp_path}/manifest.parquet: times and channels must be numbers, but 'end_s' ")
    for told in (whole(tmp_path), in_parts(tmp_path, 1, 2)):
        assert told == (expected[0], f"{expected[1]}holds 'never'")


def test_columns_of_categories_and_numbers_are_text(tmp_path: Path) -> None:
    (tmp_path / "x.wav").touch()
    frame = pl.DataFrame({"utterance": [3, 1, 2], "speaker": ["b", "a", "b"], "audio": ["x.wav"] * 3})
    frame = frame.with_columns(pl.col("speaker").cast(pl.Categorical), gender=pl.Series(["f", "1", "m"]))
    frame.with_columns(pl.col("gender").cast(pl.Categorical)).write_parquet(tmp_path / "manifest.parquet")
    told = whole(tmp_path)
    same(told, in_parts(tmp_path, 1, 2))
    assert told[2:3] == (("gender '1' (1 row) is not known as f, m or x and is left empty",),)


def test_a_tsv_table_is_told_alike(tmp_path: Path) -> None:
    (tmp_path / "x.wav").touch()
    lines = ["utterance\tspeaker\taudio\tgender", "u1\ta\tx.wav\tf", "u1\tb\tx.wav\t", "u2\ta\tx.wav\tm", "u3\t\tx\t"]
    (tmp_path / "manifest.tsv").write_text("\n".join(lines) + "\n")
    told = in_parts(tmp_path, 2, 2)
    same(whole(tmp_path), told)
    assert isinstance(told[0], pl.DataFrame) and told[0]["utterance"].to_list() == ["u1", "u2"]


def test_a_fetched_table_is_read_in_parts(tmp_path: Path) -> None:
    columns: dict[str, list[Any]] = {"utterance": [*NAMES[:6], "u1"], "speaker": list("abcabca")}
    columns["audio"] = ["a/x.wav", None, "b.wav", "", "c.wav", "d.wav", "e.wav"]
    path = write_table(tmp_path, columns) / "manifest.parquet"
    with small(2, 2):
        reading = read_listed(path)
    with contextlib.closing(reading.corpus):
        assert pl.concat(reading.corpus.frames("audio"))["audio"].to_list() == ["a/x.wav", "b.wav", "c.wav", "d.wav"]
        told = {problem.kind: problem.names for problem in reading.problems}
    assert told == {"duplicate-utterance": ("u1",), "orphan-entry": ("u1", "u3")}
    write_table(tmp_path, {**columns, "audio": ["x.wav"] * 6 + ["../x.wav"]})
    with small(2, 2), pytest.raises(CorpusError, match=r"audio '\.\./x\.wav' must be a path below"):
        read_listed(path)
