"""A checkpoint is read as numbers; one that tries to run something is refused and runs nothing."""

from __future__ import annotations

import io
import os
import pickle
import struct
import zipfile
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from personare.core.checkpoint import load_tensors
from personare.core.errors import WeightsError


class _Named:
    """Pickles as a call of any importable name with any arguments."""

    def __init__(self, module: str, name: str, *arguments: Any) -> None:
        self.module, self.name, self.arguments = module, name, arguments


class _StorageKind:
    def __init__(self, name: str) -> None:
        self.name = name


class _Storage:
    def __init__(self, key: str, count: int) -> None:
        self.key, self.count = key, count


class _Writer(pickle._Pickler):
    """Writes what torch would write, without torch."""

    write: Callable[[bytes], Any]

    def persistent_id(self, obj: Any) -> Any:
        if isinstance(obj, _Storage):
            return ("storage", _StorageKind("FloatStorage"), obj.key, "cpu", obj.count)
        return None

    def save(self, obj: Any, save_persistent_id: bool = True) -> None:
        if isinstance(obj, _StorageKind):
            self.write(pickle.GLOBAL + f"torch\n{obj.name}\n".encode())
        elif isinstance(obj, _Named):
            self.write(pickle.GLOBAL + f"{obj.module}\n{obj.name}\n".encode())
            self.save(tuple(obj.arguments))
            self.write(pickle.REDUCE)
        else:
            super().save(obj, save_persistent_id)  # type: ignore[misc]


def _pickled(tree: Any) -> bytes:
    stream = io.BytesIO()
    _Writer(stream, protocol=2).dump(tree)
    return stream.getvalue()


def _tensor(key: str, offset: int, shape: tuple[int, ...], strides: tuple[int, ...]) -> _Named:
    return _Named("torch._utils", "_rebuild_tensor_v2", _Storage(key, 6), offset, shape, strides, False, OrderedDict())


def _zip(path: Path, tree: Any, storages: dict[str, np.ndarray[Any, Any]]) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("archive/data.pkl", _pickled(tree))
        for key, values in storages.items():
            archive.writestr(f"archive/data/{key}", values.tobytes())
    return path


SIX = np.arange(6, dtype="<f4")


def test_views_of_a_zip_checkpoint(tmp_path: Path) -> None:
    tree = OrderedDict(
        whole=_tensor("7", 0, (2, 3), (3, 1)), turned=_tensor("7", 0, (3, 2), (1, 3)), end=_tensor("7", 4, (2,), (1,))
    )
    found = load_tensors(_zip(tmp_path / "a.pt", {"state": tree, "step": 3}, {"7": SIX}))
    assert set(found) == {"state.whole", "state.turned", "state.end"}
    np.testing.assert_array_equal(found["state.whole"], SIX.reshape(2, 3))
    np.testing.assert_array_equal(found["state.turned"], SIX.reshape(2, 3).T)
    np.testing.assert_array_equal(found["state.end"], [4, 5])


def test_the_older_layout(tmp_path: Path) -> None:
    path = tmp_path / "old.pt"
    head = [0x1950A86A20F9469CFC6C, 1001, {"little_endian": True}]
    parts = [_pickled(part) for part in (*head, {"a": _tensor("x", 1, (2,), (2,))}, ["x"])]
    path.write_bytes(b"".join(parts) + struct.pack("<q", 6) + SIX.tobytes())
    np.testing.assert_array_equal(load_tensors(path)["a"], [1, 3])


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("os", "system"),
        ("posix", "system"),
        ("builtins", "eval"),
        ("builtins", "getattr"),
        ("__builtin__", "exec"),
        ("subprocess", "Popen"),
        ("torch", "load"),
        ("numpy.core.multiarray", "_reconstruct"),
        ("collections", "defaultdict"),
    ],
)
def test_a_checkpoint_that_calls_is_refused(tmp_path: Path, module: str, name: str) -> None:
    trace = tmp_path / "trace"
    evil = _zip(tmp_path / "evil.pt", {"a": _Named(module, name, f"touch {trace}")}, {})
    with pytest.raises(WeightsError, match=f"refusing to load '{module}.{name}'"):
        load_tensors(evil)
    assert not trace.exists()


def test_the_trap_of_the_test_above_is_real(tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    pickle.loads(_pickled(_Named(os.system.__module__, "system", f"touch {trace}")))  # noqa: S301 - our own bytes
    assert trace.exists()


@pytest.mark.parametrize(
    ("offset", "shape", "strides"), [(0, (7,), (1,)), (5, (2,), (1,)), (0, (2,), (9,)), (-1, (2,), (1,)), (0, (2,), ())]
)
def test_a_view_beyond_its_storage_is_refused(
    tmp_path: Path, offset: int, shape: tuple[int, ...], strides: tuple[int, ...]
) -> None:
    with pytest.raises(WeightsError, match="'a'"):
        load_tensors(_zip(tmp_path / "a.pt", {"a": _tensor("7", offset, shape, strides)}, {"7": SIX}))


@pytest.mark.parametrize("content", [b"", b"RIFF", b"\x80\x02K\x01.", pickle.dumps({}), b"PK\x03\x04broken"])
def test_other_files_are_one_clear_line(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.pt"
    path.write_bytes(content)
    with pytest.raises(WeightsError, match=r"a\.pt: ") as caught:
        load_tensors(path)
    assert "\n" not in str(caught.value)


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(WeightsError, match="no such file"):
        load_tensors(tmp_path / "none.pt")
