"""personare report: one page about a run for a colleague, a reviewer or a regulator; and two runs side by side."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from typer.core import TyperGroup

from personare.cli import show

if TYPE_CHECKING:
    from collections.abc import Sequence

MAKE = "make"


class RunFirst(TyperGroup):
    """Lets ``personare report RUN`` stand for ``personare report make RUN``."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put the name of the command in front where it was left out."""
        if args and args[0] not in self.commands and args[0] not in ("-h", "--help"):
            args = [MAKE, *args]
        return super().parse_args(ctx, args)


app = typer.Typer(
    cls=RunFirst,
    no_args_is_help=True,
    help="Show a run: personare report RUN (short for: report make RUN), or two runs side by side.",
)


@app.command(MAKE)
def make(
    run: Path = typer.Argument(..., metavar="RUN", help="A run folder, as personare study run makes it."),
    out: Path | None = typer.Option(None, "--out", metavar="FOLDER", help="Where to write.  [RUN/report]"),
    formats: list[str] = typer.Option(
        [], "--format", metavar="NAME", help="html, markdown, latex, csv, json, figures; again for more.  [all]"
    ),
    names: bool = typer.Option(False, "--names", help="Show names and ids of speakers beside their numbers."),
    no_sounds: bool = typer.Option(False, "--no-sounds", help="Leave all sounds out, original speech above all."),
    launch: bool = typer.Option(False, "--open", help="Open the page in the browser."),
) -> None:
    """Make the report of a run: one self-contained HTML page, and the same as Markdown, LaTeX, CSV, JSON, pictures.

    The page says first what an attacker could say, then whether the stated bounds are kept, what the three legal
    criteria come to, and everything behind it. It needs no network and holds a few sounds: original speech as well,
    unless --no-sounds is given. Speakers are numbers; --names is for the holder of the data only.

    Examples:

        personare report my-study-run --open

        personare report my-study-run --no-sounds --out for-the-regulator/

        personare report my-study-run --format latex --format csv --out tables/
    """
    from personare.reports.report import FORMATS, write_run_report

    written = write_run_report(run, out=out, formats=formats or FORMATS, names=names, sounds=not no_sounds)
    _tell(written, launch)


@app.command("compare")
def compare(
    first: Path = typer.Argument(..., metavar="RUN1", help="A run folder."),
    second: Path = typer.Argument(..., metavar="RUN2", help="Another one."),
    out: Path | None = typer.Option(None, "--out", metavar="FOLDER", help="Where to write.  [RUN2/compared-with-RUN1]"),
    launch: bool = typer.Option(False, "--open", help="Open the page in the browser."),
) -> None:
    """Show two runs side by side: differences, and whether the intervals overlap.

    Findings are compared that both runs have under the same conditions: metric, method, attacker or listener, L, N.

    Examples:

        personare report compare before-run after-run
    """
    from personare.reports.compare import compare_runs, summary_rows, write_comparison

    found = compare_runs(first, second)
    written = write_comparison(found, out or second / f"compared-with-{first.resolve().name}")
    head, rows = summary_rows(found)
    show.table(f"{found.first.title} (1) against {found.second.title} (2)", head, rows)
    typer.echo(found.sentence)
    _tell(written, launch)


def _tell(written: Sequence[Path], launch: bool) -> None:
    """Say what was written, and open the page where asked."""
    for path in (p for p in written if p.suffix not in (".svg", ".png")):
        typer.echo(f"{path}")
    pictures = [p for p in written if p.suffix == ".svg"]
    if pictures:
        typer.echo(f"{pictures[0].parent}: {len(pictures)} pictures, as SVG and PNG")
    page = next((p for p in written if p.suffix == ".html"), None)
    if launch and page is not None:
        typer.launch(page.resolve().as_uri())
