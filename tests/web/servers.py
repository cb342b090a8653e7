"""Servers of pages as processes of their own, a plain client for them, and a real browser."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

ADDRESS = re.compile(r"http://(127\.0\.0\.1|[\w-]+\.localhost):(\d+)/(?:#(\S+))?")


@dataclass
class Server:
    """A server that was started: its port, the secret in its printed address, and its process."""

    port: int
    token: str
    process: subprocess.Popen[str]
    host: str = "127.0.0.1"

    @property
    def address(self) -> str:
        """Where it is."""
        return f"http://{self.host}:{self.port}/"

    def kill(self) -> None:
        """End it as a power failure would."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(timeout=30)


@contextlib.contextmanager
def started(
    *words: str | Path, cwd: Path | None = None, gate: Gate | None = None, preexec_fn: Callable[[], None] | None = None
) -> Iterator[Server]:
    """Run ``personare WORDS`` until the block ends; it says its address in its first line."""
    process = subprocess.Popen(
        [sys.executable, "-m", "personare", *map(str, words)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        cwd=cwd,
        preexec_fn=preexec_fn,
        env={**os.environ, "PYTHONUNBUFFERED": "1", **({} if gate is None else gate.environment())},
    )
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        found = ADDRESS.search(line)
        assert found is not None, f"{line}{process.stdout.read()}"
        yield Server(int(found[2]), found[3] or "", process, found[1])
    finally:
        if process.poll() is None:
            process.terminate()
            try:
                process.wait(timeout=20)
            except subprocess.TimeoutExpired:
                process.kill()
        if process.stdout is not None:
            process.stdout.close()


GATED = """
import os, time
from pathlib import Path
import personare.api as api

gate, original = Path(os.environ["PERSONARE_GATE"]), api.anonymize_corpus

def gated(*words, watch, **named):
    done = 0

    def wait(result):
        nonlocal done
        done += 1
        if done == int(gate.read_text()):
            time.sleep(0.5)  # longer than progress is held back: it tells of this recording
        watch(result)
        while done >= int(gate.read_text()):
            time.sleep(0.02)

    return original(*words, watch=wait, **named)

api.anonymize_corpus = gated
"""


@dataclass(frozen=True)
class Gate:
    """Holds the app back while it hides voices: no more recordings than were let through, however fast it is."""

    folder: Path

    @property
    def _allowed(self) -> Path:
        return self.folder / "allowed"

    def environment(self) -> dict[str, str]:
        """Name where Python finds the gate before anything else of ours runs."""
        self.folder.mkdir(exist_ok=True)
        (self.folder / "sitecustomize.py").write_text(GATED)
        paths = [str(self.folder), *filter(None, [os.environ.get("PYTHONPATH")])]
        return {"PYTHONPATH": os.pathsep.join(paths), "PERSONARE_GATE": str(self._allowed)}

    def let_through(self, recordings: int) -> None:
        """Say how many recordings may be done by each process in all."""
        self.folder.mkdir(exist_ok=True)
        part = self.folder / "allowed.part"
        part.write_text(str(recordings))
        part.replace(self._allowed)


@dataclass
class Client:
    """Speaks to a server as its page does, on one connection."""

    port: int
    cookie: str = ""
    csrf: str = ""
    headers: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)

    def ask(self, path: str, body: Any = None, **headers: str) -> tuple[int, Any, dict[str, str]]:
        """Send a request; gives the status, the JSON or bytes that came, and the headers."""
        given = {**self.headers, **{name.replace("_", "-"): value for name, value in headers.items()}}
        if self.cookie:
            given.setdefault("Cookie", f"personare={self.cookie}")
        data = None
        if body is not None:
            given.setdefault("Content-Type", "application/json")
            given.setdefault("X-Csrf", self.csrf)
            data = body if isinstance(body, bytes) else json.dumps(body).encode()
        answer = self._answer("GET" if body is None else "POST", path, data, given)
        content = answer.read()
        told = {name.lower(): value for name, value in answer.getheaders()}
        cookie = re.match(r"personare=([^;]+)", told.get("set-cookie", ""))
        if cookie:
            self.cookie = cookie[1]
        found = json.loads(content) if told.get("content-type", "").startswith("application/json") else content
        if isinstance(found, dict) and "csrf" in found:
            self.csrf = found["csrf"]
        return answer.status, found, told

    def _answer(self, method: str, path: str, data: bytes | None, headers: dict[str, str]) -> http.client.HTTPResponse:
        """Send it; a connection that the server closed while nobody used it is opened again, as browsers do."""
        try:
            self._connection.request(method, path, data, headers)
            return self._connection.getresponse()
        except (http.client.RemoteDisconnected, ConnectionResetError, BrokenPipeError):
            self._connection.close()
            self._connection.request(method, path, data, headers)
            return self._connection.getresponse()

    def close(self) -> None:
        """End the connection."""
        self._connection.close()


def chromium_path() -> str:
    """The system's browser, or a skip that says why."""
    pytest.importorskip("playwright", reason="needs playwright (pip install --group dev)")
    found = shutil.which("chromium") or shutil.which("google-chrome")
    if found is None:
        pytest.skip("needs the browser chromium, which is not on this machine (Debian: apt install chromium)")
    return found


@contextlib.contextmanager
def browser() -> Iterator[Any]:
    """A real browser without a window; sounds play, muted."""
    path = chromium_path()
    from playwright.sync_api import sync_playwright

    options = ["--no-sandbox", "--mute-audio", "--autoplay-policy=no-user-gesture-required"]
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=path, args=options)
        try:
            yield opened
        finally:
            opened.close()


@contextlib.contextmanager
def page_of(opened: Any, *, width: int = 1280, dark: bool = False, expected: str | None = None) -> Iterator[Any]:
    """A page of its own; everything it complains about, but for what a test expects, fails the test."""
    scheme = "dark" if dark else "light"
    context = opened.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme, has_touch=width < 500)
    complaints: list[str] = []
    page = context.new_page()
    page.set_default_timeout(300_000)  # a busy machine is no wrong answer
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda said: complaints.append(said.text) if said.type in ("error", "warning") else None)
    try:
        yield page
        assert not [text for text in complaints if expected is None or expected not in text], complaints
    finally:
        context.close()


def too_wide(page: Any) -> list[str]:
    """Name what reaches beyond the edge of the page."""
    found: list[str] = page.evaluate(
        "() => [...document.querySelectorAll('body *')].filter(e => !e.closest('.scroll') && !e.closest('.unseen')"
        " && e.getBoundingClientRect().right > document.documentElement.clientWidth + 1)"
        ".map(e => e.tagName + '.' + e.className)"
    )
    return found


def nameless(page: Any) -> list[str]:
    """Name the controls that a screen reader could not name."""
    found: list[str] = page.evaluate(
        "() => [...document.querySelectorAll('button, input, select, textarea, progress, a')]"
        ".filter(e => e.getClientRects().length && !e.getAttribute('aria-label') && !e.textContent.trim()"
        " && !(e.labels && [...e.labels].some(l => l.textContent.trim()))).map(e => e.outerHTML.slice(0, 80))"
    )
    return found


def fine(page: Any, name: str) -> None:
    """Nothing too wide, everything named; a picture is kept where somebody wants to look at the pages."""
    folder = os.environ.get("PERSONARE_SCREENSHOTS")
    if folder:
        page.screenshot(path=str(Path(folder) / f"{name}.png"), full_page=True)
    assert not too_wide(page) and not nameless(page)
