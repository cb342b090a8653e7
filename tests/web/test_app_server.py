"""The app's server: one browser, one token; other pages and users get nothing; files stay where they belong."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import quote

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from conftest import hum
from personare.core.audio import encode_wav
from personare.core.errors import ConfigError
from personare.core.tables import Corpus
from personare.web import job_actions
from personare.web.guard import RequestError
from personare.web.job_folders import FOUND, JobFolder, Phase, jobs_in, new_job, upload_place
from web.servers import Client, Server, started
from web.test_panel_server import BODIES, UP


class AppClient(Client):
    """The same client, with the app's cookie and under its name."""

    @classmethod
    def of(cls, server: Server, **others: str) -> AppClient:
        """Ask a server as its page does."""
        return cls(server.port, headers={"Host": f"{server.host}:{server.port}"}, **others)

    def ask(self, path: str, body: Any = None, **headers: str) -> tuple[int, Any, dict[str, str]]:
        if self.cookie:
            headers.setdefault("Cookie", f"personare-app={self.cookie}")
        status, found, told = super().ask(path, body, **headers)
        cookie = told.get("set-cookie", "")
        if cookie.startswith("personare-app="):
            self.cookie = cookie.partition("=")[2].partition(";")[0]
        return status, found, told


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("app")


@pytest.fixture(scope="module")
def server(home: Path) -> Iterator[Server]:
    with started("app", "--no-open", "--folder", home / "jobs") as one:
        yield one


@pytest.fixture(scope="module")
def inside(server: Server) -> AppClient:
    client = AppClient.of(server)
    assert client.ask("/api/enter", {"token": "x" * 32})[0] == 403
    status, _, told = client.ask("/api/enter", {"token": server.token})
    assert (
        status == 200 and "samesite=strict" in told["set-cookie"].lower() and "httponly" in told["set-cookie"].lower()
    )
    assert client.ask("/api/state")[0] == 200
    return client


def test_the_address_works_once(server: Server, inside: AppClient) -> None:
    other = AppClient.of(server)
    assert other.ask("/api/enter", {"token": server.token})[0] == 403, "somebody who read it over your shoulder"
    for path in ("/api/state", "/api/folders", "/api/jobs/0123456789ab", "/api/jobs/0123456789ab/file/zip"):
        assert other.ask(path)[0] == 401
    assert other.ask("/api/jobs", {"folder": "/"})[0] == 401


def test_another_page_or_name_cannot_ask(server: Server, inside: AppClient) -> None:
    for headers in ({"Origin": "http://evil.example"}, {"Sec-Fetch-Site": "cross-site"}, {"X-Csrf": "no"}):
        assert inside.ask("/api/jobs", {}, **headers)[0] == 403
    for other in ("evil.example", f"127.0.0.1:{server.port}", f"localhost:{server.port}", f"x.localhost:{server.port}"):
        assert inside.ask("/api/state", Host=other)[0] == 421, "cookies of these names go to other servers, too"
    assert inside.ask("/api/state", Origin="http://evil.example")[0] == 403


def test_dropped_files_come_in_pieces_and_stay_below_their_job(server: Server, inside: AppClient, home: Path) -> None:
    job = inside.ask("/api/jobs", {})[1]["id"]
    sound = encode_wav([hum(1, duration_s=0.5)])
    kind = {"Content_Type": "application/octet-stream"}
    half = len(sound) // 2
    for name in ("../../../etc/a.wav", "/etc/b.wav", "one/two/c.wav", "..\\..\\d.wav"):
        first = inside.ask(f"/api/jobs/{job}/upload?name={quote(name)}&offset=0", sound[:half], **kind)
        assert first[0] == 200, first
        later = f"/api/jobs/{job}/upload?name={quote(name)}&file={first[1]['file']}&offset="
        assert inside.ask(f"{later}{half + 1}", b"x", **kind)[0] == 409
        assert inside.ask(f"{later}{half}", sound[half:], **kind)[0] == 200
        assert inside.ask(f"/api/jobs/{job}/upload?name={quote(name)}&offset={half}", b"x", **kind)[0] == 409
    for name in ("a.exe", "", "..", "x" * 300, "key"):
        assert inside.ask(f"/api/jobs/{job}/upload?name={quote(name)}&offset=0", b"x", **kind)[0] == 422
    placed = list(home.rglob("*.wav"))
    assert len(placed) == 4 and all(p.is_relative_to(home / "jobs" / job / "recordings") for p in placed)
    assert all(p.read_bytes() == sound for p in placed) and not list(home.glob("*.wav"))
    assert inside.ask(f"/api/jobs/{job}/act", {"action": "forget"})[1]["gone"] is True
    assert not (home / "jobs" / job).exists()


