"""One visible table per family of methods: a name, where its code lives, and how it is made from parameters.

A method joins in one of four ways: it is built in, an installed package names it under the entry point
``personare.<kind>s``, a program registers it (``Catalog.register``), or it is named by where it lies, ``module:Class``.
What a program has registered is one table for all kinds, which engines pass on to their workers.
"""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import itertools
import re
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import metadata
from pathlib import Path
from types import ModuleType
from typing import Any

from personare.core.config import from_mapping
from personare.core.errors import ConfigError, UnknownNameError, did_you_mean

_REGISTERED: dict[tuple[str, str], type] = {}  # (kind, name) -> class
_PLACE = re.compile(r"[^\W\d][\w.]*:[^\W\d]\w*")  # module:Class


@dataclass(frozen=True)
class Alias:
    """Another name of a method with settings; ``missing`` says what a method of this name needs that is not here."""

    method: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    missing: str = ""


@dataclass(frozen=True)
class Catalog:
    """A family of interchangeable methods; each is a frozen dataclass whose fields are its parameters.

    Parameters
    ----------
    kind : the word used in messages, e.g. ``"anonymizer"``; plug-ins join the entry point ``personare.<kind>s``.
    builtin : name -> ``"module:Class"``, imported only when asked for.
    needs : what every class must define: name of the method -> how it is called, for messages.
    aliases : further names, those of papers: each is a method with settings. Upper and lower case and spaces do not
        count, and a method's own name comes first.
    """

    kind: str
    builtin: Mapping[str, str] = field(repr=False)
    needs: Mapping[str, str] = field(default_factory=dict, repr=False)
    aliases: Mapping[str, Alias] = field(default_factory=dict, repr=False)

    @property
    def registered(self) -> dict[str, type]:
        """What this program has registered, by name."""
        return {name: cls for (kind, name), cls in _REGISTERED.items() if kind == self.kind}

    def names(self) -> list[str]:
        """List every name: built in, from a plug-in, or registered by this program."""
        return sorted({*self.builtin, *self._plugins(), *self.registered})

    def load(self, name: str) -> type:
        """Import the class behind a name, or behind ``module:Class``."""
        name = self.resolve(name)[0]
        if name in self.registered:
            return self.registered[name]
        target = self.builtin.get(name) or self._plugins().get(name)
        if target is None and ":" not in name:
            known = [*self.names(), *self.aliases]
            raise UnknownNameError(f"no {self.kind} '{name}'; {did_you_mean(name, known)}")
        target = target or name
        label = f"{self.kind} '{name}'" + (f" ({target})" if target != name else "")
        module, _, attribute = target.partition(":")
        return self._checked(_attribute(_imported(module, label), attribute, label), label)

    def resolve(self, name: str) -> tuple[str, Mapping[str, Any]]:
        """Give the method's own name and the settings that an alias stands for; a name of its own has none.

        >>> methods = Catalog("method", {"mcadams": "x:Y"}, aliases={"B2": Alias("mcadams", {"alpha": 0.8})})
        >>> methods.resolve("b2"), methods.resolve("mcadams")
        (('mcadams', {'alpha': 0.8}), ('mcadams', {}))
        """
        known = self.alias_of(name)
        if known is None:
            return name, {}
        alias = self.aliases[known]
        if alias.missing:
            raise ConfigError(f"{self.kind} '{known}' cannot be built here; missing: {alias.missing}")
        return alias.method, alias.settings

    def alias_of(self, name: str) -> str | None:
        """Give an alias as it is written in its paper; None where the name is another."""
        if not self.aliases or ":" in name or name in {*self.builtin, *self.registered, *self._plugins()}:
            return None
        return next((known for known in self.aliases if _form(known) == _form(name)), None)

    def summary(self, name: str) -> str:
        """Give the first line of what a method says of itself, as plain text: marks of code are for other readers."""
        return (inspect.getdoc(self.load(name)) or "").replace("``", "").partition("\n")[0]

    def register(self, name: str, cls: type) -> None:
        """Make a class known by a name in this program and in its workers."""
        if not name or ":" in name or name in self.builtin:
            rule = "is built in" if name in self.builtin else "cannot be a name"
            raise ConfigError(f"{self.kind} '{name}' {rule}; register it under another name")
        _REGISTERED[self.kind, name] = self._checked(cls, f"{self.kind} '{name}'")

    def forget(self, name: str) -> None:
        """Take a registered class out again."""
        _REGISTERED.pop((self.kind, name), None)

    def make(self, name: str, /, **parameters: Any) -> Any:
        """Make the method with these parameters; unknown names and wrong types are errors with a suggestion."""
        name, settings = self.resolve(name)
        parameters = {**settings, **parameters}
        cls = self.load(name)
        renamed: Mapping[str, str] = getattr(cls, "RENAMED", {})
        for old in parameters.keys() & renamed.keys():
            raise ConfigError(f"{name}: the parameter '{old}' is called '{renamed[old]}' now; write {renamed[old]}")
        try:
            return from_mapping(cls, parameters, where=name, noun="parameter")
        except NameError as error:  # annotations are read when a method is made
            raise ConfigError(
                f"{self.kind} '{name}': the type of a parameter is not imported ({error}); import it at the top"
            ) from None

    def name_of(self, cls: type) -> str:
        """Give the name by which a class can be loaded: its own in this catalog, else ``module:Class``."""
        for name, known in self.registered.items():
            if known is cls:
                return name
        place = f"{cls.__module__}:{cls.__qualname__}"
        targets = {**self._plugins(), **self.builtin}
        return next((name for name, target in targets.items() if target == place), place)

    def _checked(self, cls: object, label: str) -> type:
        if not (isinstance(cls, type) and dataclasses.is_dataclass(cls)):
            raise ConfigError(f"{label} is not a dataclass; write @dataclass(frozen=True) before a class")
        for method, call in self.needs.items():
            if not any(method in vars(base) for base in cls.__mro__):
                raise ConfigError(f"{label} has no {method}; give it {call}")
        return cls

    def _plugins(self) -> dict[str, str]:
        return _installed(f"personare.{self.kind}s", tuple(sys.path))


