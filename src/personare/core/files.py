"""Files: written so that they are on disk when it is said so, whole or not at all; known by their digest.

Every file that matters goes through ``atomic_path``: it is written under a temporary name, its bytes are forced to the
disk (fsync), it takes its name in one step, and the folder that lists it is forced to the disk too. After a crash or a
power cut there is the old file or the new one. Temporary names tell which process writes them, so that those of a
process that was killed can be swept.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import re
import secrets
import socket
import time
from collections.abc import Iterator
from pathlib import Path

from personare.core.errors import OutputError

TEMPORARY = re.compile(r"^\..*-([0-9a-f]{6})-(\d+)-[0-9a-f]{8}\.part(\.[^.]*)?$")
PRIVATE_FILE, PRIVATE_FOLDER = 0o600, 0o700
_OLD_S = 86_400.0  # a temporary file of another machine is stale after a day
_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL
_in_use: set[Path] = set()  # temporary files of this process


@contextlib.contextmanager
def atomic_path(path: Path, *, durable: bool = True, dated: bool = True, mode: int | None = None) -> Iterator[Path]:
    """Give a temporary path beside ``path``; on success it takes its place, on failure it vanishes.

    Parameters
    ----------
    durable : force it to the disk; only caches, whose entries are checked and can be made again, do without.
    dated : else it gets the date 0: times of writing tell the order of writing.
    mode : permissions, those the system gives by itself if None.
    """
    with _replacement(path) as part:
        make_folder(path.parent, durable=durable)
        yield part
        if mode is not None:
            part.chmod(mode)
        if not dated:
            os.utime(part, (0, 0))
        if durable:
            sync(part)
        part.replace(path)
        if durable:
            sync(path.parent)


@contextlib.contextmanager
def _replacement(path: Path) -> Iterator[Path]:
    """Give a temporary name beside ``path``, which is gone at the end; what the system refuses is one line."""
    with temporary_path(path) as part:
        try:
            yield part
        except OSError as error:
            raise OutputError(f"{path}: cannot be written ({error.strerror or error})") from error


def write_bytes(
    path: Path, content: bytes, *, durable: bool = True, dated: bool = True, mode: int | None = None
) -> None:
    """Write bytes atomically."""
    with atomic_path(path, durable=durable, dated=dated, mode=mode) as part:
        part.write_bytes(content)


def write_text(path: Path, text: str, *, durable: bool = True, mode: int | None = None) -> None:
    """Write UTF-8 text atomically."""
    write_bytes(path, text.encode(), durable=durable, mode=mode)


def create(path: Path, content: bytes, *, mode: int = PRIVATE_FILE) -> bool:
    """Write a file that must not be there yet, whole or not at all; tell whether it was this call that did.

    Of two processes that try, one succeeds; the other finds a whole file.
    """
    with _replacement(path) as part:
        make_folder(path.parent)
        handle = os.open(part, _NEW_FILE, mode)
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
        sync(part)
        made = _name_once(part, path)
        sync(path.parent)
    return made


def _name_once(part: Path, path: Path) -> bool:
    """Give a finished file its name, unless something has that name already."""
    try:
        os.link(part, path)
    except FileExistsError:
        return False
    except OSError:  # a file system without links: the name may be taken in between, the file is whole all the same
        if path.exists():
            return False
        part.replace(path)
    return True


def make_folder(folder: Path, *, mode: int = 0o777, durable: bool = True) -> None:
    """Make a folder and those above it, each forced into the folder that lists it."""
    if folder.is_dir():
        return
    if folder.parent != folder:
        make_folder(folder.parent, durable=durable)
    with contextlib.suppress(FileExistsError):  # another process was faster
        folder.mkdir(mode)
        if durable:
            sync(folder.parent)


@contextlib.contextmanager
def kept_private(folder: Path) -> Iterator[None]:
    """Make a folder that only its owner can open, and keep private what this process and its workers write meanwhile.

    For run and panel folders, which hold original speech, names and correct answers. The umask is one of the whole
    process: other threads write private files too, as long as this lasts.
    """
    make_folder(folder.parent)
    before = os.umask(0o777 - PRIVATE_FOLDER)
    try:
        make_folder(folder, mode=PRIVATE_FOLDER)
        with contextlib.suppress(OSError):  # somebody else's, or a file system without modes
            folder.chmod(PRIVATE_FOLDER)
        yield
    finally:
        os.umask(before)


def sync(path: Path) -> None:
    """Force a file's bytes, or a folder's list of names, to the disk.

    Raises the system's error where the disk says no; only a system that cannot force folders is let be.
    """
    folder = path.is_dir()
    if folder and os.name == "nt":
        return
    handle = os.open(path, os.O_RDONLY if folder or os.name != "nt" else os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def append(path: Path, content: bytes) -> None:
    """Add bytes to the end of a file, in one write, and force them to the disk; the file is its owner's only."""
    try:
        new = not path.exists()
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, PRIVATE_FILE)
        try:
            left = memoryview(content)
            while left:
                left = left[os.write(handle, left) :]
            os.fsync(handle)
        finally:
            os.close(handle)
        if new:
            sync(path.parent)
    except OSError as error:
        raise OutputError(f"{path}: cannot be written ({error.strerror or error})") from error


