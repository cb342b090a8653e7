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
    names: bool = typer.Option(False, "--names", help="Show names, ids and paths of the corpus."),
    sounds: bool | None = typer.Option(
        None,
        "--sounds/--no-sounds",
        help="Original speech and its text beside the anonymized; or no speech at all.  [anonymized, without text]",
    ),
    pdf: Path | None = typer.Option(
        None, "--pdf", metavar="FILE.pdf", help="Also the annex for an impact assessment, as PDF (extra: pdf)."
    ),
    launch: bool = typer.Option(False, "--open", help="Open the page in the browser."),
    as_json: bool = show.JSON,
) -> None:
    """Make the report of a run: one self-contained HTML page, and the same as Markdown, LaTeX, CSV, JSON, figures.

    The page says first what an attacker could say, then whether the stated bounds are kept, what the three legal
    criteria come to, and everything behind it. It needs no network. Speakers are numbers, and it holds no original
    speech and nothing of what was said, but a few anonymized utterances; --names and --sounds are for the holder of
    the data only.

    Examples:

        personare report my-study-run --open

        personare report my-study-run --names --sounds --out for-us/

        personare report my-study-run --format latex --format csv --out tables/

        personare report my-study-run --pdf evidence.pdf
    """
    from personare.reports.evidence import check_evidence, write_evidence
    from personare.reports.report import FORMATS, write_run_report
    from personare.reports.sections.sounds import SoundChoice

    if pdf is not None:
        check_evidence(pdf)

    choice: SoundChoice = "anonymized" if sounds is None else "original" if sounds else "none"
    written = write_run_report(run, out=out, formats=formats or FORMATS, names=names, sounds=choice)
    written += [write_evidence(run, pdf)] if pdf is not None else []
    _print(written, launch=launch, as_json=as_json)


@app.command("compare")
def compare(
    first: Path = typer.Argument(..., metavar="RUN1", help="A run folder."),
    second: Path = typer.Argument(..., metavar="RUN2", help="Another one."),
    out: Path | None = typer.Option(None, "--out", metavar="FOLDER", help="Where to write.  [RUN2/compared-with-RUN1]"),
    launch: bool = typer.Option(False, "--open", help="Open the page in the browser."),
    as_json: bool = show.JSON,
) -> None:
    """Show two runs side by side: differences, and whether the intervals overlap.

    Findings are compared that both runs have under the same conditions: metric, method, attacker or listener, L, N.

    Examples:

        personare report compare before-run after-run
    """
    from personare.reports.compare import compare_runs, comparison_rows, write_comparison

    comparison = compare_runs(first, second)
    written = write_comparison(comparison, out or second / f"compared-with-{first.resolve().name}")
    head, rows = comparison_rows(comparison)
    if not as_json:
        show.table(f"{first.resolve().name} (1) against {second.resolve().name} (2)", head, rows)
        show.text(comparison.sentence)
    compared = {"rows": show.records([" ".join(name.split()) for name in head], rows), "sentence": comparison.sentence}
    _print(written, launch=launch, as_json=as_json, **compared)


def _print(written: Sequence[Path], *, launch: bool, as_json: bool, **more: object) -> None:
    """Say what was written, and open the page where asked."""
    if as_json:
        show.json_object({"written": [str(path) for path in written]}, **more)
    else:
        _list(written)
    page = next((p for p in written if p.suffix == ".html"), None)
    if launch and page is not None:
        typer.launch(page.resolve().as_uri())


def _list(written: Sequence[Path]) -> None:
    figures = [p for p in written if p.suffix == ".svg"]
    drawn = {p.with_suffix("") for p in figures}
    for path in (p for p in written if p.with_suffix("") not in drawn):
        typer.echo(f"{path}")
    if figures:
        typer.echo(f"{figures[0].parent}: {len(figures)} figures, as SVG and PDF")
