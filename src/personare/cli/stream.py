"""personare stream: hide a voice while it is spoken, from a pipe into a pipe."""

from __future__ import annotations

from pathlib import Path

import typer

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
    """Hide a voice live: raw 16-bit little-endian mono samples from standard input to standard output.

    Nothing is stored. The delay is 30 ms for mcadams; the samples are the same as those of a finished file.

    Examples:

        rec -q -t s16 -r 16000 -c 1 - | personare stream --rate 16000 | play -q -t s16 -r 16000 -c 1 -

        ffmpeg -i call.wav -f s16le -ac 1 -ar 8000 - | personare stream --rate 8000 --set "alpha=[0.5, 0.9]" > out.raw
    """
    import os
    import sys

    from personare.anonymizers import anonymizer
    from personare.anonymizers.stream import pump
    from personare.cli.anonymize import parse_settings
    from personare.core.catalog import allow_modules_in
    from personare.core.errors import ConfigError
    from personare.core.seeding import Key, load_key, rng_for

    if ":" in method:
        allow_modules_in(Path.cwd())
    built = anonymizer(method, **parse_settings(settings))
    rng = rng_for(load_key(key) if key else Key.new(), name)
    if sys.stdin.isatty():
        raise ConfigError("stream reads raw samples from a pipe, not from the keyboard; see: personare stream --help")
    if rate_hz is None:
        rate_hz = USUAL_RATE_HZ
        typer.echo(f"raw samples do not tell their rate: taking {rate_hz} Hz (--rate says another)", err=True)
    try:
        pump(sys.stdin.buffer, sys.stdout.buffer, method=built, rate_hz=rate_hz, rng=rng)
    except BrokenPipeError:  # the listener has hung up: what is left in the buffer goes nowhere
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
