"""personare forget: remove the speaker embeddings and transcripts that measurements have left in the cache folder."""

from __future__ import annotations

import sys

import typer

from personare.cli import show


def forget(
    dry_run: bool = typer.Option(False, "--dry-run", help="Say what would be removed; remove nothing."),
    yes: bool = typer.Option(False, "--yes", "-y", help="Remove it without asking."),
    as_json: bool = show.JSON,
) -> None:
    """Remove what was kept of voices and words in the cache folder, and name it.

    Speaker vectors and recognized words are kept so that no recording is heard
    twice, and they are personal: a vector can recognise its speaker. Models and
    results stay; what is needed again is computed again. It asks before it
    removes anything.

    Examples:

        personare forget --dry-run

        personare forget --yes
    """
    from personare.attackers import cache as vectors
    from personare.core import weights
    from personare.core.errors import ConfigError
    from personare.listeners import cache as observations

    kinds = {"speaker vectors": vectors, "observations of what was said": observations}
    folders = {kind: str(cache.root(None)) for kind, cache in kinds.items()}
    counts = {kind: cache.count() for kind, cache in kinds.items()}
    told = " and ".join(f"{count} {kind}" for kind, count in counts.items())
    if any(counts.values()) and not dry_run and not yes:
        if not sys.stdin.isatty():
            raise ConfigError(f"forget would remove {told} from {weights.home()}; confirm with --yes, or use --dry-run")
        if not typer.confirm(f"Remove {told} from {weights.home()}?", err=True):
            raise typer.Exit(1)
    if not dry_run:
        counts = {kind: cache.forget() for kind, cache in kinds.items()}
    if as_json:
        rows = [{"what": kind, "count": count, "folder": folders[kind]} for kind, count in counts.items()]
        show.json_object({"dry_run": dry_run, "removed": rows, "kept": [str(weights.home() / "models")]})
        return
    typer.echo(f"{'would forget' if dry_run else 'forgot'} {told} ({weights.home()})")
    removed = "would be removed" if dry_run else "removed"
    for kind, count in counts.items():
        typer.echo(f"  {folders[kind]}: {f'{count} {kind}, {removed}' if count else f'holds no {kind}'}")
    typer.echo("models stay; keys and anonymized folders are yours to delete")
