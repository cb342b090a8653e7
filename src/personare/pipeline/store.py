"""Results by content: a stage is named by all that it depends on, so that nothing is done twice and nothing goes stale.

``stages/<kind>-<first 12 of the key>/`` holds the result of one stage and, written last, ``done.json``. The key hashes
the kind and its version, every setting, the content of the speech and the keys of the stages it builds on. Deleting
stages loses only time.
"""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from personare.core.files import write_text

DONE = "done.json"
# raise a kind's version whenever the same inputs give another result
VERSIONS = {
    "anonymize": 4,
    "estimate": 1,
    "invert": 1,
    "embed": 1,
    "generate": 1,
    "train": 1,
    "listen": 2,
    "measure": 8,
}
Failures = tuple[tuple[str, str], ...]


@dataclass(frozen=True, eq=False)
class Stage:
    """One step of a study.

    Parameters
    ----------
    kind : anonymize, estimate, invert, embed, generate, train, listen or measure.
    label : what a person reads, e.g. ``anonymize libri trial by b2 (owner)``.
    facts : everything the result depends on besides ``inputs``; plain values.
    items : how many things have to be done.
    """

    kind: str
    label: str
    facts: Mapping[str, Any] = field(repr=False)
    inputs: tuple[Stage, ...] = field(default=(), repr=False)
    items: int = 1

    @functools.cached_property
    def key(self) -> str:
        """The content key."""
        told = [self.kind, VERSIONS[self.kind], dict(self.facts), [stage.key for stage in self.inputs]]
        return hashlib.sha256(json.dumps(told, sort_keys=True, default=str).encode()).hexdigest()


@dataclass(frozen=True)
class Done:
    """How a stage ended: what failed in it, and how long it took."""

    failures: Failures
    seconds: float
    items: int


@dataclass(frozen=True)
class Store:
    """The stages of one run folder."""

    folder: Path

    def place(self, stage: Stage) -> Path:
        """Where the result of a stage lies."""
        return self.folder / f"{stage.kind}-{stage.key[:12]}"

    def done(self, stage: Stage) -> Done | None:
        """Tell how a stage ended; None when it has not, or when what it was built on has changed since."""
        try:
            card = json.loads((self.place(stage) / DONE).read_text(encoding="utf-8"))
            if card["key"] != stage.key or card["built_on"] != [self.state(one) for one in stage.inputs]:
                return None
            return Done(tuple((item, why) for item, why in card["failures"]), card["seconds"], card["items"])
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def state(self, stage: Stage) -> str | None:
        """Give a mark of how a stage ended, by which the next ones notice that fewer or more items failed."""
        found = self.done(stage)
        if found is None:
            return None
        return hashlib.sha256(json.dumps([stage.key, found.failures]).encode()).hexdigest()[:24]

    def finish(self, stage: Stage, failures: Sequence[tuple[str, str]], *, seconds: float) -> None:
        """Write down that a stage has ended, after all its results."""
        card = {
            "stage": stage.label,
            "key": stage.key,
            "built_on": [self.state(one) for one in stage.inputs],
            "items": stage.items,
            "failures": sorted(failures),
            "seconds": round(seconds, 3),
        }
        write_text(self.place(stage) / DONE, json.dumps(card, indent=1) + "\n")
