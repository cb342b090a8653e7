"""The door: parse what was typed, call one function, print. One file per group of commands.

Heavy libraries are imported inside the commands that need them, so that ``--help`` answers at once.
"""

from __future__ import annotations

import sys

import typer

from personare import __version__
from personare.core.errors import PersonareError

app = typer.Typer(
    name="personare",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    rich_markup_mode="rich",
    help="Anonymize speech, and prove how well it is anonymized.",
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"personare {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: bool = typer.Option(False, "--version", callback=_version, is_eager=True, help="Print the version."),
) -> None:
    """Anonymize speech, and prove how well it is anonymized."""


def _join() -> None:
    """Let each file add its commands; kept in one place so that the order of the help page is visible."""
    from personare.cli import models

    app.add_typer(models.app, name="models")


_join()


def main() -> None:
    """Run the command line: a user's mistake is one line and exit 2, a traceback means our bug."""
    try:
        app()
    except PersonareError as error:
        sys.stderr.write(f"personare: {error}\n")
        sys.exit(2)
    except KeyboardInterrupt:
        sys.stderr.write("personare: interrupted; run the same command again to go on\n")
        sys.exit(130)
    except BrokenPipeError:
        sys.exit(0)
