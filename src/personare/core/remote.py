"""A folder on another file system (a bucket), by its URL: files are fetched from it and put into it (extra ``bucket``).

The library fsspec knows the kinds of file system; credentials are theirs to find (environment, configuration, role) and
are refused in a URL, which is written down. What is put is read back and compared by its digest. Errors name the
file and the kind of error only: what a service says may hold a signed address.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import Any

from personare.core.errors import AudioError, ConfigError, MissingExtraError, OutputError

_URL = re.compile(r"[a-z][a-z0-9+.-]*://[^\s?#@\\]*")
_CHUNK_BYTES = 1 << 20


@dataclass(frozen=True)
class RemoteFolder:
    """A folder by its URL, such as ``s3://bucket/recordings`` or ``file:///mnt/recordings``; can be sent to workers."""

    url: str

    def __post_init__(self) -> None:
        if not _URL.fullmatch(self.url):
            raise ConfigError(
                f"'{re.sub(r'[@?#].*|//.*(?=@)', '...', self.url)}' is no URL of a folder; write e.g. "
                "s3://bucket/folder, without credentials, which belong into the environment"
            )

    def check(self) -> None:
        """Refuse a kind of file system that nobody here knows."""
        _opened(self.url)

    def fetch(self, name: str, place: Path) -> bool:
        """Copy a file of the folder to ``place``; tells whether it is there."""
        system, root = _opened(self.url)
        source = _below(root, name)
        try:
            with system.open(source, "rb") as stream, place.open("wb") as copy:
                while part := stream.read(_CHUNK_BYTES):
                    copy.write(part)
        except FileNotFoundError:
            return False
        except Exception as error:  # file systems raise exceptions of their own
            raise AudioError(f"{self.url}/{name}: cannot be fetched ({type(error).__name__})") from None
        return True

    def put(self, name: str, content: bytes) -> None:
        """Write a file of the folder, and read it back: it is there when this returns."""
        system, root = _opened(self.url)
        place = _below(root, name)
        with self._putting(name):
            system.makedirs(place.rpartition("/")[0], exist_ok=True)
            system.pipe_file(place, content)
        if self.digest(name) != hashlib.sha256(content).hexdigest():
            raise OutputError(f"{self.url}/{name}: what is there is not what was put")

    def digest(self, name: str) -> str | None:
        """Read a file and give its SHA-256; None where it is not there."""
        system, root = _opened(self.url)
        place, digest = _below(root, name), hashlib.sha256()
        try:
            with system.open(place, "rb") as stream:
                while part := stream.read(_CHUNK_BYTES):
                    digest.update(part)
        except FileNotFoundError:
            return None
        except Exception as error:
            raise OutputError(f"{self.url}/{name}: cannot be read back ({type(error).__name__})") from None
        return digest.hexdigest()

    def remove(self, name: str) -> None:
        """Remove a file, if it is there."""
        system, root = _opened(self.url)
        place = _below(root, name)
        with self._putting(name):
            if system.exists(place):
                system.rm_file(place)

    def names(self, below: str) -> set[str]:
        """List the files in a folder of the folder, with its name."""
        system, root = _opened(self.url)
        with self._putting(below):
            system.invalidate_cache()
            if not system.exists(_below(root, below)):
                return set()
            base = root.rstrip("/") + "/"
            return {str(place).removeprefix(base) for place in system.find(_below(root, below))}

    @contextmanager
    def _putting(self, name: str) -> Iterator[None]:
        try:
            yield
        except Exception as error:
            raise OutputError(f"{self.url}/{name}: cannot be written ({type(error).__name__})") from None


def _below(root: str, name: str) -> str:
    """Join a relative name; nothing that a list says may lead out of the folder."""
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or "\\" in name or "://" in name:
        raise ConfigError(f"'{name[:80]}' must be a path below the folder, without ..")
    return f"{root.rstrip('/')}/{path}"


@lru_cache(maxsize=8)
def _opened(url: str) -> tuple[Any, str]:
    """Open the file system of a URL, once per process."""
    try:
        from fsspec.core import url_to_fs
    except ImportError:
        raise MissingExtraError("bucket", url) from None
    try:
        system, root = url_to_fs(url)
    except Exception as error:  # an unknown kind, or a library that it needs and that is not there
        kind = url.partition("://")[0]
        raise ConfigError(
            f"{url}: no file system '{kind}' can be opened here ({type(error).__name__}); fsspec names the library "
            "that each kind needs, e.g. s3fs, gcsfs, adlfs"
        ) from None
    return system, str(root)
