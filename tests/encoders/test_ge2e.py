"""The light embedder: its windows and its recurrent network are the published ones."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from conftest import hum
from personare.core import weights
from personare.core.audio import Audio
from personare.core.checkpoint import load_tensors
from personare.encoders import ge2e, graphs


@pytest.mark.parametrize(
    ("n_samples", "starts"),
    [
        (1, [0]),
        (25_600, [0]),  # the second window would be 52 % covered
        (31_519, [0]),  # 1 sample below 75 % of the second window
        (31_520, [0, 77]),
        (160_000, [77 * i for i in range(12)]),
    ],
)
def test_windows_as_published(n_samples: int, starts: list[int]) -> None:
    assert ge2e._starts(n_samples).tolist() == starts


def test_soft_speech_is_raised_and_loud_speech_kept() -> None:
    loud, soft = hum(1).samples, hum(1).samples * np.float32(1e-3)
    assert ge2e._raised(loud) is loud
    raised = ge2e._raised(soft)
    assert 20 * np.log10(np.sqrt(np.mean(raised**2))) == pytest.approx(-30, abs=1e-3)
    np.testing.assert_array_equal(ge2e._raised(np.zeros(5, np.float32)), 0)


@pytest.mark.models
def test_loudness_of_soft_speech_does_not_matter() -> None:
    sound = hum(2, duration_s=2.0)
    soft = [Audio(sound.samples * np.float32(gain), 16000) for gain in (1e-2, 1e-3)]
    a, b = ge2e.Ge2e()(soft)
    np.testing.assert_allclose(a, b, atol=1e-4)
    assert np.linalg.norm(a) == pytest.approx(1, abs=1e-5)


@pytest.mark.models
def test_graph_equals_the_published_recurrence_written_plainly() -> None:
    (checkpoint,) = weights.files_of("ge2e").values()
    tensors = {n.removeprefix("model_state."): v for n, v in load_tensors(checkpoint).items() if "model_state" in n}
    windows = np.ascontiguousarray(ge2e._windows(hum(3, duration_s=2.5).samples))
    assert windows.shape == (2, 160, 40)
    session = graphs.session("ge2e", ge2e.VERSION, ge2e.build, 1, weights.home(), ge2e.GRAPH_SHA256)
    found = session.run(None, {"mels": windows})[0]
    np.testing.assert_allclose(found, [_plain(tensors, window) for window in windows], atol=1e-5)


def _sigmoid(x: NDArray[np.float64]) -> NDArray[np.float64]:
    result: NDArray[np.float64] = 1 / (1 + np.exp(-x))
    return result


def _plain(p: dict[str, NDArray[np.float32]], frames: NDArray[np.float32]) -> NDArray[np.float64]:
    sequence = frames.astype(np.float64)
    for layer in range(3):
        w, r = p[f"lstm.weight_ih_l{layer}"], p[f"lstm.weight_hh_l{layer}"]
        bias = p[f"lstm.bias_ih_l{layer}"] + p[f"lstm.bias_hh_l{layer}"]
        hidden, cell, outputs = np.zeros(256), np.zeros(256), []
        for frame in sequence:
            i, f, g, o = np.split(w @ frame + r @ hidden + bias, 4)
            cell = _sigmoid(f) * cell + _sigmoid(i) * np.tanh(g)
            hidden = _sigmoid(o) * np.tanh(cell)
            outputs.append(hidden)
        sequence = np.stack(outputs)
    vector = np.maximum(p["linear.weight"] @ sequence[-1] + p["linear.bias"], 0)
    result: NDArray[np.float64] = vector / np.linalg.norm(vector)
    return result
