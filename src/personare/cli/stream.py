"""personare stream: hide a voice while it is spoken, from a pipe into a pipe."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from personare.cli import show

if TYPE_CHECKING:
    from personare.pipeline.system import System

USUAL_RATE_HZ = 16_000


def stream(
    method: str = typer.Option(
        "mcadams", help="How to hide the voice, by name or module:Class; only frame-based methods can do it live."
    ),
    rate_hz: int | None = typer.Option(
        None, "--rate", metavar="HZ", help="Sample rate of the stream, 8000 to 48000.  [16000, and says so]"
    ),
    settings: list[str] | None = typer.Option(None, "--set", metavar="NAME=VALUE", help="A parameter of the method."),
    key: Path | None = typer.Option(None, metavar="FILE", help="A key file; without it chance is fresh every time."),
    name: str = typer.Option("stream", help="With --key: the speaker's name, so that their new voice stays the same."),
) -> None:
    """Hide a voice live: raw samples from standard input to standard output.

    Samples are 16-bit, little-endian, mono. Nothing is stored. Each run draws a
    new voice; a key and a name keep it. The delay is 30 ms for mcadams; the
    samples are the same as those of a finished file.

    Examples:

        arecord -t raw -f S16_LE -r 16000 | personare stream --rate 16000 > out.raw

        personare stream --rate 8000 --key my.key --name anna < in.raw > out.raw
    """
    import os
    import sys

    from personare.anonymizers import anonymizer
    from personare.anonymizers.stream import pump
    from personare.cli.settings import parse_settings
    from personare.core.errors import ConfigError
    from personare.core.seeding import Key, load_key, rng_for
    from personare.pipeline.system import System

    parameters = parse_settings(settings)
    built = anonymizer(method, **parameters)
    rng = rng_for(load_key(key) if key else Key.new(), name)
    if sys.stdin.isatty():
        raise ConfigError("stream reads raw samples from a pipe, not from the keyboard; see: personare stream --help")
    if rate_hz is None:
        rate_hz = USUAL_RATE_HZ
        show.aside(f"raw samples do not tell their rate: taking {rate_hz} Hz (--rate says another)")
    show.aside(_drawn(System(method, parameters), key=key, name=name))
    try:
        pump(sys.stdin.buffer, sys.stdout.buffer, method=built, rate_hz=rate_hz, rng=rng)
    except BrokenPipeError:  # the listener has hung up: what is left in the buffer goes nowhere
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _drawn(system: System, *, key: Path | None, name: str) -> str:
    """Say where the voice of this stream comes from."""
    from personare.pipeline.system import rehearse

    if not rehearse(system):
        return f"note: {system.name} draws nothing by chance: everybody gets the same change"
    if key is None:
        return "a new voice is drawn for this stream; with --key FILE --name NAME it stays the same"
    return f"the voice of '{name}' under {key}"
