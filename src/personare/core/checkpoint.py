"""Reads the numbers out of a torch checkpoint without torch and without running anything the file says.

A checkpoint is a pickle, and a pickle is a program. The reader here knows three words of that language: an ordered
dictionary, a kind of storage, and a tensor as a view into a storage. Any other name ends the reading with an error.
Both layouts are read: the zip archive (torch >= 1.6) and the older sequence of pickles followed by raw storages.
"""

from __future__ import annotations

import io
import math
import pickle
import struct
import zipfile
from collections import OrderedDict
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple

import numpy as np

from personare.core.errors import WeightsError

if TYPE_CHECKING:
    from numpy.typing import NDArray

# kinds of storage, as numpy writes them; checkpoints are little-endian
_KINDS = {
    "FloatStorage": "<f4",
    "DoubleStorage": "<f8",
    "HalfStorage": "<f2",
    "LongStorage": "<i8",
    "IntStorage": "<i4",
    "ByteStorage": "|u1",
    "BoolStorage": "|b1",
}
_OLD_MAGIC = 0x1950A86A20F9469CFC6C
_OLD_PROTOCOL = 1001
_BROKEN = (pickle.UnpicklingError, EOFError, KeyError, ValueError, TypeError, AttributeError, IndexError, struct.error)


class _Storage(NamedTuple):
    """A block of numbers that a tensor looks into; named, not yet read."""

    kind: str
    key: str


class _View(NamedTuple):
    """A tensor: where it starts in its storage, its shape and its strides, all counted in elements."""

    storage: _Storage
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]


def _tensor(storage: _Storage, offset: int, shape: tuple[int, ...], strides: tuple[int, ...], *_: object) -> _View:
    return _View(storage, offset, shape, strides)


class _Reader(pickle.Unpickler):
    """An unpickler that can make dictionaries, numbers, texts and views, and nothing else."""

    def __init__(self, stream: IO[bytes]) -> None:
        super().__init__(stream)
        self.kinds: dict[str, str] = {}

    def find_class(self, module: str, name: str) -> Any:
        """Give the few names that a plain state dictionary needs; refuse the rest."""
        if (module, name) == ("collections", "OrderedDict"):
            return OrderedDict
        if (module, name) in (("torch._utils", "_rebuild_tensor_v2"), ("torch._utils", "_rebuild_tensor")):
            return _tensor
        if module == "torch" and name in _KINDS:
            return _KINDS[name]
        raise WeightsError(f"refusing to load '{module}.{name}': a checkpoint may hold numbers only")

    def persistent_load(self, pid: Any) -> _Storage:
        """Note which storage is meant: ('storage', kind, key, device, count[, part]); parts of storages are refused."""
        tag, kind, key, _, _, *part = pid
        if tag != "storage" or kind not in _KINDS.values() or any(part):
            raise WeightsError(f"refusing to load a '{tag}': a checkpoint may hold whole storages of numbers only")
        self.kinds[str(key)] = kind
        return _Storage(kind, str(key))


def load_tensors(path: Path) -> dict[str, NDArray[Any]]:
    """Read every tensor of a checkpoint, by its dotted name.

    Nested dictionaries are joined by dots (``model_state.linear.bias``); values that are not tensors are left out.
    """
    try:
        with path.open("rb") as stream:
            if zipfile.is_zipfile(stream):
                return _from_zip(stream)
            stream.seek(0)
            return _from_sequence(stream)
    except WeightsError as error:
        raise WeightsError(f"{path}: {error}") from None
    except FileNotFoundError:
        raise WeightsError(f"{path}: no such file") from None
    except (*_BROKEN, zipfile.BadZipFile, OSError, OverflowError, MemoryError) as error:
        raise WeightsError(f"{path}: not a readable checkpoint ({type(error).__name__}: {error})") from None


def _from_zip(stream: IO[bytes]) -> dict[str, NDArray[Any]]:
    with zipfile.ZipFile(stream) as archive:
        roots = [n.removesuffix("data.pkl") for n in archive.namelist() if n == "data.pkl" or n.endswith("/data.pkl")]
        if len(roots) != 1:
            raise WeightsError(f"not a checkpoint (holds {len(roots)} members 'data.pkl', expected one)")
        root = roots[0]
        if f"{root}byteorder" in archive.namelist() and archive.read(f"{root}byteorder") != b"little":
            raise WeightsError("a big-endian checkpoint cannot be read")
        tree = _Reader(io.BytesIO(archive.read(f"{root}data.pkl"))).load()
        return _resolve(tree, lambda storage: archive.read(f"{root}data/{storage.key}"))


def _from_sequence(stream: IO[bytes]) -> dict[str, NDArray[Any]]:
    """Read the older layout: magic, protocol, machine, tree, list of keys, then each storage with its length."""
    magic, protocol, machine = (_Reader(stream).load() for _ in range(3))
    if magic != _OLD_MAGIC or protocol != _OLD_PROTOCOL or not machine.get("little_endian"):
        raise WeightsError("not a checkpoint in the layout of torch before 1.6")
    reader = _Reader(stream)
    tree, keys = reader.load(), _Reader(stream).load()
    blocks = {}
    for key in keys:
        (count,) = struct.unpack("<q", stream.read(8))
        blocks[str(key)] = stream.read(max(count, 0) * np.dtype(reader.kinds[str(key)]).itemsize)
    return _resolve(tree, lambda storage: blocks[storage.key])


def _views(tree: Any, prefix: str = "") -> dict[str, _View]:
    if isinstance(tree, _View):
        return {prefix: tree}
    found: dict[str, _View] = {}
    if isinstance(tree, Mapping):
        for name, part in tree.items():
            found |= _views(part, f"{prefix}.{name}" if prefix else str(name))
    return found


def _resolve(tree: Any, read: Callable[[_Storage], bytes]) -> dict[str, NDArray[Any]]:
    """Turn views into arrays of their own; a view that leaves its storage is an error."""
    blocks: dict[str, NDArray[Any]] = {}
    arrays = {}
    for name, view in _views(tree).items():
        storage = view.storage
        if storage.key not in blocks:
            blocks[storage.key] = np.frombuffer(read(storage), dtype=storage.kind)
        arrays[name] = _cut(name, blocks[storage.key], view)
    return arrays


def _cut(name: str, block: NDArray[Any], view: _View) -> NDArray[Any]:
    shape, strides = tuple(map(int, view.shape)), tuple(map(int, view.strides))
    if len(shape) != len(strides) or min((*shape, *strides, view.offset, 0)) < 0:
        raise WeightsError(f"tensor '{name}' has an impossible shape")
    last = view.offset + sum((n - 1) * s for n, s in zip(shape, strides, strict=True)) if math.prod(shape) else -1
    if last >= len(block):
        raise WeightsError(f"tensor '{name}' reaches beyond its storage")
    steps = tuple(s * block.itemsize for s in strides)
    return np.lib.stride_tricks.as_strided(block[view.offset :], shape, steps, writeable=False).copy()
