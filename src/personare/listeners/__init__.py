"""Friendly ears: what a machine still hears (words, pitch, emotion, quality)."""

from __future__ import annotations

from typing import Any, cast

from personare.core.catalog import Catalog
from personare.core.protocols import Listener

BUILTIN = {
    "moonshine": "personare.listeners.moonshine:Moonshine",
    "whisper": "personare.listeners.whisper:Whisper",
}
LISTENERS = Catalog("listener", BUILTIN)


def listener(name: str, /, **parameters: Any) -> Listener:
    """Make a listener by name; unknown names and parameters are errors with a suggestion."""
    return cast(Listener, LISTENERS.make(name, **parameters))
