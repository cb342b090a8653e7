"""The panel's server: what it lets out and in, by whom; killed in the middle; fifty people at once; anything asked."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import json
import re
import resource
import socket
import string
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from panels.pools import Listened, write_test_panel
from personare.panels.folder import PanelFolder, PlannedTrial, read_panel
from personare.panels.store import AnswerStore
from personare.web import guard
from personare.web.guard import RateLimit
from personare.web.panel import PanelServer
from web.servers import Client, Server, started

ANSWERS: dict[str, Any] = {"unified": {"naturalness": 3, "intelligibility": 4, "similarity": 5}, "abx": {"choice": "A"}}


def tokens_of(panel: PanelFolder, count: int = 1) -> list[str]:
    store = AnswerStore(panel.answers)
    made = store.invite(count, days=1)
    store.close()
    return made


def entered(server: Server, token: str) -> Client:
    client = Client(server.port)
    assert client.ask("/api/enter", {"token": token})[0] == 200
    assert client.ask("/api/state")[0] == 200
    return client


def begun(server: Server, panel: PanelFolder, token: str) -> tuple[Client, dict[str, Any]]:
    client = entered(server, token)
    assert client.ask("/api/consent", {"agree": True})[1]["step"] == "headphones"
    status, state, _ = client.ask("/api/headphones", {"choices": list(panel.settings.headphones.values())})
    assert status == 200 and state["step"] == "trial"
    return client, state


def trial_of(panel: PanelFolder, state: dict[str, Any]) -> PlannedTrial:
    tokens = [s["id"] for s in state["sounds"]]
    every = (t for trials in panel.sessions.values() for t in trials)
    return next(t for t in every if t.number == state["trial"] and [s.token for s in t.stimuli] == tokens)


def listened(panel: PanelFolder, client: Client, state: dict[str, Any]) -> None:
    """Fetch every sound and let as much time pass as they take."""
    for sound in state["sounds"]:
        assert client.ask(f"/audio/{sound['id']}")[0] == 200
    time.sleep(sum(sound["seconds"] for sound in state["sounds"]))


def answer(panel: PanelFolder, client: Client, state: dict[str, Any]) -> tuple[int, Any, dict[str, str]]:
    listened(panel, client, state)
    listening = Listened(trial_of(panel, state)).report
    told = {"trial": state["trial"], "answer": ANSWERS[panel.settings.test], "listening": listening}
    return client.ask("/api/answer", told)


@pytest.fixture(scope="module")
def panel(tmp_path_factory: pytest.TempPathFactory) -> PanelFolder:
    return write_test_panel(tmp_path_factory.mktemp("panel"), "abx", sessions=4, seconds=0.2, trials=4)


@pytest.fixture(scope="module")
def server(panel: PanelFolder) -> Iterator[Server]:
    with started("panel", "serve", panel.path, "--port", "0") as one:
        yield one


def test_a_first_language_is_told_or_not_and_nothing_else_is_kept(panel: PanelFolder, server: Server) -> None:
    store = AnswerStore(panel.answers)
    for said, kept in ((True, True), (False, False), (None, None)):
        client = entered(server, token := tokens_of(panel)[0])
        assert client.ask("/api/consent", {"agree": True, "native": "French"})[0] == 422
        assert client.ask("/api/consent", {"agree": True, "native": 1})[0] == 422
        assert client.ask("/api/consent", {"agree": True, "native": said})[1]["step"] == "headphones"
        login = store.enter(token)
        assert login is not None and login.evaluator.native is kept
        client.close()
    store.close()


def test_nothing_tells_what_a_sound_is(panel: PanelFolder, server: Server) -> None:
    client, state = begun(server, panel, tokens_of(panel)[0])
    assert set(state["sounds"][0]) == {"id", "part", "seconds"}
    assert all(re.fullmatch(r"[0-9a-f]{24}", s["id"]) for s in state["sounds"])
    # random tokens may hold any two letters by chance
    said = json.dumps(state | {"csrf": "", "evaluator": "", "sounds": [s | {"id": ""} for s in state["sounds"]]})
    assert "anna" not in said and "check" not in said and "original" not in said and "b1" not in said
    status, sound, told = client.ask(f"/audio/{state['sounds'][0]['id']}")
    assert status == 200 and sound[:4] == b"fLaC" and b"anna" not in sound and told["content-type"] == "audio/flac"
    later = panel.sessions[1][-1].stimuli[0].token
    assert client.ask(f"/audio/{later}")[0] == 404, "only sounds of the trial at hand"


def test_every_reply_carries_strict_headers(server: Server) -> None:
    for path in ("/", "/static/panel.js", "/api/state", "/nothing", "/audio/x"):
        _, _, told = Client(server.port).ask(path)
        assert told["content-security-policy"].startswith("default-src 'none'; script-src 'self'")
        assert told["x-content-type-options"] == "nosniff" and told["cache-control"] == "no-store"
        assert "unsafe" not in told["content-security-policy"] and "server" not in told


def test_cookies_are_for_this_site_and_no_script(panel: PanelFolder, server: Server) -> None:
    _, _, told = Client(server.port).ask("/api/enter", {"token": tokens_of(panel)[0]})
    cookie = told["set-cookie"].lower()
    assert "httponly" in cookie and "samesite=strict" in cookie and "path=/" in cookie


def test_other_pages_cannot_ask(panel: PanelFolder, server: Server) -> None:
    client, state = begun(server, panel, tokens_of(panel)[0])
    body = {"trial": state["trial"], "answer": {"choice": "A"}, "listening": Listened(trial_of(panel, state)).report}
    listened(panel, client, state)
    for headers in (
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"X-Csrf": "wrong"},
        {"X-Csrf": ""},
    ):
        assert client.ask("/api/answer", body, **headers)[0] == 403, headers
    assert client.ask("/api/answer", body, Content_Type="text/plain")[0] == 415, "what a form of another page can send"
    assert client.ask("/api/state", Host="evil.example")[0] == 421, "a name that leads here by somebody else's DNS"
    assert client.ask("/api/state", Host=f"127.0.0.1:{server.port}")[1]["done"] == 0
    assert client.ask("/api/answer", body, Origin=server.address.rstrip("/"))[0] == 200


def test_answers_are_checked_and_come_once(panel: PanelFolder, server: Server) -> None:
    client, state = begun(server, panel, tokens_of(panel)[0])
    trial = trial_of(panel, state)
    heard = Listened(trial).report
    unheard = {**heard, "plays": {}}
    listened(panel, client, state)
    for body, status in (
        ({"trial": 1, "answer": {"choice": "C"}, "listening": heard}, 422),
        ({"trial": 1, "answer": {"choice": "A"}, "listening": unheard}, 422),
        ({"trial": 2, "answer": {"choice": "A"}, "listening": heard}, 409),
        ({"trial": "1", "answer": {"choice": "A"}, "listening": heard}, 409),
        ({"trial": 1, "answer": {"choice": "A"}, "listening": heard}, 200),
        ({"trial": 1, "answer": {"choice": "B"}, "listening": heard}, 409),
    ):
        assert client.ask("/api/answer", body)[0] == status
    assert client.ask("/api/overview")[0] == 403 and client.ask("/api/headphones", {"choices": [1, 1, 1]})[0] == 409


def test_answers_that_come_faster_than_their_sounds_are_refused(tmp_path: Path) -> None:
    """A script that reports listening times of its own: every answer of a session, at once."""
    panel = write_test_panel(tmp_path, "abx", sessions=1, seconds=20.0, trials=4)
    with started("panel", "serve", panel.path, "--port", "0") as server:
        client, state = begun(server, panel, tokens_of(panel)[0])
        for sound in state["sounds"]:
            client.ask(f"/audio/{sound['id']}")
        told = {"answer": ANSWERS["abx"], "listening": Listened(trial_of(panel, state)).report}
        answers = [client.ask("/api/answer", {"trial": number, **told}) for number in range(1, 5)]
    assert [status for status, _, _ in answers] == [422, 409, 409, 409]
    assert "listen to everything first: that takes at least 54.0 s" in answers[0][1]["error"]
    store = AnswerStore(panel.answers)
    assert store.answers() == []
    store.close()


def test_connections_that_ask_nothing_do_not_keep_others_out(panel: PanelFolder) -> None:
    """More idle connections than the server may open files: it still answers, and ends them by itself."""
    few = 256
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    limit: dict[str, Any] = {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (few, before[1]))}
    with started("panel", "serve", panel.path, "--port", "0", **limit) as server, contextlib.ExitStack() as stack:
        idle = [
            stack.enter_context(socket.create_connection(("127.0.0.1", server.port), timeout=60)) for _ in range(300)
        ]
        for number in range(0, 300, 2):  # half of them begin a request and never end it
            with contextlib.suppress(OSError):
                idle[number].sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ")
        assert Client(server.port).ask("/")[0] == 200
        for one in idle:
            with contextlib.suppress(ConnectionError):  # reset is an end as well
                assert one.recv(1) == b"", "closed by the server"
        assert Client(server.port).ask("/api/state")[0] == 401


def test_a_body_that_never_comes_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "BODY_S", 0.05)
    statuses: list[int] = []

    async def receive() -> dict[str, Any]:
        await asyncio.sleep(3600)
        raise AssertionError

    async def send(message: Any) -> None:
        if message["type"] == "http.response.start":
            statuses.append(message["status"])

    async def never(*_: Any) -> None:
        raise AssertionError

    headers = [(b"host", b"127.0.0.1"), (b"content-type", b"application/json"), (b"content-length", b"9")]
    asyncio.run(guard.Guard(never)({"type": "http", "method": "POST", "headers": headers}, receive, send))
    assert statuses == [408]


def test_large_requests_and_guessed_invitations_are_stopped(panel: PanelFolder, tmp_path: Path) -> None:
    with started("panel", "serve", panel.path, "--port", "0") as other:
        client = Client(other.port)
        assert client.ask("/api/enter", b"x" * 100_000)[0] == 413
        client = Client(other.port)
        statuses = [client.ask("/api/enter", {"token": "x" * 32})[0] for _ in range(30)]
        assert statuses[0] == 403 and 429 in statuses
        assert client.ask("/api/enter", {"token": tokens_of(panel)[0]})[0] == 200, (
            "somebody at the same address is not locked out"
        )


def test_a_used_port_and_a_wrong_folder_are_one_line(
    panel: PanelFolder, server: Server, tmp_path: Path, personare: Any
) -> None:
    for words, why in (((tmp_path,), "is no panel folder"), ((panel.path, "--port", server.port), "choose another")):
        ended = personare("panel", "serve", *map(str, words))
        assert ended.code == 2 and why in ended.stderr and ended.stderr.count("\n") == 1


def test_after_a_kill_every_acknowledged_answer_is_there(tmp_path: Path) -> None:
    panel = write_test_panel(tmp_path, "abx", sessions=2, seconds=0.2, trials=8)
    acknowledged = 0
    token = tokens_of(panel)[0]
    with started("panel", "serve", panel.path, "--port", "0") as first:
        client, state = begun(first, panel, token)
        for _ in range(5):
            status, state, _ = answer(panel, client, state)
            acknowledged += status == 200
        first.kill()
    store = AnswerStore(panel.answers)
    assert len(store.answers()) == acknowledged == 5
    store.close()
    with started("panel", "serve", panel.path, "--port", "0") as second:
        again = entered(second, token)
        state = again.ask("/api/state")[1]
        assert state["done"] == 5 and state["trial"] == 6, "goes on where it was"
        assert answer(panel, again, state)[0] == 200


def test_fifty_people_at_once_lose_nothing(tmp_path: Path) -> None:
    panel = write_test_panel(tmp_path, "abx", sessions=10, seconds=0.2, trials=4)
    tokens, running = tokens_of(panel, 50), list[Server]()

    def session(token: str) -> list[int]:
        client, state = begun(running[0], panel, token)
        statuses = []
        while state["step"] == "trial":
            for sound in state["sounds"]:
                statuses.append(client.ask(f"/audio/{sound['id']}")[0])
            status, state, _ = answer(panel, client, state)
            statuses.append(status)
        client.close()
        return statuses

    with (
        started("panel", "serve", panel.path, "--port", "0") as one,
        concurrent.futures.ThreadPoolExecutor(50) as people,
    ):
        running.append(one)
        statuses = [status for each in people.map(session, tokens, timeout=300) for status in each]
    assert set(statuses) == {200}
    store = AnswerStore(panel.answers)
    rows = store.answers()
    each = len(panel.sessions[1])
    assert len(rows) == 50 * each == len({(row["evaluator"], row["trial"]) for row in rows})
    sessions = [one.session for one in store.evaluators()]
    assert all(sessions.count(number) == 5 for number in range(1, 11)), "sessions are shared evenly"


def test_behind_a_proxy_cookies_are_for_https_and_limits_for_the_address_it_names(tmp_path: Path) -> None:
    panel = write_test_panel(tmp_path, "abx", sessions=1, seconds=0.2, trials=1)
    token, name = tokens_of(panel)[0], "listen.example.org"
    words = ("panel", "serve", panel.path, "--port", "0", "--behind-proxy", "--name", name)

    def from_address(port: int, address: str) -> Client:
        """Somebody elsewhere, as the proxy passes them on."""
        own = {"Host": name, "Origin": f"https://{name}", "X-Forwarded-For": address, "X-Forwarded-Proto": "https"}
        return Client(port, headers=own)

    with started(*words) as server:
        assert Client(server.port, headers={"Host": "other.example.org"}).ask("/")[0] == 421
        guesser, invited = (from_address(server.port, f"198.51.100.{n}") for n in (1, 2))
        assert 429 in [guesser.ask("/api/enter", {"token": "x" * 32})[0] for _ in range(25)]
        status, _, told = invited.ask("/api/enter", {"token": token})
        assert status == 200, "somebody else's guesses are not theirs"
        assert "secure" in told["set-cookie"].lower() and invited.ask("/api/state")[1]["step"] == "consent"
    with started(*words[:-3]) as server:  # without a proxy nobody's word about addresses is taken
        local = [
            Client(server.port, headers={"X-Forwarded-For": f"198.51.100.{n}"}).ask("/api/enter", {"token": "x" * 32})
            for n in range(25)
        ]
        assert 429 in [status for status, _, _ in local]


async def answered(app: Any, path: str, cookie: str) -> int:
    """Ask a server without a network; gives the status."""
    statuses: list[int] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: dict[str, Any]) -> None:
        if message["type"] == "http.response.start":
            statuses.append(message["status"])

    headers = [(b"host", b"127.0.0.1"), (b"cookie", f"personare={cookie}".encode())]
    scope = {"type": "http", "method": "GET", "path": path, "query_string": b"", "headers": headers, "client": None}
    await app(scope, receive, send)
    return statuses[0]


def test_one_person_may_ask_so_often_and_the_others_all_the_same(panel: PanelFolder) -> None:
    store = AnswerStore(panel.answers)
    limit = RateLimit(per_second=0.0, burst=5, clock=lambda: 0.0)
    app = PanelServer(panel, store, requests=limit).app()
    logins = [store.enter(token) for token in tokens_of(panel, 2)]
    often, once = (login.cookie for login in logins if login is not None)

    async def asked() -> list[int]:
        return [await answered(app, "/api/state", who) for who in (*[often] * 7, once)]

    assert asyncio.run(asked()) == [200] * 5 + [429] * 2 + [200]
    store.close()


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=True) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=10), inner, max_size=3),
    max_leaves=6,
)
NAMES = st.sampled_from(["trial", "answer", "listening", "choice", "token", "agree", "choices", "played_ms"])
BODIES = st.dictionaries(NAMES, JSON, max_size=4) | JSON
PATHS = st.sampled_from(
    ["/api/answer", "/api/enter", "/api/consent", "/api/headphones", "/api/state", "/api/overview", "/", "/audio/x"]
) | st.text(alphabet=string.printable.replace("\n", "").replace("\r", ""), max_size=40).map(
    lambda t: "/" + quote(t, safe="/.%")
)
UP = [
    "../design.parquet",
    "..%2fdesign.parquet",
    "%2e%2e/panel.json",
    "....//answers.sqlite",
    "design.parquet",
    "%00",
    "/etc/passwd",
]
ESCAPES = st.sampled_from([f"/{folder}/{name}" for folder in ("audio", "static") for name in UP])


@settings(max_examples=150, suppress_health_check=list(HealthCheck))
@given(path=PATHS | ESCAPES, body=st.none() | BODIES, raw=st.none() | st.binary(max_size=60), inside=st.booleans())
def test_whatever_is_asked_nothing_breaks_and_nothing_gets_out(
    panel: PanelFolder, server: Server, path: str, body: Any, raw: bytes | None, inside: bool
) -> None:
    client = Client(server.port)
    if inside:
        client.cookie, client.csrf = fuzzing_login(panel, server)
    status, found, told = client.ask(path, raw if raw is not None else body)
    client.close()
    assert status < 500, (path, body, raw)
    kind = told.get("content-type", "")
    ours = kind.startswith(("application/json", "text/html", "text/css", "text/javascript", "image/svg", "audio/flac"))
    assert ours or status in (404, 405, 307), (path, kind)
    if kind == "audio/flac":
        name = path.rpartition("/")[2]
        assert found == read_panel(panel.path).sound(name).read_bytes()
    content = found if isinstance(found, bytes) else json.dumps(found).encode()
    assert b"PAR1" not in content and b"SQLite" not in content and b"anna" not in content and b"root:" not in content


_LOGIN: dict[int, tuple[str, str]] = {}


def fuzzing_login(panel: PanelFolder, server: Server) -> tuple[str, str]:
    """One browser that is let in, for all examples."""
    if server.port not in _LOGIN:
        client, _ = begun(server, panel, tokens_of(panel)[0])
        _LOGIN[server.port] = (client.cookie, client.csrf)
    return _LOGIN[server.port]
