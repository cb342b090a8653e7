"""personare metrics: what every number means, who defined it, and when not to trust it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from personare.cli import show

if TYPE_CHECKING:
    from personare.core.findings import MetricCard

app = typer.Typer(no_args_is_help=True, help="What every number means, who defined it, when not to trust it.")


@app.command("list")
def list_metrics(
    markdown: bool = typer.Option(False, "--markdown", help="Print the reference page, with formulas."),
    as_json: bool = show.JSON,
) -> None:
    """List every metric: its name, which way is better, how to read it.

    Examples:

        personare metrics list

        personare metrics list --markdown > docs/reference/metrics.md
    """
    from personare.metrics import cards
    from personare.reports.metric_page import metric_page

    if markdown:
        typer.echo(metric_page(), nl=False)
        return
    if as_json:
        show.json_object({"metrics": [_row(card) for card in cards()]})
        return
    rows = [[card.name, card.title, card.better, card.reading] for card in cards()]
    show.table(f"{len(rows)} metrics", ["name", "title", "better", "how to read it"], rows)
    show.text("personare metrics show NAME: who defined it, its level of chance, and when not to trust it.")


@app.command("show")
def show_metric(
    name: str = typer.Argument(..., metavar="NAME", help="A metric (see: personare metrics list)."),
    as_json: bool = show.JSON,
) -> None:
    """Show the whole card of one metric: how to read it, who defined it, when not to trust it.

    Examples:

        personare metrics show linkability
    """
    from personare.metrics import card
    from personare.metrics.literature import REFERENCES, keys_in
    from personare.reports.metric_page import bound_text

    found = card(name)
    if as_json:
        show.json_object(_row(found))
        return
    unit = f", in {found.unit}" if found.unit else ""
    chance = "depends on the trials; every finding brings its own" if found.chance is None else f"{found.chance:g}"
    lines = {
        "metric": f"{found.title} ({found.name}{unit})",
        "better": found.better,
        "range": " to ".join(bound_text(bound) for bound in found.bounds),
        "chance": chance,
        "how to read it": found.reading,
        "do not trust it": found.caution,
        "defined in": found.cite,
    }
    lines |= {key: REFERENCES[key] for key in keys_in(found.cite) if key in REFERENCES}
    for line in show.definitions(lines):
        typer.echo(line)


def _row(card: MetricCard) -> dict[str, Any]:
    import dataclasses

    return dataclasses.asdict(card)
