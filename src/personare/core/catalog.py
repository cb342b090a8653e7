"""One visible table per family of methods: a name, where its code lives, and how it is made from parameters."""

from __future__ import annotations

import dataclasses
import importlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import metadata
from typing import Any

from personare.core.config import from_mapping
from personare.core.errors import ConfigError, UnknownNameError, did_you_mean


@dataclass(frozen=True)
class Catalog:
    """A family of interchangeable methods; each is a frozen dataclass whose fields are its parameters.

    Parameters
    ----------
    kind : the word used in messages, e.g. ``"anonymizer"``; plug-ins join the entry point ``personare.<kind>s``.
    builtin : name -> ``"module:Class"``, imported only when asked for.
    """

    kind: str
    builtin: Mapping[str, str] = field(repr=False)

    def names(self) -> list[str]:
        """List every name, built in or from a plug-in."""
        return sorted({*self.builtin, *self._plugins()})

    def load(self, name: str) -> type:
        """Import the class behind a name."""
        target = self.builtin.get(name) or self._plugins().get(name)
        if target is None:
            raise UnknownNameError(f"no {self.kind} '{name}'; {did_you_mean(name, self.names())}")
        module, _, attribute = target.partition(":")
        try:
            found = getattr(importlib.import_module(module), attribute)
        except (ImportError, AttributeError) as error:
            raise ConfigError(f"{self.kind} '{name}' cannot be loaded from '{target}' ({error})") from error
        if not (isinstance(found, type) and dataclasses.is_dataclass(found)):
            raise ConfigError(f"{self.kind} '{name}' ({target}) is not a dataclass")
        return found

    def make(self, name: str, /, **parameters: Any) -> Any:
        """Make the method with these parameters; unknown names and wrong types are errors with a suggestion."""
        return from_mapping(self.load(name), parameters, where=name, noun="parameter")

    def _plugins(self) -> dict[str, str]:
        return {point.name: point.value for point in metadata.entry_points(group=f"personare.{self.kind}s")}
