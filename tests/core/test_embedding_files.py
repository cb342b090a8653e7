"""Vector files: npz, Parquet and Kaldi read alike; every bad file is one clear line; nothing is executed."""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from personare.core.embedding_files import read_embeddings, write_embeddings
from personare.core.errors import TableError
from personare.core.tables import Embeddings

VECTORS = np.array([[1.5, -2.0], [0.25, 4.0], [3.0, 1e-3]], dtype=np.float32)
IDS, SPEAKERS = ("u1", "u2", "u3"), ("ann", "ann", "bob")


def entry(name: str, vector: np.ndarray, *, kind: bytes = b"FV ") -> bytes:
    """One binary entry, byte by byte as Kaldi's documentation gives it."""
    numbers = vector.astype("<f4" if kind == b"FV " else "<f8").tobytes()
    return name.encode() + b" \0B" + kind + b"\4" + struct.pack("<i", len(vector)) + numbers


def binary_ark(path: Path, *, kind: bytes = b"FV ") -> list[int]:
    """Write an archive; give the offset of each vector, as a list would."""
    content, offsets = b"", []
    for name, vector in zip(IDS, VECTORS, strict=True):
        offsets.append(len(content) + len(name) + 1)
        content += entry(name, vector, kind=kind)
    path.write_bytes(content)
    return offsets


def utt2spk(folder: Path) -> None:
    (folder / "utt2spk").write_text("".join(f"{u} {s}\n" for u, s in zip(IDS, SPEAKERS, strict=True)))


def make_npz(folder: Path) -> Path:
    np.savez(folder / "v.npz", utterance=IDS, speaker=SPEAKERS, vector=VECTORS)
    return folder / "v.npz"


def make_parquet(folder: Path) -> Path:
    frame = pl.DataFrame({"utterance": IDS, "speaker": SPEAKERS, "vector": VECTORS.tolist()})
    frame.write_parquet(folder / "v.parquet")
    return folder / "v.parquet"


def make_ark(folder: Path) -> Path:
    binary_ark(folder / "v.ark")
    utt2spk(folder)
    return folder / "v.ark"


def make_double_ark(folder: Path) -> Path:
    binary_ark(folder / "v.ark", kind=b"DV ")
    utt2spk(folder)
    return folder / "v.ark"


def make_text_ark(folder: Path) -> Path:
    lines = [f"{u}  [ {' '.join(map(str, v.tolist()))} ]\n" for u, v in zip(IDS, VECTORS, strict=True)]
    (folder / "v.ark").write_text("".join(lines))
    utt2spk(folder)
    return folder / "v.ark"


def make_scp(folder: Path) -> Path:
    (folder / "deep").mkdir()
    offsets = binary_ark(folder / "deep" / "v.ark")
    (folder / "v.scp").write_text("".join(f"{u} deep/v.ark:{o}\n" for u, o in zip(IDS, offsets, strict=True)))
    utt2spk(folder)
    return folder / "v.scp"


MAKERS = [make_npz, make_parquet, make_ark, make_double_ark, make_text_ark, make_scp]


@pytest.mark.parametrize("make", MAKERS)
def test_every_kind_reads_alike(tmp_path: Path, make: Callable[[Path], Path]) -> None:
    found = read_embeddings(make(tmp_path))
    assert (found.ids, found.speakers) == (IDS, SPEAKERS)
    assert found.vectors.dtype == np.float32 and (found.vectors == VECTORS).all()