@pytest.mark.parametrize("name", ["..", "../..", "a/../../x", "\0.wav", "...wav", " .wav", "a\n.txt"])
def test_no_name_leads_out_of_a_job(tmp_path: Path, name: str) -> None:
    job = JobFolder(tmp_path / "0123456789ab")
    try:
        place = upload_place(job, name)
    except ConfigError:
        return
    assert place.resolve().is_relative_to(job.uploads.resolve())


def test_people_of_a_large_corpus_come_some_at_a_time(server: Server, inside: AppClient, home: Path) -> None:
    job = new_job(home / "jobs", source=str(home), title="large", rule="")
    rows = [(f"u{i:05d}", f"anna{i // 4:04d}", f"/nowhere/{i}.wav") for i in range(10_000)]
    Corpus(pl.DataFrame(rows, schema=["utterance", "speaker", "audio"], orient="row")).save(job.path / FOUND)
    found = inside.ask(f"/api/jobs/{job.id}/people")[1]
    assert len(found["people"]) == 100 and found["total"] == found["all"] == 2500
    last = inside.ask(f"/api/jobs/{job.id}/people?from=2450")[1]["people"]
    assert len(last) == 50 and last[-1] == {"found": "anna2499", "name": "anna2499", "recordings": 4}
    assert inside.ask(f"/api/jobs/{job.id}/people?search=ANNA12")[1]["total"] == 100
    named = inside.ask(f"/api/jobs/{job.id}/act", {"action": "name", "found": "anna0001", "name": "anna0000"})
    assert named[0] == 200 and set(job.write_speech().frame["speaker"][:8]) == {"anna0000"}
    assert inside.ask(f"/api/jobs/{job.id}/act", {"action": "hide"})[0] == 409, "nothing was read yet"
    assert inside.ask(f"/api/jobs/{job.id}/act", {"action": "name", "found": "nobody", "name": "x"})[0] == 422
    inside.ask(f"/api/jobs/{job.id}/act", {"action": "forget"})


@pytest.fixture
def read_job(home: Path) -> JobFolder:
    """A job whose recordings were found (and are gone since: whatever begins ends at once)."""
    job = new_job(home / "jobs", source=str(home / "no"), title="read", rule="")
    job.keep("done-read.json", {"ok": True, "people": 1, "recordings": 1, "notes": []})
    return job


def test_a_method_is_chosen_by_a_name_that_the_page_was_given(inside: AppClient, read_job: JobFolder) -> None:
    offered = {one["name"]: one for one in inside.ask("/api/state")[1]["methods"]}
    assert {"formants", "usc", "world", "xvector"} <= set(offered), "what no strength stands for"
    assert not {"mcadams", "cascade", "codec", "chain"} & set(offered)
    assert offered["world"]["summary"] == "Another vocal tract length, pitch and breathiness (WORLD vocoder)."
    act = f"/api/jobs/{read_job.id}/act"
    for wrong in ("wrold", "codec", "chain", "cascade", "os:system", "../world", ["world"], {"world": 1}, 7, None):
        status, told, _ = inside.ask(act, {"action": "hide", "method": wrong})
        assert status == 422, (wrong, told)
    assert "did you mean 'world'?" in inside.ask(act, {"action": "hide", "method": "wrold"})[1]["error"]
    assert inside.ask(act, {"action": "hide", "method": "world", "strength": "fast"})[0] == 422, "one of them"
    assert read_job.facts().hidden_by == {"strength": "balanced", "language": None}, "nothing of that was taken"


@pytest.mark.skipif(find_spec("pyworld") is None, reason="needs the extra 'pitch'")
def test_the_job_remembers_its_method_until_something_else_is_chosen(inside: AppClient, read_job: JobFolder) -> None:
    act = f"/api/jobs/{read_job.id}/act"
    shown = inside.ask(act, {"action": "hide", "method": "world"})[1]
    assert (shown["method"], shown["strength"]) == ("world", "")
    assert JobFolder(read_job.path).facts().hidden_by == {"method": "world", "language": None}
    assert inside.ask(act, {"action": "hide"})[1]["method"] == "world", "begun again without a choice"
    read_job.anonymized.mkdir()
    for other in ({"strength": "fast"}, {"method": "formants"}):
        assert inside.ask(act, {"action": "hide", **other})[0] == 409, "two ways in one folder"
    read_job.anonymized.rmdir()
    shown = inside.ask(act, {"action": "hide", "strength": "fast"})[1]
    assert (shown["method"], shown["strength"]) == ("", "fast")


