"""personare metrics: what every number means, who defined it, and when not to trust it."""

from __future__ import annotations

import typer

from personare.cli import show

app = typer.Typer(no_args_is_help=True, help="What every number means, who defined it, when not to trust it.")


@app.command("list")
def list_metrics(
    markdown: bool = typer.Option(False, "--markdown", help="Print the reference page, with formulas."),
) -> None:
    """Show the card of every metric.

    Examples:

        personare metrics list

        personare metrics list --markdown > docs/reference/metrics.md
    """
    from personare.metrics import cards
    from personare.reports.metric_page import metric_page

    if markdown:
        typer.echo(metric_page(), nl=False)
        return
    rows = [[card.name, card.title, card.better, card.reading, card.cite] for card in cards()]
    show.table(f"{len(rows)} metrics", ["name", "title", "better", "how to read it", "defined in"], rows)
