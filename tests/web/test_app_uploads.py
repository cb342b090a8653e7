"""Dropped recordings keep their names, are never replaced, are all counted, and are gone when their job is."""

from __future__ import annotations

import json
import stat
import sys
import time
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
import pytest

from conftest import hum
from personare.api.inspection import preview_recording
from personare.attackers import cache
from personare.core.audio import Audio, encode_wav, write
from personare.core.errors import ConfigError
from personare.core.ledger import read_ledger
from personare.web import job_work
from personare.web.app import AppServer
from personare.web.job_actions import act, job_state, may_be_given_away
from personare.web.job_folders import UPLOAD_DAYS, JobFolder, expire_uploads, new_job, new_upload, upload_place
from web.servers import Server, started
from web.test_app_server import AppClient, NoWorkers

SOUND = encode_wav([hum(1, duration_s=0.5)])


@pytest.fixture(scope="module")
def inside(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Server, AppClient, Path]]:
    jobs = tmp_path_factory.mktemp("app") / "jobs"
    with started("app", "--no-open", "--folder", jobs) as server:
        client = AppClient.of(server)
        for _ in range(50):  # somebody else's guesses
            assert client.ask("/api/enter", {"token": "x" * 32})[0] == 403
        assert client.ask("/api/enter", {"token": server.token})[0] == 200, "wrong tokens do not lock the owner out"
        client.ask("/api/state")
        yield server, client, jobs


def dropped(client: AppClient, job: str, name: str, content: bytes) -> int:
    kind = {"Content_Type": "application/octet-stream"}
    return client.ask(f"/api/jobs/{job}/upload?name={quote(name)}&offset=0", content, **kind)[0]


# names that an earlier version wrote to one place
ALIKE = [
    ("किताब.wav", "कताब.wav"),  # an Indic vowel sign
    ("a#1.wav", "a@1.wav"),
    ("one/2024/05/anna/day/x.wav", "two/2024/05/anna/day/x.wav"),  # they differ above the last four parts
    ("same.wav", "same.wav"),
    ("a?.wav", "a*.wav"),
]


@pytest.mark.parametrize("names", ALIKE)
def test_no_dropped_file_replaces_another(inside: tuple[Server, AppClient, Path], names: tuple[str, str]) -> None:
    _, client, jobs = inside
    job = client.ask("/api/jobs", {})[1]["id"]
    contents = [encode_wav([hum(n, duration_s=0.3)]) for n in (1, 2)]
    for name, content in zip(names, contents, strict=True):
        assert dropped(client, job, name, content) == 200
    placed = sorted((jobs / job / "recordings").rglob("*.wav"))
    assert sorted(path.read_bytes() for path in placed) == sorted(contents)
    kept = [name for name in names if not set(name) & set("?*")]
    assert {str(path.relative_to(jobs / job / "recordings")) for path in placed} >= set(kept)


def test_decomposed_accents_become_composed_ones(tmp_path: Path) -> None:
    job = JobFolder(tmp_path)
    assert upload_place(job, unicodedata.normalize("NFD", "Zoë.wav")).name == "Zoë.wav"
    first, second = (new_upload(job, unicodedata.normalize(form, "Zoë.wav")) for form in ("NFC", "NFD"))
    assert (first.name, second.name) == ("Zoë.wav", "Zoë (2).wav")


@pytest.mark.parametrize("name", ["x" * 300 + ".wav", "/".join(["d"] * 40) + "/a.wav"])
def test_a_name_that_no_system_takes_is_refused_in_one_line(tmp_path: Path, name: str) -> None:
    with pytest.raises(ConfigError, match=r"255 bytes|below 39 folders|below 40 folders"):
        upload_place(JobFolder(tmp_path), name)


def test_the_browser_is_started_with_a_private_file_and_no_token(tmp_path: Path) -> None:
    server = AppServer(tmp_path / "jobs")
    door = server.write_door(f"http://{server.name}:1234/#{server.token}")
    assert server.token in door.read_text() and server.token not in door.as_uri()
    assert stat.S_IMODE(door.stat().st_mode) == 0o600
    assert not list((tmp_path / "jobs").glob("*.json")) and server.name.endswith(".localhost")
    server.close_door()
    assert not door.exists()


