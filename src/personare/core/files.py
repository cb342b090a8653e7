"""Files: written so that a reader sees the old one or the new one, never half of one; known by their digest."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import secrets
from collections.abc import Iterator
from pathlib import Path

from personare.core.errors import OutputError


@contextlib.contextmanager
def atomic_path(path: Path) -> Iterator[Path]:
    """Give a temporary path beside ``path``; on success it takes its place, on failure it vanishes."""
    part = path.with_name(f".{path.stem[:40]}-{secrets.token_hex(4)}.part{path.suffix}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield part
        part.replace(path)
    except OSError as error:
        raise OutputError(f"{path}: cannot be written ({error.strerror or error})") from error
    finally:
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """Write UTF-8 text atomically."""
    with atomic_path(path) as part:
        part.write_text(text, encoding="utf-8")


def write_bytes(path: Path, content: bytes) -> None:
    """Write bytes atomically."""
    with atomic_path(path) as part:
        part.write_bytes(content)


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
