"""The command line: parse what was typed, call one function, print. One file per group of commands.

Heavy libraries are imported inside the commands that need them, so that ``--help`` answers at once.
"""

from __future__ import annotations

import errno
import inspect
import sys
from pathlib import Path
from typing import Any, NoReturn

import typer
from typer.core import TyperGroup

from personare import __version__
from personare.cli import show
from personare.core import command
from personare.core.errors import PersonareError, StudyError
from personare.core.signals import ended_by_signals

LONGEST_LINE = 1000


class _Commands(TyperGroup):
    """All commands; a ``module:Class`` that was typed, in any option, is also looked for in the working folder."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Look through the words before any command does."""
        from personare.core.catalog import allow_modules

        if any(":" in word for word in args):
            allow_modules(args, Path.cwd())
        return super().parse_args(ctx, args)


app = typer.Typer(
    name="personare",
    cls=_Commands,
    no_args_is_help=True,
    add_completion=True,  # bash, zsh, fish and PowerShell: personare --install-completion
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
        audit,
        codec,
        corpus,
        demo,
        embed,
        evaluate,
        express,
        forget,
        infer,
        languages,
        link,
        listen,
        local_app,
        lookup,
        methods,
        metrics,
        models,
        panel,
        pseudospeakers,
        report,
        score,
        stream,
        study,
        targets,
        train,
        verify,
        voices,
    )

    hide, prove, numbers, more = "Hide voices", "Prove it", "Numbers of your own", "Speech, models, training"
    app.command(rich_help_panel=hide)(demo.demo)
    app.command("app", rich_help_panel=hide)(local_app.app)
    app.command(rich_help_panel=hide)(anonymize.anonymize)
    app.command(rich_help_panel=hide)(stream.stream)
    app.add_typer(codec.app, name="codec", rich_help_panel=hide)
    app.add_typer(express.app, name="express", rich_help_panel=hide)
    app.command(rich_help_panel=hide)(methods.methods)
    app.command(rich_help_panel=hide)(languages.languages)
    app.command(rich_help_panel=hide)(lookup.lookup)
    app.command(rich_help_panel=hide)(verify.verify)
    app.command("fit-targets", rich_help_panel=hide)(targets.fit_targets)
    app.command(rich_help_panel=prove)(evaluate.evaluate)
    app.add_typer(study.app, name="study", rich_help_panel=prove)
    app.add_typer(report.app, name="report", rich_help_panel=prove)
    app.command(rich_help_panel=prove)(attack.attack)
    app.command(rich_help_panel=prove)(audit.audit)
    app.command(rich_help_panel=prove)(infer.infer)
    app.command(rich_help_panel=prove)(listen.listen)
    app.add_typer(panel.app, name="panel", rich_help_panel=prove)
    app.command(rich_help_panel=numbers)(score.score)
    app.command(rich_help_panel=numbers)(embed.embed)
    app.command(rich_help_panel=numbers)(link.link)
    app.command("single-out", rich_help_panel=numbers)(link.single_out)
    app.command(rich_help_panel=numbers)(link.ranks)
    app.add_typer(metrics.app, name="metrics", rich_help_panel=numbers)
    app.add_typer(corpus.app, name="corpus", rich_help_panel=more)
    app.command(rich_help_panel=more)(voices.voices)
    app.add_typer(models.app, name="models", rich_help_panel=more)
    app.command(rich_help_panel=more)(forget.forget)
    app.add_typer(train.app, name="train", rich_help_panel=more)
    app.add_typer(pseudospeakers.app, name="pseudospeakers", rich_help_panel=more)


def _flow(group: typer.Typer) -> None:
    """Let the paragraphs of every help page flow to the width of the screen; examples stay lines, set in a little."""
    for one in group.registered_commands:
        paragraphs = inspect.cleandoc(one.help or getattr(one.callback, "__doc__", "") or "").split("\n\n")
        one.help = "\n\n".join(
            f"  {text.strip()}" if text.startswith("    ") else " ".join(text.split()) for text in paragraphs
        )
    for inner in group.registered_groups:
        if inner.typer_instance is not None:
            _flow(inner.typer_instance)


_join()
_flow(app)


def main() -> None:
    """Run the command line: a user's mistake is one line and exit 2, a traceback means our bug."""
    try:
        with command.carried_out(sys.argv[1:]), ended_by_signals() as ended_by:
            code = app(standalone_mode=False)
    except StudyError as error:
        _fail(*error.problems)
    except PersonareError as error:
        _fail(str(error))
    except OSError as error:
        if error.filename is None:  # nothing the user could look at
            raise
        if error.errno == errno.ENAMETOOLONG:
            longest = max(Path(str(error.filename)).parts, key=lambda part: len(part.encode()))
            size = len(longest.encode())
            _fail(f"'{longest[:40]}...': a file name has at most 255 bytes, this one {size}; choose a shorter one")
        _fail(f"{error.filename}: {(error.strerror or str(error)).lower()}")
    except Exception as error:
        if not hasattr(error, "format_message"):  # not a wrong word on the command line, but our bug
            raise
        wrong = error.format_message()
        if not wrong:  # nothing was asked: the help that was printed is the answer
            sys.exit(2)
        _fail(f"{wrong} (see: personare --help)")
    if code == 130:
        sys.stderr.write("personare: interrupted; run the same command again to go on\n")
        code = 128 + ended_by[0] if ended_by else code
    sys.exit(code if isinstance(code, int) else 0)


def _fail(*messages: str) -> NoReturn:
    for message in messages:
        line = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in " ".join(message.split()))
        line = line if len(line) <= LONGEST_LINE else f"{line[:LONGEST_LINE]} ..."
        show.aside(f"personare: {line}")  # a file name must not be able to steer the terminal
    sys.exit(2)
