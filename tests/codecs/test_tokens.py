"""Token files: what goes in comes out, in as few bits as it needs, and a bad file is refused with one line."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from personare.codecs.tokens import TokenError, Tokens, bit_rate, decode_file, encode_file, read_tokens, write_tokens

USC = (16_384, 1_024, 1_024, 1_024, 1_024, 1_024)


def tokens_of(counts: tuple[int, ...], frames: int, *, seed: int = 0, level_db: float = -26.0) -> Tokens:
    rng = np.random.default_rng(seed)
    codes = np.stack([rng.integers(0, count, frames) for count in counts], axis=1).astype(np.int32)
    return Tokens(codes, counts, "0123456789abcdef", 16_000, frames * 640 - 17, level_db)


@given(
    st.lists(st.integers(2, 70_000), min_size=1, max_size=8).map(tuple),
    st.integers(1, 60),
    st.one_of(st.just(math.nan), st.floats(-90, 6)),
)
def test_what_goes_in_comes_out(counts: tuple[int, ...], frames: int, level_db: float) -> None:
    tokens = tokens_of(counts, frames, level_db=level_db)
    back = decode_file(encode_file(tokens), where="x")
    assert np.array_equal(back.codes, tokens.codes)
    assert (back.code_counts, back.fingerprint) == (tokens.code_counts, tokens.fingerprint)
    assert (back.rate_hz, back.samples) == (tokens.rate_hz, tokens.samples)
    assert math.isnan(back.level_db) == math.isnan(level_db)
    assert math.isnan(level_db) or back.level_db == pytest.approx(level_db, abs=0.005)


@pytest.mark.parametrize(("levels", "kbit"), [(1, 0.35), (6, 1.6)])
def test_a_minute_takes_the_published_bit_rate_and_a_short_head(levels: int, kbit: float) -> None:
    tokens = tokens_of(USC, 1500).kept(levels)
    assert bit_rate(tokens.code_counts, 25) == 1000 * kbit
    assert len(encode_file(tokens)) * 8 / 60 == pytest.approx(1000 * kbit, rel=0.03)


@pytest.mark.parametrize("place", range(0, 120, 7))
def test_one_changed_byte_is_noticed(place: int) -> None:
    content = bytearray(encode_file(tokens_of(USC, 10)))
    content[place] ^= 1
    with pytest.raises(TokenError):
        decode_file(bytes(content), where="x.pntk")


@pytest.mark.parametrize("length", [0, 3, 5, 6, 20, 60, 100])
def test_a_file_cut_short_is_refused(length: int) -> None:
    with pytest.raises(TokenError, match=r"^x\.pntk: "):
        decode_file(encode_file(tokens_of(USC, 10))[:length], where="x.pntk")


def test_a_version_of_the_future_says_so() -> None:
    content = bytearray(encode_file(tokens_of(USC, 2)))
    content[4] = 9
    with pytest.raises(TokenError, match="version 9; this program reads version 1"):
        decode_file(bytes(content), where="x")


def test_sound_is_not_a_token_file(tmp_path: Path) -> None:
    (tmp_path / "a.wav").write_bytes(b"RIFF" + bytes(100))
    with pytest.raises(TokenError, match="not a token file"):
        read_tokens(tmp_path / "a.wav")
    with pytest.raises(TokenError, match="no such file"):
        read_tokens(tmp_path / "b.pntk")


def test_codes_outside_their_book_are_refused() -> None:
    with pytest.raises(TokenError, match="level 1 has codes 0 to 9; they must be 0 to 7"):
        Tokens(np.array([[1, 0], [2, 9]], np.int32), (4, 8), "0" * 16, 16_000, 1280)
    with pytest.raises(TokenError, match="at least one frame"):
        Tokens(np.zeros((0, 2), np.int32), (4, 8), "0" * 16, 16_000, 0)
    with pytest.raises(TokenError, match="levels"):
        Tokens(np.zeros((3, 1), np.int32), (4, 8), "0" * 16, 16_000, 0)


def test_fewer_levels_are_the_first_ones() -> None:
    tokens = tokens_of(USC, 20)
    assert np.array_equal(tokens.kept(2).codes, tokens.codes[:, :2])
    assert math.isnan(tokens.kept(1).level_db)
    for levels in (0, 7):
        with pytest.raises(TokenError, match="levels 1 to 6"):
            tokens.kept(levels)


def test_a_file_is_written_whole_and_holds_no_names(tmp_path: Path) -> None:
    tokens = tokens_of(USC, 20)
    write_tokens(tmp_path / "speaker-anna.pntk", tokens)
    content = (tmp_path / "speaker-anna.pntk").read_bytes()
    assert content == encode_file(tokens)
    assert b"anna" not in content
    assert [path.name for path in tmp_path.iterdir()] == ["speaker-anna.pntk"]
