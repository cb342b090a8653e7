"""Content that is read: symbols of sounds become content, as a reader who says them would have it.

One network gives each symbol a duration and a state, in its context; each frame of content then belongs to a symbol and
lies somewhere within it, and a second network makes content from both. Of a recording nothing comes in but its words.
Durations are counted in units of 25 ms, as the readers' own network counts them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from personare.core.errors import ConfigError
from personare.core.sessions import Session
from personare.encoders.grid import CONTENT_CENTRE, CONTENT_STEP

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

UNIT = 400  # samples of 16 kHz in a unit of duration
PLACES = 4  # numbers that say where in its symbol a frame lies
SHORTEST_UNITS = 0.3
READER_SHARE = 0.25  # how a reader is told to the networks: this in the reader's own column, 0 in the others
_EDGE_UNITS = 2.0  # silence that is left before the first and after the last sound


def frame_total(durations: NDArray[np.float64]) -> int:
    """How many frames of content lie in symbols of these durations (units)."""
    return max(1, int((float(durations.sum()) * UNIT - CONTENT_CENTRE) // CONTENT_STEP) + 1)


def within_symbols(durations: NDArray[np.float64], count: int) -> tuple[NDArray[np.intp], Floats]:
    """Give the symbol of each of ``count`` frames, and where in it the frame lies: [count], [count, PLACES]."""
    ends = np.cumsum(durations) * UNIT
    centres = np.minimum(CONTENT_CENTRE + CONTENT_STEP * np.arange(count), ends[-1] - 1)
    symbols = np.minimum(np.searchsorted(ends, centres, side="right"), len(durations) - 1)
    lasts = durations[symbols]
    since = centres - (ends[symbols] - lasts * UNIT)
    share = since / np.maximum(lasts * UNIT, 1)
    columns = (share, np.log(np.maximum(lasts, SHORTEST_UNITS)), np.sin(np.pi * share), since / (4 * UNIT))
    return symbols, np.stack(columns, axis=1).astype(np.float32)


def one_hot(numbers: Sequence[int], count: int) -> Floats:
    """Rows of zeros with a 1 in the column of each number: [numbers, count]."""
    rows = np.zeros((len(numbers), count), np.float32)
    rows[np.arange(len(numbers)), numbers] = 1
    return rows


@dataclass(frozen=True, eq=False)
class ContentReader:
    """The two networks of a trained reader; ``symbols`` and ``readers`` it knows.

    Parameters
    ----------
    text : symbols [1, n, symbols] and a reader [1, readers] -> log duration and state of each.
    speech : states and places [1, frames, states + PLACES] and a reader -> content [1, frames, 288].
    """

    text: Session
    speech: Session
    symbols: int
    readers: int

    def __call__(self, numbers: Sequence[int], *, reader: int, tempo: float = 1.0) -> Floats:
        """Read symbols as one of the readers does: content [encoder frames, 288], hardly any silence at its ends.

        ``tempo`` says how many times as long everything lasts.
        """
        given = self._states(numbers, reader)
        durations = tempo * np.maximum(np.exp(given[:, 0].astype(np.float64)), SHORTEST_UNITS)
        content = self._content(given, durations, reader, frame_total(durations))
        return content[_spoken(durations, len(content))]

    def in_time(self, numbers: Sequence[int], durations: NDArray[np.float64], *, reader: int, count: int) -> Floats:
        """Read symbols whose durations are known, the silence at both ends too: content [count, 288]."""
        return self._content(self._states(numbers, reader), durations, reader, count)

    def _voice(self, reader: int) -> Floats:
        return (READER_SHARE * one_hot([reader], self.readers)).astype(np.float32)

    def _states(self, numbers: Sequence[int], reader: int) -> Floats:
        """The log duration and the state of every symbol: [numbers, 1 + states]."""
        if max(numbers) >= self.symbols:
            raise ConfigError(
                f"the reader knows the symbols 0 to {self.symbols - 1}, not {max(numbers)}; use another one"
            )
        inputs = {"content": one_hot(numbers, self.symbols)[None], "voice": self._voice(reader)}
        given: Floats = self.text.run(None, inputs)[0][0]
        return given

    def _content(self, given: Floats, durations: NDArray[np.float64], reader: int, count: int) -> Floats:
        symbols, places = within_symbols(durations, count)
        states = np.concatenate([given[symbols, 1:], places], axis=1).astype(np.float32)
        content: Floats = self.speech.run(None, {"content": states[None], "voice": self._voice(reader)})[0][0]
        return content


def _spoken(durations: NDArray[np.float64], count: int) -> slice:
    """The frames from the first sound to the last, with a little of the silence around them."""
    before, after = (max(float(durations[end]) - _EDGE_UNITS, 0.0) * UNIT / CONTENT_STEP for end in (0, -1))
    first, last = min(round(before), count - 1), count - round(after)
    return slice(first, max(last, first + 1))
