"""Speaker vectors from files: npz, Parquet, and Kaldi archives with their lists.

npy: an array [n, d] that is read from the disk as it is needed (a memory map), with the names in a table of the same
name beside it (.parquet or .tsv: speaker, and utterance where there are any); without one, row i is speaker i.
npz: an array ``vectors`` (or ``vector``) [n, d], ``speakers`` (or ``speaker``) [n], and, where there are any, names of
the utterances, ``ids`` (or ``utterance``) [n]; without, rows are numbered. Parquet: the same as columns. Kaldi: see
``kaldi_vectors``; who speaks is in ``utt2spk`` beside the archive or named; without one each id is taken for a speaker.
"""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from personare.core.errors import TableError, did_you_mean
from personare.core.files import atomic_path
from personare.core.kaldi_vectors import read_ark, read_map, read_scp
from personare.core.npz import opened_npz
from personare.core.tables import Embeddings, read_frame, write_frame

if TYPE_CHECKING:
    from numpy.typing import NDArray

NAMES = {
    "vectors": ("vectors", "vector", "embedding", "embeddings"),
    "speakers": ("speakers", "speaker"),
    "ids": ("ids", "id", "utterance", "utterances"),
}
KINDS = ".npz, .npy, .parquet, .ark or .scp"


# what numpy and zipfile raise on damaged archives; NotImplementedError is one of RuntimeError
UNREADABLE = (OSError, ValueError, EOFError, KeyError, RuntimeError, zipfile.BadZipFile, zlib.error)


def read_embeddings(path: Path, *, utt2spk: Path | None = None) -> Embeddings:
    """Read the vectors of one file; ``utt2spk`` says who speaks in a Kaldi archive.

    Raises
    ------
    TableError : one line that names the file and what is wrong with it.
    """
    if not path.is_file():
        raise TableError(f"{path}: no such file; vectors are read from {KINDS}")
    readers = {".npz": _from_npz, ".npy": _from_npy, ".parquet": _from_parquet}
    if path.suffix in readers:
        if utt2spk is not None:
            raise TableError(f"{path}: holds its own speakers; utt2spk is for Kaldi archives (.ark, .scp)")
        return _embeddings(path, readers[path.suffix](path))
    if path.suffix in (".ark", ".scp"):
        return _embeddings(path, _from_kaldi(path, utt2spk))
    raise TableError(f"{path}: unknown kind of vector file '{path.suffix}'; use {KINDS}")


def write_embeddings(embeddings: Embeddings, path: Path) -> None:
    """Write vectors as .npz or .parquet, by the suffix, in the form ``read_embeddings`` reads."""
    import polars as pl

    check_kind(path)
    if path.suffix == ".npz":
        with atomic_path(path) as part, part.open("wb") as stream:
            ids, speakers = np.array(embeddings.ids, dtype=str), np.array(embeddings.speakers, dtype=str)
            np.savez(stream, ids=ids, speakers=speakers, vectors=embeddings.vectors)
    else:
        kind = pl.Array(pl.Float32, embeddings.vectors.shape[1])
        columns = {"utterance": embeddings.ids, "speaker": embeddings.speakers}
        write_frame(pl.DataFrame(columns).with_columns(pl.Series("vector", embeddings.vectors, dtype=kind)), path)


def check_kind(path: Path) -> None:
    """Refuse a name whose suffix is no kind of vector file we write."""
    if path.suffix not in (".npz", ".parquet"):
        raise TableError(f"{path}: unknown kind of vector file '{path.suffix}'; use .npz or .parquet")


def reason_of(error: Exception) -> str:
    """Say why numpy cannot read a file; what it takes for a pickle is damaged, or code that nobody should run."""
    line = str(error).splitlines()[0] if str(error) else type(error).__name__
    return "it holds no plain numbers" if "pickle" in line.lower() else line


def _from_npz(path: Path) -> dict[str, Any]:
    try:
        with opened_npz(path) as archive:
            return {name: archive[key] for name, key in _keys(path, archive.files, "array").items()}
    except UNREADABLE as error:
        raise TableError(f"{path}: cannot be read as npz ({reason_of(error)})") from None


def _from_npy(path: Path) -> dict[str, Any]:
    """Map an array from the disk; who each row is stands in a table beside it, else every row is a person."""
    try:
        vectors = np.load(path, mmap_mode="r", allow_pickle=False)
    except UNREADABLE as error:
        raise TableError(f"{path}: cannot be read as npy ({reason_of(error)})") from None
    beside = next((p for p in (path.with_suffix(".parquet"), path.with_suffix(".tsv")) if p.is_file()), None)
    if beside is None:
        names = [f"{row:09d}" for row in range(len(vectors) if vectors.ndim else 0)]
        return {"vectors": vectors, "speakers": names}
    frame = read_frame(beside)
    keys = {
        name: key for name, key in _keys(beside, [*frame.columns, "vectors"], "column").items() if name != "vectors"
    }
    return {"vectors": vectors, **{name: frame[key].to_list() for name, key in keys.items()}}


