"""Prepared speech as arrays on disk: all utterances one after the other, read in crops without loading the rest."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from personare.core.errors import TrainingError
from personare.core.files import atomic_path, write_text

if TYPE_CHECKING:
    from numpy.typing import NDArray

INDEX, VECTORS = "index.json", "vectors.npy"


@dataclass(frozen=True)
class StoredUtterance:
    """One utterance: its names, which token frames of the arrays are its own, and its text where it is known."""

    name: str
    speaker: str
    corpus: str
    first: int
    frames: int
    text: str = ""


@dataclass(frozen=True, eq=False)
class SpeechStore:
    """Arrays [token frames, ...] by field, speaker vectors [utterances, 256], and whose frames are whose."""

    arrays: Mapping[str, NDArray[Any]]
    vectors: NDArray[np.float32]
    utterances: tuple[StoredUtterance, ...]
    digest: str

    def crop(self, field: str, first: int, count: int, utterance: StoredUtterance) -> NDArray[Any]:
        """Read ``count`` frames from ``first`` (counted in the utterance, may lie outside); zeros beyond its ends."""
        low, high = max(first, 0), min(first + count, utterance.frames)
        array = self.arrays[field]
        result = np.zeros((count, *array.shape[1:]), array.dtype)
        if high > low:
            result[low - first : high - first] = array[utterance.first + low : utterance.first + high]
        return result


@dataclass(frozen=True)
class PreparedUtterance:
    """One utterance to pack: its names, the file of its measurements, its text where it is known."""

    name: str
    speaker: str
    corpus: str
    path: Path
    text: str = ""


def pack(items: Sequence[PreparedUtterance], folder: Path) -> None:
    """Write the arrays of prepared utterances into ``folder``; the index comes last."""
    if not items:
        raise TrainingError("no prepared utterances to train on; prepare a corpus first")
    counts = []
    for item in items:
        with np.load(item.path) as found:
            counts.append(len(found["mels"]))
    total = sum(counts)
    firsts = np.concatenate([[0], np.cumsum(counts)]).tolist()
    folder.mkdir(parents=True, exist_ok=True)
    vectors = np.empty((len(items), 256), np.float32)
    with np.load(items[0].path) as found:
        shapes = {name: (found[name].dtype, found[name].shape[1:]) for name in found.files if name != "vector"}
    for name, (dtype, shape) in shapes.items():
        with atomic_path(folder / f"{name}.npy") as part:
            array = np.lib.format.open_memmap(part, mode="w+", dtype=dtype, shape=(total, *shape))
            for row, (item, first, count) in enumerate(zip(items, firsts, counts, strict=False)):
                with np.load(item.path) as found:
                    array[first : first + count] = found[name]
                    vectors[row] = found["vector"]
            array.flush()
            del array
    with atomic_path(folder / VECTORS) as part:
        np.save(part, vectors)
    rows = [
        StoredUtterance(item.name, item.speaker, item.corpus, first, count, item.text)
        for item, first, count in zip(items, firsts, counts, strict=False)
    ]
    write_text(
        folder / INDEX,
        json.dumps({"digest": digest_of(items), "utterances": [dataclasses.asdict(row) for row in rows]}),
    )


def digest_of(items: Sequence[PreparedUtterance]) -> str:
    """Name packed speech by its measurements and texts, in their order."""
    known = json.dumps([(item.path.name, item.text) for item in items])
    return hashlib.sha256(known.encode()).hexdigest()


def open_store(folder: Path) -> SpeechStore:
    """Open packed speech; only what is read is loaded."""
    if not (folder / INDEX).is_file():
        raise TrainingError(f"{folder}: no packed speech ({INDEX} is missing); pack prepared speech into it first")
    index = json.loads((folder / INDEX).read_text(encoding="utf-8"))
    arrays = {path.stem: np.load(path, mmap_mode="r") for path in folder.glob("*.npy") if path.name != VECTORS}
    utterances = tuple(StoredUtterance(**row) for row in index["utterances"])
    return SpeechStore(arrays, np.load(folder / VECTORS), utterances, index["digest"])


def held_out_speakers(store: SpeechStore, count: int, *, rng: np.random.Generator) -> set[str]:
    """Draw the speakers that are set aside to measure on."""
    speakers = sorted({utterance.speaker for utterance in store.utterances if utterance.speaker})
    if len(speakers) < count + 2:
        raise TrainingError(f"{len(speakers)} speakers are prepared; {count} set aside leave fewer than 2 to train on")
    return {speakers[int(index)] for index in rng.permutation(len(speakers))[:count]}