def test_personare_app_opens_that_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The command line of a real browser process holds the file's address, and the file goes when it was used."""
    noted = tmp_path / "noted"
    browser = tmp_path / "browser"
    browser.write_text(
        f"#!{sys.executable}\nimport sys, pathlib\npathlib.Path({str(noted)!r}).write_text(sys.argv[1])\n"
    )
    browser.chmod(0o755)
    monkeypatch.setenv("BROWSER", f"{browser} %s")
    with started("app", "--folder", tmp_path / "jobs") as server:
        for _ in range(500):
            if noted.is_file() and noted.read_text():
                break
            time.sleep(0.02)
        address = noted.read_text()
        assert address.startswith("file://") and server.token not in address
        door = Path(address.removeprefix("file://"))
        assert f"{server.address}#{server.token}" in door.read_text()
        client = AppClient.of(server)
        assert client.ask("/api/enter", {"token": server.token})[0] == 200
        assert not door.exists()
        client.close()


def call(path: Path) -> None:
    """Two people who take turns, each on a channel."""
    first, second = (hum(n, duration_s=4.0, f0_hz=f0) for n, f0 in ((1, 110.0), (2, 200.0)))
    turn = np.repeat([1.0, 0.0, 1.0, 0.0], 16_000)
    tracks = [
        Audio((sound.samples * mask).astype(np.float32), 16_000) for sound, mask in ((first, turn), (second, 1 - turn))
    ]
    write(path, tracks)


def drop_thirty(job: JobFolder) -> None:
    """12 good recordings of 3 people, and 18 that are not: 5 broken, 3 empty, 10 beside the folders of the speakers."""
    for p in range(3):
        for n in range(4):
            place = new_upload(job, f"anna{p}/talk{n}.wav")
            place.write_bytes(encode_wav([hum(10 * p + n, duration_s=0.8, f0_hz=100.0 + 30 * p)]))
    for n in range(5):
        new_upload(job, f"anna{n % 3}/broken{n}.wav").write_bytes(b"RIFF" + bytes(n))
    for n in range(3):
        new_upload(job, f"anna{n}/empty{n}.wav").write_bytes(SOUND[:40] + bytes(4))  # a header, and no samples
    for n in range(10):
        new_upload(job, f"loose{n}.wav").write_bytes(SOUND)


@pytest.mark.models
def test_thirty_dropped_recordings_add_up_from_upload_to_pdf(tmp_path: Path) -> None:
    """18 of 30 are unusable: every page, the card of the folder, the report and the PDF give the same counts."""
    pypdf = pytest.importorskip("pypdf", reason="reads the PDF")
    job = new_job(tmp_path / "jobs", source="", title="Dropped recordings", rule="")
    drop_thirty(job)
    job.change(strength="fast")
    assert job_work.main(job.path, "read") == 0, job.ended("read")
    found = job.ended("read")
    assert (found["found"], found["recordings"], found["unreadable"], found["left_out"]) == (30, 12, 8, 10)
    assert found["people"] == 3 and len(found["excluded"]) == 18
    assert job_work.main(job.path, "preview") == 0 and len(job.ended("preview")["sounds"]) == 3
    assert job_work.main(job.path, "hide") == 0, job.ended("hide")
    hidden = job.ended("hide")["ledger"]
    expected = {"found": 30, "left_out": 10, "unreadable": 8, "rejected": 0, "failed": 0, "anonymized": 12}
    assert {name: hidden[name] for name in expected} == expected
    card = json.loads((job.anonymized / "anonymization.json").read_text())
    assert card["ledger"] == hidden and "anna" not in json.dumps(card) and "loose" not in json.dumps(card)
    rows = (job.private / "failures.tsv").read_text().splitlines()[1:]
    assert len(rows) == 18 and sum("\tunreadable\t" in row for row in rows) == 8
    assert job_work.main(job.path, "attack") == 0, job.ended("attack")
    told = job.ended("attack")["ledger"]
    assert told == {"found": 30, "left out": 10, "unreadable": 8, "anonymized": 12, "attacked": 6} | {
        "known to the attackers": 6
    }
    run = json.loads((job.path / "run" / "findings.json").read_text())["ledger"]
    ledger = read_ledger(run)
    assert ledger is not None and dict(ledger.rows) == told
    report = (job.path / "report" / "report.md").read_text()
    pdf = "\n".join(page.extract_text() for page in pypdf.PdfReader(job.path / "evidence.pdf").pages)
    for text in (report, pdf):
        for name, count in told.items():
            assert name in text and str(count) in text, name
        assert "loose" not in text and "anna" not in text
    assert "| found | 30 |" in " ".join(report.split()) and "More than one speaker on a channel: 0" in pdf


