"""The door: parse what was typed, call one function, print. One file per group of commands.

Heavy libraries are imported inside the commands that need them, so that ``--help`` answers at once.
"""

from __future__ import annotations

import sys
from typing import NoReturn

import typer

from personare import __version__
from personare.core.errors import PersonareError

app = typer.Typer(
    name="personare",
    no_args_is_help=True,
    add_completion=False,
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
    from personare.cli import anonymize, corpus, demo, evaluate, listen, methods, models, stream, targets, voices

    app.command()(demo.demo)
    app.command()(anonymize.anonymize)
    app.command()(evaluate.evaluate)
    app.command()(listen.listen)
    app.command()(voices.voices)
    app.command()(methods.methods)
    app.command()(stream.stream)
    app.command("fit-targets")(targets.fit_targets)
    app.add_typer(corpus.app, name="corpus")
    app.add_typer(models.app, name="models")
    from personare.cli import attack, link, metrics, score

    app.command()(attack.attack)
    app.command()(score.score)
    app.command()(link.link)
    app.command("single-out")(link.single_out)
    app.add_typer(metrics.app, name="metrics")
    from personare.cli import train

    app.add_typer(train.app, name="train")
    from personare.cli import pseudospeakers

    app.add_typer(pseudospeakers.app, name="pseudospeakers")


_join()


def main() -> None:
    """Run the command line: a user's mistake is one line and exit 2, a traceback means our bug."""
    try:
        code = app(standalone_mode=False)
    except PersonareError as error:
        _fail(str(error))
    except Exception as error:
        if not hasattr(error, "format_message"):  # not a wrong word on the command line, but our bug
            raise
        _fail(f"{error.format_message()} (see: personare --help)")
    if code == 130:
        sys.stderr.write("personare: interrupted; run the same command again to go on\n")
    sys.exit(code if isinstance(code, int) else 0)


def _fail(message: str) -> NoReturn:
    line = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in " ".join(message.split()))
    sys.stderr.write(f"personare: {line}\n")  # a file name must not be able to steer the terminal
    sys.exit(2)