def _from_parquet(path: Path) -> dict[str, Any]:
    import polars as pl

    frame = read_frame(path)
    keys = _keys(path, frame.columns, "column")
    columns = {name: frame[key] for name, key in keys.items()}
    for name, column in columns.items():
        if column.null_count():
            raise TableError(f"{path}: column '{keys[name]}' is empty in {column.null_count()} rows")
    vectors = columns["vectors"]
    if isinstance(vectors.dtype, pl.List):
        lengths = sorted(vectors.list.len().unique())
        if len(lengths) > 1:
            raise TableError(f"{path}: vectors differ in dimension ({', '.join(map(str, lengths))})")
        vectors = vectors.list.to_array(lengths[0]) if lengths else vectors
    if len(vectors) and not isinstance(vectors.dtype, pl.Array):
        raise TableError(f"{path}: column '{keys['vectors']}' must hold lists of numbers, not {vectors.dtype}")
    return {name: c.to_list() for name, c in columns.items() if name != "vectors"} | {"vectors": vectors.to_numpy()}


def _from_kaldi(path: Path, utt2spk: Path | None) -> dict[str, Any]:
    table = read_scp(path) if path.suffix == ".scp" else read_ark(path)
    beside = path.with_name("utt2spk")
    listed = utt2spk or (beside if beside.is_file() else None)
    ids = list(table)
    owners: Mapping[str, str] = read_map(listed) if listed else {name: name for name in ids}
    missing = [name for name in ids if name not in owners]
    if missing:
        raise TableError(f"{listed}: {len(missing)} ids of {path} are not listed (first: '{missing[0]}')")
    lengths = {len(vector) for vector in table.values()}
    if len(lengths) > 1:
        raise TableError(f"{path}: vectors differ in dimension ({', '.join(map(str, sorted(lengths)))})")
    return {"ids": ids, "speakers": [owners[name] for name in ids], "vectors": list(table.values())}


def _keys(path: Path, known: list[str], what: str) -> dict[str, str]:
    """Find the array or column for vectors, speakers and (where there is one) ids."""
    found = {}
    for name, spellings in NAMES.items():
        there = [spelling for spelling in spellings if spelling in known]
        if there:
            found[name] = there[0]
        elif name != "ids":
            raise TableError(f"{path}: needs the {what} '{spellings[0]}'; {did_you_mean(spellings[0], known)}")
    return found


def _embeddings(path: Path, parts: dict[str, Any]) -> Embeddings:
    """Check what was read and make it a table; without ids, rows are named by speaker and number."""
    vectors = _numbers(path, parts["vectors"])
    speakers = _names(parts["speakers"])
    if len(speakers) != len(vectors):
        raise TableError(f"{path}: {len(vectors)} vectors, but {len(speakers)} speakers")
    if "ids" in parts:
        ids = _names(parts["ids"])
    else:  # as wide as the last one: their order is that of the rows, and nothing is copied to sort it
        width = len(str(max(0, len(speakers) - 1)))
        numbered = f"{path.name.replace('%', '%%')}#%0{width}d"
        ids = [numbered % row for row in range(len(speakers))]
    try:
        return Embeddings(tuple(ids), tuple(speakers), vectors)
    except TableError:  # it looks at everything once; only what it refuses is looked at again
        raise TableError(f"{path}: {_harm(ids, vectors)}") from None


def _harm(ids: list[str], vectors: NDArray[np.float32]) -> str:
    """Say what is wrong with vectors that are refused: an id that repeats, or values that are no numbers."""
    seen: set[str] = set()
    twice = next((name for name in ids if name in seen or seen.add(name)), None)  # type: ignore[func-returns-value]
    if twice is not None:
        return f"ids must not repeat; '{twice}' does"
    odd = np.concatenate(
        [~np.isfinite(part).all(axis=1) for part in np.array_split(vectors, len(vectors) // 65536 + 1)]
    )
    if odd.any():
        return f"{odd.sum()} vectors hold NaN or infinite values (first: '{ids[int(odd.argmax())]}')"
    return f"{len(ids)} ids do not fit vectors {list(vectors.shape)}"


def _names(column: Any) -> list[str]:
    """Give names as text; a list of texts is that already."""
    if isinstance(column, list) and set(map(type, column)) <= {str}:
        return column
    return [str(name) for name in np.asarray(column).tolist()]


def _numbers(path: Path, rows: object) -> NDArray[np.float32]:
    try:
        with np.errstate(over="ignore"):  # an infinite value is reported with its id
            vectors = np.asarray(rows, dtype=np.float32)
    except (TypeError, ValueError):
        raise TableError(f"{path}: vectors must hold numbers only") from None
    if vectors.size == 0:
        raise TableError(f"{path}: holds no vectors")
    if vectors.ndim != 2:
        raise TableError(f"{path}: vectors must form a table [rows, dimensions], not {list(vectors.shape)}")
    return vectors
