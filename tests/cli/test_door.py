"""The door: one clear line for every mistake, and Ctrl-C loses nothing."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from conftest import Command, Ended

FAST = ("--strength", "fast")
COMMAND = [sys.executable, "-m", "personare"]


def run(*words: object) -> Ended:
    """Run a process of its own, as a shell does."""
    done = subprocess.run([*COMMAND, *map(str, words)], capture_output=True, text=True, check=False)
    return Ended(done.returncode, done.stdout, done.stderr)


def lines_of(done: Ended) -> list[str]:
    assert "Traceback" not in done.stderr, done.stderr
    return [line for line in done.stderr.splitlines() if line.startswith("personare: ")]


def test_each_mistake_is_one_line_and_exit_2(small_corpus: Path, tmp_path: Path, personare: Command) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.txt").write_text("precious")
    out = tmp_path / "out"
    mistakes = {
        "no such file or folder": ("anonymize", tmp_path / "absent", out),
        "no known layout": ("anonymize", tmp_path / "empty", out, *FAST),
        "did you mean 'mcadams'": ("anonymize", small_corpus, out, "--method", "mcadms"),
        "did you mean 'alpha'": ("anonymize", small_corpus, out, "--method", "mcadams", "--set", "alhpa=0.8"),
        "write name=value": ("anonymize", small_corpus, out, "--set", "alpha"),
        "expected a number": ("anonymize", small_corpus, out, "--method", "mcadams", "--set", "alpha=loud"),
        "did you mean 'speaker'": ("anonymize", small_corpus, out, "--level", "speker"),
        "is not empty": ("anonymize", small_corpus, tmp_path / "full"),
        "must be i/n": ("anonymize", small_corpus, out, "--shard", "3/2"),
        "cannot be written": ("anonymize", small_corpus, "/proc/out", *FAST),
        "Did you mean 'anonymize'": ("anonymise", small_corpus, out),
        "Missing argument 'DST'": ("anonymize", small_corpus),
        "no model 'ecpa'; did you mean 'ecapa'": ("models", "fetch", "ecpa"),
        "can be paired": ("evaluate", small_corpus, _others(tmp_path)),
        "is no whole number": ("evaluate", small_corpus, small_corpus, "--lengths", "one"),
        "no anonymizer 'nothing'": ("methods", "nothing"),
    }
    for message, words in mistakes.items():
        ends = [personare(*words)]
        if words[0] == "anonymise":  # one of them also in a process of its own
            ends.append(run(*words))
        for done in ends:
            assert done.code == 2, (words, done.stderr)
            lines = lines_of(done)
            assert len(lines) == 1 and message in lines[0], (words, done.stderr)
    assert not out.exists() and (tmp_path / "full" / "thesis.txt").read_text() == "precious"


def _others(tmp_path: Path) -> Path:
    """Another corpus, whose utterances are nobody's counterpart."""
    from conftest import hum
    from personare.core.audio import write

    for name in ("x/x-1", "y/y-1"):
        write(tmp_path / "others" / f"{name}.wav", hum(1, duration_s=0.1))
    return tmp_path / "others"


def test_anonymize_prints_its_table_and_names_failures(small_corpus: Path, tmp_path: Path) -> None:
    (small_corpus / "anna" / "anna-1.wav").write_bytes(b"words")
    done = run("anonymize", small_corpus, tmp_path / "out", "--jobs", 2, *FAST)
    assert done.code == 1, done.stderr
    assert "failed: anna-1:" in done.stderr and "not audio" in done.stderr
    row = next(line for line in done.stdout.splitlines() if line.startswith("│"))
    assert [cell.strip() for cell in row.strip("│ ").split("│")][:3] == ["15", "0", "1"]
    assert "real-time factor" in done.stdout and "out-private" in done.stdout
    assert done.stdout.splitlines()[-1] == f"measure it: personare evaluate {small_corpus} {tmp_path / 'out'}"


def test_a_missing_model_is_one_line(
    small_corpus: Path, tmp_path: Path, personare: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    personare("anonymize", small_corpus, tmp_path / "out", *FAST)
    monkeypatch.setenv("PERSONARE_HOME", str(tmp_path / "nowhere"))
    done = personare("evaluate", small_corpus, tmp_path / "out")
    assert done.code == 2 and len(lines_of(done)) == 1
    assert "personare models fetch ecapa" in lines_of(done)[0]


def test_ctrl_c_is_one_line_and_the_next_run_goes_on(small_corpus: Path, tmp_path: Path) -> None:
    import signal

    from conftest import hum
    from personare.core.audio import write

    for u in range(4, 16):  # enough work to be interrupted in the middle of it
        write(small_corpus / "dirk" / f"dirk-{u}.wav", hum(4, duration_s=8.0))
    (small_corpus / "manifest.parquet").unlink()
    words = [*COMMAND, "anonymize", str(small_corpus), str(tmp_path / "out"), *FAST]
    process = subprocess.Popen(words, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 60
    while not list((tmp_path / "out").glob("audio/*/*.flac")) and time.monotonic() < deadline:
        time.sleep(0.002)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=30)
    assert process.returncode == 130 and "Traceback" not in errors
    assert "interrupted; run the same command again" in errors
    assert not list((tmp_path / "out").rglob("*.part*"))
    assert run("anonymize", small_corpus, tmp_path / "out", *FAST).code == 0


def test_the_next_step_names_a_key_that_lies_elsewhere(small_corpus: Path, tmp_path: Path, personare: Command) -> None:
    out, key = tmp_path / "out", tmp_path / "my key"
    done = personare("anonymize", small_corpus, out, "--strength", "fast", "--key", key)
    private, measure = done.stdout.splitlines()[-2:]
    assert private == f"keep private: {out}-private and the key {key}"
    assert measure == f"measure it: personare evaluate {small_corpus} {out} --key '{key}'"


def test_where_nothing_was_anonymized_the_next_step_is_to_read_why(tmp_path: Path, personare: Command) -> None:
    (tmp_path / "in" / "anna").mkdir(parents=True)
    (tmp_path / "in" / "anna" / "a.wav").write_bytes(b"words")
    done = personare("anonymize", tmp_path / "in", tmp_path / "out", *FAST)
    assert done.code == 1 and "1 recording found: 1 unreadable, 0 anonymized" in done.stdout
    failures = tmp_path / "out-private" / "failures.tsv"
    assert "personare evaluate" not in done.stdout and str(failures) in done.stdout.splitlines()[-1]
    assert "anna/a\tunreadable\t" in failures.read_text()
