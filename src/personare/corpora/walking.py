"""Every file below a folder, found fast and always in the same order."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from personare.core.audio import MEDIA_SUFFIXES, readable_suffixes
from personare.corpora.problems import Problem, found

_FEW = 8  # fewer names in what may be a huge folder are asked for one by one


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
    loop of links ends. Names that begin with a dot are not looked at.
    """
    place = str(root)
    files: list[str] = []
    folders: list[str] = []
    closed: list[str] = []
    repeated: list[str] = []
    seen: set[tuple[int, int]] = set()
    links: list[str] = [""]
    while links:
        later: list[str] = []
        for start in sorted(links):
            if _identity(root / start) in seen:
                repeated.append(start)
            else:
                _walk_real(place, start, (files, folders, later, closed), seen)
        links = later
    good = _unicode_only(files)
    foreign = MEDIA_SUFFIXES - readable_suffixes()
    problems = [
        *found("closed-folder", place, sorted(closed)),
        *found("repeated-link", place, sorted(repeated)),
        *found("odd-name", place, [ascii(f)[1:-1] for f in sorted(set(files) - set(good))]),
        *found("unsupported-format", place, sorted(f for f in good if suffix_of(f) in foreign)),
    ]
    return Tree(root, tuple(sorted(good)), tuple(sorted(_unicode_only(folders))), tuple(problems))


def nested_speakers(place: str, audio: Iterable[str]) -> list[Problem]:
    """Name the first folders that hold recordings in folders of their own: perhaps not one person each."""
    nested = {name.partition("/")[0] for name in audio if name.count("/") > 1}
    return found("nested-speaker", place, sorted(nested))


def _walk_real(
    place: str, start: str, into: tuple[list[str], list[str], list[str], list[str]], seen: set[tuple[int, int]]
) -> None:
    """Read the folder ``start`` and the real folders below it; links to folders are kept for later."""
    files, folders, links, closed = into
    waiting = [start]
    while waiting:
        folder = waiting.pop()
        before = f"{folder}/" if folder else ""
        try:
            seen.add(_identity(Path(place, folder)))
            with os.scandir(f"{place}/{folder}") as entries:
                for entry in entries:
                    if entry.name.startswith("."):
                        continue
                    name = before + entry.name
                    if not is_folder(entry):
                        files.append(name)
                    elif entry.is_symlink():
                        links.append(name)
                    else:
                        waiting.append(name)
        except OSError:
            closed.append(folder or ".")
            continue
        if folder:
            folders.append(folder)


def _identity(folder: Path) -> tuple[int, int]:
    status = folder.stat()
    return status.st_dev, status.st_ino


def _unicode_only(names: list[str]) -> list[str]:
    try:
        "".join(names).encode()
    except UnicodeEncodeError:
        return [n for n in names if not any("\ud800" <= c <= "\udfff" for c in n)]
    return names


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
            present = _files_in(folder)
            there.update(f"{folder}/{n}" for n in names if n in present)
    return there


def are_files(paths: Iterable[str]) -> Iterator[bool]:
    """Tell of each path whether it is a file; paths of one folder must follow each other, and it is listed once."""
    for folder, group in itertools.groupby(paths, key=lambda path: path.rpartition("/")[0]):
        few = list(itertools.islice(group, _FEW))
        if len(few) < _FEW:
            yield from (_is_file(Path(path)) for path in few)
        else:
            present = _files_in(folder)
            yield from (path.rpartition("/")[2] in present for path in itertools.chain(few, group))


def is_folder(entry: os.DirEntry[str]) -> bool:
    """Tell whether an entry is a folder or a link to one; a link to itself is not."""
    try:
        return entry.is_dir()
    except OSError:
        return False


def _is_file(entry: os.DirEntry[str] | Path) -> bool:
    try:
        return entry.is_file()
    except (OSError, ValueError):  # a link to itself, a NUL in the name
        return False


def _files_in(folder: str) -> set[str]:
    try:
        with os.scandir(folder or "/") as entries:
            return {entry.name for entry in entries if _is_file(entry)}
    except (OSError, ValueError):
        return set()


def folders_in(path: Path) -> list[str]:
    """List the visible folders in a folder, sorted; none when it cannot be read."""
    try:
        with os.scandir(path) as entries:
            return sorted(e.name for e in entries if not e.name.startswith(".") and is_folder(e))
    except OSError:
        return []
