"""personare methods: which anonymizers there are, and with which parameters."""

from __future__ import annotations

import typer

from personare.cli import show


def methods(
    name: str | None = typer.Argument(None, help="One method, or module:Class of your own, to see its parameters."),
) -> None:
    """List the anonymizers, or the parameters of one.

    Examples:

        personare methods

        personare methods mcadams

        personare methods my_module:MyAnonymizer
    """
    import dataclasses
    import inspect
    from pathlib import Path

    from personare.anonymizers import ANONYMIZERS
    from personare.core.catalog import allow_modules_in

    if name is None:
        rows = [[n, (inspect.getdoc(ANONYMIZERS.load(n)) or "").splitlines()[0]] for n in ANONYMIZERS.names()]
        show.table("anonymizers", ["name", "what it does"], rows)
        return
    if ":" in name:
        allow_modules_in(Path.cwd())
    cls = ANONYMIZERS.load(name)
    typer.echo(inspect.getdoc(cls) or name)
    shown = [
        [
            f.name,
            f.type if isinstance(f.type, str) else getattr(f.type, "__name__", str(f.type)),
            "" if f.default is dataclasses.MISSING else str(f.default),
        ]
        for f in dataclasses.fields(cls)
        if f.init
    ]
    show.table("", ["parameter", "type", "default"], shown)
