"""Files are whole or not there: written aside, forced to the disk, renamed; what killed processes left is swept."""

from __future__ import annotations

import errno
import os
import re
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from personare.core import files
from personare.core.errors import OutputError
from personare.core.files import (
    TEMPORARY,
    append,
    atomic_path,
    create,
    sweep,
    temporary_name,
    temporary_path,
    write_bytes,
    write_text,
)


@pytest.fixture
def forced(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of what is forced to the disk, in order; a temporary name is told as such."""
    seen: list[str] = []

    def fsync(handle: int) -> None:
        name = Path(f"/proc/self/fd/{handle}").readlink().name
        seen.append("temporary" if TEMPORARY.match(name) else name)

    monkeypatch.setattr(os, "fsync", fsync)
    return seen


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="needs /proc to tell which file is forced to the disk")
def test_bytes_are_forced_before_the_name_and_the_folder_after_it(tmp_path: Path, forced: list[str]) -> None:
    write_text(tmp_path / "new" / "a.txt", "words")
    assert forced == [tmp_path.name, "temporary", "new"]
    forced.clear()
    assert create(tmp_path / "new" / "key", b"secret")
    assert forced == ["temporary", "new"]
    forced.clear()
    append(tmp_path / "new" / "journal", b"line\n")
    append(tmp_path / "new" / "journal", b"line\n")
    assert forced == ["journal", "new", "journal"]
    forced.clear()
    write_bytes(tmp_path / "cache", b"made again at worst", durable=False)
    assert not forced


def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    write_text(tmp_path / "a.txt", "old")
    with pytest.raises(RuntimeError), atomic_path(tmp_path / "a.txt") as part:
        part.write_text("half of the ne")
        raise RuntimeError
    assert [p.name for p in tmp_path.iterdir()] == ["a.txt"] and (tmp_path / "a.txt").read_text() == "old"


def test_a_disk_that_says_no_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_handle: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    (tmp_path / "journal").write_bytes(b"")
    for attempt in (
        lambda: write_text(tmp_path / "a.txt", "words"),
        lambda: create(tmp_path / "key", b"secret"),
        lambda: append(tmp_path / "journal", b"line\n"),
    ):
        with pytest.raises(OutputError, match="cannot be written \\(No space left on device\\)"):
            attempt()
    assert [p.name for p in tmp_path.iterdir()] == ["journal"], "no empty key is left that a job would be stuck with"


def test_modes_and_dates(tmp_path: Path) -> None:
    write_bytes(tmp_path / "a", b"x", mode=0o600, dated=False)
    state = (tmp_path / "a").stat()
    assert stat.S_IMODE(state.st_mode) == 0o600 and state.st_mtime == 0
    create(tmp_path / "key", b"x")
    assert stat.S_IMODE((tmp_path / "key").stat().st_mode) == 0o600


def test_of_many_who_create_a_file_one_does_and_all_find_it_whole(tmp_path: Path) -> None:
    path = tmp_path / "key"

    def attempt(number: int) -> tuple[bool, bytes]:
        return create(path, bytes([number]) * 1000), path.read_bytes()

    with ThreadPoolExecutor(8) as pool:
        outcomes = list(pool.map(attempt, range(8)))
    assert sum(made for made, _ in outcomes) == 1
    assert len({content for _, content in outcomes}) == 1 and len(path.read_bytes()) == 1000


def test_without_links_a_file_is_created_all_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_links(*_: object, **__: object) -> None:
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", no_links)
    assert create(tmp_path / "key", b"one") and not create(tmp_path / "key", b"two")
    assert (tmp_path / "key").read_bytes() == b"one" and len(list(tmp_path.iterdir())) == 1


def test_what_dead_processes_left_is_swept_and_what_living_ones_write_is_not(tmp_path: Path) -> None:
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    names = {
        "mine, of before": temporary_name(tmp_path / "sub" / "a.flac").name,
        "dead": re.sub(r"-\d+-", f"-{dead.pid}-", temporary_name(tmp_path / "a.flac").name),
        "living": re.sub(r"-\d+-", f"-{os.getppid()}-", temporary_name(tmp_path / "a.flac").name),
        "elsewhere": re.sub(r"-[0-9a-f]{6}-", "-000000-", temporary_name(tmp_path / "a.flac").name),
        "elsewhere, old": re.sub(r"-[0-9a-f]{6}-", "-000000-", temporary_name(tmp_path / "b.flac").name),
    }
    (tmp_path / "sub").mkdir()
    for name in (*names.values(), ".hidden", "audio.flac", "a.part.flac"):
        (tmp_path / "sub" / name).write_text("")
    os.utime(tmp_path / "sub" / names["elsewhere, old"], (0, 0))
    before = {p.name for p in (tmp_path / "sub").iterdir()}
    with atomic_path(tmp_path / "sub" / "now.flac") as mine, temporary_path(tmp_path / "sub" / "table") as other:
        mine.write_text("")
        other.write_text("")
        assert sweep(tmp_path) == 3
        swept = {names["dead"], names["elsewhere, old"], names["mine, of before"]}
        left = {p.name for p in (tmp_path / "sub").iterdir()}
        assert before - left == swept and {mine.name, other.name} <= left
    assert (tmp_path / "sub" / "now.flac").exists() and not other.exists() and not files._in_use


def test_long_names_are_written_under_short_temporary_ones(tmp_path: Path) -> None:
    path = tmp_path / f"{'ä' * 120}.flac"
    assert len(temporary_name(path).name.encode()) < 255
    files.write_bytes(path, b"x")
    assert path.read_bytes() == b"x"
