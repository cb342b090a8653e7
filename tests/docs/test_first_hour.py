"""The three ways through the first hour: every command of each page runs, on files as people have them.

The lines are typed in this process (a shell would load the libraries thirty times over); ``> FILE`` and
``|| test $? -eq 1``, which says that failures are expected, are understood. Work is done by one process; tests of the
engine and of the jobs hold several to the same results.
"""

from __future__ import annotations

import io
import json
import re
import shlex
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from cli.command_lines import link_models
from conftest import Command, Ended
from docs.pages import DOCS, Page
from media_files import NAMES, av, make_sound, make_video
from personare.core.audio import Audio, probe, read_channels, resample, write
from personare.voices.piper import Piper
from pipeline.tiny import voice, write_corpus

pytestmark = pytest.mark.models
FAILS = "|| test $? -eq 1"
PEOPLE = ("Anna", "Søren", "李小龙")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to work in, and a cache folder with the models in it and nothing else."""
    link_models(tmp_path / "home")
    monkeypatch.setenv("PERSONARE_HOME", str(tmp_path / "home"))
    folder = tmp_path / "work"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def lines_of(page: str) -> list[str]:
    blocks = Page(DOCS / "how-to" / page).blocks("")
    return [line for block in blocks for line in block.splitlines() if line.strip()]


def type_in(line: str, folder: Path, personare: Command) -> Ended:
    """Type one line of a page; what it should not say is shown."""
    typed, fails, _ = line.partition(FAILS)
    typed, _, file = typed.partition(" > ")
    program, *words = shlex.split(typed)
    assert program == "personare", line
    if "--jobs" in words:  # one process: every start of a worker costs more than its work here
        words[words.index("--jobs") + 1] = "1"
    path = list(sys.path)
    done = personare(*words)
    sys.path[:] = path  # the next line is typed in a shell that knows nothing of this one
    sys.modules.pop("my_method", None)
    assert done.code in ((0, 1) if fails else (0,)), (line, done.stderr)
    if file:
        (folder / file.strip()).write_text(done.stdout, encoding="utf-8")
    return done


def run(page: str, folder: Path, personare: Command, *, least: int) -> dict[str, Ended]:
    lines = lines_of(page)
    assert len(lines) >= least
    return {line: type_in(line, folder, personare) for line in lines}


SENTENCES = ("The invoice for the new kitchen has not arrived yet.", "Please send the letter to the old address again.")
TALK_S = 4.0


def talk(person: int, day: int, *, rate_hz: int) -> Audio:
    """Four seconds in which somebody says a sentence: methods that transcribe reject speech without words."""
    said = Piper()(SENTENCES[day % 2], voice=person, rate=1.0, rng=np.random.default_rng(day))
    samples = resample(said, rate_hz).samples[: round(TALK_S * rate_hz)]
    return Audio(np.pad(samples, (0, round(TALK_S * rate_hz) - len(samples))), rate_hz)


def test_a_data_protection_officer_with_a_folder_of_calls(home: Path, personare: Command) -> None:
    """Four people, each in two calls, with names that must not leak."""
    for day, pairs in enumerate([((7, 31), (8, 32)), ((7, 32), (8, 31))]):
        for agent, customer in pairs:
            tracks = [talk(one, day, rate_hz=8_000) for one in (agent, customer)]
            name = f"agent{agent}_customer{customer}_März-{day}.wav"
            write(home / "calls" / name, tracks)
    ended = run("protect-a-folder-of-calls.md", home, personare, least=7)
    printed = {line.split()[1]: done.stdout for line, done in ended.items()}
    assert re.search(r"speakers +4 \(", printed["corpus"]) and "agent7 (2)" in printed["corpus"]
    manifest = pl.read_parquet(home / "hidden-calls" / "manifest.parquet")
    assert manifest["speaker"].n_unique() == 4 and len(manifest) == 8
    files = sorted(home.glob("hidden-calls/audio/*/*.flac"))
    assert len(files) == 4 and all(len(read_channels(path)) == 2 and probe(path).rate_hz == 8_000 for path in files)
    assert "cascade: " in printed["evaluate"] and "Next: " in printed["evaluate"]
    assert printed["lookup"].count("utterance agent7_") == 2
    evidence = _text_of((home / "evidence.pdf").read_bytes())
    assert "Evidence on the anonymization of speech" in evidence and "Linkability" in evidence
    given_away = [path for path in (home / "hidden-calls").rglob("*") if path.is_file()]
    for path in (*given_away, home / "hidden-calls-run" / "report" / "report.html"):
        content = str(path.relative_to(home)).encode() + path.read_bytes()
        assert not [name for name in ("agent7", "customer31", "März") if name.encode() in content], path
    assert "agent7" not in evidence and not list((home.parent / "home" / "vectors").glob("*/*/*"))


def _text_of(pdf: bytes) -> str:
    import pypdf

    pages = pypdf.PdfReader(io.BytesIO(pdf)).pages
    return " ".join(page.extract_text() for page in pages)


@pytest.mark.slow
def test_a_researcher_with_an_anonymizer_of_their_own(
    home: Path, personare: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = Page(DOCS / "how-to" / "evaluate-your-own-anonymizer.md")
    (home / "my_method.py").write_text("\n".join(page.blocks("python")), encoding="utf-8")
    (home / "study.yaml").write_text("\n".join(page.blocks("yaml")), encoding="utf-8")
    write(home / "speech.wav", voice(1, 1))
    write_corpus(home / "recordings", speakers=5, utterances=2, train=2)
    lines = lines_of(page.path.name)
    assert len(lines) >= 12
    printed: dict[str, str] = {}
    for line in lines:
        if " theirs/" in line and not (home / "theirs").is_dir():  # a folder of files that keep their names
            for path in (home / "anonymous" / "audio").rglob("*.flac"):
                write(home / "theirs" / path.parent.name / f"{path.stem}.wav", read_channels(path))
        printed[line] = type_in(line, home, personare).stdout
    assert "most_hz" in printed["personare methods my_method:RingModulation"]
    attackers = {name: _attackers(home / name) for name in ("run", "run-theirs", "run-known", "beside")}
    assert attackers["run"] == attackers["run-known"] == {"original", "ignorant", "lazy-informed", "informed", "words"}
    assert attackers["run-theirs"] == {"original", "ignorant", "words"}
    assert attackers["beside"] == {"ignorant", "lazy-informed"}
    tables = {path.name for path in (home / "tables").iterdir()}
    assert {"tables.tex", "report.md", "findings.csv"} <= tables
    assert r"\toprule" in (home / "tables" / "tables.tex").read_text(encoding="utf-8")
    metrics = {row["metric"] for row in json.loads((home / "utility.json").read_text(encoding="utf-8"))["findings"]}
    assert {"wer", "dnsmos"} <= metrics


def _attackers(folder: Path) -> set[str]:
    rows = json.loads((folder / "findings.json").read_text(encoding="utf-8"))
    rows = rows["findings"] if isinstance(rows, dict) else rows
    return {row["conditions"]["attacker"] if "conditions" in row else row["attacker"] for row in rows}


@pytest.mark.slow
def test_a_data_engineer_with_a_mixed_corpus(home: Path, personare: Command) -> None:
    """Formats, rates, channels and letters as they come, a video among them, and one file that is broken."""
    av()
    archive = home / "archive"
    kinds = ((".wav", 8_000), (".flac", 48_000), (".mp3", 44_100), (".opus", 16_000))
    for s, person in enumerate(PEOPLE):
        for u, (ending, rate_hz) in enumerate(kinds[s : s + 2]):
            write(archive / f"{person}_{u}{ending}", talk(s, u, rate_hz=rate_hz))
    write(archive / "Anna_stereo.wav", [talk(0, 5, rate_hz=16_000), talk(0, 5, rate_hz=16_000)])
    make_sound(archive / "Anna_5.m4a", codec="aac", rate_hz=44_100, sound=talk(0, 1, rate_hz=44_100))
    make_video(archive / "Søren_interview.mp4")
    (archive / "Anna_broken.wav").write_bytes(b"these are words")
    ended = run("process-a-mixed-corpus.md", home, personare, least=10)
    facts, plan, clean, quality, risk = (
        json.loads((home / f"{name}.json").read_text(encoding="utf-8"))
        for name in ("facts", "plan", "clean", "quality", "risk")
    )
    assert facts["speakers"] == plan["people"] == clean["speakers"] == 3
    assert len(plan["unreadable"]) == 1 and facts["utterances"] == 10 and clean["utterances"] == 9
    assert {int(rate) for rate in facts["rates_hz"]} == {8_000, 16_000, 44_100, 48_000}
    assert {row["metric"] for row in quality["findings"]} >= {"dnsmos"} and len(risk["verdicts"]) == 1
    assert risk["verdicts"][0]["method"] == "cascade" and risk["failures"], "the broken file is counted"
    shards = [done for line, done in ended.items() if "--shard" in line]
    assert len(shards) == 2 and "failed: Anna_broken:" in "".join(done.stderr for done in shards)
    assert (home / "lists" / "wav.scp").is_file() and (home / "hidden.mp4").is_file()
    given_away = [path for path in (*(home / "clean").rglob("*"), home / "hidden.mp4") if path.is_file()]
    for path in given_away:
        content = str(path.relative_to(home)).encode() + path.read_bytes()
        assert not [name for name in (*NAMES[1:2], *PEOPLE[1:]) if name.encode() in content], path
