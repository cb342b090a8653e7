"""What every engine promises: one Result per item, in which a failure is a row and never an exception."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from personare.core.errors import ConfigError, FailureKind, PersonareError

Item = TypeVar("Item")
Value = TypeVar("Value")
Told = Callable[[int, float], None]  # the number of an item, and how much more of it is done


@dataclass(frozen=True)
class Result(Generic[Item, Value]):
    """What became of one item: ``value``, or ``error`` as one line and the ``kind`` of failure it is counted as."""

    index: int
    item: Item
    value: Value | None
    error: str | None = None
    kind: FailureKind = "failed"

    @property
    def ok(self) -> bool:
        """Whether there is a value."""
        return self.error is None


class Engine(Protocol):
    """Runs one function over many items, somewhere."""

    def map(
        self, work: Callable[[Item], Value], items: Iterable[Item], *, ordered: bool = True
    ) -> Iterator[Result[Item, Value]]:
        """Yield one Result per item; in the items' order, or as they are done."""
        ...


def failure(index: int, item: Item, error: BaseException) -> Result[Item, Value]:
    """Turn an exception into the Result of an item."""
    kind = error.kind if isinstance(error, PersonareError) else "failed"
    return Result(index, item, None, line_of(error), kind)


def line_of(error: BaseException) -> str:
    """Make one line of an exception: our own message as it is, any other with its type."""
    text = " ".join(str(error).split()) or "no message"
    return text if isinstance(error, PersonareError) else f"{type(error).__name__}: {text}"


def shard_of(text: str, items: list[Item], *, name: Callable[[Item], str]) -> list[Item]:
    """Keep the items of shard ``"i/n"`` (1 <= i <= n); the hash of an item's name decides, so order does not matter.

    >>> everyone = ["anna", "bela", "cora", "dora"]
    >>> sorted(shard_of("1/2", everyone, name=str) + shard_of("2/2", everyone, name=str)) == everyone
    True
    """
    match = re.fullmatch(r"(\d+)/(\d+)", text)
    if not match or not 1 <= int(match[1]) <= int(match[2]):
        raise ConfigError(f"shard '{text}' must be i/n with 1 <= i <= n, e.g. 1/4")
    index, count = int(match[1]) - 1, int(match[2])
    return [i for i in items if int(hashlib.sha256(name(i).encode()).hexdigest()[:12], 16) % count == index]
