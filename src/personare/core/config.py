"""Strict configuration: YAML becomes dataclasses; an unknown key or a wrong type is an error with a suggestion."""

from __future__ import annotations

import dataclasses
import enum
import re
import types
import typing
from collections.abc import Hashable, Mapping
from pathlib import Path
from typing import Any, Literal, TypeVar, Union

import yaml

from personare.core.errors import ConfigError, did_you_mean

T = TypeVar("T")
_DEEPEST, _MOST_VALUES, _LONGEST_NUMBER_BITS = 40, 50_000, 256


class _StrictLoader(yaml.SafeLoader):
    """The safe loader, which also refuses a key written twice (YAML itself would keep the last)."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        seen = set()
        for key_node, _ in node.value:
            key = self.construct_object(key_node, deep=True)
            if not isinstance(key, Hashable):
                raise ConfigError(f"line {key_node.start_mark.line + 1}: a key must be a plain word")
            if key in seen:
                raise ConfigError(f"line {key_node.start_mark.line + 1}: key '{key}' is written twice")
            seen.add(key)
        return super().construct_mapping(node, deep)


# nothing here is a date: 2024-01-31 is a word, and 2024-13-32 no crash
_StrictLoader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
# YAML 1.1 takes 1e-3 for a word, YAML 1.2 and everybody else for a number
_StrictLoader.add_implicit_resolver(
    "tag:yaml.org,2002:float", re.compile(r"[-+]?(\d+\.?\d*|\.\d+)[eE][-+]?\d+$"), list("-+.0123456789")
)


def parse_yaml(text: str, *, where: str) -> Any:
    """Parse YAML text with the safe loader; any fault is one line."""
    try:
        found = yaml.load(text, Loader=_StrictLoader)  # noqa: S506 - a SafeLoader with one more check
        _refuse_monsters(found)
        return found
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else "?"
        raise ConfigError(f"{where}: not YAML at line {line} ({error.problem})") from None
    except yaml.YAMLError as error:
        raise ConfigError(f"{where}: not YAML ({str(error).splitlines()[0]})") from None
    except ConfigError as error:
        raise ConfigError(f"{where}: {error}") from None
    except RecursionError:
        raise ConfigError(f"{where}: nested more than {_DEEPEST} levels deep") from None
    except (ValueError, OverflowError) as error:  # numbers of thousands of digits, impossible dates
        raise ConfigError(f"{where}: holds a value that cannot be read ({str(error).splitlines()[0][:80]})") from None


def _refuse_monsters(found: Any) -> None:
    """Refuse what no setting needs and what later steps would stumble over: endless nesting, giants, half letters."""
    waiting, seen = [(found, 0)], 0
    while waiting:
        value, depth = waiting.pop()
        seen += 1
        if depth > _DEEPEST or seen > _MOST_VALUES:
            much = f"nested more than {_DEEPEST} levels deep" if depth > _DEEPEST else "holds too many values"
            raise ConfigError(much)
        if isinstance(value, int) and value.bit_length() > _LONGEST_NUMBER_BITS:
            raise ConfigError("holds a number of too many digits")
        if isinstance(value, str) and any("\ud800" <= letter <= "\udfff" for letter in value):
            raise ConfigError("holds half of a letter (a surrogate), which no file can hold")
        if isinstance(value, Mapping):
            waiting += [(one, depth + 1) for pair in value.items() for one in pair]
        elif isinstance(value, list | tuple | set):
            waiting += [(one, depth + 1) for one in value]


def load_yaml(cls: type[T], path: Path) -> T:
    """Read a YAML file into the dataclass ``cls``."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise ConfigError(f"{path}: no such file") from None
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: cannot be read as text ({error})") from None
    found = parse_yaml(text, where=str(path))
    if not isinstance(found, Mapping):
        raise ConfigError(f"{path}: must hold keys and values at the top, not {_kind(found)}")
    return from_mapping(cls, found, where=str(path))


def from_mapping(cls: type[T], mapping: Mapping[Any, Any], *, where: str, noun: str = "key") -> T:
    """Make the dataclass ``cls`` from a mapping; every key must be one of its fields and have its type.

    A class may say in ``RENAMED`` (old name -> new name) what its keys were called before: the error names the new one.
    ``RETIRED`` (``name`` or ``name=value`` -> what to write instead) is for keys and values that it has no more.
    """
    hints = typing.get_type_hints(cls)
    fields = {f.name: f for f in dataclasses.fields(cls) if f.init}  # type: ignore[arg-type]
    renamed: Mapping[str, str] = getattr(cls, "RENAMED", {})
    retired: Mapping[str, str] = getattr(cls, "RETIRED", {})
    for name, value in mapping.items():
        for typed in (str(name), f"{name}={value}"):
            if typed in retired:
                raise ConfigError(f"{where} has no {noun} '{typed}' any more; {retired[typed]}")
        if name in renamed:
            raise ConfigError(f"{where}: the {noun} '{name}' is called '{renamed[name]}' now; write that")
        if name not in fields:
            raise ConfigError(unknown_key(cls, name, where=where, noun=noun))
    missing = [
        f.name
        for f in fields.values()
        if f.name not in mapping and f.default is dataclasses.MISSING and f.default_factory is dataclasses.MISSING
    ]
    if missing:
        raise ConfigError(f"{where} needs the {noun} '{missing[0]}'")
    values = {name: coerce(value, hints[name], where=f"{where}: {name}") for name, value in mapping.items()}
    try:
        return cls(**values)
    except ValueError as error:
        raise ConfigError(f"{where}: {error}") from None


