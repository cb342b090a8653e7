"""Opening .npz files of others: a header that claims more than the file holds is refused before memory is allocated."""

from __future__ import annotations

import contextlib
import math
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.lib.npyio import NpzFile

MAX_EXPANSION = 100  # vectors, scores and names are hardly compressed by half
_HARMLESS_BYTES = 1 << 28


@contextlib.contextmanager
def opened_npz(path: Path) -> Iterator[NpzFile]:
    """Open a file of plain arrays, as ``numpy.load`` does.

    Raises
    ------
    ValueError : an array claims another size than it has, or the file would expand to far more than it is.
    OSError, zipfile.BadZipFile : it cannot be read.
    """
    if zipfile.is_zipfile(path):  # what is none, numpy refuses
        with zipfile.ZipFile(path) as archive:
            _check(archive, path.stat().st_size)
    with np.load(path, allow_pickle=False) as arrays:
        yield arrays


def _check(archive: zipfile.ZipFile, stored: int) -> None:
    members = archive.infolist()
    expanded = sum(member.file_size for member in members)
    if expanded > _HARMLESS_BYTES and expanded > MAX_EXPANSION * stored:
        sizes = f"{stored / 1e6:.1f} MB expand to {expanded / 1e9:.1f} GB"
        raise ValueError(f"{sizes}, more than {MAX_EXPANSION}-fold; write it again with numpy.savez")
    for member in members:
        claimed, there = _sizes(archive, member)
        if claimed is not None and claimed != there:
            name = member.filename.removesuffix(".npy")[:80]
            raise ValueError(f"array '{name}' claims {claimed:,} bytes and has {there:,}")


def _sizes(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> tuple[int | None, int]:
    """Give the bytes that the head of an array claims, and those behind it; None for what is left to numpy."""
    readers: dict[tuple[int, int], Any] = {
        (1, 0): np.lib.format.read_array_header_1_0,
        (2, 0): np.lib.format.read_array_header_2_0,
    }
    with archive.open(member) as stream:
        try:
            read = readers.get(np.lib.format.read_magic(stream))
        except ValueError:
            return None, 0
        if read is None:
            return None, 0
        shape, _, dtype = read(stream)
        if dtype.hasobject:
            return None, 0
        return math.prod(shape) * dtype.itemsize, member.file_size - stream.tell()