@pytest.mark.parametrize("suffix", [".npz", ".parquet"])
def test_what_is_written_reads_back(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"v{suffix}"
    write_embeddings(Embeddings(IDS, SPEAKERS, VECTORS), path)
    found = read_embeddings(path)
    assert (found.ids, found.speakers) == (IDS, SPEAKERS) and (found.vectors == VECTORS).all()


def test_without_names_rows_are_numbered_and_kaldi_ids_are_speakers(tmp_path: Path) -> None:
    np.savez(tmp_path / "v.npz", speaker=[7, 8, 8], vector=VECTORS.astype(np.float64))
    found = read_embeddings(tmp_path / "v.npz")
    assert found.ids == ("v.npz#0", "v.npz#1", "v.npz#2") and found.speakers == ("7", "8", "8")
    binary_ark(tmp_path / "spk.ark")
    assert read_embeddings(tmp_path / "spk.ark").speakers == IDS


def test_utt2spk_may_lie_elsewhere(tmp_path: Path) -> None:
    binary_ark(tmp_path / "v.ark")
    (tmp_path / "other").mkdir()
    utt2spk(tmp_path / "other")
    assert read_embeddings(tmp_path / "v.ark", utt2spk=tmp_path / "other" / "utt2spk").speakers == SPEAKERS


def npz(**arrays: object) -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        np.savez(folder / "bad.npz", **{name: np.asarray(value) for name, value in arrays.items()})  # type: ignore[arg-type]
        return folder / "bad.npz"

    return make


def parquet(**columns: object) -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        pl.DataFrame(columns).write_parquet(folder / "bad.parquet")
        return folder / "bad.parquet"

    return make


def raw(name: str, content: bytes) -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        (folder / name).write_bytes(content)
        return folder / name

    return make


GOOD = entry("u1", VECTORS[0])
BAD = [
    (lambda folder: folder / "none.npz", "no such file"),
    (raw("v.csv", b"a,b"), "unknown kind of vector file '.csv'"),
    (raw("v.npz", b"not a zip"), "cannot be read as npz (it holds no plain numbers)"),
    (raw("v.npz", b""), "cannot be read as npz"),
    (npz(speaker=SPEAKERS), "needs the array 'vectors'"),
    (npz(vectors=VECTORS, speakr=SPEAKERS), "needs the array 'speakers'; did you mean 'speakr'?"),
    (npz(vectors=VECTORS, speakers=SPEAKERS[:2]), "3 vectors, but 2 speakers"),
    (npz(vectors=VECTORS[0], speakers=SPEAKERS[:2]), "must form a table"),
    (npz(vectors=np.zeros((0, 4)), speakers=[]), "holds no vectors"),
    (npz(vectors=np.array([["a", "b"]]), speakers=["x"]), "numbers only"),
    (npz(vectors=VECTORS * np.nan, speakers=SPEAKERS, ids=IDS), "3 vectors hold NaN or infinite values (first: 'u1')"),
    (npz(vectors=VECTORS.astype(float) * 1e300, speakers=SPEAKERS), "NaN or infinite"),
    (npz(vectors=VECTORS, speakers=SPEAKERS, ids=["a", "b", "a"]), "ids must not repeat; 'a' does"),
    (parquet(speaker=SPEAKERS, vector=[[1.0], [1.0, 2.0], [3.0]]), "vectors differ in dimension (1, 2)"),
    (parquet(speaker=SPEAKERS, vector=["a", "b", "c"]), "must hold lists of numbers"),
    (parquet(speaker=["a", None, "b"], vector=VECTORS.tolist()), "'speaker' is empty in 1 rows"),
    (parquet(speaker=SPEAKERS), "needs the column 'vectors'"),
    (raw("v.parquet", b"PAR?"), "cannot be read"),
    (raw("v.ark", b""), "holds no vectors"),
    (raw("v.ark", GOOD + GOOD), "id 'u1' repeats"),
    (raw("v.ark", GOOD + entry("u2", np.ones(3))), "vectors differ in dimension (2, 3)"),
    (raw("v.ark", GOOD[:-1]), "'u1' is cut off"),
    (raw("v.ark", b"u1 \0BFV \4" + struct.pack("<i", 2**31 - 1)), "'u1' is cut off"),
    (raw("v.ark", b"u1 \0BFV \4" + struct.pack("<i", -3)), "'u1' is cut off"),
    (raw("v.ark", b"u1 \0BFM \4"), "of kind 'FM'; only vectors"),
    (raw("v.ark", b"u1"), "ends after the id 'u1'"),
    (raw("v.ark", b"u1 1 2 3\n"), "neither a binary vector nor of the form"),
    (raw("v.ark", b"u1 [ 1 two ]\n"), "not a number"),
    (raw("v.ark", b"u1 [ ]\n"), "'u1' is empty"),
    (raw("v.ark", bytes(range(256)) * 30), "is not a Kaldi archive"),
    (raw("v.scp", b"u1 copy-vector ark:x ark:- |\n"), "'u1' is a shell pipe; run it yourself"),
    (raw("v.scp", b"u1 nowhere.ark:12\n"), "nowhere.ark: cannot be read"),
    (raw("v.scp", b"u1\n"), "line 1 must hold an id and a value"),
    (raw("v.scp", b"\xff\xfe"), "not UTF-8"),
]


@pytest.mark.parametrize(("make", "says"), BAD, ids=[says for _, says in BAD])
def test_bad_files_are_one_line_each(tmp_path: Path, make: Callable[[Path], Path], says: str) -> None:
    with pytest.raises(TableError) as caught:
        read_embeddings(make(tmp_path))
    assert says in str(caught.value) and "\n" not in str(caught.value)


def test_a_shell_pipe_is_not_run(tmp_path: Path) -> None:
    (tmp_path / "v.scp").write_text(f"u1 touch {tmp_path / 'ran'} |\n")
    with pytest.raises(TableError):
        read_embeddings(tmp_path / "v.scp")
    assert not (tmp_path / "ran").exists()


def test_pickles_are_not_opened(tmp_path: Path) -> None:
    np.savez(tmp_path / "v.npz", vectors=np.array([object()], dtype=object), speakers=["a"])
    with pytest.raises(TableError, match="cannot be read as npz"):
        read_embeddings(tmp_path / "v.npz")


def test_lists_that_do_not_fit(tmp_path: Path) -> None:
    binary_ark(tmp_path / "v.ark")
    (tmp_path / "utt2spk").write_text("u1 ann\nu2 ann\n")
    with pytest.raises(TableError, match=r"1 ids of .*v.ark are not listed \(first: 'u3'\)"):
        read_embeddings(tmp_path / "v.ark")
    (tmp_path / "utt2spk").write_text("u1 ann\nu1 bob\n")
    with pytest.raises(TableError, match="'u1' is listed twice"):
        read_embeddings(tmp_path / "v.ark")
    with pytest.raises(TableError, match="holds its own speakers"):
        read_embeddings(make_npz(tmp_path), utt2spk=tmp_path / "utt2spk")
    with pytest.raises(TableError, match="unknown kind"):
        write_embeddings(Embeddings(IDS, SPEAKERS, VECTORS), tmp_path / "v.csv")
