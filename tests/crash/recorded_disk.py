"""A disk that remembers: what is done to files is recorded, and any moment can be played back as after a power cut.

Three kinds of disk are played. ``strict``: nothing is there but what was forced there (names when their folder was,
bytes when the file was). ``names first``: names are there at once and bytes that were not forced are not, as ext4 was
found to do. ``torn``: the same, and the write that was under way is there by half.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import pytest

Kind = Literal["strict", "names first", "torn"]
NOBODY = 4_194_305  # above the largest number that a process can have
KINDS: tuple[Kind, ...] = ("strict", "names first", "torn")


@dataclass(frozen=True)
class Event:
    """One step: ``sync`` of a file (with its bytes) or a folder, ``name`` (rename or link), ``folder``, ``remove``."""

    kind: Literal["sync", "sync folder", "name", "folder", "remove"]
    path: str
    other: str = ""
    content: bytes = b""


@dataclass
class _File:
    content: bytes = b""


@dataclass
class RecordedDisk:
    """What happened below ``root``, in order."""

    root: Path
    events: list[Event] = field(default_factory=list)

    def _note(self, kind: Any, path: object, other: object = "", content: bytes = b"") -> None:
        names = [str(name) for name in (path, other)]
        if names[0].startswith(f"{self.root}/") or names[0] == str(self.root):
            here = [os.path.relpath(name, self.root) if name else "" for name in names]
            self.events.append(Event(kind, here[0], here[1], content))

    @contextmanager
    def recording(self) -> Iterator[None]:
        """Record what this process does to files."""
        with pytest.MonkeyPatch.context() as patched:
            real = {name: getattr(os, name) for name in ("fsync", "replace", "rename", "link", "mkdir", "unlink")}

            def fsync(handle: int) -> None:
                path = Path(f"/proc/self/fd/{handle}").readlink()
                if path.is_dir():
                    self._note("sync folder", path)
                else:
                    self._note("sync", path, content=path.read_bytes())

            def noted(name: str, kind: str, *, pair: bool) -> Any:
                def call(path: Any, *rest: Any, **more: Any) -> Any:
                    found = real[name](path, *rest, **more)
                    if pair and name == "link":
                        self._note(kind, path, rest[0])
                    elif pair:
                        self._note(kind, path, rest[0])
                        self._note("remove", path)
                    else:
                        self._note(kind, path)
                    return found

                return call

            patched.setattr(os, "fsync", fsync)
            for name in ("replace", "rename", "link"):
                patched.setattr(os, name, noted(name, "name", pair=True))
            patched.setattr(os, "mkdir", noted("mkdir", "folder", pair=False))
            patched.setattr(os, "unlink", noted("unlink", "remove", pair=False))
            yield

    def after_power_cut(self, point: int, kind: Kind) -> dict[str, bytes | None]:
        """Give what is there when the power is cut after ``point`` events: bytes of files, None for folders."""
        live: dict[str, _File | None] = {".": None}
        forced: dict[str, dict[str, _File | None]] = {}
        for event in self.events[:point]:
            if event.kind == "folder":
                live[event.path] = None
            elif event.kind == "sync":
                file = live.setdefault(event.path, _File())
                assert file is not None
                file.content = event.content
            elif event.kind == "name":
                live[event.other] = live.get(event.path) or _File()
            elif event.kind == "remove":
                live.pop(event.path, None)
            else:
                forced[event.path] = {p: f for p, f in live.items() if str(Path(p).parent) == event.path}
        if kind == "strict":
            return _reachable(forced)
        if kind == "torn" and point < len(self.events) and self.events[point].kind == "sync":
            under_way = self.events[point]
            before = live.get(under_way.path)
            begun = before.content if before is not None else b""
            new = under_way.content[len(begun) :] if under_way.content.startswith(begun) else under_way.content
            live[under_way.path] = _File(begun + new[: len(new) // 2])
        return {path: None if file is None else file.content for path, file in live.items() if path != "."}


def _reachable(forced: dict[str, dict[str, _File | None]]) -> dict[str, bytes | None]:
    """Give what can be found from the top: a folder's names are there if the folder itself is."""
    found: dict[str, bytes | None] = {}
    todo = ["."]
    while todo:
        for path, file in forced.get(todo.pop(), {}).items():
            if path != ".":
                found[path] = None if file is None else file.content
                if file is None:
                    todo.append(path)
    return found


def lay_out(state: dict[str, bytes | None], root: Path) -> None:
    """Make the files and folders of a state; what is private keeps its modes, and no process has survived."""
    root.mkdir(parents=True)
    for path, content in sorted(state.items()):
        place = root / path.replace(f"-{os.getpid()}-", f"-{NOBODY}-")
        if content is None:
            place.mkdir(mode=0o700 if path.endswith("-private") else 0o755, parents=True, exist_ok=True)
        else:
            place.write_bytes(content)
            place.chmod(0o600)