def _form(name: str) -> str:
    """The form in which names of papers compare: without spaces, in small letters."""
    return "".join(name.split()).casefold()


@lru_cache
def _installed(group: str, _path: tuple[str, ...]) -> dict[str, str]:
    """Read the plug-ins of a group; every package on ``_path`` is opened for it, so that it is done once."""
    return {point.name: point.value for point in metadata.entry_points(group=group)}


def allow_modules(words: Iterable[str], folder: Path) -> None:
    """Let every ``module:Class`` in these words name a file or package of ``folder``.

    The one place where a folder of the user's joins the path of Python: for words that a user has typed, or has
    written into a study, never for names read from data. A word may hold several names (``ecapa+my_module:Mine``).
    """
    for name in itertools.chain.from_iterable(re.split(r"[\s,+=]", word) for word in words):
        top = name.partition(":")[0].partition(".")[0]
        if _PLACE.fullmatch(name) and ((folder / f"{top}.py").is_file() or (folder / top).is_dir()):
            place = str(folder.resolve())
            if place not in sys.path:
                sys.path.append(place)  # last, so that nothing that is installed can be hidden by it
                importlib.invalidate_caches()


def registrations() -> dict[tuple[str, str], type]:
    """Give everything this program has registered, for its workers, who must be able to import it."""
    for (kind, name), cls in _REGISTERED.items():
        if "<locals>" in cls.__qualname__:
            rule = f"{kind} '{name}': its class is written inside a function, where worker processes cannot find it"
            raise ConfigError(f"{rule}; write it at the top of a file, or work in one process (jobs 1)")
    return dict(_REGISTERED)


def register_all(given: Mapping[tuple[str, str], type]) -> None:
    """Know in a worker what the program has registered that started it."""
    _REGISTERED.update(given)


def _imported(module: str, label: str) -> ModuleType:
    """Import a module; any failure is one line."""
    try:
        return importlib.import_module(module)
    except Exception as error:  # whatever a module of the user's own does while it is imported
        reason = next(iter(str(error).splitlines()), "") or type(error).__name__
        raise ConfigError(
            f"{label}: module '{module}' cannot be imported ({reason}); install it, or name its folder in PYTHONPATH"
        ) from error


def _attribute(module: ModuleType, name: str, label: str) -> object:
    try:
        return getattr(module, name)
    except AttributeError:
        classes = [known for known, value in vars(module).items() if isinstance(value, type)]
        hint = did_you_mean(name, classes)
        raise ConfigError(f"{label}: module '{module.__name__}' has no class '{name}'; {hint}") from None