@contextlib.contextmanager
def temporary_path(path: Path) -> Iterator[Path]:
    """Give a temporary name beside ``path``: what is there is not swept as long as it is in use, and removed then."""
    part = temporary_name(path)
    place = part.parent.resolve() / part.name
    _in_use.add(place)
    try:
        yield part
    finally:
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)
        _in_use.discard(place)


def temporary_name(path: Path) -> Path:
    """A name beside ``path`` that tells which process of which machine writes there."""
    return path.with_name(f".{path.stem[:40]}-{_machine()}-{os.getpid()}-{secrets.token_hex(4)}.part{path.suffix}")


@functools.cache
def _machine() -> str:
    return hashlib.sha256(socket.gethostname().encode()).hexdigest()[:6]


def sweep(folder: Path) -> int:
    """Remove the temporary files that killed processes left in a folder and below it; give their number.

    Files of a process that lives stay, and those of another machine that are younger than a day. Those under the number
    of this very process stay only if it uses them: numbers come back after a restart.
    """
    swept = 0
    for root, _, names in os.walk(folder):
        for name in names:
            match = TEMPORARY.match(name)
            if match and _stale(Path(root) / name, match[1], int(match[2])):
                with contextlib.suppress(OSError):
                    (Path(root) / name).unlink()
                    swept += 1
    return swept


def _stale(path: Path, machine: str, process: int) -> bool:
    if machine != _machine():
        with contextlib.suppress(OSError):
            return time.time() - path.stat().st_mtime > _OLD_S
        return False
    if process == os.getpid():
        return path.resolve() not in _in_use
    return not _lives(process)


def _lives(process: int) -> bool:
    """Whether a process of this number runs; one that has ended and waits for its parent to notice does not."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):  # somebody else's
        return True
    with contextlib.suppress(OSError, IndexError):
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] not in ("Z", "X")
    return True


def file_sha256(path: Path) -> str:
    """SHA-256 of a file's bytes, read now."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def file_digest(path: Path) -> str:
    """SHA-256 of a file's bytes, read once a process for as long as its size and time of change stay the same."""
    return _digest_of_state(path, *file_state(path))


def file_state(path: Path) -> tuple[int, int]:
    """Size in bytes and time of change in nanoseconds: while both stay, the bytes are taken to be the same."""
    state = path.stat()
    return state.st_size, state.st_mtime_ns


@functools.lru_cache(maxsize=4096)
def _digest_of_state(path: Path, _size: int, _changed_ns: int) -> str:
    return file_sha256(path)


def folder_digest(folder: Path) -> str:
    """SHA-256 over the relative names and the digests of all files in a folder; where the folder lies plays no part."""
    files = [path for path in sorted(folder.rglob("*")) if path.is_file() and "__pycache__" not in path.parts]
    names = [f"{path.relative_to(folder).as_posix()} {file_digest(path)}" for path in files]
    return hashlib.sha256("\n".join(names).encode()).hexdigest()


def refuse_full(folder: Path) -> None:
    """Refuse a target that is a file or a folder with something in it."""
    try:
        full = folder.exists() and (not folder.is_dir() or any(folder.iterdir()))
    except OSError as error:
        raise OutputError(f"{folder}: cannot be used ({error.strerror})") from None
    if full:
        raise OutputError(f"{folder}: exists and is not an empty folder; name a new one")
