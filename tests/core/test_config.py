"""Strict configuration: every mistake is one line that names the place and the nearest right word."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import pytest

from personare.core.catalog import Catalog
from personare.core.config import coerce, from_mapping, load_yaml, parse_yaml
from personare.core.errors import ConfigError, UnknownNameError


class Colour(enum.Enum):
    RED = "red"


@dataclass(frozen=True)
class Inner:
    depth: int = 1


@dataclass(frozen=True)
class Settings:
    name: str
    alpha: float | tuple[float, float] = 0.8
    sizes: tuple[int, ...] = (1,)
    inner: Inner = field(default_factory=Inner)
    kind: Literal["a", "b"] = "a"
    colour: Colour = Colour.RED
    place: Path | None = None
    flags: dict[str, bool] = field(default_factory=dict)
    many: list[Inner] = field(default_factory=list)

    def __post_init__(self) -> None:
        if self.name == "forbidden":
            raise ValueError("name must not be 'forbidden'")


def test_everything_right_is_taken_with_its_type(tmp_path: Path) -> None:
    path = tmp_path / "s.yaml"
    path.write_text(
        "name: x\nalpha: [0.5, 1]\nsizes: [1, 2]\ninner: {depth: 3}\nkind: b\ncolour: red\nplace: a/b\n"
        "flags: {fast: true}\nmany: [{depth: 1}, {}]\n"
    )
    found = load_yaml(Settings, path)
    assert found == Settings(
        "x", (0.5, 1.0), (1, 2), Inner(3), "b", Colour.RED, Path("a/b"), {"fast": True}, [Inner(1), Inner()]
    )
    assert isinstance(from_mapping(Settings, {"name": "x", "alpha": 1}, where="s").alpha, float)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nmae: x", "has no key 'nmae'; did you mean 'name'?"),
        ("alpha: 1", "needs the key 'name'"),
        ("name: 3", "name: expected a text, found a whole number 3"),
        ("name: x\nalpha: loud", "alpha: expected a number or a list of 2 values, found a text 'loud'"),
        ("name: x\nsizes: [1, two]", r"sizes\[1\]: expected a whole number"),
        ("name: x\nsizes: [true]", r"sizes\[0\]: expected a whole number, found true or false True"),
        ("name: x\ninner: {dpeth: 1}", "inner has no key 'dpeth'; did you mean 'depth'"),
        ("name: x\ninner: 3", "inner: expected keys and values"),
        ("name: x\nkind: c", "kind: 'c' is not allowed"),
        ("name: x\ncolour: rde", "did you mean 'red'"),
        ("name: x\nflags: {a: 1}", "flags.a: expected true or false"),
        ("name: x\nname: y", "line 2: key 'name' is written twice"),
        ("name: [", "not YAML at line"),
        ("- a", "must hold keys and values at the top"),
        ("name: forbidden", "name must not be 'forbidden'"),
        ("name: !!python/object/apply:os.system [ls]", "not YAML"),
    ],
)
def test_each_mistake_is_one_line(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "s.yaml"
    path.write_text(text)
    with pytest.raises(ConfigError, match=message) as caught:
        load_yaml(Settings, path)
    assert "\n" not in str(caught.value) and str(path) in str(caught.value)


def test_missing_and_binary_files(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no such file"):
        load_yaml(Settings, tmp_path / "absent.yaml")
    (tmp_path / "b.yaml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ConfigError, match="cannot be read as text"):
        load_yaml(Settings, tmp_path / "b.yaml")
    assert parse_yaml("[0.5, 0.9]", where="x") == [0.5, 0.9]
    with pytest.raises(ConfigError):
        coerce([1, 2, 3], tuple[float, float], where="x")


def test_catalog_makes_by_name_and_suggests() -> None:
    catalog = Catalog("thing", {"inner": f"{__name__}:Inner", "broken": "nowhere.at.all:X", "odd": "os:getcwd"})
    assert catalog.make("inner", depth=4).depth == 4
    assert catalog.names() == ["broken", "inner", "odd"]
    with pytest.raises(UnknownNameError, match="no thing 'iner'; did you mean 'inner'"):
        catalog.make("iner")
    with pytest.raises(ConfigError, match="inner has no parameter 'dept'; did you mean 'depth'"):
        catalog.make("inner", dept=1)
    with pytest.raises(ConfigError, match=r"module 'nowhere\.at\.all' cannot be imported"):
        catalog.load("broken")
    with pytest.raises(ConfigError, match="not a dataclass"):
        catalog.load("odd")
