"""Starting a server of pages: the files it may send, its socket, and how it ends."""

from __future__ import annotations

import socket
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import resources
from typing import TYPE_CHECKING

from personare.core.errors import MissingExtraError, OutputError
from personare.reports.palette import variables

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import Route
    from starlette.types import ASGIApp

TYPES = {
    ".svg": "image/svg+xml",
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
}
Files = Mapping[str, tuple[bytes, str]]


def require_web(needed_for: str) -> None:
    """Say in one line that the extra is missing."""
    try:
        import starlette  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError:
        raise MissingExtraError("web", needed_for) from None


def static_files(*names: str) -> Files:
    """Read the named files of the package once, the look in the report's colours; nothing else can be asked for."""
    folder = resources.files("personare.web") / "static"
    found = {name: (folder / name).read_bytes() for name in names}
    if "look.css" in found:
        light, dark = variables(dark=False), variables(dark=True)
        colours = f":root {{ {light} }}\n@media (prefers-color-scheme: dark) {{ :root {{ {dark} }} }}\n"
        found["look.css"] = colours.encode() + found["look.css"]
    return {name: (content, TYPES[f".{name.rpartition('.')[2]}"]) for name, content in found.items()}


def file_routes(files: Files, *, page: str) -> list[Route]:
    """Send the page at the root and the other files below /static, from memory; any other name is not found."""
    from starlette.responses import JSONResponse, Response
    from starlette.routing import Route

    async def answer_page(_request: Request) -> Response:
        content, kind = files[page]
        return Response(content, media_type=kind)

    async def answer_file(request: Request) -> Response:
        found = files.get(str(request.path_params["name"]))
        if found is None:
            return JSONResponse({"error": "there is no such file"}, status_code=404)
        return Response(found[0], media_type=found[1])

    return [Route("/", answer_page), Route("/static/{name}", answer_file)]


def listen(host: str, port: int) -> socket.socket:
    """Open the socket, so that a used port is one plain line, and port 0 finds a free one."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    opened = socket.socket(family, socket.SOCK_STREAM)
    try:
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        opened.bind((host.strip("[]"), port))
        opened.listen(256)
    except (OSError, OverflowError) as error:
        opened.close()
        raise OutputError(f"{host}:{port}: cannot be listened at ({error}); choose another with --port") from None
    return opened


def serve(
    app: ASGIApp, opened: socket.socket, *, behind_proxy: bool = False, started: Callable[[int], None] = lambda _: None
) -> None:
    """Answer requests until the process is asked to end; ``started`` is told the port."""
    import uvicorn

    from personare.web.connections import LimitedConnection, most_connections

    most = most_connections()
    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        server_header=False,
        lifespan="off",
        ws="none",
        http=LimitedConnection,
        loop="asyncio",
        proxy_headers=behind_proxy,
        forwarded_allow_ips="127.0.0.1" if behind_proxy else "",
        timeout_keep_alive=10,
        limit_concurrency=most,
        backlog=most // 2,  # as many are accepted before the first of them is looked at
        timeout_graceful_shutdown=3,
        h11_max_incomplete_event_size=16 * 1024,
    )
    started(opened.getsockname()[1])
    sys.stdout.flush()
    uvicorn.Server(config).run(sockets=[opened])


def hosts_of(host: str, names: Sequence[str]) -> list[str]:
    """Name the hosts under which a server may be asked: loopback, its address, and what its owner names."""
    from personare.web.guard import LOOPBACK

    return [*LOOPBACK, host, *names]
