"""The task of the reader's training: content and durations of read sentences, from their symbols and their reader.

While it learns, the second network is given the true durations; the first learns them beside it, as logarithms.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from personare.core.seeding import Key, rng_for
from personare.encoders.grid import WIDTH
from personare.encoders.reading import PLACES, READER_SHARE, SHORTEST_UNITS, one_hot, within_symbols
from personare.training.reader.settings import ReaderSettings
from personare.training.synthesizer import network
from personare.training.torch_extra import torch_for

if TYPE_CHECKING:
    from numpy.typing import NDArray

TEXT, SPEECH = "text.", "speech."  # before the names of the two networks' tensors
_VALIDATED = 20  # sentences at a time


@dataclass(frozen=True, eq=False)
class ReadSentence:
    """A sentence that was read.

    Parameters
    ----------
    numbers, durations : of its symbols; how long each lasts, in units.
    content : [encoder frames, 288].
    reader : who read it.
    """

    numbers: NDArray[np.int16]
    durations: NDArray[np.int16]
    content: NDArray[np.float16]
    reader: int


@dataclass(frozen=True, eq=False)
class ReaderTask:
    """The reader as the training loop sees it; ``rank`` numbers the processes that train together."""

    settings: ReaderSettings
    readings: Sequence[ReadSentence]
    held_out: Sequence[ReadSentence]
    tensors: dict[str, Any]
    symbols: int
    readers: int
    key: Key
    rank: int = 0

    def batch(self, step: int) -> dict[str, Any]:
        """Draw sentences of about one length."""
        rng = rng_for(self.key, "batch", str(self.rank), str(step))
        order = np.argsort([len(reading.content) for reading in self.readings], kind="stable")
        first = int(rng.integers(0, max(1, len(order) - self.settings.alike + 1)))
        some = order[first : first + self.settings.alike]
        drawn = rng.choice(some, min(self.settings.batch, len(some)), replace=False)
        return self.arrays([self.readings[int(index)] for index in drawn])

    def arrays(self, readings: Sequence[ReadSentence]) -> dict[str, Any]:
        """Put sentences side by side, the shorter ones filled up."""
        torch = torch_for("training the reader")
        count, frames = (max(len(getattr(one, name)) for one in readings) for name in ("numbers", "content"))
        rows = [self._row(one, count, frames) for one in readings]
        return {name: torch.from_numpy(np.stack([row[name] for row in rows])) for name in rows[0]}

    def _row(self, reading: ReadSentence, count: int, frames: int) -> dict[str, NDArray[Any]]:
        read, spoken = len(reading.numbers), len(reading.content)
        durations = reading.durations.astype(np.float64)
        symbols, places = within_symbols(durations, spoken)
        row: dict[str, NDArray[Any]] = {
            "symbols": np.zeros((count, self.symbols), np.float32),
            "durations": np.zeros(count, np.float32),
            "sounds": np.zeros(count, np.float32),
            "symbol": np.zeros(frames, np.int64),
            "places": np.zeros((frames, PLACES), np.float32),
            "content": np.zeros((frames, WIDTH), np.float32),
            "there": np.zeros(frames, np.float32),
            "reader": READER_SHARE * one_hot([reading.reader], self.readers)[0],
        }
        row["symbols"][:read] = one_hot(reading.numbers.tolist(), self.symbols)
        row["durations"][:read] = np.log(np.maximum(durations, SHORTEST_UNITS))
        row["sounds"][:read] = 1
        row["symbol"][:spoken], row["places"][:spoken] = symbols, places
        row["content"][:spoken], row["there"][:spoken] = reading.content, 1
        return row

    def predict(self, batch: Mapping[str, Any]) -> tuple[Any, Any]:
        """Give the log durations of symbols [batch, symbols] and content from the true ones [batch, frames, 288]."""
        torch = torch_for("training the reader")
        settings = self.settings
        given = network.band_levels(
            part(self.tensors, TEXT),
            batch["symbols"],
            None,
            batch["reader"],
            blocks=settings.text_blocks,
            there=batch["sounds"],
        )
        symbol = batch["symbol"].unsqueeze(2).expand(-1, -1, settings.states)
        states = torch.cat([torch.gather(given[..., 1:], 1, symbol), batch["places"]], dim=2)
        content = network.band_levels(
            part(self.tensors, SPEECH),
            states,
            None,
            batch["reader"],
            blocks=settings.speech_blocks,
            there=batch["there"],
        )
        return given[..., 0], content

    def loss(self, batch: Mapping[str, Any]) -> Any:
        """The squared and absolute distances of content, and the squared one of log durations."""
        return self.distance(*self.predict(batch), batch)

    def distance(self, durations: Any, content: Any, batch: Mapping[str, Any]) -> Any:
        """The loss of predicted log durations and content."""
        sounds, there = batch["sounds"], batch["there"]
        lasts = ((durations - batch["durations"]).square() * sounds).sum() / sounds.sum()
        away = content - batch["content"]
        apart = ((away.square() + away.abs()).mean(dim=2) * there).sum() / there.sum()
        return apart + self.settings.duration_weight * lasts

    def validate(self) -> float:
        """The mean squared distance of content on held-out sentences: 1 would be the mean of all."""
        return self.held_out_measures()["content_distance"]

    def held_out_measures(self) -> dict[str, float]:
        """How near held-out sentences come: distance of content, and the usual error of a duration (as a factor)."""
        torch = torch_for("training the reader")
        apart, frames, lasts, sounds = 0.0, 0.0, 0.0, 0.0
        with torch.no_grad():
            for first in range(0, len(self.held_out), _VALIDATED):
                batch = self.arrays(self.held_out[first : first + _VALIDATED])
                durations, content = self.predict(batch)
                away = (content - batch["content"]).square().mean(dim=2) * batch["there"]
                late = (durations - batch["durations"]).square() * batch["sounds"]
                apart, frames = apart + float(away.sum()), frames + float(batch["there"].sum())
                lasts, sounds = lasts + float(late.sum()), sounds + float(batch["sounds"].sum())
        return {"content_distance": apart / frames, "duration_factor": float(np.exp(np.sqrt(lasts / sounds)))}


def part(tensors: Mapping[str, Any], prefix: str) -> dict[str, Any]:
    """The tensors of one of the two networks, by their names in it."""
    return {name.removeprefix(prefix): tensor for name, tensor in tensors.items() if name.startswith(prefix)}


def new_task(
    settings: ReaderSettings,
    readings: Sequence[ReadSentence],
    held_out: Sequence[ReadSentence],
    *,
    symbols: int,
    readers: int,
    rank: int = 0,
) -> ReaderTask:
    """Make a task with new networks."""
    key = Key.from_seed(f"reader {settings.seed}")
    shapes = {
        TEXT: settings.text_shape(symbols=symbols, readers=readers),
        SPEECH: settings.speech_shape(readers=readers),
    }
    tensors = {
        prefix + name: tensor
        for prefix, shape in shapes.items()
        for name, tensor in network.new_tensors(shape, key=key.child(prefix), start_log=0.0).items()
    }
    return ReaderTask(settings, readings, held_out, tensors, symbols, readers, key, rank)
