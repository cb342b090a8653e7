"""personare embed: a corpus becomes vectors that link reads; failures are named; bad words are one line."""

from __future__ import annotations

from pathlib import Path

import pytest

from conftest import Command
from personare.core.embedding_files import read_embeddings


@pytest.mark.models
@pytest.mark.parametrize("suffix", ["npz", "parquet"])
def test_vectors_of_a_corpus_with_a_broken_file(
    small_corpus: Path, tmp_path: Path, suffix: str, personare: Command
) -> None:
    (small_corpus / "anna" / "anna-0.wav").write_bytes(b"words")
    done = personare("embed", small_corpus, tmp_path / f"v.{suffix}", "--embedder", "ge2e")
    assert done.code == 1 and "failed: anna-0:" in done.stderr, done.stderr
    found = read_embeddings(tmp_path / f"v.{suffix}")
    assert found.vectors.shape == (15, 256) and set(found.speakers) == {"anna", "bela", "cora", "dirk"}


def test_mistakes_are_one_line_and_nothing_is_written(small_corpus: Path, tmp_path: Path, personare: Command) -> None:
    mistakes = {
        "use .npz or .parquet": (small_corpus, tmp_path / "v.csv"),
        "did you mean 'ecapa'": (small_corpus, tmp_path / "v.npz", "--embedder", "ecpa"),
        "has no part 'train'": (small_corpus, tmp_path / "v.npz", "--part", "train"),
        "no such file or folder": (tmp_path / "absent", tmp_path / "v.npz"),
    }
    for message, words in mistakes.items():
        done = personare("embed", *words)
        assert done.code == 2 and message in done.stderr and done.stderr.count("\n") == 1, done.stderr
    assert not list(tmp_path.glob("v.*"))
