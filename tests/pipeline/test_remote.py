"""Recordings fetched from, and results put into, another file system: the same bytes, confirmed by digests."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from typer.testing import CliRunner

from crash.commands import content, write_hums
from personare.cli import app
from personare.core.errors import AudioError, ConfigError, CorpusError, MissingExtraError, OutputError
from personare.core.remote import RemoteFolder, _opened
from personare.core.seeding import load_or_make_key
from personare.corpora import read_corpus
from personare.corpora.manifest import read_listed
from personare.engine import Engine, ProcessPool, Serial
from personare.pipeline.jobs.anonymize import AnonymizeSummary, anonymize
from personare.pipeline.system import System

fsspec = pytest.importorskip("fsspec", reason="needs the extra 'bucket'")
SYSTEM = System("mcadams", {"alpha": [0.5, 0.9]})


@pytest.fixture
def memory() -> Iterator[Any]:
    """fsspec's file system in memory, empty before and after."""
    system = fsspec.filesystem("memory")
    system.store.clear()
    yield system
    system.store.clear()


@pytest.fixture
def given(tmp_path: Path) -> Path:
    """A small corpus with a table of relative paths, its key, and what one process makes of it on this disk."""
    write_hums(tmp_path / "in", speakers=2, utterances=3)
    load_or_make_key(tmp_path / "key")
    corpus = read_corpus(tmp_path / "in").corpus
    anonymize(corpus, tmp_path / "one", SYSTEM, engine=Serial(), key_file=tmp_path / "key")
    return tmp_path


def remotely(place: Path, target: str, fetch: str, put: str, engine: Engine) -> AnonymizeSummary:
    corpus = read_listed(place / "in" / "manifest.parquet").corpus
    remote: dict[str, Any] = {"fetch": RemoteFolder(fetch), "put": RemoteFolder(put)}
    return anonymize(corpus, place / target, SYSTEM, engine=engine, key_file=place / "key", **remote)


def test_two_processes_and_a_file_url_give_the_bytes_of_one_process(given: Path) -> None:
    (given / "bucket").mkdir()
    made = remotely(given, "two", f"file://{given}/in", f"file://{given}/bucket", ProcessPool(2))
    assert (made.done, made.failed, made.unexplained) == (6, 0, 0), made.failures
    assert content(given / "bucket") == content(given / "one")
    here = content(given / "two")
    assert sorted(here) == ["SHA256SUMS", "anonymization.json", "manifest.parquet"]
    assert here.items() <= content(given / "one").items()


def test_what_was_harmed_or_lost_there_is_made_again(given: Path, memory: Any) -> None:
    for path in (given / "in").rglob("*.wav"):
        memory.pipe_file(f"/in/{path.relative_to(given / 'in')}", path.read_bytes())
    where = ("memory://in", "memory://out")
    assert remotely(given, "two", *where, Serial()).done == 6
    expected = {name: digest for name, digest in content(given / "one").items() if name.startswith("audio/")}
    files = sorted(name for name in memory.find("/out/audio"))
    assert [name.removeprefix("/out/") for name in files] == sorted(expected)
    memory.pipe_file(files[0], memory.cat_file(files[0])[:-1] + b"\x00")
    memory.rm_file(files[1])
    again = remotely(given, "two", *where, Serial())
    assert (again.done, again.kept, again.damaged, again.missing, again.failed) == (6, 4, 1, 1, 0)
    assert {name: RemoteFolder("memory://out").digest(name) for name in expected} == expected
    memory.pipe_file("/in/s0/s0-1.wav", memory.cat_file("/in/s0/s0-2.wav"))
    memory.rm_file("/in/s1/s1-0.wav")  # a result whose source is gone is kept
    third = remotely(given, "two", *where, Serial())
    assert (third.done, third.kept, third.changed, third.failed) == (6, 5, 1, 0)
    memory.pipe_file("/out/audio/zz/foreign.flac", b"?")
    assert remotely(given, "two", *where, Serial()).unexplained == 1


def test_a_recording_that_is_not_there_is_a_row(given: Path, memory: Any) -> None:
    memory.pipe_file("/in/s0/s0-0.wav", (given / "in" / "s0" / "s0-0.wav").read_bytes())
    made = remotely(given, "two", "memory://in", "memory://out", Serial())
    assert (made.done, made.failed) == (1, 5) and made.failures[0] == ("s0-1", "s0/s0-1.wav: no such file")


def test_another_place_for_results_is_another_job(given: Path, memory: Any) -> None:
    remotely(given, "two", "memory://in", "memory://out", Serial())
    with pytest.raises(OutputError, match="was begun with other settings"):
        remotely(given, "two", "memory://in", "memory://elsewhere", Serial())
    assert json.loads((given / "two-private" / "job.json").read_text())["put"] == "memory://out"


def test_what_is_put_is_read_back(memory: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(type(memory), "pipe_file", lambda self, place, _, **__: self.store.__setitem__(place, b""))
    with pytest.raises(OutputError, match=r"memory://out/a\.flac: (what is there is not|cannot be read back)"):
        RemoteFolder("memory://out").put("a.flac", b"sound")


def test_errors_tell_the_kind_and_never_what_a_service_says(memory: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError("https://bucket/a?signature=secret")

    monkeypatch.setattr(type(memory), "open", refuse)
    with pytest.raises(AudioError) as told:
        RemoteFolder("memory://in").fetch("a.wav", Path("nowhere"))
    assert str(told.value) == "memory://in/a.wav: cannot be fetched (PermissionError)"


@pytest.mark.parametrize(
    "url", ["s3://me:secret@host/b", "https://host/b?token=secret", "recordings", "s3://b/#secret"]
)
def test_credentials_in_a_url_are_refused_and_not_repeated(url: str) -> None:
    with pytest.raises(ConfigError, match="is no URL of a folder") as told:
        RemoteFolder(url)
    assert "secret" not in str(told.value)


@pytest.mark.parametrize("name", ["../key", "a/../../key", "/etc/passwd", "s3://other/a", "a\\b"])
def test_nothing_leads_out_of_the_folder(tmp_path: Path, name: str) -> None:
    with pytest.raises(ConfigError, match="must be a path below the folder"):
        RemoteFolder(f"file://{tmp_path}").digest(name)
    table = pl.DataFrame({"utterance": ["u"], "speaker": ["s"], "audio": [name]})
    table.write_parquet(tmp_path / "list.parquet")
    with pytest.raises(CorpusError, match="must be a path below the folder it is fetched from"):
        read_listed(tmp_path / "list.parquet")


def test_an_unknown_kind_and_a_missing_library_are_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ConfigError, match="nothing://b: no file system 'nothing' can be opened here"):
        RemoteFolder("nothing://b").check()
    monkeypatch.setitem(__import__("sys").modules, "fsspec.core", None)
    _opened.cache_clear()
    with pytest.raises(MissingExtraError, match=r"pip install '\.\[bucket\]'"):
        RemoteFolder("file:///somewhere").check()


def test_on_the_command_line(given: Path) -> None:
    (given / "bucket").mkdir()
    table = given / "in" / "manifest.parquet"
    words = ["anonymize", table, given / "two", "--key", given / "key", "--method", "mcadams"]
    words += ["--set", "alpha=[0.5, 0.9]", "--fetch", f"file://{given}/in", "--put", f"file://{given}/bucket"]
    done = CliRunner().invoke(app, [str(word) for word in words])
    assert done.exit_code == 0, done.output
    assert content(given / "bucket") == content(given / "one")