def unknown_key(cls: type, name: Any, *, where: str, noun: str = "key") -> str:
    """Say that a dataclass has no such field; one that was renamed (``RENAMED`` of the class) is told its new name."""
    renamed: Mapping[str, str] = getattr(cls, "RENAMED", {})
    if name in renamed:
        return f"{where}: the {noun} '{name}' is called '{renamed[name]}' now"
    return f"{where} has no {noun} '{name}'; {did_you_mean(str(name), [f.name for f in dataclasses.fields(cls)])}"


def coerce(value: Any, hint: Any, *, where: str) -> Any:
    """Turn a plain YAML value into the type ``hint``, or say what was expected."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if hint is Any:
        return value
    if origin in (Union, types.UnionType):
        return _coerce_union(value, arguments, where=where)
    if origin is Literal:
        if value in arguments and not isinstance(value, bool):
            return value
        raise ConfigError(f"{where}: {value!r} is not allowed; {did_you_mean(str(value), map(str, arguments))}")
    if origin in (tuple, list):
        return _coerce_sequence(value, origin, arguments, where=where)
    if origin in (dict, Mapping) or (isinstance(origin, type) and issubclass(origin, Mapping)):
        if not isinstance(value, Mapping):
            raise ConfigError(f"{where}: expected keys and values, found {_kind(value)}")
        return {
            coerce(k, arguments[0], where=where): coerce(v, arguments[1], where=f"{where}.{k}")
            for k, v in value.items()
        }
    return _coerce_plain(value, hint, where=where)


def _coerce_plain(value: Any, hint: Any, *, where: str) -> Any:
    if dataclasses.is_dataclass(hint):
        if isinstance(value, hint):  # type: ignore[arg-type]
            return value
        if not isinstance(value, Mapping):
            raise ConfigError(f"{where}: expected keys and values, found {_kind(value)}")
        return from_mapping(hint, value, where=where)  # type: ignore[arg-type]
    if isinstance(hint, type) and issubclass(hint, enum.Enum):
        try:
            return hint(value)
        except ValueError:
            raise ConfigError(f"{where}: {value!r}; {did_you_mean(str(value), [str(m.value) for m in hint])}") from None
    if hint is float and isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    if hint is Path and isinstance(value, str):
        return Path(value)
    if isinstance(hint, type) and isinstance(value, hint) and not (hint is int and isinstance(value, bool)):
        return value
    raise ConfigError(f"{where}: expected {_kind_of_type(hint)}, found {_kind(value)}")


def _coerce_union(value: Any, arguments: tuple[Any, ...], *, where: str) -> Any:
    if value is None and type(None) in arguments:
        return None
    for argument in arguments:
        if argument is type(None):
            continue
        try:
            return coerce(value, argument, where=where)
        except ConfigError:
            continue
    expected = " or ".join(_kind_of_type(a) for a in arguments)
    raise ConfigError(f"{where}: expected {expected}, found {_kind(value)}")


def _coerce_sequence(value: Any, origin: type, arguments: tuple[Any, ...], *, where: str) -> Any:
    if not isinstance(value, list | tuple):
        raise ConfigError(f"{where}: expected a list, found {_kind(value)}")
    if origin is tuple and not (len(arguments) == 2 and arguments[1] is Ellipsis):
        if len(value) != len(arguments):
            raise ConfigError(f"{where}: expected {len(arguments)} values, found {len(value)}")
        inner = list(arguments)
    else:
        inner = [arguments[0]] * len(value)
    items = [coerce(v, a, where=f"{where}[{i}]") for i, (v, a) in enumerate(zip(value, inner, strict=True))]
    return tuple(items) if origin is tuple else items


def _kind(value: Any) -> str:
    word = _kind_of_type(type(value))
    return word if isinstance(value, dict | list) else f"{word} {value!r}"


def _kind_of_type(hint: Any) -> str:
    words = {
        int: "a whole number",
        float: "a number",
        str: "a text",
        bool: "true or false",
        list: "a list",
        dict: "keys and values",
        type(None): "nothing",
        Path: "a path",
    }
    origin = typing.get_origin(hint)
    if origin is tuple:
        return f"a list of {len(typing.get_args(hint))} values" if Ellipsis not in typing.get_args(hint) else "a list"
    return words.get(hint, words.get(origin, getattr(hint, "__name__", str(hint))))
