"""Machine listeners: what programs still observe in anonymized speech (words, pitch, expression, quality, affect).

``BUILTIN`` is the one table of listeners. A listener of your own is a frozen dataclass that extends
``personare.core.protocols.Listener``; it joins by the entry point ``personare.listeners`` or is named ``module:Class``.
"""

from __future__ import annotations

import typing
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from personare.core.catalog import Catalog
from personare.core.errors import ConfigError
from personare.core.protocols import Listener

BUILTIN = {
    "moonshine": "personare.listeners.moonshine:Moonshine",
    "whisper": "personare.listeners.whisper:Whisper",
    "whisper-base": "personare.listeners.multilingual:WhisperBase",
    "whisper-small": "personare.listeners.multilingual:WhisperSmall",
    "ctc": "personare.listeners.ctc:Ctc",
    "faithfulness": "personare.listeners.faithfulness:Faithfulness",
    "pitch": "personare.listeners.pitch:WorldPitch",
    "pitch-swift": "personare.listeners.swift_pitch:SwiftPitch",
    "pesq": "personare.listeners.pesq:Pesq",
    "stoi": "personare.listeners.stoi:Stoi",
    "estoi": "personare.listeners.stoi:Estoi",
    "visqol": "personare.listeners.visqol:Visqol",
    "dnsmos": "personare.listeners.dnsmos:Dnsmos",
    "affect": "personare.listeners.affect:Affect",
    "emotion": "personare.listeners.emotion:Emotion",
    "emotion-spectrum": "personare.listeners.emotion:EmotionSpectrum",
    "expression": "personare.listeners.expression:Expression",
}
LISTENERS = Catalog("listener", BUILTIN)


def listener(name: str, /, **parameters: Any) -> Listener:
    """Make a listener by name; unknown names and parameters are errors with a suggestion.

    ``ctc:my-recognizer`` is short for the listener ``ctc`` with ``folder="my-recognizer"``.
    """
    name, given = named(name)
    argument = listener_class(name).argument
    if argument is not None and argument not in {**given, **parameters}:
        raise ConfigError(f"listener '{name}' needs a {argument} of your own; write {name}:{argument.upper()}")
    return cast(Listener, LISTENERS.make(name, **{**given, **parameters}))


def listener_class(name: str) -> type[Listener]:
    """Import the class behind a name; what does not extend Listener is refused."""
    found = LISTENERS.load(name)
    if Listener not in found.__mro__:
        raise ConfigError(f"listener '{name}': {found.__name__} must extend personare.core.protocols.Listener")
    return found


def named(name: str) -> tuple[str, dict[str, Any]]:
    """Take ``name:VALUE`` apart into the name in the table and the parameter that VALUE is.

    >>> named("ctc:my-recognizer"), named("pesq"), named("my_module:MyListener")
    (('ctc', {'folder': 'my-recognizer'}), ('pesq', {}), ('my_module:MyListener', {}))
    """
    head, colon, value = name.partition(":")
    if not colon or head not in LISTENERS.names():
        return name, {}
    argument = listener_class(head).argument
    if argument is None:
        raise ConfigError(f"listener '{head}' takes nothing after a colon, not '{value}'; write {head}")
    return head, {argument: value}


def located(name: str, parameters: Mapping[str, Any], folder: Path) -> tuple[str, dict[str, Any]]:
    """Give the name in the table and all parameters; relative paths among them are taken from ``folder``."""
    name, given = named(name)
    hints = typing.get_type_hints(listener_class(name))
    found = {**given, **parameters}
    for key, value in found.items():
        is_path = hints.get(key) is Path or Path in typing.get_args(hints.get(key))
        if is_path and isinstance(value, str | Path):
            found[key] = str((folder / Path(value).expanduser()).resolve())
    return name, found
