"""Corpora of tokens: both forms give back what was put in, are the same bytes each time, and refuse what is broken."""

from __future__ import annotations

import tarfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from personare.codecs.token_corpus import TokenRow, read_parquet, read_shards, write_parquet, write_shards
from personare.codecs.tokens import TokenError, Tokens


def rows(count: int) -> list[TokenRow]:
    rng, found = np.random.default_rng(0), []
    for number in range(count):
        codes = np.stack([rng.integers(0, n, 5 + number) for n in (16_384, 1_024)], axis=1).astype(np.int32)
        level_db = float("nan") if number % 2 else -20.25
        tokens = Tokens(codes, (16_384, 1_024), "00ff00ff00ff00ff", 16_000, 640 * (5 + number), level_db)
        found.append(TokenRow(f"utterance {number}", f"s{number % 3}", "GRÜẞE" if number else "", tokens, 25.0))
    return found


def same(a: TokenRow, b: TokenRow) -> bool:
    return (
        (a.utterance, a.speaker, a.text, a.frame_rate_hz) == (b.utterance, b.speaker, b.text, b.frame_rate_hz)
        and np.array_equal(a.tokens.codes, b.tokens.codes)
        and a.tokens.code_counts == b.tokens.code_counts
        and (a.tokens.fingerprint, a.tokens.samples) == (b.tokens.fingerprint, b.tokens.samples)
        and np.array_equal(a.tokens.level_db, b.tokens.level_db, equal_nan=True)
    )


def test_a_table_gives_back_what_was_put_in(tmp_path: Path) -> None:
    assert write_parquet(tmp_path / "t.parquet", rows(7)) == 7
    back = list(read_parquet(tmp_path / "t.parquet"))
    assert all(same(a, b) for a, b in zip(rows(7), back, strict=True))


@pytest.mark.parametrize(("per_shard", "shards"), [(3, 3), (7, 1), (100, 1)])
def test_shards_give_back_what_was_put_in(tmp_path: Path, per_shard: int, shards: int) -> None:
    assert write_shards(tmp_path, iter(rows(7)), per_shard=per_shard) == 7
    assert len(list(tmp_path.glob("*.tar"))) == shards
    back = list(read_shards(tmp_path))
    assert all(same(a, b) for a, b in zip(rows(7), back, strict=True))


def test_shards_are_the_same_bytes_each_time_and_keys_show_no_names(tmp_path: Path) -> None:
    for name in ("a", "b"):
        write_shards(tmp_path / name, rows(4))
    first, second = (tmp_path / name / "tokens-000000.tar" for name in ("a", "b"))
    assert first.read_bytes() == second.read_bytes()
    with tarfile.open(first) as tar:
        assert tar.getnames()[:2] == ["000000000.pntk", "000000000.json"]
        assert {entry.mtime for entry in tar} == {0}


@pytest.mark.parametrize(
    "write", [lambda place: write_parquet(place / "t.parquet", []), lambda place: write_shards(place, [])]
)
def test_nothing_is_refused(tmp_path: Path, write: Callable[[Path], int]) -> None:
    with pytest.raises(TokenError, match="no coded utterances"):
        write(tmp_path)


def test_broken_corpora_are_refused(tmp_path: Path) -> None:
    with pytest.raises(TokenError, match="no such file"):
        list(read_parquet(tmp_path / "none.parquet"))
    (tmp_path / "text.parquet").write_text("hello")
    with pytest.raises(TokenError, match="not a Parquet table"):
        list(read_parquet(tmp_path / "text.parquet"))
    pl.DataFrame({"utterance": ["a"]}).write_parquet(tmp_path / "other.parquet")
    with pytest.raises(TokenError, match="has no column 'speaker'"):
        list(read_parquet(tmp_path / "other.parquet"))
    with pytest.raises(TokenError, match=r"neither tokens\.parquet nor shards"):
        list(read_shards(tmp_path))
    (tmp_path / "tokens-000000.tar").write_bytes(b"x" * 2000)
    with pytest.raises(TokenError, match="not a readable tar"):
        list(read_shards(tmp_path))
