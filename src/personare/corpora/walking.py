"""Every file below a folder, found fast and always in the same order."""

from __future__ import annotations

import contextlib
import itertools
import os
from collections.abc import Iterable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from personare.core import pieces
from personare.core.audio import MEDIA_SUFFIXES, readable_suffixes
from personare.corpora.problems import Problem, found

_FEW = 8  # fewer names in what may be a huge folder are asked for one by one
_BOUNDS: ContextVar[_Bounds | None] = ContextVar("bounds", default=None)
_PASSED = 4  # entries of a folder that are looked at for each name that is asked for


@dataclass(frozen=True)
class Tree:
    """The visible files (and folders) below ``root`` as sorted relative paths, and what could not be read."""

    root: Path
    files: tuple[str, ...]
    folders: tuple[str, ...]
    problems: tuple[Problem, ...]

    def audio(self) -> list[str]:
        """List the files whose suffix names a kind of audio that can be read here."""
        readable = readable_suffixes()
        return [f for f in self.files if suffix_of(f) in readable]

    def with_suffix(self, suffix: str) -> list[str]:
        """List the files that end so."""
        return [f for f in self.files if f.endswith(suffix)]

    def place(self, relative: str) -> str:
        """Give the full path of a relative one."""
        return f"{self.root}/{relative}"


def suffix_of(name: str) -> str:
    """Give the suffix of a file name in lower case.

    >>> suffix_of("anna/u1.WAV")
    '.wav'
    """
    return os.path.splitext(name)[1].lower()  # noqa: PTH122 - a Path per file would cost most of the walk


def stem_of(name: str) -> str:
    """Give a relative path without its suffix.

    >>> stem_of("anna/u1.wav")
    'anna/u1'
    """
    return os.path.splitext(name)[0]  # noqa: PTH122


def walk(root: Path) -> Tree:
    """List everything visible below ``root``.

    Each real folder is read once: links are followed after the real folders, and only to folders not read yet, so a
    loop of links ends. Links to folders outside ``root`` are noted and not followed (``links_kept_within``). Names
    that begin with a dot are not looked at.
    """
    met = _Met(str(root))
    files = sorted(_files_below(met))
    return Tree(root, tuple(files), tuple(sorted(filter(_is_unicode, met.folders))), met.problems())


def audio_below(root: Path, problems: list[Problem]) -> Iterator[pl.Series]:
    """Give the audio files below a folder as relative paths, some at a time, and note at the end what is wrong."""
    met = _Met(str(root))
    readable = readable_suffixes()
    names = (name for name in _files_below(met) if suffix_of(name) in readable)
    while some := list(itertools.islice(names, pieces.ROWS)):
        yield pl.Series(some, dtype=pl.String)
    problems += [one for one in met.problems() if one.kind != "outside-link"]  # a list says itself what is to be read


@dataclass
class _Met:
    """What is met on the way through the folders below ``place``, beside files that can be read."""

    place: str
    folders: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    closed: list[str] = field(default_factory=list)
    repeated: list[str] = field(default_factory=list)
    outside: list[str] = field(default_factory=list)
    odd: list[str] = field(default_factory=list)
    foreign: list[str] = field(default_factory=list)

    def problems(self) -> tuple[Problem, ...]:
        return (
            *found("closed-folder", self.place, sorted(self.closed)),
            *found("repeated-link", self.place, sorted(self.repeated)),
            *found("outside-link", self.place, sorted(self.outside)),
            *found("odd-name", self.place, [ascii(f)[1:-1] for f in sorted(self.odd)]),
            *found("unsupported-format", self.place, sorted(self.foreign)),
        )


def _files_below(met: _Met) -> Iterator[str]:
    """Give the files below a folder one by one, as relative paths; those whose names cannot be written are noted."""
    foreign = MEDIA_SUFFIXES - readable_suffixes()
    seen: set[tuple[int, int]] = set()
    links = [""]
    while links:
        met.links = []
        for start in sorted(links):
            if _identity(Path(met.place, start)) in seen:
                met.repeated.append(start)
                continue
            if start and leaves(f"{met.place}/{start}"):
                met.outside.append(start)
                continue
            for name in _walk_real(start, met, seen):
                if not _is_unicode(name):
                    met.odd.append(name)
                    continue
                if suffix_of(name) in foreign:
                    met.foreign.append(name)
                yield name
        links = met.links


@dataclass(frozen=True)
class _Bounds:
    """A corpus folder without links in its path; ``real`` remembers folders that were looked up."""

    folder: str
    named: str
    real: dict[str, str] = field(default_factory=dict)


@contextlib.contextmanager
def links_kept_within(path: Path | None) -> Iterator[None]:
    """Refuse links that leave the corpus at ``path``, a folder or a table, in what is read inside; None follows all."""
    bounds = None
    if path is not None:
        folder = path if path.is_dir() else path.parent
        bounds = _Bounds(str(folder.resolve()), str(folder.absolute()))
    token = _BOUNDS.set(bounds)
    try:
        yield
    finally:
        _BOUNDS.reset(token)


