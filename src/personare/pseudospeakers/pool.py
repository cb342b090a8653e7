"""The pool: vectors of real speakers from which pseudo-speakers are learnt, with their genders where known."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from personare.core.embedding_files import read_embeddings
from personare.core.errors import TableError
from personare.core.files import atomic_path
from personare.core.npz import opened_npz

if TYPE_CHECKING:
    from numpy.typing import NDArray

_SPELLINGS = {"female": "f", "male": "m", "nonbinary": "x", "unknown": "", "none": ""}


@dataclass(frozen=True, eq=False)
class SpeakerPool:
    """Speakers by ``vectors`` float32 [n, d]; ``genders`` (f, m, x, empty), ``ids``, ``accents`` [n] or none.

    ``ids`` name the speaker of a vector; they may repeat, and are only needed to average or hold out speakers.
    """

    vectors: NDArray[np.float32]
    genders: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()
    accents: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        vectors = np.asarray(self.vectors)
        if vectors.ndim != 2 or not len(vectors) or vectors.shape[1] < 2:
            raise TableError(f"a pool holds vectors [voices, 2 dimensions or more], not {list(vectors.shape)}")
        if not np.isfinite(vectors).all():
            row = int((~np.isfinite(vectors).all(axis=1)).argmax())
            raise TableError(f"a pool holds finite numbers only; vector {row} has NaN or infinity: leave it out")
        for name, column in (("genders", self.genders), ("ids", self.ids), ("accents", self.accents)):
            if len(column) not in (0, len(vectors)):
                raise TableError(f"a pool of {len(vectors)} vectors needs as many {name}, not {len(column)}")
        object.__setattr__(self, "vectors", np.ascontiguousarray(vectors, dtype=np.float32))

    def __len__(self) -> int:
        return len(self.vectors)

    @property
    def groups(self) -> Mapping[str, NDArray[np.float32]]:
        """The vectors of each gender; those without any are the group ''."""
        if not self.genders:
            return {"": self.vectors}
        column = np.array(self.genders)
        return {gender: self.vectors[column == gender] for gender in sorted(set(self.genders))}

    def rows(self, which: NDArray[np.int64]) -> SpeakerPool:
        """Keep these rows only."""
        columns = (self.genders, self.ids, self.accents)
        return SpeakerPool(
            self.vectors[which], *(tuple(column[i] for i in which) if column else () for column in columns)
        )

    def speaker_means(self) -> SpeakerPool:
        """Average the vectors of each speaker (``ids``), one row per speaker and gender.

        >>> pool = SpeakerPool(np.array([[1.0, 0.0], [0.0, 1.0], [5.0, 5.0]], np.float32), ids=("anna", "anna", "bela"))
        >>> pool.speaker_means().vectors.tolist()
        [[0.5, 0.5], [5.0, 5.0]]
        """
        if not self.ids:
            raise TableError("a pool without ids cannot be averaged per speaker; give each vector's speaker")
        genders = self.genders or ("",) * len(self)
        names = sorted(set(zip(self.ids, genders, strict=True)))
        place = {name: i for i, name in enumerate(names)}
        owner = np.array([place[name] for name in zip(self.ids, genders, strict=True)])
        sums = np.zeros((len(names), self.vectors.shape[1]))
        np.add.at(sums, owner, self.vectors.astype(np.float64))
        means = (sums / np.bincount(owner)[:, None]).astype(np.float32)
        accent_of = dict(zip(zip(self.ids, genders, strict=True), self.accents, strict=True)) if self.accents else {}
        accents = tuple(accent_of[name] for name in names) if accent_of else ()
        return SpeakerPool(
            means, tuple(g for _, g in names) if self.genders else (), tuple(i for i, _ in names), accents
        )


def read_pool(path: Path) -> SpeakerPool:
    """Read a pool: vectors with ``speakers`` (npz, Parquet, Kaldi); an npz may tell ``genders`` and ``accents`` [n]."""
    table = read_embeddings(path)
    genders, accents = (_words(path, name) if path.suffix == ".npz" else () for name in ("gender", "accent"))
    genders = tuple(_SPELLINGS.get(word.lower(), word.lower()) for word in genders)
    odd = sorted(set(genders) - {"f", "m", "x", ""})
    if odd:
        raise TableError(f"{path}: gender '{odd[0]}' is not known; write f, m, x or nothing")
    for name, column in (("genders", genders), ("accents", accents)):
        if len(column) not in (0, len(table.vectors)):
            raise TableError(f"{path}: {len(table.vectors)} vectors, but {len(column)} {name}")
    return SpeakerPool(table.vectors, genders, tuple(table.speakers), accents)


def write_pool(pool: SpeakerPool, path: Path) -> None:
    """Write a pool as npz, in the form ``read_pool`` reads; vectors without a speaker are numbered."""
    speakers = pool.ids or tuple(f"voice-{row}" for row in range(len(pool)))
    arrays = {"vectors": pool.vectors, "speakers": np.array(speakers, dtype=str)}
    for name, column in (("genders", pool.genders), ("accents", pool.accents)):
        if column:
            arrays[name] = np.array(column, dtype=str)
    with atomic_path(path) as part, part.open("wb") as stream:
        np.savez(stream, allow_pickle=False, **arrays)


def _words(path: Path, name: str) -> tuple[str, ...]:
    """Read a column of words, called by one or by many (gender, genders); nothing when there is none."""
    try:
        with opened_npz(path) as archive:
            column = next((n for n in (f"{name}s", name) if n in archive.files), None)
            return () if column is None else tuple(str(word).strip() for word in archive[column].tolist())
    except (OSError, ValueError, EOFError, zipfile.BadZipFile) as error:
        raise TableError(f"{path}: {name}s cannot be read ({str(error).splitlines()[0]})") from None
