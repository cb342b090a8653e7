"""The light speaker embedder: the GE2E recurrent network (Resemblyzer's published weights), 256 numbers per recording.

A recording is embedded in windows of 1.6 s, 1.3 of them per second; each gives a vector of length 1, and their mean,
again of length 1, stands for the recording (wan2018generalized, as published with the weights).
Deviations: long silences are not cut out (the publisher uses a separate voice detector for that).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from personare.core import weights
from personare.encoders import graphs, mels
from personare.encoders.segments import samples_at

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from personare.core.audio import Audio

NAME = "ge2e"
VERSION = 1  # raise it whenever the vectors change
GRAPH_SHA256 = "3e0f4929230dd6c756fab6e6a18d5541ef98e23375e5211505fb831e5b97cb1c"  # of what the pinned weights give
N_MELS, N_DIMENSIONS, N_LAYERS = 40, 256, 3
WINDOW_FRAMES, STEP_FRAMES = 160, 77
MIN_COVERED = 0.75  # share of the last window that must lie within the recording
QUIETEST_DB = -30.0  # softer recordings are raised to this level
_BATCH_WINDOWS = 32


@dataclass(frozen=True)
class Ge2e(graphs.PublishedEmbedder):
    """GE2E of wan2018generalized with Resemblyzer's weights; vectors have length 1 and no negative numbers."""

    paper: ClassVar[str] = "Wan et al., Generalized end-to-end loss for speaker verification, 2018"

    MODEL: ClassVar[str] = NAME
    VERSION: ClassVar[int] = VERSION
    DIMENSIONS: ClassVar[int] = N_DIMENSIONS

    def __call__(self, batch: Sequence[Audio]) -> NDArray[np.float32]:
        """Embed a batch: float32 [len(batch), 256]; a vector does not depend on what else is in the batch."""
        session = graphs.session(NAME, VERSION, build, self.threads, weights.home(), GRAPH_SHA256)
        vectors = np.empty((len(batch), N_DIMENSIONS), np.float32)
        for index, audio in enumerate(batch):
            windows = _windows(_raised(samples_at(audio, rate_hz=mels.RATE_HZ)))
            parts = [
                session.run(None, {"mels": np.ascontiguousarray(windows[first : first + _BATCH_WINDOWS])})[0]
                for first in range(0, len(windows), _BATCH_WINDOWS)
            ]
            mean = np.concatenate(parts).mean(axis=0)
            vectors[index] = mean / max(float(np.linalg.norm(mean)), 1e-12)
        return vectors


def _raised(samples: NDArray[np.float32]) -> NDArray[np.float32]:
    """Raise a soft recording to -30 dB below full scale; silence stays silent."""
    rms = float(np.sqrt(np.mean(np.square(samples, dtype=np.float64))))
    gain = 10 ** (QUIETEST_DB / 20) / rms if rms > 0 else 1.0
    return samples * np.float32(gain) if gain > 1 else samples


def _starts(n_samples: int) -> NDArray[np.int64]:
    """First frames of the windows; a last one that is mostly beyond the end is left out, unless it is the only one."""
    n_frames = -(-(n_samples + 1) // mels.HOP)
    starts = np.arange(0, max(1, n_frames - WINDOW_FRAMES + STEP_FRAMES + 1), STEP_FRAMES)
    covered = (n_samples - starts[-1] * mels.HOP) / (WINDOW_FRAMES * mels.HOP)
    return starts[:-1] if covered < MIN_COVERED and len(starts) > 1 else starts


def _windows(samples: NDArray[np.float32]) -> NDArray[np.float32]:
    """Mel frames of every window: [windows, 160, 40]."""
    starts = _starts(len(samples))
    missing = (int(starts[-1]) + WINDOW_FRAMES) * mels.HOP - len(samples)
    frames = mels.power_mels(np.pad(samples, (0, max(0, missing))), n_mels=N_MELS)
    views = np.lib.stride_tricks.sliding_window_view(frames, WINDOW_FRAMES, axis=0)[starts]
    return views.transpose(0, 2, 1)


def build(tensors: Mapping[str, NDArray[Any]]) -> bytes:
    """Write the graph: mels [windows, 160, 40] -> unit vectors [windows, 256]."""
    graph = graphs.OnnxGraph()
    hidden = graph.add("Transpose", "mels", perm=[1, 0, 2])
    last = ""
    for layer in range(N_LAYERS):
        parts = [_onnx_gates(tensors[f"model_state.lstm.{p}_l{layer}"]) for p in ("weight_ih", "weight_hh")]
        bias = np.concatenate([_onnx_gates(tensors[f"model_state.lstm.bias_{p}_l{layer}"]) for p in ("ih", "hh")])
        inputs = [hidden, *(graph.constant(part[None]) for part in parts), graph.constant(bias[None])]
        outputs = [f"all_{layer}", f"last_{layer}"]
        every, last = graph.add_node("LSTM", inputs, outputs, hidden_size=N_DIMENSIONS)
        hidden = graph.add("Squeeze", every, graph.whole(1))
    linear = [graph.constant(tensors[f"model_state.linear.{part}"]) for part in ("weight", "bias")]
    raw = graph.add("Relu", graph.add("Gemm", graph.add("Squeeze", last, graph.whole(0)), *linear, transB=1))
    length = graph.add("ReduceL2", raw, graph.whole(1), keepdims=1)
    floor = graph.constant(np.array([1e-12], np.float32))
    unit = graph.add("Div", raw, graph.add("Max", length, floor))
    return graph.encode("mels", ["windows", WINDOW_FRAMES, N_MELS], unit, ["windows", N_DIMENSIONS])


def _onnx_gates(stacked: NDArray[Any]) -> NDArray[Any]:
    """Reorder the gates [4 h, ...] from torch (input, forget, cell, output) to ONNX (input, output, forget, cell)."""
    i, f, c, o = np.split(stacked, 4)
    return np.concatenate([i, o, f, c])