def leaves(path: str) -> bool:
    """Whether a path within the corpus leads out of it by a link; what is listed with a place elsewhere does not."""
    bounds = _BOUNDS.get()
    if bounds is None or not any(path.startswith(f"{root.rstrip('/')}/") for root in (bounds.folder, bounds.named)):
        return False
    folder, _, name = path.rpartition("/")
    try:
        if folder not in bounds.real:
            bounds.real[folder] = os.path.realpath(folder)
        real = os.path.realpath(path) if os.path.islink(path) else f"{bounds.real[folder]}/{name}"  # noqa: PTH114
    except ValueError:  # a NUL in the name
        return False
    return not real.startswith(f"{bounds.folder.rstrip('/')}/")


def nested_speakers(place: str, audio: Iterable[str]) -> list[Problem]:
    """Name the first folders that hold recordings in folders of their own: perhaps not one person each."""
    nested = {name.partition("/")[0] for name in audio if name.count("/") > 1}
    return found("nested-speaker", place, sorted(nested))


def _walk_real(start: str, met: _Met, seen: set[tuple[int, int]]) -> Iterator[str]:
    """Read the folder ``start`` and the real folders below it; links to folders are kept for later."""
    waiting = [start]
    while waiting:
        folder = waiting.pop()
        before = f"{folder}/" if folder else ""
        try:
            seen.add(_identity(Path(met.place, folder)))
            with os.scandir(f"{met.place}/{folder}") as entries:
                for entry in entries:
                    if entry.name.startswith("."):
                        continue
                    name = before + entry.name
                    if not is_folder(entry):
                        yield name
                    elif entry.is_symlink():
                        met.links.append(name)
                    else:
                        waiting.append(name)
        except OSError:
            met.closed.append(folder or ".")
            continue
        if folder:
            met.folders.append(folder)


def _identity(folder: Path) -> tuple[int, int]:
    status = folder.stat()
    return status.st_dev, status.st_ino


def _is_unicode(name: str) -> bool:
    return name.isascii() or not any("\ud800" <= c <= "\udfff" for c in name)


def existing(paths: Iterable[str]) -> set[str]:
    """Keep the paths that are files; each folder is listed once instead of asking for every file."""
    by_folder: dict[str, list[str]] = {}
    for path in paths:
        folder, _, name = path.rpartition("/")
        by_folder.setdefault(folder, []).append(name)
    there: set[str] = set()
    for folder, names in by_folder.items():
        if len(names) < _FEW:
            there.update(f"{folder}/{n}" for n in names if _is_file(Path(folder, n)))
        else:
            there.update(f"{folder}/{n}" for n in _files_in(folder, set(names)))
    return there


def are_files(paths: Iterable[str]) -> Iterator[bool]:
    """Tell of each path whether it is a file; paths of one folder must follow each other, and it is listed once."""
    for folder, group in itertools.groupby(paths, key=lambda path: path.rpartition("/")[0]):
        while some := list(itertools.islice(group, pieces.ROWS)):
            if len(some) < _FEW:
                yield from (_is_file(Path(path)) for path in some)
            else:
                names = [path.rpartition("/")[2] for path in some]
                there = _files_in(folder, set(names))
                yield from (name in there for name in names)


def is_folder(entry: os.DirEntry[str]) -> bool:
    """Tell whether an entry is a folder or a link to one; a link to itself is not."""
    try:
        return entry.is_dir()
    except OSError:
        return False


def is_there(path: str) -> bool:
    """Whether something of that name exists, of any kind."""
    try:
        return Path(path).exists()
    except (OSError, ValueError):  # a link to itself, a NUL in the name
        return False


def _is_file(entry: os.DirEntry[str] | Path) -> bool:
    try:
        return entry.is_file()
    except (OSError, ValueError):  # a link to itself, a NUL in the name
        return False


def _files_in(folder: str, names: set[str]) -> set[str]:
    """Keep the names that are files in a folder: it is listed, but no further than asking for each would be quicker."""
    there: set[str] = set()
    try:
        with os.scandir(folder or "/") as entries:
            for count, entry in enumerate(entries):
                if count > _PASSED * len(names):
                    return there | {name for name in names - there if _is_file(Path(folder or "/", name))}
                if entry.name in names and _is_file(entry):
                    there.add(entry.name)
    except (OSError, ValueError):
        return set()
    return there


def folders_in(path: Path) -> list[str]:
    """List the visible folders in a folder, sorted; none when it cannot be read."""
    try:
        with os.scandir(path) as entries:
            return sorted(e.name for e in entries if not e.name.startswith(".") and is_folder(e))
    except OSError:
        return []
