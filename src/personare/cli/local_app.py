"""personare app: the whole way from recordings to a proof in a page of this machine, without typing commands."""

from __future__ import annotations

import webbrowser
from pathlib import Path

import typer


def app(
    folder: Path | None = typer.Option(
        None, "--folder", metavar="DIR", help="Where jobs live; without, personare in your home folder."
    ),
    port: int = typer.Option(0, min=0, max=65535, help="The port; 0: any free one."),
    open_page: bool = typer.Option(True, "--open/--no-open", help="Open the page in the browser."),
) -> None:
    """Open the app: drop recordings, hear a strength, hide everything, let attackers listen, get report and ZIP.

    The page is for this machine only; the printed address works once, in one browser. Jobs live in a folder, and go on
    after a pause, a reload or a restart. Copies of dropped recordings are deleted with their job, or 30 days after its
    last change. Chrome, Edge and Firefox know the name below localhost.

    Examples:

        personare app

        personare app --folder my-jobs --no-open --port 8765
    """
    from personare.web.serving import listen, require_web, serve

    require_web("personare app")
    from personare.web.app import AppServer

    server = AppServer((folder or Path.home() / "personare").expanduser().resolve())
    opened = listen("127.0.0.1", port)

    def started(at: int) -> None:
        address = f"http://{server.name}:{at}/#{server.token}"
        typer.echo(f"app: {address}  (stop with Ctrl-C)")
        if open_page:
            webbrowser.open(server.write_door(address).as_uri())

    try:
        serve(server.app(), opened, started=started)
    finally:
        server.close_door()
        server.stop_all()
