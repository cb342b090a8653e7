"""The network of DNSMOS cut in two, so that what overlapping pieces of one sound have in common is computed once.

The published network takes a piece of 901 steps of 10 ms and gives three numbers; pieces are moved on by a second, so
each shares 800 of its 900 frames with the next. Nearly all the work is in its first four convolutions, which see four
frames to each side:

    samples -> log power of 900 frames -> 4 convolutions 3x3 -> maxima of 2x2 |cut| -> the rest -> 3 numbers

The part before the cut runs once over the whole sound, in blocks that bring four frames of each neighbour, so memory
does not grow with the sound. A second is an even number of frames: the maxima of all pieces are taken of the same
pairs. The four frames at each end of a piece see zeros beyond it, not the sound that goes on there; they alone are
computed again for each piece. The numbers are those of the published network up to the rounding of its sums.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from personare.core.errors import WeightsError
from personare.core.onnx_format import (
    OnnxNetwork,
    OnnxNode,
    OnnxTensor,
    OnnxValue,
    decode_model,
    encode_model,
    make_tensor,
)
from personare.core.sessions import Session, open_session

if TYPE_CHECKING:
    from numpy.typing import NDArray

STEP = 160  # samples from frame to frame; a frame is two steps long
PIECE = 900  # frames
APART = 100  # frames from piece to piece: one second
PIECE_SAMPLES = (PIECE + 1) * STEP
BLOCK = 400  # frames of the first part at once
SEEN = 4  # frames to each side that a value at the cut depends on: one by each convolution
_PAIR = 2  # frames that become one at the cut
_OPSET, _IR_VERSION = 12, 7  # of the published file
# the published graph cuts its 144 160 samples into steps by these constants; here any number of steps may come
_ANY_LENGTH = {
    "input_1:01_cropping_end": np.array([np.iinfo(np.int32).max, -STEP], np.int64),
    "shape_tensor": np.array([1, -1, STEP], np.int64),
    "shape_tensor1": np.array([1, -1, STEP], np.int64),
}


@dataclass(frozen=True, eq=False)
class SplitNetwork:
    """Both parts, opened: the samples of a sound in, three raw numbers for each of its pieces out."""

    first: Session
    rest: Session

    def __call__(self, samples: NDArray[np.float32], *, pieces: int) -> NDArray[np.float32]:
        """Judge the first pieces, a second apart, of a sound that is long enough for them; gives (pieces, 3)."""
        frames = APART * (pieces - 1) + PIECE
        blocks = self._blocks(samples, frames)
        held = next(blocks)
        raw = []
        for index in range(pieces):
            while held.shape[2] < PIECE // _PAIR:
                held = np.concatenate([held, next(blocks)], axis=2)
            piece = held[:, :, : PIECE // _PAIR].copy()
            start, end = index * APART, index * APART + PIECE
            if start > 0:
                piece[:, :, : SEEN // _PAIR] = self._cut(samples, start, start + 2 * SEEN)[:, :, : SEEN // _PAIR]
            if end < frames:
                piece[:, :, -SEEN // _PAIR :] = self._cut(samples, end - 2 * SEEN, end)[:, :, -SEEN // _PAIR :]
            (numbers,) = self.rest.run(None, {self.rest.get_inputs()[0].name: piece})
            raw.append(numbers[0])
            held = held[:, :, APART // _PAIR :]
        return np.array(raw)

    def _blocks(self, samples: NDArray[np.float32], frames: int) -> Iterator[NDArray[np.float32]]:
        """Give the values at the cut for the whole sound, block by block, each (1, channels, pairs, bins)."""
        for start in range(0, frames, BLOCK):
            end = min(frames, start + BLOCK)
            low = max(0, start - SEEN)
            skipped = (start - low) // _PAIR
            yield self._cut(samples, low, min(frames, end + SEEN))[:, :, skipped : skipped + (end - start) // _PAIR]

    def _cut(self, samples: NDArray[np.float32], start: int, end: int) -> NDArray[np.float32]:
        """Compute the values at the cut of frames ``start`` to ``end``, with zeros beyond."""
        (values,) = self.first.run(None, {"input_1": samples[None, start * STEP : (end + 1) * STEP]})
        at_cut: NDArray[np.float32] = values
        return at_cut


def open_split(network: Path, *, threads: int) -> SplitNetwork:
    """Open the published network in two parts."""
    first, rest = split(network.read_bytes(), where=str(network))
    return SplitNetwork(
        open_session(first, threads=threads, where=str(network)),
        open_session(rest, threads=threads, where=str(network)),
    )


def split(encoded: bytes, *, where: str) -> tuple[bytes, bytes]:
    """Cut the published network behind its first maximum; gives the model files of both parts."""
    whole = decode_model(encoded)
    last = next((index for index, node in enumerate(whole.nodes) if node.op == "MaxPool"), None)
    if last is None or not _ANY_LENGTH.keys() <= {tensor.name for tensor in whole.constants}:
        raise WeightsError(f"{where}: not the network this version knows; run: personare models fetch dnsmos")
    (cut,) = whole.nodes[last].outputs
    constants = [
        make_tensor(tensor.name, _ANY_LENGTH[tensor.name]) if tensor.name in _ANY_LENGTH else tensor
        for tensor in whole.constants
    ]
    samples = OnnxValue(whole.inputs[0].name, (1, "samples"))
    first = _part(whole.nodes[: last + 1], samples, OnnxValue(cut, (1, "channels", "pairs", "bins")), constants)
    at_cut = OnnxValue(cut, (1, "channels", PIECE // _PAIR, "bins"))
    return first, _part(whole.nodes[last + 1 :], at_cut, whole.outputs[0], constants)


def _part(nodes: Sequence[OnnxNode], source: OnnxValue, result: OnnxValue, constants: Sequence[OnnxTensor]) -> bytes:
    used = {name for node in nodes for name in node.inputs}
    network = OnnxNetwork(nodes, [source], [result], [tensor for tensor in constants if tensor.name in used])
    return encode_model(network, opsets={"": _OPSET}, ir_version=_IR_VERSION)
