"""Study files: every wrong key and value is named, not only the first; and a study can be written as a file."""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from personare.core.config import coerce, parse_yaml, unknown_key
from personare.core.errors import ConfigError
from personare.pipeline.study import (
    AttackerChoice,
    Bound,
    CorpusChoice,
    ListenerChoice,
    Study,
    read_study,
)

ENTRIES: dict[str, Any] = {"corpora": CorpusChoice, "attackers": AttackerChoice, "listeners": ListenerChoice}


def file_problems(path: Path) -> list[str]:
    """List everything in a study file that cannot be read as a study; none means that ``read_study`` works."""
    try:
        read_study(path)
        return []
    except ConfigError as error:
        first = str(error)
    try:
        found = parse_yaml(path.read_text(encoding="utf-8"), where=str(path))
    except (ConfigError, OSError, UnicodeDecodeError):
        return [first]
    if not isinstance(found, Mapping):
        return [first]
    lines = list(dict.fromkeys(_problems(found, str(path))))
    return lines or [first]


def _problems(found: Mapping[Any, Any], where: str) -> Iterator[str]:
    hints = typing.get_type_hints(Study)
    fields = {f.name: f for f in dataclasses.fields(Study)}
    for name, value in found.items():
        if name not in fields:
            yield unknown_key(Study, name, where=where)
        elif name in ENTRIES and isinstance(value, Mapping):
            for label, entry in value.items():
                yield from _problem(entry if entry is not None else {}, ENTRIES[name], f"{where}: {name}.{label}")
        elif name == "bounds" and isinstance(value, list):
            for number, entry in enumerate(value):
                yield from _problem(entry, Bound, f"{where}: bounds[{number}]")
        else:
            yield from _problem(value, hints[name], f"{where}: {name}")
    needed = [f.name for f in fields.values() if f.default is f.default_factory is dataclasses.MISSING]
    yield from (f"{where} needs the key '{name}'" for name in needed if name not in found)


def _problem(value: Any, hint: Any, where: str) -> Iterator[str]:
    try:
        coerce(value, hint, where=where)
    except ConfigError as error:
        line = str(error)
        yield line if line.startswith(where) else f"{where}: {line}"


def study_text(study: Study) -> str:
    """Write a study as the YAML file that would give it: what differs from the defaults, paths as text."""
    import yaml

    return yaml.safe_dump(_plain(study), sort_keys=False, allow_unicode=True)


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        kept = {}
        for each in dataclasses.fields(value):
            given = getattr(value, each.name)
            default = each.default_factory() if callable(each.default_factory) else each.default
            if given != default or each.default is each.default_factory is dataclasses.MISSING:
                kept[each.name] = _plain(given)
        return kept
    if isinstance(value, Mapping):
        return {str(name): _plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    return str(value) if isinstance(value, Path) else value
