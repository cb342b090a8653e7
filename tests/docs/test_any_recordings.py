"""The commands of docs/how-to/anonymize-any-recordings.md run, as printed, on real files of every kind it speaks of."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from conftest import Command, Ended, hum
from docs.pages import DOCS, Page
from media_files import NAMES, av, language_tags, make_sound, make_video, picture_packets
from personare.core.audio import probe, read_channels, write
from personare.corpora import read_corpus
from personare.pipeline.given import pair_given
from personare.pipeline.resolve import GivenFolder

PAGE = Page(DOCS / "how-to" / "anonymize-any-recordings.md")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The recordings of a person who keeps everything: rates, channels, formats and letters as they come."""
    write(tmp_path / "interview.wav", hum(1, rate_hz=48_000))
    recordings = {"anna_1.wav": 8_000, "anna_2.flac": 48_000, "Søren_1.mp3": 44_100, "Søren_2.opus": 16_000}
    for number, (name, rate_hz) in enumerate(recordings.items()):
        write(tmp_path / "recordings" / name, hum(number, rate_hz=rate_hz))
    write(tmp_path / "recordings" / "李小龙_1.wav", [hum(5), hum(6)])
    for name in ("call.wav", "calls/2024-01.wav", "calls/Größe.wav"):
        write(tmp_path / name, [hum(7, rate_hz=8_000), hum(8, rate_hz=8_000)])
    return tmp_path


def type_in(folder: Path, line: str, personare: Command) -> Ended:
    """Type one line of the page in this process; one with a pipe is given to a shell."""
    manifest = folder / "anonymous" / "manifest.parquet"
    os.environ["TOKEN"] = pl.read_parquet(manifest)["speaker"][0] if manifest.is_file() else ""
    if not line.startswith("personare "):
        return shell(folder, line)
    return personare(*(os.path.expandvars(word) for word in shlex.split(line)[1:]))


def shell(folder: Path, line: str) -> Ended:
    command = f'personare() {{ "{sys.executable}" -m personare "$@"; }}\n{line}'
    words = ["bash", "-euo", "pipefail", "-c", command]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
    return Ended(done.returncode, done.stdout, done.stderr)


def test_every_command_runs_as_printed(folder: Path, personare: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    av()
    monkeypatch.setenv("PERSONARE_HOME", str(folder / "home"))  # nothing is fetched: the default is the fast method
    monkeypatch.setenv("TOKEN", "")
    monkeypatch.chdir(folder)
    make_sound(folder / "interview.m4a", codec="aac", rate_hz=44_100)
    make_video(folder / "interview.mp4")
    make_sound(folder / "recordings" / "anna_3.m4a", codec="aac", rate_hz=44_100)
    lines = [line for block in PAGE.blocks("") for line in block.splitlines() if line.strip()]
    assert len(lines) >= 11
    printed = {}
    for line in lines:
        done = type_in(folder, line, personare)
        assert done.code == 0, (line, done.stderr)
        printed[line] = done.stdout
    assert probe(folder / "hidden.flac").rate_hz == 48_000 and (folder / "hidden.flac-private" / "key").is_file()
    assert probe(folder / "hidden.mp3").rate_hz == 44_100
    assert len(list((folder / "anonymous" / "audio").rglob("*.opus"))) == 6
    assert pl.read_parquet(folder / "anonymous" / "manifest.parquet")["speaker"].n_unique() == 3
    assert pl.read_parquet(folder / "hidden-calls" / "manifest.parquet")["speaker"].n_unique() == 4
    assert len(read_channels(folder / "hidden-call.wav")) == 2
    paired = pair_given(read_corpus(folder / "lists").corpus.frame, GivenFolder(folder / "anonymous"))
    assert len(paired.files) == 6 and not paired.unpaired, "the list and the result are about the same utterances"
    assert picture_packets(folder / "hidden.mp4") == picture_packets(folder / "interview.mp4")
    assert len(read_channels(folder / "hidden.wav")[0].samples) == 48_000
    assert "speaker" in printed['personare lookup "$TOKEN" anonymous-private/']
    given_away = [p for p in folder.rglob("*") if p.is_file() and {"anonymous", "hidden-calls"} & set(p.parts)]
    for path in (*given_away, *(p for p in folder.glob("hidden*") if p.is_file())):
        content = str(path.relative_to(folder)).encode() + path.read_bytes()
        assert not [name for name in (*NAMES, "Søren", "李小龙", "Größe") if name.encode() in content], path
    assert not language_tags(folder / "hidden.mp4")


def test_without_the_extra_everything_else_still_runs(folder: Path) -> None:
    """The base install: no PyAV. What needs it is one line; the rest of the folder is done."""
    (folder / "recordings" / "anna_3.m4a").write_bytes(b"whatever it is")
    (folder / "av.py").write_text("raise ImportError('as if it were not installed')\n")
    program = (
        "import sys; from personare.core import media; media.is_there = lambda: False\n"
        "from personare.cli import main\n"
        "sys.argv = ['personare', 'anonymize', 'recordings', 'out', '--speaker-from', '{speaker}_{rest}', "
        "'--strength', 'fast']\nmain()"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "1 file needs the extra 'media' (first: 'anna_3.m4a'); not read; install it with: pip install" in done.stderr
    assert len(list((folder / "out" / "audio").rglob("*.flac"))) == 5
