"""Where chance comes from: every random choice is drawn from a secret key and the names it is about.

The same key and names give the same numbers on any machine, in any order, on any number of workers; without the key
nobody can repeat the draw. ``rng_for`` makes generators, ``token_for`` makes names that do not tell who they stand for.
Functions that draw take ``rng``, a public seed or a generator, and pass it through ``as_rng``.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import shlex
import stat
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from personare.core.errors import ConfigError
from personare.core.files import PRIVATE_FOLDER, create, make_folder

KEY_BYTES = 32
Rng = int | np.random.Generator
"""Where a function's chance comes from: a seed (the same numbers each time), or a generator (which moves on)."""


@dataclass(frozen=True)
class Key:
    """A secret of 32 bytes. Its repr never shows it, so that no log or report can.

    >>> Key.from_seed(7)
    Key(secret)
    """

    secret: bytes = field(repr=False)

    def __post_init__(self) -> None:
        if len(self.secret) != KEY_BYTES:
            raise ConfigError(f"a key has {KEY_BYTES} bytes, this one has {len(self.secret)}")

    def __repr__(self) -> str:
        return "Key(secret)"

    @classmethod
    def new(cls) -> Key:
        """Draw a fresh key from the operating system."""
        return cls(secrets.token_bytes(KEY_BYTES))

    @classmethod
    def from_seed(cls, seed: int | str) -> Key:
        """Derive a key from a study's public seed: repeatable by everyone, hence no secret."""
        return cls(hashlib.blake2b(str(seed).encode(), digest_size=KEY_BYTES, person=b"personare-seed").digest())

    def child(self, *names: str) -> Key:
        """Derive an independent key for one purpose, e.g. the attacker's own pseudo-speakers."""
        return Key(_digest(self, b"personare-child", names))


def load_key(path: Path) -> Key:
    """Read a key file: 64 hexadecimal digits that only their owner can read."""
    try:
        mode = path.stat().st_mode
        text = path.read_text(encoding="ascii").strip()
        secret = bytes.fromhex(text)
    except FileNotFoundError:
        raise ConfigError(f"{path}: no such key file") from None
    except (UnicodeDecodeError, ValueError):
        raise ConfigError(f"{path}: not a key file (it must hold {2 * KEY_BYTES} hexadecimal digits)") from None
    except OSError as error:
        raise ConfigError(f"{path}: key file cannot be read ({error.strerror})") from None
    if len(secret) != KEY_BYTES:
        found = "is empty" if not secret else f"holds {len(secret)} bytes"
        raise ConfigError(
            f"{path}: not a key file: it {found}, a key has {KEY_BYTES}; put the right one back, or delete it if "
            "nothing was made with it yet"
        )
    if len(set(secret)) == 1:
        raise ConfigError(
            f"{path}: not a key: all its bytes are {secret[0]}, which everybody can guess; make a new one"
        )
    refuse_readable(path, mode, what="key file", repair="600")
    return Key(secret)


def refuse_readable(path: Path, mode: int, *, what: str, repair: str) -> None:
    """Refuse a file or folder that others than its owner can read or change; on Windows modes say nothing."""
    if os.name == "posix" and mode & 0o077:
        rule = f"{path}: {what} that others can read or change (mode {stat.S_IMODE(mode):o})"
        raise ConfigError(f"{rule}; run: chmod {repair} {shlex.quote(str(path))}")


def refuse_bad_key(path: Path) -> None:
    """Refuse a key file that is there and cannot be used; called before anything is made."""
    if path.exists():
        load_key(path)


def load_or_make_key(path: Path, *, new: Key | None = None) -> tuple[Key, bool]:
    """Read the key at ``path``, or put ``new`` (a fresh one) there, readable by its owner only; tell which.

    The key is on the disk, whole, before anything is drawn from it; of two processes that make it, both get the same.
    """
    if path.exists():
        return load_key(path), False
    key = new or Key.new()
    if not path.parent.exists():  # made for the key, so nobody else has to look into it
        make_folder(path.parent, mode=PRIVATE_FOLDER)
    if not create(path, f"{key.secret.hex()}\n".encode("ascii")):
        return load_key(path), False
    return key, True


def _digest(key: Key, purpose: bytes, names: tuple[str, ...]) -> bytes:
    """Hash the names under the key; lengths go first, so that ("ab", "c") and ("a", "bc") differ."""
    hasher = hashlib.blake2b(digest_size=32, key=key.secret, person=purpose[:16].ljust(16, b"\0"))
    for name in names:
        encoded = name.encode()
        hasher.update(len(encoded).to_bytes(8, "little"))
        hasher.update(encoded)
    return hasher.digest()


def rng_for(key: Key, *names: str) -> np.random.Generator:
    """Make the random generator that belongs to these names under this key.

    >>> a, b = rng_for(Key.from_seed(1), "anna"), rng_for(Key.from_seed(1), "anna")
    >>> a.random() == b.random()
    True
    """
    entropy = int.from_bytes(_digest(key, b"personare-rng", names), "little")
    return np.random.Generator(np.random.PCG64DXSM(np.random.SeedSequence(entropy)))


def as_rng(rng: Rng) -> np.random.Generator:
    """Make a generator of a seed; a generator stays as it is.

    >>> as_rng(7).random() == as_rng(7).random()
    True
    """
    if isinstance(rng, np.random.Generator):
        return rng
    if isinstance(rng, bool) or not isinstance(rng, int | np.integer) or rng < 0:
        raise ConfigError(f"rng must be a seed (a whole number, 0 or above) or a numpy Generator, not {rng!r}")
    return np.random.default_rng(rng)


def token_for(key: Key, *names: str, digits: int = 16) -> str:
    """Make a pseudonym for these names: hexadecimal, stable under the key, meaningless without it.

    >>> token_for(Key.from_seed(1), "anna", digits=6) == token_for(Key.from_seed(2), "anna", digits=6)
    False
    """
    return _digest(key, b"personare-token", names).hex()[:digits]
