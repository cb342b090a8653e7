"""Which methods can be chosen by their name alone: what each does, in one sentence, and what it needs to work."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec

from personare.anonymizers import ANONYMIZERS, models_needed
from personare.anonymizers.presets import PRESETS
from personare.core.errors import PersonareError, install_command
from personare.core.weights import missing


@dataclass(frozen=True)
class OfferedMethod:
    """A method with its usual parameters.

    Parameters
    ----------
    summary : what it does, in its own words.
    needs : what must be done before it works, as a command; nothing where everything is there.
    strength : the strength that is this method as it is; nothing where none is.
    """

    name: str
    summary: str
    needs: str
    strength: str


def offered_methods() -> list[OfferedMethod]:
    """List every method of the catalog that hides voices without parameters: built in, installed or registered.

    >>> {"formants", "usc", "world"} <= {method.name for method in offered_methods() if not method.strength}
    True
    """
    strengths = {preset.method: preset.name for preset in PRESETS.values() if not preset.parameters}
    methods = []
    for name in ANONYMIZERS.names():
        try:
            cls = ANONYMIZERS.load(name)
        except PersonareError as error:  # somebody's plug-in: the others must not suffer from it
            methods.append(OfferedMethod(name, "", str(error), ""))
            continue
        if getattr(cls, "OFFERED", True) and not _parameters_without_default(cls):
            methods.append(OfferedMethod(name, ANONYMIZERS.summary(name), needs(name), strengths.get(name, "")))
    return methods


def needs(name: str) -> str:
    """Say how to get what a method lacks: models to fetch, and extras to install.

    >>> needs("mcadams")
    ''
    """
    models = missing(*models_needed(name))
    libraries: Mapping[str, str] = getattr(ANONYMIZERS.load(name), "LIBRARIES", {})
    extras = dict.fromkeys(extra for library, extra in libraries.items() if find_spec(library) is None)
    commands = [install_command(*extras)] if extras else []
    return " && ".join([*commands, *([f"personare models fetch {' '.join(models)}"] if models else [])])


def _parameters_without_default(cls: type) -> bool:
    absent = dataclasses.MISSING
    fields = dataclasses.fields(cls)  # a catalog takes nothing else
    return any(one.init and one.default is absent and one.default_factory is absent for one in fields)
