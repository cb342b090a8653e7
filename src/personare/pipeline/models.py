"""The exact models a method brings along: when shipped weights change, what was hidden with them is hidden again.

A method keeps its models in a folder ``shipped`` beside its code, or names files of the user's own in its settings.
"""

from __future__ import annotations

import functools
import hashlib
import inspect
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from personare.anonymizers import ANONYMIZERS
from personare.core.weights import file_sha256

SHIPPED = "shipped"
_LONGEST_PATH = 1000


def models_of(method: str, parameters: Mapping[str, Any]) -> dict[str, str]:
    """Give the SHA-256 of every file that is shipped with a method, and with every method of a chain.

    >>> models_of("mcadams", {})
    {}
    >>> sorted(models_of("xvector", {})) == sorted(models_of("chain", {"steps": [{"name": "xvector"}]}))
    True
    """
    if method == "chain":
        steps = [(step["name"], step.get("parameters") or {}) for step in parameters.get("steps", ())]
        return {name: sha for one, given in steps for name, sha in models_of(one, given).items()}
    folder = Path(inspect.getfile(ANONYMIZERS.load(method))).parent / SHIPPED
    return {f"{method}/{name}": sha for name, sha in _hashes(folder).items()} if folder.is_dir() else {}


def file_marks(value: Any) -> Any:
    """Put content in the place of its path, wherever a setting names a file or a folder: a changed file is a change."""
    if isinstance(value, Mapping):
        return {str(key): file_marks(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [file_marks(one) for one in value]
    if not isinstance(value, str | Path) or len(str(value)) > _LONGEST_PATH or "/" not in str(value):
        return str(value) if isinstance(value, Path) else value
    path = Path(value)
    if path.is_dir():
        return f"folder {hashlib.sha256(repr(sorted(_hashes(path).items())).encode()).hexdigest()}"
    return f"file {_sha256(path, *_state(path))}" if path.is_file() else str(value)


def _hashes(folder: Path) -> dict[str, str]:
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    return {path.relative_to(folder).as_posix(): _sha256(path, *_state(path)) for path in files}


def _state(path: Path) -> tuple[int, int]:
    found = path.stat()
    return found.st_size, found.st_mtime_ns


@functools.lru_cache(maxsize=256)
def _sha256(path: Path, _size: int, _changed_ns: int) -> str:
    """Hash a file once, for as long as it does not change."""
    return file_sha256(path)
