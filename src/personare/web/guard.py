"""What stands before every page: known hosts, small requests, no foreign pages, strict headers, limits on how often.

A browser tells where a request comes from (Origin, Sec-Fetch-Site); what comes from another page is refused before
anything looks at it. Pages may load nothing but what this server sends.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; media-src 'self' blob:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": CSP,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "x-frame-options": "DENY",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
    "cache-control": "no-store",
}
Handler = Callable[[Request], Awaitable[Response]]
SAFE = ("GET", "HEAD")
MOST_BYTES = 64 * 1024
BODY_S = 60.0
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


class RequestError(Exception):
    """A request that is refused: its status and the reason."""

    def __init__(self, status: int, why: str) -> None:
        super().__init__(why)
        self.status, self.why = status, why


@dataclass
class RateLimit:
    """Lets each key do so much a second on average, and ``burst`` at once; knows the latest ``most`` keys only."""

    per_second: float
    burst: float
    most: int = 10_000
    clock: Callable[[], float] = time.monotonic
    _left: OrderedDict[str, tuple[float, float]] = field(default_factory=OrderedDict)

    def _now(self, key: str) -> float:
        left, at = self._left.get(key, (self.burst, self.clock()))
        return min(self.burst, left + (self.clock() - at) * self.per_second)

    def spend(self, key: str) -> bool:
        """Take one; False when there is none.

        >>> limit = RateLimit(1, 2, clock=lambda: 0.0)
        >>> [limit.spend("a") for _ in range(3)], limit.spend("b")
        ([True, True, False], True)
        """
        left = self._now(key)
        allowed = left >= 1
        self._left[key] = (left - 1 if allowed else left, self.clock())
        self._left.move_to_end(key)
        while len(self._left) > self.most:
            self._left.popitem(last=False)
        return allowed


class Guard:
    """The outermost layer of every server here."""

    def __init__(self, app: ASGIApp, *, hosts: Sequence[str] = LOOPBACK, most_bytes: int = MOST_BYTES) -> None:
        self._app, self._most_bytes = app, most_bytes
        self._hosts = {host.lower() for host in hosts}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            return
        headers = Headers(scope=scope)

        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start":
                given = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    given.setdefault(name, value)
            await send(message)

        try:
            self._check(scope["method"], headers)
            async with asyncio.timeout(BODY_S):
                body = await self._body(headers, receive) if scope["method"] not in SAFE else b""
        except TimeoutError:
            await refuse(sent, RequestError(408, f"a request must arrive within {BODY_S:.0f} s"))
            return
        except RequestError as refused:
            await refuse(sent, refused)
            return

        waiting = [body]

        async def received() -> Message:
            if waiting:
                return {"type": "http.request", "body": waiting.pop(), "more_body": False}
            return await receive()

        await self._app(scope, received, sent)

    def _check(self, method: str, headers: Headers) -> None:
        host = headers.get("host", "").lower()
        name = host.rpartition(":")[0] if ":" in host and not host.endswith("]") else host
        if name not in self._hosts:
            raise RequestError(421, "this server is not known by that name")
        if method not in (*SAFE, "POST"):
            raise RequestError(405, "only GET and POST are answered")
        origin = headers.get("origin")
        if headers.get("sec-fetch-site", "none") not in ("same-origin", "none") and method not in SAFE:
            raise RequestError(403, "requests of other pages are not answered")
        if origin is not None and not _same_host(origin, host):
            raise RequestError(403, "requests of other pages are not answered")
        kind = headers.get("content-type", "").partition(";")[0].strip().lower()
        if method == "POST" and kind not in ("application/json", "application/octet-stream"):
            raise RequestError(415, "requests are application/json")

    async def _body(self, headers: Headers, receive: Receive) -> bytes:
        """Read the body, as far as it is allowed to go."""
        length = headers.get("content-length", "0")
        if not length.isascii() or not length.isdigit() or int(length) > self._most_bytes:
            raise RequestError(413, f"a request has at most {self._most_bytes} bytes")
        parts, size = [], 0
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise RequestError(400, "the request ended early")
            parts.append(message.get("body", b""))
            size += len(parts[-1])
            if size > self._most_bytes:
                raise RequestError(413, f"a request has at most {self._most_bytes} bytes")
            if not message.get("more_body", False):
                return b"".join(parts)


def _same_host(origin: str, host: str) -> bool:
    try:
        return urlsplit(origin).netloc.lower() == host
    except ValueError:
        return False


async def refuse(send: Send, refused: RequestError) -> None:
    """Answer with the reason, and nothing else."""
    body = json.dumps({"error": refused.why}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": refused.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def json_object(body: bytes) -> dict[str, Any]:
    """Read a request's body as a JSON object."""
    try:
        value = json.loads(body or b"{}", parse_constant=_no_number)
    except (ValueError, RecursionError):
        raise RequestError(400, "the request is not JSON") from None
    if not isinstance(value, dict):
        raise RequestError(400, "the request is no JSON object")
    return value


def _no_number(name: str) -> float:
    raise ValueError(name)


def answering(handler: Handler, *, told: type[Exception]) -> Handler:
    """Turn a refusal, and mistakes of the kind ``told``, into answers in the same words; any other error stays one.

    What is told reaches whoever asks: a kind whose words name files of this machine is for the owner's eyes only.
    """

    async def answered(request: Request) -> Response:
        try:
            return await handler(request)
        except RequestError as refused:
            return JSONResponse({"error": refused.why}, status_code=refused.status)
        except told as error:
            return JSONResponse({"error": str(error)}, status_code=422)

    return answered
