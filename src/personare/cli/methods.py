"""personare methods: what can be asked for by name, and with which parameters."""

from __future__ import annotations

import typer

from personare.cli import show


def methods(name: str | None = typer.Argument(None, help="One method, to see its parameters.")) -> None:
    """List the anonymizers, or the parameters of one.

    Examples:

        personare methods

        personare methods mcadams
    """
    import dataclasses
    import inspect

    from personare.anonymizers import ANONYMIZERS

    if name is None:
        rows = [[n, (inspect.getdoc(ANONYMIZERS.load(n)) or "").splitlines()[0]] for n in ANONYMIZERS.names()]
        show.table("anonymizers", ["name", "what it does"], rows)
        return
    cls = ANONYMIZERS.load(name)
    typer.echo(inspect.getdoc(cls) or name)
    shown = [
        [f.name, str(f.type), "" if f.default is dataclasses.MISSING else str(f.default)]
        for f in dataclasses.fields(cls)
    ]
    show.table("", ["parameter", "type", "default"], shown)
