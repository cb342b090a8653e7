"""Friendly ears: what a machine still hears (words, pitch, quality, emotion, attributes).

A listener hears one sound at a time; a comparison hears an original beside its anonymized version.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol, cast

from personare.core.catalog import Catalog
from personare.core.protocols import Listener

if TYPE_CHECKING:
    from personare.core.audio import Audio

BUILTIN = {
    "moonshine": "personare.listeners.moonshine:Moonshine",
    "whisper": "personare.listeners.whisper:Whisper",
    "ctc": "personare.listeners.ctc:Ctc",
    "pitch": "personare.listeners.pitch:WorldPitch",
    "pitch-swift": "personare.listeners.swift_pitch:SwiftPitch",
    "dnsmos": "personare.listeners.dnsmos:Dnsmos",
    "paralinguistics": "personare.listeners.paralinguistics:Paralinguistics",
    "attributes": "personare.listeners.attributes:Attributes",
    "affect": "personare.listeners.affect:Affect",
}
COMPARED = {
    "pesq": "personare.listeners.pesq:Pesq",
    "stoi": "personare.listeners.stoi:Stoi",
    "estoi": "personare.listeners.stoi:Estoi",
    "visqol": "personare.listeners.visqol:Visqol",
}
LISTENERS = Catalog("listener", BUILTIN)
COMPARISONS = Catalog("comparison", COMPARED)


class Comparison(Protocol):
    """A friendly ear with the original beside it: a batch of (original, anonymized) in, one number each out."""

    def __call__(self, batch: Sequence[tuple[Audio, Audio]]) -> Sequence[float]:
        """Compare."""
        ...


def listener(name: str, /, **parameters: Any) -> Listener:
    """Make a listener by name; unknown names and parameters are errors with a suggestion.

    ``ctc:my-recognizer`` is short for the listener ``ctc`` with ``folder="my-recognizer"``.
    """
    known, colon, folder = name.partition(":")
    if colon and known in LISTENERS.names():
        name, parameters = known, {"folder": folder, **parameters}
    return cast(Listener, LISTENERS.make(name, **parameters))


def comparison(name: str, /, **parameters: Any) -> Comparison:
    """Make a comparison by name; unknown names and parameters are errors with a suggestion."""
    return cast(Comparison, COMPARISONS.make(name, **parameters))