def test_calls_are_two_people_unless_somebody_says_otherwise(tmp_path: Path) -> None:
    job = new_job(tmp_path / "jobs", source="", title="calls", rule="file")
    for n in range(3):
        call(new_upload(job, f"call{n}.wav"))
    (job.uploads / "broken.wav").write_bytes(b"RIFF")
    assert job_work.main(job.path, "read") == 0, job.ended("read")
    found = job.ended("read")
    assert (found["people"], found["recordings"], found["calls"], found["by_channel"]) == (6, 3, 3, True)
    assert found["unreadable"] == 1, "a broken file is nobody"
    job.change(strength="fast", rule="channel")
    assert job_work.main(job.path, "preview") == 0
    shown = job.ended("preview")["sounds"]
    assert [one["recording"] for one in shown] == ["call0/1", "call0/2", "call1/1"]
    one, two = (job.path / "preview" / f"{n}-before.flac" for n in (0, 1))
    assert one.read_bytes() != two.read_bytes(), "each person is heard alone"
    assert job_work.main(job.path, "hide") == 0
    assert job.ended("hide")["ledger"]["anonymized"] == found["recordings"] == 3, "the pages count alike"
    job.change(rule="file", rule_chosen=True)
    assert job_work.main(job.path, "read") == 0
    found = job.ended("read")
    assert (found["people"], found["calls"], found["by_channel"]) == (3, 3, False)


def test_one_rejected_recording_does_not_cancel_the_previews(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from personare.core.errors import RejectedSpeechError

    job = new_job(tmp_path / "jobs", source="", title="t", rule="file")
    for n in range(4):
        write(new_upload(job, f"talk{n}.wav"), hum(n, duration_s=0.5))
    job.change(strength="fast")
    assert job_work.main(job.path, "read") == 0
    made = preview_recording

    def rejecting(corpus: Any, utterance: str, **how: Any) -> Any:
        if utterance == "talk1":
            raise RejectedSpeechError("talk1: no words were recognized")
        return made(corpus, utterance, **how)

    monkeypatch.setattr(job_work, "preview_recording", rejecting)
    assert job_work.main(job.path, "preview") == 0
    ended = job.ended("preview")
    assert [one["recording"] for one in ended["sounds"]] == ["talk0", "talk2", "talk3"]
    assert ended["failed"] == [{"recording": "talk1", "kind": "rejected", "reason": "talk1: no words were recognized"}]


@pytest.mark.parametrize(
    ("verdict", "allowed"),
    [("protected", True), ("partly protected", True), ("not decided", False), ("not protected", False)],
)
def test_nothing_is_given_away_without_a_verdict_that_protects(
    inside: tuple[Server, AppClient, Path], verdict: str, allowed: bool
) -> None:
    server, entered, jobs = inside
    client = AppClient.of(server, cookie=entered.cookie)
    job = new_job(jobs, source=str(jobs), title="t", rule="")
    (job.path / "anonymized.zip").write_bytes(b"PK")
    address = f"/api/jobs/{job.id}/file/zip"
    assert client.ask(address)[0] == 409, "before any attack"
    job.keep("done-attack.json", {"ok": True, "verdicts": [{"protection": verdict}]})
    assert may_be_given_away(job) is allowed and client.ask(address)[0] == (200 if allowed else 409)


def test_removal_takes_what_was_derived_and_says_what_remains(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PERSONARE_HOME", str(tmp_path / "home"))
    job = new_job(tmp_path / "jobs", source="", title="t", rule="file")
    for n in range(2):
        write(new_upload(job, f"talk{n}.wav"), hum(n, duration_s=0.5))
    assert job_work.main(job.path, "read") == 0
    cache.embed_file(job.uploads / "talk0.wav", "energy")
    assert list((job.path / "cache").rglob("*.vector")) and not list((tmp_path / "home").rglob("*.vector"))
    told = act(NoWorkers(), job, {"action": "forget"})
    assert told is not None and not job.path.exists()
    assert any(str(tmp_path / "home") in line for line in told["remains"]) and "original" not in str(told["remains"])
    elsewhere = new_job(tmp_path / "jobs", source=str(tmp_path / "calls"), title="t", rule="")
    told = act(NoWorkers(), elsewhere, {"action": "forget"})
    assert told is not None and f"the original recordings in {tmp_path / 'calls'}" in told["remains"]


def test_copies_are_deleted_when_nobody_used_the_job_for_long(tmp_path: Path) -> None:
    job = new_job(tmp_path, source="", title="t", rule="file")
    write(new_upload(job, "talk.wav"), hum(1, duration_s=0.5))
    assert not expire_uploads(job, now=time.time() + (UPLOAD_DAYS - 1) * 86_400) and job.uploads.is_dir()
    assert expire_uploads(job, now=time.time() + (UPLOAD_DAYS + 1) * 86_400)
    assert not job.uploads.exists() and job_state(job, running=False)["expired"]
