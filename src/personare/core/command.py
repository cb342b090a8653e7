"""The command that was typed, for the log of a run: of a path only its last part, as ``./part``, and never a key."""

from __future__ import annotations

import contextlib
import re
import shlex
from collections.abc import Iterator, Sequence
from contextvars import ContextVar
from pathlib import Path

SECRET = ("--key",)
PLACES = ("--out", "--train", "--corpus")  # options that name a file or folder, which need not be there yet
LEFT_OUT = "…"
_TYPED: ContextVar[str] = ContextVar("typed", default="")


@contextlib.contextmanager
def carried_out(words: Sequence[str]) -> Iterator[None]:
    """Remember what was typed, while it is carried out."""
    token = _TYPED.set(shown(words))
    try:
        yield
    finally:
        _TYPED.reset(token)


def typed() -> str:
    """Give the command that is being carried out; nothing where Python called."""
    return _TYPED.get()


def shown(words: Sequence[str]) -> str:
    r"""Write a command so that it may be kept: where things lie on the machine is nobody's business.

    >>> shown(["evaluate", "/data/anna/calls", "/data/hidden calls/", "--key", "/data/anna/key", "--out", "run"])
    "personare evaluate ./calls './hidden calls' --key … --out ./run"
    >>> shown(["evaluate", "a", "--key=s3cret", "--embedder", "trained:/data/net.onnx", "C:\\calls\\x", "--out=../b"])
    'personare evaluate a --key=… --embedder trained:./net.onnx ./x --out=./b'
    """
    told = ["personare"]
    before = ""
    for word in words:
        option, equals, value = word.partition("=") if word.startswith("--") else ("", "", word)
        if before in SECRET:
            told.append(LEFT_OUT)
        elif equals and option in SECRET:
            told.append(f"{option}={LEFT_OUT}")
        elif equals:
            told.append(f"{option}={_kept(value, place=option in PLACES)}")
        else:
            told.append(_kept(word, place=before in PLACES))
        before = word
    return " ".join(told)


def without_places(command: str) -> str:
    """Leave files and folders out of a command that is ``shown``.

    >>> without_places("personare evaluate ./calls './hidden calls' --out=./run --embedder trained:./net.onnx -j 2")
    'personare evaluate … … --out=… --embedder trained:… -j 2'
    """
    return re.sub(r"'[^']*\./[^']*'|\./\S+", LEFT_OUT, command)


def _kept(word: str, *, place: bool) -> str:
    """Quote a word; of every path in it the last part stays, also after ``trained:`` or ``NAME=``."""
    if place or _is_there(word):
        return shlex.quote(f"./{_last(word)}")
    parts = re.split(r"([=,]|(?<=\w\w):)", word)
    return shlex.quote("".join(f"./{_last(part)}" if re.search(r"[/\\]", part) else part for part in parts))


def _is_there(word: str) -> bool:
    try:
        return Path(word).exists()
    except (OSError, ValueError):  # no name of a file
        return False


def _last(path: str) -> str:
    return next((name for name in reversed(re.split(r"[/\\]", path)) if name.strip(".")), "")
