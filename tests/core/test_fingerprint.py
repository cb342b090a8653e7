"""Fingerprints: equal for equal settings however written, different for whatever could change the result."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar, Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from personare.core import carriers, files
from personare.core.errors import ConfigError
from personare.core.files import file_digest, file_sha256, folder_digest
from personare.core.fingerprint import Fingerprinted, SystemIdentity, fingerprint, models_of


@dataclass(frozen=True)
class Inner(Fingerprinted):
    VERSION: ClassVar[int] = 3

    depth: float = 1.0


@dataclass(frozen=True)
class Outer(Fingerprinted):
    VERSION: ClassVar[int] = 1

    alpha: float | tuple[float, float] = 0.8
    names: tuple[str, ...] = ()
    settings: dict[str, Any] = field(default_factory=dict)
    place: Path | None = None
    inner: Inner = field(default_factory=Inner)
    vectors: Any = None
    kind: Literal["a", "b"] = "a"
    note: str = field(default="", compare=False)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Outer(), Outer(alpha=0.80)),
        (Outer(alpha=1), Outer(alpha=1.0)),
        (Outer(alpha=(0, 1)), Outer(alpha=[0.0, 1.0])),  # type: ignore[arg-type]
        (Outer(alpha=np.float64(0.8)), Outer()),
        (Outer(alpha=-0.0), Outer(alpha=0.0)),
        (Outer(settings={"a": 1, "b": [2]}), Outer(settings={"b": (2.0,), "a": 1.0})),
        (Outer(inner=Inner(1)), Outer()),
        (Outer(note="said differently"), Outer()),
        (Outer(vectors=np.ones((2, 3))), Outer(vectors=np.ones((3, 2)).T)),
    ],
)
def test_equal_settings_have_one_fingerprint(one: Outer, other: Outer) -> None:
    assert one.fingerprint == other.fingerprint


def test_every_setting_counts() -> None:
    others = [
        Outer(),
        Outer(alpha=0.8000001),
        Outer(alpha=(0.8, 0.8)),
        Outer(names=("a",)),
        Outer(names=("a", "b")),
        Outer(names=("ab",)),
        Outer(settings={"a": None}),
        Outer(settings={"a": "0.8"}),
        Outer(settings={"a": True}),
        Outer(settings={"a": 1}),
        Outer(inner=Inner(2.0)),
        Outer(kind="b"),
        Outer(vectors=np.ones((2, 3))),
        Outer(vectors=np.ones((3, 2))),
        Outer(vectors=np.ones((2, 3), np.float32)),
        Outer(place=Path("nowhere/at/all")),
        Outer(alpha=float("nan")),
        Outer(alpha=2**60),
        Outer(alpha=2**60 + 1),
    ]
    seen: dict[str, Outer] = {}
    for other in others:
        assert other.fingerprint not in seen, f"{other} is the same as {seen[other.fingerprint]}"
        seen[other.fingerprint] = other


@given(st.floats(allow_nan=False), st.floats(allow_nan=False))
def test_numbers_are_told_apart_exactly_where_they_differ(a: float, b: float) -> None:
    assert (Outer(alpha=a).fingerprint == Outer(alpha=b).fingerprint) == (a == b)


def test_the_class_and_its_version_count(monkeypatch: pytest.MonkeyPatch) -> None:
    @dataclass(frozen=True)
    class Deeper(Inner):
        VERSION: ClassVar[int] = 3

    before, deeper, whole = Inner().fingerprint, Deeper().fingerprint, Outer().fingerprint
    assert before != deeper
    monkeypatch.setattr(Inner, "VERSION", 4)
    assert Inner().fingerprint != before
    assert Deeper().fingerprint != deeper, "it builds on the class that changed"
    assert Outer().fingerprint != whole, "so does what holds one"


def test_files_and_folders_count_by_content_not_by_place(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / "a.bin").write_bytes(b"first")
    (tmp_path / "two").mkdir()
    (tmp_path / "two" / "a.bin").write_bytes(b"first")
    for name in ("", "a.bin"):
        assert Outer(place=tmp_path / "one" / name).fingerprint == Outer(place=tmp_path / "two" / name).fingerprint
        before = Outer(place=tmp_path / "one" / name).fingerprint
        (tmp_path / "one" / "a.bin").write_bytes(b"second")
        assert Outer(place=tmp_path / "one" / name).fingerprint != before
        (tmp_path / "one" / "a.bin").write_bytes(b"first")
    (tmp_path / "two" / "a.bin").rename(tmp_path / "two" / "b.bin")
    assert folder_digest(tmp_path / "one") != folder_digest(tmp_path / "two")


def test_a_digest_is_taken_once_and_again_after_a_change(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.bin"
    reads: list[Path] = []

    def counted(path: Path) -> str:
        reads.append(path)
        return file_sha256(path)

    monkeypatch.setattr(files, "file_sha256", counted)
    path.write_bytes(b"first")
    first = {file_digest(path) for _ in range(3)}
    assert len(first) == 1 == len(reads)
    path.write_bytes(b"other bytes")
    assert file_digest(path) not in first
    assert len(reads) == 2


CODE = """
from dataclasses import dataclass
@dataclass(frozen=True)
class Toy:
    strength: float = 1.0
    {more}
