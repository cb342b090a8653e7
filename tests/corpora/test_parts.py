"""A manifest read in parts of a few rows gives the rows, problems, notes and errors of the same table read whole."""

from __future__ import annotations

import contextlib
import errno
import os
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from unittest import mock

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from personare.core import pieces
from personare.core.errors import CorpusError, OutputError, PersonareError, TableError
from personare.corpora import checks, manifest, read_corpus, read_in_parts
from personare.corpora.manifest import KNOWN, Manifest, read_listed
from personare.corpora.problems import Problem

Told = tuple[pl.DataFrame, tuple[Problem, ...], tuple[str, ...], str] | tuple[type[Exception], str]
TYPES = {
    "utterance": pl.String,
    "speaker": pl.String,
    "audio": pl.String,
    "gender": pl.String,
    "text": pl.String,
    "start_s": pl.Float64,
    "end_s": pl.Float64,
    "part": pl.String,
    "person_channel": pl.Int64,
    "seconds": pl.Float64,
    "mine": pl.Int64,
}


@contextlib.contextmanager
def small(rows: int, buckets: int = 2) -> Iterator[None]:
    """Read so few rows at a time, spread over so few buckets, that most questions need several of them."""
    with mock.patch.multiple(pieces, ROWS=rows, _SPREAD=buckets):
        yield


def write_table(folder: Path, columns: Mapping[str, list[Any]]) -> Path:
    folder.mkdir(exist_ok=True)
    schema = {name: TYPES[name] for name in columns}
    pl.DataFrame(dict(columns), schema=schema).write_parquet(folder / "manifest.parquet")
    return folder


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


# ---- where the rows are meanwhile


def temporary_files(folder: Path) -> list[str]:
    """Name the files in a folder that this process has open, also those without a name, and those that lie there."""
    links = [str(link.readlink()) for link in Path("/proc/self/fd").iterdir() if link.is_symlink()]
    return [link for link in links if link.startswith(f"{folder}/")] + [path.name for path in folder.iterdir()]


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder where temporary files go."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


on_linux = pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="only Linux tells which files are open")


@on_linux
def test_nothing_is_left_of_the_rows(place: Path, temporary: Path) -> None:
    write_table(place, FAULTS["genders"])
    with small(2), read_in_parts(place) as reading:
        assert len(temporary_files(temporary)) == 1, "the checked rows, and no others"
        assert not list(temporary.iterdir()), "they have no name"
        list(reading.corpus.frames())
    assert not temporary_files(temporary)
    for stopped in (KeyboardInterrupt, ValueError):
        with pytest.raises(stopped), small(2), read_in_parts(place):
            raise stopped
        assert not temporary_files(temporary)


@on_linux
@pytest.mark.parametrize("where", ["named", "repeated", "present", "crowded", "mixed"])
@pytest.mark.parametrize("stopped", [KeyboardInterrupt, CorpusError])
def test_nothing_is_left_when_reading_stops(
    place: Path, temporary: Path, monkeypatch: pytest.MonkeyPatch, where: str, stopped: type[BaseException]
) -> None:
    write_table(place, FAULTS["genders"])
    seen = []

    def stop(frames: object, *_: object) -> None:
        seen.append(temporary_files(temporary))
        raise stopped("here")

    monkeypatch.setattr(checks, where, stop)
    with small(2), pytest.raises(stopped), read_in_parts(place):
        pass
    assert seen[0], "something was on the disk"
    assert not temporary_files(temporary)


@on_linux
def test_nothing_is_left_when_a_row_cannot_be_read(tmp_path: Path, temporary: Path) -> None:
    (tmp_path / "x.wav").touch()
    columns = {"utterance": list("abcdef"), "speaker": list("abcdef"), "audio": ["x.wav"] * 6}
    pl.DataFrame(columns | {"start_s": [*"01234", "x"]}).write_parquet(tmp_path / "manifest.parquet")
    seen = []
    monitored = manifest._typed

    def typed(frame: pl.DataFrame, table: Path) -> pl.DataFrame:
        seen.append(temporary_files(temporary))
        return monitored(frame, table)

    with mock.patch.object(manifest, "_typed", typed), small(1), pytest.raises(TableError, match="holds 'x'"):
        Manifest().read_parts(tmp_path)
    assert seen[-1] and not temporary_files(temporary)


@on_linux
def test_one_part_stays_in_memory(place: Path, temporary: Path) -> None:
    write_table(place, FAULTS["genders"])
    with read_in_parts(place) as reading:
        assert not temporary_files(temporary) and len(list(reading.corpus.frames())) == 1


def test_a_full_disk_is_one_line(place: Path) -> None:
    write_table(place, FAULTS["genders"])
    full = mock.Mock(side_effect=OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)))
    with mock.patch.object(tempfile, "TemporaryFile", full), small(2):
        expected = r"^temporary files: cannot be written \(No space left on device\)$"
        with pytest.raises(OutputError, match=expected), read_in_parts(place):
            pass
