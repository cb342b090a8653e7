"""--set on the command line: parameters of one method (name=value), or of several by their names (member.name=value).

Values are read as YAML, as in a study file, so that ranges are ``[0.5, 0.9]``.
"""

from __future__ import annotations

from typing import Any

from personare.core.config import parse_yaml
from personare.core.errors import ConfigError


def parse_settings(words: list[str] | None) -> dict[str, Any]:
    """Read the parameters of one method.

    >>> parse_settings(["alpha=[0.5, 0.9]", "name=x"])
    {'alpha': [0.5, 0.9], 'name': 'x'}
    """
    parameters: dict[str, Any] = {}
    for word in words or []:
        name, equals, value = word.partition("=")
        if not equals or not name:
            raise ConfigError(f"--set {word}: write name=value, e.g. --set alpha=0.8")
        if name in parameters:
            raise ConfigError(f"--set {name} is given twice")
        parameters[name] = parse_yaml(value, where=f"--set {name}")
    return parameters


def parse_member_settings(words: list[str] | None, *, kind: str, example: str) -> dict[str, dict[str, Any]]:
    """Read the parameters of several members of a family (``kind``: listener, generator), by the member's name.

    >>> parse_member_settings(["b1.farthest=50", "b1.average=10"], kind="generator", example="b1.farthest=50")
    {'b1': {'farthest': 50, 'average': 10}}
    """
    settings: dict[str, dict[str, Any]] = {}
    for word in words or []:
        place, equals, value = word.partition("=")
        name, dot, parameter = place.rpartition(".")
        if not (equals and dot and name and parameter):
            raise ConfigError(f"--set {word}: write {kind}.parameter=value, e.g. {example}")
        if parameter in settings.setdefault(name, {}):
            raise ConfigError(f"--set {place} is given twice")
        settings[name][parameter] = parse_yaml(value, where=f"--set {word}")
    return settings
