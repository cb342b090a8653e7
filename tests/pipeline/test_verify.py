"""personare verify notices every kind of harm to an anonymized folder, and nothing in a whole one."""

from __future__ import annotations

import json
import pickle
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from conftest import Command
from personare.core.errors import ConfigError, CorpusError
from personare.core.files import temporary_name
from personare.engine import Serial
from personare.pipeline.jobs.verify import verify
from pipeline.test_anonymize import run
from pipeline.test_resume import spoil


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Path:
    from conftest import hum
    from personare.core.audio import write

    folder = tmp_path_factory.mktemp("verify")
    for speaker in ("anna", "bela"):
        for number in range(2):
            write(folder / "in" / speaker / f"{number}.wav", hum(number, duration_s=0.2))
    run(folder / "in", folder / "out")
    return folder


@pytest.fixture
def out(made: Path, tmp_path: Path) -> Path:
    for name in ("out", "out-private"):
        shutil.copytree(made / name, tmp_path / name)
    return tmp_path / "out"


def first(out: Path) -> Path:
    return min(out.rglob("*.flac"))


def manifest(out: Path, change: Callable[[pl.DataFrame], pl.DataFrame]) -> None:
    change(pl.read_parquet(out / "manifest.parquet")).write_parquet(out / "manifest.parquet")


HARM: dict[str, tuple[Callable[[Path], object], str]] = {
    "a flipped byte": (lambda out: spoil(first(out), "flipped byte"), "its digest is not the one"),
    "a zeroed tail": (lambda out: spoil(first(out), "zeroed tail"), "its digest is not the one"),
    "a file that is gone": (lambda out: first(out).unlink(), "is in the manifest and not there"),
    "a foreign file": (lambda out: (out / "notes.txt").write_text("who is who"), "is not in the manifest"),
    "foreign audio": (lambda out: shutil.copy(first(out), out / "audio" / "x.flac"), "is not in the manifest"),
    "a temporary file": (lambda out: temporary_name(first(out)).write_bytes(b""), "is a temporary file"),
    "a lost manifest": (lambda out: (out / "manifest.parquet").unlink(), "no such file"),
    "a changed manifest": (
        lambda out: manifest(out, lambda f: f.with_columns(speaker=pl.lit("x"))),
        "its digest is not the one",
    ),
    "a path that leads out": (
        lambda out: manifest(out, lambda f: f.with_columns(audio=pl.lit("/a.flac"))),
        "lead out of the folder",
    ),
    "a changed card": (lambda out: (out / "anonymization.json").write_text('{"utterances": 3}'), "counts 3 utterances"),
    "lost digests": (lambda out: (out / "SHA256SUMS").unlink(), "nobody can tell whether files have changed"),
}


@pytest.mark.parametrize("public", [False, True], ids=["owner", "public"])
@pytest.mark.parametrize("harm", HARM)
def test_every_harm_is_named(out: Path, harm: str, public: bool) -> None:
    if public:
        shutil.rmtree(out.with_name("out-private"))
    assert not verify(out, public=public).problems
    do, line = HARM[harm]
    do(out)
    problems = verify(out, public=public).problems
    assert any(line in problem for _, problem in problems), problems


def test_the_owner_also_notices_a_consistent_forgery(out: Path) -> None:
    """Somebody exchanges a recording and its digest: only the journal knows."""
    files = sorted(out.rglob("*.flac"))[:2]
    sums = (out / "SHA256SUMS").read_text()
    digests = {line.split("  ")[1]: line.split("  ")[0] for line in sums.splitlines()}
    here = [str(path.relative_to(out)) for path in files]
    shutil.copy(files[0], files[1])
    (out / "SHA256SUMS").write_text(sums.replace(digests[here[1]], digests[here[0]]))
    assert not verify(out, public=True).problems
    assert verify(out).problems


def test_a_key_of_another_job_is_noticed(out: Path, tmp_path: Path) -> None:
    key = tmp_path / "out-private" / "key"
    key.write_text("0123456789abcdef" * 4)
    assert ("key", "is not the key that this folder was made with") in verify(out).problems
    key.chmod(0o644)
    assert any("others can read" in problem for _, problem in verify(out).problems)


def test_without_the_private_folder_the_owner_is_told_how(out: Path) -> None:
    shutil.rmtree(out.with_name("out-private"))
    with pytest.raises(ConfigError, match="--public"):
        verify(out)
    with pytest.raises(CorpusError, match="no such folder"):
        verify(out / "absent")


def test_the_command(out: Path, personare: Command) -> None:
    done = personare("verify", out)
    assert done.code == 0 and "whole: every file is there" in done.stdout and "problem" not in done.stderr
    found = json.loads(personare("verify", out, "--public", "--json").stdout)
    assert (found["files"], found["utterances"], found["problems"]) == (4, 4, [])
    first(out).write_bytes(b"")
    done = personare("verify", out, "--jobs", 2)
    assert done.code == 1 and "problem: audio/" in done.stderr


def test_what_is_sent_with_every_file_holds_no_list_of_them(out: Path) -> None:
    class Watched:
        """An engine that looks at what it is given."""

        def map(self, work: Any, items: Any, *, ordered: bool = True) -> Any:
            sizes.append(len(pickle.dumps(work)))
            yield from Serial().map(work, items, ordered=ordered)

    sizes: list[int] = []
    (out / "SHA256SUMS").open("a").writelines(f"{'0' * 64}  audio/{n}.flac\n" for n in range(1000))
    assert len(verify(out, public=True, engine=Watched()).problems) >= 1000
    assert sizes[0] < 1000
