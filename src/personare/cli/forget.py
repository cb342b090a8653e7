"""personare forget: remove what was kept of people's voices and words so that nothing was heard twice."""

from __future__ import annotations

import typer

from personare.cli import show


def forget(as_json: bool = show.JSON) -> None:
    """Remove what was kept of voices and words in the cache folder, and name it.

    Speaker vectors and recognized words are kept so that no recording is heard
    twice, and they are personal: a vector can recognise its speaker. Models and
    results stay; what is needed again is computed again.

    Example:

        personare forget
    """
    from personare.attackers import cache as vectors
    from personare.core import weights
    from personare.listeners import cache as observations

    kinds = {"speaker vectors": vectors, "observations of what was said": observations}
    folders = {kind: str(cache.root(None)) for kind, cache in kinds.items()}
    removed = {kind: cache.forget() for kind, cache in kinds.items()}
    if as_json:
        rows = [{"what": kind, "count": count, "folder": folders[kind]} for kind, count in removed.items()]
        show.json_object({"removed": rows, "kept": [str(weights.home() / "models")]})
        return
    counts = " and ".join(f"{count} {kind}" for kind, count in removed.items())
    typer.echo(f"forgot {counts} ({weights.home()})")
    for kind, count in removed.items():
        typer.echo(f"  {folders[kind]}: {f'{count} {kind}, removed' if count else f'held no {kind}'}")
    typer.echo("models stay; keys and anonymized folders are yours to delete")
