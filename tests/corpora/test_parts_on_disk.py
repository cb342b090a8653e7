"""Where rows are while a manifest is read in parts: in a temporary file without a name, and nowhere afterwards."""

from __future__ import annotations

import errno
import os
import tempfile
from pathlib import Path
from unittest import mock

import polars as pl
import pytest

from corpora.small_parts import small, write_table
from personare.core.errors import CorpusError, OutputError, TableError
from personare.corpora import checks, manifest, read_in_parts
from personare.corpora.manifest import Manifest


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A corpus of seven rows that every check has something to look at in."""
    folder = tmp_path / "corpus"
    folder.mkdir()
    (folder / "x.wav").touch()
    names = [f"u{n}" for n in range(7)]
    columns = {"utterance": names, "speaker": list("abababc"), "audio": ["x.wav"] * 7, "gender": list("fmffmmx")}
    return write_table(folder, columns)


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
    with read_in_parts(place) as reading:
        assert not temporary_files(temporary) and len(list(reading.corpus.frames())) == 1


def test_a_full_disk_is_one_line(place: Path) -> None:
    full = mock.Mock(side_effect=OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)))
    with mock.patch.object(tempfile, "TemporaryFile", full), small(2):
        expected = r"^temporary files: cannot be written \(No space left on device\)$"
        with pytest.raises(OutputError, match=expected), read_in_parts(place):
            pass