"""


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Any]:
    """Gives a function that writes a module of its own with a class Toy in it, imports it and makes one."""
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "shipped").mkdir()

    def make(more: str) -> Any:
        (tmp_path / "toy_for_fingerprints.py").write_text(CODE.format(more=more))
        for cached in (tmp_path / "__pycache__").glob("*"):
            cached.unlink()
        monkeypatch.delitem(sys.modules, "toy_for_fingerprints", raising=False)
        return __import__("toy_for_fingerprints").Toy()

    return make


def test_a_class_without_a_version_is_known_by_its_source(toy: Callable[[str], Any]) -> None:
    assert fingerprint(toy("")) == fingerprint(toy(""))
    assert fingerprint(toy("def louder(self): return 2")) != fingerprint(toy("def louder(self): return 3"))
    assert fingerprint(toy("VERSION = 1  # a comment")) == fingerprint(toy("VERSION = 1  # another one"))
    assert fingerprint(toy("VERSION = 1")) != fingerprint(toy("VERSION = 2"))


def test_a_class_nobody_can_read_must_say_its_version(monkeypatch: pytest.MonkeyPatch) -> None:
    module: Any = ModuleType("typed_at_a_prompt")
    monkeypatch.setitem(sys.modules, "typed_at_a_prompt", module)
    exec(CODE.format(more=""), vars(module))  # noqa: S102 - our own text
    with pytest.raises(ConfigError, match="Toy has no VERSION and its source cannot be read"):
        fingerprint(module.Toy())


def test_shipped_models_count_by_their_bytes(tmp_path: Path, toy: Callable[[str], Any]) -> None:
    without = fingerprint(toy("VERSION = 1"))
    (tmp_path / "shipped" / "voice.onnx").write_bytes(b"first")
    one = toy("VERSION = 1")
    before = fingerprint(one)
    assert before != without
    assert list(models_of(one)) == ["shipped/voice.onnx"]
    (tmp_path / "shipped" / "voice.onnx").write_bytes(b"retrained")
    assert fingerprint(one) != before
    (tmp_path / "shipped" / "voice.onnx").write_bytes(b"first")
    assert fingerprint(one) == before


def test_fetched_models_count_by_their_pinned_hash(monkeypatch: pytest.MonkeyPatch) -> None:
    @dataclass(frozen=True)
    class Fetching(Fingerprinted):
        VERSION: ClassVar[int] = 1
        MODELS: ClassVar[tuple[str, ...]] = ("swift-f0",)

    before = Fetching().fingerprint
    assert set(models_of(Fetching())) == {"swift-f0/model.onnx"}
    model = carriers.WEIGHTS["swift-f0"]
    pinned = carriers.PretrainedModel(
        model.name, model.what, model.licence, model.carrier, {"swift_f0/model.onnx": "0" * 64}, model.size_mb
    )
    monkeypatch.setitem(carriers.WEIGHTS, "swift-f0", pinned)
    assert Fetching().fingerprint != before


def test_what_has_no_identity_is_one_clear_line() -> None:
    with pytest.raises(ConfigError, match=r"Outer\.vectors: a value of type object has no fingerprint"):
        fingerprint(Outer(vectors=object()))
    with pytest.raises(ConfigError, match="only a dataclass has a fingerprint, not a float"):
        fingerprint(0.5)


def test_systems_are_one_by_their_fingerprint_whatever_they_are_called() -> None:
    assert SystemIdentity("5f3a", "mcadams") == SystemIdentity("5f3a", "mcadams (alpha = 0.8)")
    assert SystemIdentity("5f3a", "mcadams") != SystemIdentity("5f3b", "mcadams")
    assert str(SystemIdentity("5f3a", "mcadams")) == "mcadams"
    assert str(SystemIdentity("0123456789abcdef")) == "0123456789ab"
