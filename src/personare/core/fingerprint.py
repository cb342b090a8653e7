"""Identity of a configured method: a short text that changes whenever the same input could give another output.

It is made from the built object, not from what a user typed: fields with their defaults filled in, files and folders by
their content, the models it uses by their SHA-256, and the version its class declares. So ``mcadams`` and
``mcadams {alpha: [0.8, 0.9]}`` are one system, and a retrained model or a new version of a method is another one.

A class takes part by being a dataclass. It declares

* ``VERSION`` (a whole number), raised whenever the same fields and the same input give another output; a class without
  one is identified by the text of its source file;
* ``MODELS``, the fetched models it uses (names of ``personare models list``), each pinned by its SHA-256;
* a folder ``shipped`` beside its code, or beside that of the class ``SHIPPED_BY``, where it brings models along.

Fields declared with ``field(compare=False)`` are no part of the identity, as they are none of ``==``.
"""

from __future__ import annotations

import dataclasses
import enum
import hashlib
import inspect
import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from personare.core.errors import ConfigError
from personare.core.files import file_digest, folder_digest

SHIPPED = "shipped"
DIGITS = 32


class Fingerprinted:
    """Gives a dataclass the property ``fingerprint``; the class says its ``VERSION`` and its ``MODELS``."""

    VERSION: ClassVar[int]
    MODELS: ClassVar[tuple[str, ...]] = ()

    @property
    def fingerprint(self) -> str:
        """The exact method: class, version, parameters and models."""
        return fingerprint(self)


@dataclass(frozen=True)
class SystemIdentity:
    """Which system made some speech: compared by its ``fingerprint`` alone, called by its ``name`` in messages."""

    fingerprint: str
    name: str = field(default="", compare=False)

    def __str__(self) -> str:
        return self.name or self.fingerprint[:12]


def fingerprint(obj: object) -> str:
    """Give the identity of a dataclass instance: hexadecimal, the same in every process and on every machine.

    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Gain:
    ...     VERSION: ClassVar[int] = 1
    ...     factor: float = 0.5
    >>> fingerprint(Gain()) == fingerprint(Gain(factor=0.50)), fingerprint(Gain()) == fingerprint(Gain(2))
    (True, False)
    """
    if not dataclasses.is_dataclass(obj) or isinstance(obj, type):
        raise ConfigError(f"only a dataclass has a fingerprint, not a {type(obj).__name__}")
    text = json.dumps(_described(obj), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:DIGITS]


def models_of(obj: object) -> dict[str, str]:
    """Give the SHA-256 of every model file an object uses, of its parts too: shipped with it, or fetched."""
    models: dict[str, str] = {}
    for part in (obj, *_parts(obj)):
        models.update(_own_models(type(part)))
    return models


def _described(obj: object) -> dict[str, Any]:
    cls = type(obj)
    fields = [one for one in dataclasses.fields(obj) if one.compare]  # type: ignore[arg-type]
    return {
        "class": _class_name(cls),
        "version": _version(cls),
        "models": _own_models(cls),
        "fields": {f.name: _canonical(getattr(obj, f.name), where=f"{cls.__name__}.{f.name}") for f in fields},
    }


def _class_name(cls: type) -> str:
    """Name a class; a worker process calls the module of the user's script by another name."""
    module = "__main__" if cls.__module__ == "__mp_main__" else cls.__module__
    return f"{module}.{cls.__qualname__}"


def _version(cls: type) -> list[Any]:
    """The versions of a class and of those it builds on; without any, its source."""
    versions: list[Any] = [[base.__name__, vars(base)["VERSION"]] for base in cls.__mro__ if "VERSION" in vars(base)]
    return versions or ["source", _source_digest(cls)]


def _source_digest(cls: type) -> str:
    place = _module_file(cls)
    if place is not None:
        return file_digest(place)
    try:
        return hashlib.sha256(inspect.getsource(cls).encode()).hexdigest()
    except (OSError, TypeError):
        raise ConfigError(
            f"{cls.__name__} has no VERSION and its source cannot be read, so that nobody can tell it from a changed "
            "one; write VERSION: ClassVar[int] = 1 into it"
        ) from None


def _module_file(cls: type) -> Path | None:
    place = getattr(sys.modules.get(cls.__module__), "__file__", None)
    return Path(place) if place and Path(place).is_file() else None


def _own_models(cls: type) -> dict[str, str]:
    from personare.core.weights import known

    names: tuple[str, ...] = getattr(cls, "MODELS", ())
    fetched = {f"{name}/{Path(member).name}": sha for name in names for member, sha in known(name).files.items()}
    place = _module_file(getattr(cls, "SHIPPED_BY", cls))
    folder = place.parent / SHIPPED if place else None
    if folder is None or not folder.is_dir():
        return fetched
    files = [path for path in sorted(folder.rglob("*")) if path.is_file() and "__pycache__" not in path.parts]
    return fetched | {f"{SHIPPED}/{path.relative_to(folder).as_posix()}": file_digest(path) for path in files}


def _parts(obj: object) -> list[object]:
    """The dataclasses inside a dataclass, however deep."""
    parts: list[object] = []
    for value in _values(obj):
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            parts += [value, *_parts(value)]
        elif isinstance(value, Mapping | list | tuple):
            parts += _parts(value)
    return parts


def _values(obj: object) -> list[object]:
    if isinstance(obj, Mapping):
        return list(obj.values())
    if isinstance(obj, list | tuple):
        return list(obj)
    return [getattr(obj, one.name) for one in dataclasses.fields(obj)]  # type: ignore[arg-type]


def _canonical(value: Any, *, where: str) -> Any:
    """Turn a value into plain JSON in which equal settings are equal: 1 and 1.0, lists and tuples, paths by content."""
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, enum.Enum):
        return _canonical(value.value, where=where)
    if isinstance(value, np.generic):
        return _canonical(value.item(), where=where)
    if isinstance(value, int | float):
        as_float = float(value)
        return as_float + 0.0 if as_float == value else str(value)  # + 0.0: no negative zero; NaN equals itself
    if isinstance(value, Path):
        return path_identity(value)
    if isinstance(value, np.ndarray):
        plain = np.ascontiguousarray(value)
        return {"array": hashlib.sha256(plain.tobytes()).hexdigest(), "type": str(plain.dtype), "shape": plain.shape}
    if isinstance(value, Mapping):
        return {str(name): _canonical(one, where=f"{where}.{name}") for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_canonical(one, where=where) for one in value]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        own = getattr(value, "fingerprint", None)
        return {"fingerprint": own} if isinstance(own, str) else _described(value)
    kind = type(value).__name__
    raise ConfigError(f"{where}: a value of type {kind} has no fingerprint; use numbers, texts, paths or arrays")


def path_identity(path: Path) -> dict[str, str]:
    """A path by what lies there: a file's or a folder's digest; by its name where nothing does."""
    if path.is_file():
        return {"file": file_digest(path)}
    return {"folder": folder_digest(path)} if path.is_dir() else {"missing": str(path)}
