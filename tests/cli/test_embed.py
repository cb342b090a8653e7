"""personare embed: a corpus becomes vectors that link reads; failures are named; bad words are one line."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from personare.core.embedding_files import read_embeddings


def run(*words: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "personare", "embed", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.models
@pytest.mark.parametrize("suffix", ["npz", "parquet"])
def test_vectors_of_a_corpus_with_a_broken_file(small_corpus: Path, tmp_path: Path, suffix: str) -> None:
    (small_corpus / "anna" / "anna-0.wav").write_bytes(b"words")
    done = run(small_corpus, tmp_path / f"v.{suffix}", "--embedder", "ge2e")
    assert done.returncode == 1 and "failed: anna-0:" in done.stderr, done.stderr
    found = read_embeddings(tmp_path / f"v.{suffix}")
    assert found.vectors.shape == (15, 256) and set(found.speakers) == {"anna", "bela", "cora", "dirk"}


def test_mistakes_are_one_line_and_nothing_is_written(small_corpus: Path, tmp_path: Path) -> None:
    mistakes = {
        "use .npz or .parquet": (small_corpus, tmp_path / "v.csv"),
        "did you mean 'ecapa'": (small_corpus, tmp_path / "v.npz", "--embedder", "ecpa"),
        "has no part 'train'": (small_corpus, tmp_path / "v.npz", "--part", "train"),
        "no such file or folder": (tmp_path / "absent", tmp_path / "v.npz"),
    }
    for message, words in mistakes.items():
        done = run(*words)
        assert done.returncode == 2 and message in done.stderr and done.stderr.count("\n") == 1, done.stderr
    assert not list(tmp_path.glob("v.*"))
