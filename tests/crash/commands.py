"""Commands that are started, watched and killed: how far they are is told by the files they have written."""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import polars as pl

from conftest import hum
from personare.core.audio import write
from personare.core.files import TEMPORARY
from personare.core.tables import Corpus

PATIENCE_S = 600.0  # a busy machine is no wrong answer


def start(*words: object, home: Path | None = None) -> subprocess.Popen[str]:
    """Start ``personare WORDS`` in a process group of its own."""
    more = {} if home is None else {"PERSONARE_HOME": str(home)}
    return subprocess.Popen(
        [sys.executable, "-m", "personare", *map(str, words)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env={**os.environ, "OMP_NUM_THREADS": "1", **more},
        preexec_fn=_hear_hangups,
    )


def _hear_hangups() -> None:
    """Whoever starts the tests with nohup ignores SIGHUP, and so would everything that is started by them."""
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


def finish(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    """Wait for a command: its exit code, and what it printed."""
    out, err = process.communicate(timeout=PATIENCE_S)
    return process.returncode, out, err


def stop_when(process: subprocess.Popen[str], reached: Callable[[], bool], how: int = signal.SIGKILL) -> bool:
    """Send a signal to a command once it has come so far; tells whether it was still running."""
    end = time.monotonic() + PATIENCE_S
    while process.poll() is None and time.monotonic() < end:
        if reached():
            process.send_signal(how)
            break
        time.sleep(0.002)
    ran = process.poll() is None
    process.wait(PATIENCE_S)
    for stream in (process.stdout, process.stderr) if how == signal.SIGKILL else ():
        assert stream is not None
        stream.close()
    return ran


def count(folder: Path, pattern: str = "*.flac") -> int:
    """How many results are in a folder."""
    return sum(not TEMPORARY.match(path.name) for path in folder.rglob(pattern))


def left_over(*folders: Path) -> list[Path]:
    """Temporary files."""
    return [path for folder in folders for path in folder.rglob("*") if TEMPORARY.match(path.name)]


def content(folder: Path, *, without: Sequence[str] = ()) -> dict[str, str]:
    """The digest of every file."""
    files = sorted(p for p in folder.rglob("*") if p.is_file() and not set(without) & {p.name, *p.parts})
    return {str(p.relative_to(folder)): hashlib.sha256(p.read_bytes()).hexdigest() for p in files}


def write_hums(folder: Path, *, speakers: int = 4, utterances: int = 6, duration_s: float = 0.5) -> Path:
    """Write a small corpus of hummed voices."""
    rows = []
    for s in range(speakers):
        for u in range(utterances):
            path = folder / f"s{s}" / f"s{s}-{u}.wav"
            write(path, hum(10 * s + u, duration_s=duration_s, f0_hz=100.0 + 25 * s))
            rows.append((f"s{s}-{u}", f"s{s}", str(path), f"SENTENCE NUMBER {u}"))
    Corpus(pl.DataFrame(rows, schema=["utterance", "speaker", "audio", "text"], orient="row")).save(
        folder / "manifest.parquet"
    )
    return folder
