"""The command line: parse what was typed, call one function, print. One file per group of commands.

Heavy libraries are imported inside the commands that need them, so that ``--help`` answers at once.
"""

from __future__ import annotations

import sys
from typing import NoReturn

import typer

from personare import __version__
from personare.core.errors import PersonareError, StudyError

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
    from personare.cli import (
        anonymize,
        attack,
        corpus,
        demo,
        embed,
        evaluate,
        forget,
        infer,
        link,
        listen,
        methods,
        metrics,
        models,
        pseudospeakers,
        report,
        score,
        stream,
        study,
        targets,
        train,
        voices,
    )

    hide, prove, numbers, more = "Hide voices", "Prove it", "Numbers of your own", "Speech, models, training"
    app.command(rich_help_panel=hide)(demo.demo)
    app.command(rich_help_panel=hide)(anonymize.anonymize)
    app.command(rich_help_panel=hide)(stream.stream)
    app.command(rich_help_panel=hide)(methods.methods)
    app.command("fit-targets", rich_help_panel=hide)(targets.fit_targets)
    app.command(rich_help_panel=prove)(evaluate.evaluate)
    app.add_typer(study.app, name="study", rich_help_panel=prove)
    app.add_typer(report.app, name="report", rich_help_panel=prove)
    app.command(rich_help_panel=prove)(attack.attack)
    app.command(rich_help_panel=prove)(infer.infer)
    app.command(rich_help_panel=prove)(listen.listen)
    app.command(rich_help_panel=numbers)(score.score)
    app.command(rich_help_panel=numbers)(embed.embed)
    app.command(rich_help_panel=numbers)(link.link)
    app.command("single-out", rich_help_panel=numbers)(link.single_out)
    app.add_typer(metrics.app, name="metrics", rich_help_panel=numbers)
    app.add_typer(corpus.app, name="corpus", rich_help_panel=more)
    app.command(rich_help_panel=more)(voices.voices)
    app.add_typer(models.app, name="models", rich_help_panel=more)
    app.command(rich_help_panel=more)(forget.forget)
    app.add_typer(train.app, name="train", rich_help_panel=more)
    app.add_typer(pseudospeakers.app, name="pseudospeakers", rich_help_panel=more)


_join()


def main() -> None:
    """Run the command line: a user's mistake is one line and exit 2, a traceback means our bug."""
    try:
        code = app(standalone_mode=False)
    except StudyError as error:
        _fail(*error.problems)
    except PersonareError as error:
        _fail(str(error))
    except Exception as error:
        if not hasattr(error, "format_message"):  # not a wrong word on the command line, but our bug
            raise
        _fail(f"{error.format_message()} (see: personare --help)")
    if code == 130:
        sys.stderr.write("personare: interrupted; run the same command again to go on\n")
    sys.exit(code if isinstance(code, int) else 0)


def _fail(*messages: str) -> NoReturn:
    for message in messages:
        line = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in " ".join(message.split()))
        sys.stderr.write(f"personare: {line}\n")  # a file name must not be able to steer the terminal
    sys.exit(2)