def test_a_method_whose_models_are_not_there_is_refused_with_what_it_needs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PERSONARE_HOME", str(tmp_path / "empty"))
    job = new_job(tmp_path / "jobs", source=str(tmp_path), title="read", rule="")
    job.keep("done-read.json", {"ok": True, "people": 1, "recordings": 1, "notes": []})
    with started("app", "--no-open", "--folder", tmp_path / "jobs") as one:
        client = AppClient.of(one)
        client.ask("/api/enter", {"token": one.token})
        (usc,) = [method for method in client.ask("/api/state")[1]["methods"] if method["name"] == "usc"]
        assert usc["needs"] == "personare models fetch moonshine swift-f0"
        status, told, _ = client.ask(f"/api/jobs/{job.id}/act", {"action": "hide", "method": "usc"})
        assert status == 409 and usc["needs"] in told["error"]
        client.close()


def test_a_job_from_before_there_were_methods_opens(inside: AppClient, read_job: JobFolder) -> None:
    facts = {name: value for name, value in read_job.read("job.json").items() if name != "method"}
    read_job.keep("job.json", facts | {"strength": "strong"})
    status, shown, _ = inside.ask(f"/api/jobs/{read_job.id}")
    assert status == 200 and (shown["strength"], shown["method"]) == ("strong", "")
    assert read_job.facts().hidden_by == {"strength": "strong", "language": None}


def test_folders_are_listed_without_files(inside: AppClient, home: Path) -> None:
    (home / "speech" / "anna").mkdir(parents=True)
    (home / "speech" / "secret.txt").write_text("x")
    (home / "speech" / "a.wav").write_bytes(b"x")
    found = inside.ask(f"/api/folders?path={quote(str(home / 'speech'))}")[1]
    assert found["folders"] == ["anna"] and found["recordings"] == 1 and "secret" not in json.dumps(found)
    assert inside.ask("/api/folders?path=/nowhere/at/all")[0] == 422


PATHS = st.sampled_from(
    [
        "/api/state",
        "/api/jobs",
        "/api/folders",
        "/api/jobs/0123456789ab/act",
        "/api/jobs/JOB/act",
        "/api/jobs/JOB/people",
    ]
) | st.sampled_from([f"/api/jobs/{job}/file/{quote(up)}" for job in ("JOB", "..", "%2e%2e") for up in ("key", *UP)])
ACTIONS = st.fixed_dictionaries(
    {"action": st.sampled_from(["name", "pause", "resume", "x", "hide", "attack"]) | st.integers()},
    optional={
        "name": st.text(max_size=5),
        "found": st.text(max_size=5),
        "strength": st.text(max_size=5) | st.none(),
        "method": st.text(max_size=5)
        | st.sampled_from(["world", "usc", "codec"])
        | st.lists(st.integers(), max_size=1),
    },
)


@settings(max_examples=120, suppress_health_check=list(HealthCheck))
@given(path=PATHS, body=st.none() | BODIES | ACTIONS, query=st.text(max_size=20), known=st.booleans())
def test_whatever_is_asked_nothing_breaks_and_nothing_gets_out(
    server: Server, inside: AppClient, home: Path, path: str, body: Any, query: str, known: bool
) -> None:
    job = next(iter(jobs_in(home / "jobs")), None) or new_job(
        home / "jobs", source=str(home / "no"), title="t", rule=""
    )
    client = AppClient.of(server, cookie=inside.cookie if known else "", csrf=inside.csrf)
    where = path.replace("JOB", job.id) + (f"?path={quote(query)}&from={quote(query)}" if body is None else "")
    status, found, _ = client.ask(where, body)
    client.close()
    assert status < 500, (where, body, found)
    assert known or status in (401, 403, 404, 405, 415)
    content = found if isinstance(found, bytes) else json.dumps(found).encode()
    assert b"root:" not in content and b"PAR1" not in content


class NoWorkers:
    """Nothing is at work."""

    def start(self, job: JobFolder, phase: Phase) -> None:
        raise AssertionError("nothing begins")

    def stop(self, job: JobFolder) -> None:
        del job


def test_a_job_is_removed_whole_or_it_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that is just ending may write into the folder while it is removed."""
    job = new_job(tmp_path, source="", title="any", rule="")
    real, tries = shutil.rmtree, list[Path]()

    def first_disturbed(path: Path, **how: Any) -> None:
        tries.append(path)
        real(path, **how)
        if len(tries) < 3:
            (path / "audio").mkdir(parents=True)

    monkeypatch.setattr(shutil, "rmtree", first_disturbed)
    job_actions.act(NoWorkers(), job, {"action": "forget"})
    assert len(tries) == 3 and not job.path.exists()
    job = new_job(tmp_path, source="", title="any", rule="")
    monkeypatch.setattr(shutil, "rmtree", lambda path, **how: None)
    monkeypatch.setattr(job_actions, "REMOVAL_TRIES", 2)
    with pytest.raises(RequestError, match="could not be removed whole; remove the folder yourself"):
        job_actions.act(NoWorkers(), job, {"action": "forget"})
