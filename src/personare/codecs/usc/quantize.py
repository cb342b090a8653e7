"""The small codec's quantizers at use, in numpy: which code is nearest, and what the decoder gets for codes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

_BLOCK = 512  # frames compared with the codebook at a time


@dataclass(frozen=True, eq=False)
class LevelTable:
    """One acoustic level: projection [dims, width], codes [codes, dims], and back [dims, width]."""

    enter: Floats
    codes: Floats
    leave: Floats


@dataclass(frozen=True, eq=False)
class Quantizers:
    """All levels.

    Parameters
    ----------
    codes, leave, leave_bias : of C0: unit vectors [codes, dims], back to the width [dims, width], [width].
    predict, predict_bias : what C0 says of the acoustic vector: [width, width], [width].
    acoustic : the levels C1, C2, ...
    """

    codes: Floats
    leave: Floats
    leave_bias: Floats
    predict: Floats
    predict_bias: Floats
    acoustic: tuple[LevelTable, ...]

    @property
    def code_counts(self) -> tuple[int, ...]:
        """Codes per level."""
        return (len(self.codes), *(len(level.codes) for level in self.acoustic))

    def nearest(self, semantic: Floats, acoustic: Floats) -> NDArray[np.int32]:
        """Code projected unit vectors [frames, dims] and acoustic vectors [frames, width]: [frames, levels]."""
        columns = [_most(semantic, self.codes, np.zeros(len(self.codes), np.float32))]
        residual = acoustic - (self._semantic(columns[0]) @ self.predict + self.predict_bias)
        for level in self.acoustic:
            chosen = _most(residual @ level.enter.T, level.codes, 0.5 * np.square(level.codes).sum(axis=1))
            residual = residual - level.codes[chosen] @ level.leave
            columns.append(chosen)
        return np.stack(columns, axis=1).astype(np.int32)

    def _semantic(self, chosen: NDArray[np.integer]) -> Floats:
        return np.asarray(self.codes[chosen] @ self.leave + self.leave_bias, np.float32)

    def looked_up(self, codes: NDArray[np.int32]) -> Floats:
        """What the decoder gets for codes [frames, levels given]: [frames, width]."""
        total = self._semantic(codes[:, 0])
        for k in range(1, codes.shape[1]):
            level = self.acoustic[k - 1]
            total = total + level.codes[codes[:, k]] @ level.leave
        return total


def _most(points: Floats, codes: Floats, handicap: Floats) -> NDArray[np.int64]:
    """For each point the code with the largest product minus its handicap."""
    chosen = np.empty(len(points), np.int64)
    for first in range(0, len(points), _BLOCK):
        chosen[first : first + _BLOCK] = (points[first : first + _BLOCK] @ codes.T - handicap).argmax(axis=1)
    return chosen
