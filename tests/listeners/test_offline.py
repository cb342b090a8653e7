"""No listener needs a network: every one of them is loaded anew and observes with all sockets forbidden."""

from __future__ import annotations

import socket
from typing import Any, NoReturn

import pytest

from conftest import hum
from personare.core.observations import Stimulus
from personare.encoders import moonshine, swift
from personare.listeners import BUILTIN, dnsmos, listener, visqol, whisper
from personare.listeners.attributes import Attributes

NEEDS_A_FILE = {"ctc", "affect"}  # a model of the user's own: nothing that could be fetched
for library in ("pyworld", "pesq", "pystoi", "visqol", "faster_whisper"):
    pytest.importorskip(library, reason="needs the extras 'asr', 'pitch' and 'quality'")


@pytest.fixture
def nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forbid every connection and every question for an address; forget models that are loaded."""

    def refuse(*_: Any, **__: Any) -> NoReturn:
        raise AssertionError("something wanted to reach the network")

    for name in ("connect", "connect_ex", "sendto"):
        monkeypatch.setattr(socket.socket, name, refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    for load in (moonshine._networks, whisper._model, dnsmos._network, visqol._judge, swift._model):
        load.cache_clear()


@pytest.mark.models
@pytest.mark.usefixtures("nowhere")
@pytest.mark.parametrize("name", sorted(set(BUILTIN) - NEEDS_A_FILE))
def test_no_listener_reaches_out(name: str) -> None:
    sound = hum(1, duration_s=1.2)
    assert len(listener(name).observe([Stimulus(sound, sound)])) == 1


@pytest.mark.usefixtures("nowhere")
def test_no_guess_reaches_out() -> None:
    assert len(Attributes()([hum(1, duration_s=1.2)])) == 1
