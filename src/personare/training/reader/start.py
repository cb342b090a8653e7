"""Begin the training of a reader with the networks of an earlier one that knows fewer symbols and other readers.

A symbol that the earlier reader does not know begins with the weights of the most similar ones that it knows, and
every reader with the mean of the earlier ones, unless they are the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from personare.core.errors import TrainingError
from personare.training.reader.settings import ReaderSettings
from personare.training.reader.task import SPEECH, TEXT
from personare.training.synthesizer.export import read_tensors

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class EarlierReader:
    """The graphs of a trained reader, and how many symbols (the frame included) and readers it knows.

    With ``same_readers`` the readers of the new training are those of the earlier one, and begin as they ended.
    ``similar`` gives for each symbol behind those that it knows the numbers of those that it begins with.
    """

    text: bytes
    speech: bytes
    symbols: int
    readers: int
    similar: Mapping[int, Sequence[int]]
    same_readers: bool = False


def begin_with(
    earlier: EarlierReader, settings: ReaderSettings, *, symbols: int, readers: int
) -> dict[str, NDArray[np.float32]]:
    """Give the tensors of both networks for ``symbols`` and ``readers``, by their names in the training."""
    if earlier.symbols > symbols:
        raise TrainingError(
            f"the earlier reader knows {earlier.symbols} symbols, more than the {symbols} of this training; begin with "
            "another one"
        )
    shapes = {
        TEXT: (earlier.text, settings.text_shape(symbols=earlier.symbols, readers=earlier.readers)),
        SPEECH: (earlier.speech, settings.speech_shape(readers=earlier.readers)),
    }
    tensors: dict[str, Floats] = {}
    for prefix, (graph, shape) in shapes.items():
        for name, values in read_tensors(graph, shape).items():
            is_new = name == "voice.weight" and not earlier.same_readers
            tensors[prefix + name] = _other_readers(values, readers) if is_new else values
    tensors[f"{TEXT}content.weight"] = _more_symbols(tensors[f"{TEXT}content.weight"], symbols, earlier.similar)
    return tensors


def _other_readers(weight: Floats, readers: int) -> Floats:
    return np.repeat(weight.mean(axis=0, keepdims=True), readers, axis=0)


def _more_symbols(weight: Floats, symbols: int, similar: Mapping[int, Sequence[int]]) -> Floats:
    rows = [*weight]
    for number in range(len(weight), symbols):
        if not similar.get(number):
            raise TrainingError(
                f"symbol {number} is new to the earlier reader, and nothing says which ones are similar"
            )
        rows.append(np.mean([weight[one] for one in similar[number]], axis=0))
    return np.stack(rows).astype(np.float32)
