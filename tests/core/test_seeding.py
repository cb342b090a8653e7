"""Chance is drawn from a key and names: repeatable with the key, unrelated without it, never printed."""

from __future__ import annotations

import stat
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from personare.core.errors import ConfigError, OutputError
from personare.core.seeding import Key, load_key, load_or_make_key, rng_for, token_for


@given(st.lists(st.text(max_size=6), max_size=3), st.lists(st.text(max_size=6), max_size=3))
def test_different_names_give_different_tokens(one: list[str], other: list[str]) -> None:
    key = Key.from_seed(0)
    assert (token_for(key, *one, digits=64) == token_for(key, *other, digits=64)) == (one == other)


def test_streams_of_names_and_keys_are_unrelated() -> None:
    names = [(Key.from_seed(k), n) for k in range(8) for n in ("anna", "bela", "cora")]
    draws = np.stack([rng_for(k, n).standard_normal(4000) for k, n in names])
    correlation = np.corrcoef(draws) - np.eye(len(names))
    assert np.abs(correlation).max() < 0.08  # 5 standard errors of 1/sqrt(4000)


def test_known_answer_holds_on_every_machine() -> None:
    """Frozen on purpose: a change of the hash would break the resumption of every study in the world."""
    assert token_for(Key.from_seed(1), "utterance", "anna", "a-1") == "2862ae759b5c62e3"
    assert rng_for(Key.from_seed(1), "voice", "anna").integers(0, 2**32, 2).tolist() == [1224122760, 4004484984]


def test_a_key_never_shows() -> None:
    key = Key.new()
    assert key.secret.hex() not in repr(key) + str(key) + f"{key}" + repr({"k": [key]})
    assert Key.new() != Key.new() and key.child("a") != key.child("b")


def test_key_files_are_private_and_checked(tmp_path: Path) -> None:
    path = tmp_path / "sub" / "key"
    key, made = load_or_make_key(path)
    assert made and stat.S_IMODE(path.stat().st_mode) == 0o600
    assert load_or_make_key(path) == (key, False) and load_key(path) == key
    for content, reason in {
        b"abc": "64 hexadecimal digits",
        b"zz" * 32: "64 hexadecimal digits",
        b"\xff\xfe": "64 hexadecimal digits",
        b"": "it is empty, a key has 32; put the right one back",
        b"ab" * 31: "it holds 31 bytes",
        b"00" * 32: "all its bytes are 0",
    }.items():
        path.write_bytes(content)
        with pytest.raises(ConfigError, match=reason) as refused:
            load_or_make_key(path)
        assert str(path) in str(refused.value)
    path.write_text(key.secret.hex())
    for mode in (0o604, 0o640, 0o602):
        path.chmod(mode)
        with pytest.raises(ConfigError, match=rf"others can read or change \(mode {mode:o}\); run: chmod 600 "):
            load_key(path)
    with pytest.raises(ConfigError, match="no such key file"):
        load_key(tmp_path / "absent")
    with pytest.raises(OutputError):
        load_or_make_key(path / "below-a-file")


def test_a_folder_that_is_made_for_a_key_is_its_owners_only(tmp_path: Path) -> None:
    place = tmp_path / "calls-private" / "key"
    load_or_make_key(place)
    assert stat.S_IMODE(place.parent.stat().st_mode) == 0o700 and stat.S_IMODE(place.stat().st_mode) == 0o600
    there = tmp_path / "shared"
    there.mkdir(mode=0o755)
    load_or_make_key(there / "key")
    assert stat.S_IMODE(there.stat().st_mode) == 0o755, "a folder of the user stays as it is"
