"""DNSMOS computed once for overlapping pieces: the numbers of the published network, whatever length and order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from conftest import hum
from personare.core.audio import Audio
from personare.core.errors import WeightsError
from personare.core.onnx_format import FLOAT, OnnxNetwork, OnnxValue, encode_model, make_node
from personare.core.sessions import Session, open_session
from personare.core.weights import files_of
from personare.listeners import dnsmos, dnsmos_network
from personare.listeners.dnsmos import Dnsmos, Opinion
from personare.listeners.dnsmos_network import SplitNetwork, open_split, split

pytestmark = pytest.mark.models

RATE_HZ, PIECE_S = 16_000, 9.01


@pytest.fixture(scope="module")
def published() -> Path:
    """The network as its authors gave it out."""
    return files_of("dnsmos")["sig_bak_ovr.onnx"]


def changing(duration_s: float) -> Audio:
    """A sound that is never the same twice: words of other voices and levels, noise that comes and goes."""
    rng = np.random.default_rng(round(1000 * duration_s))
    words = [
        rng.uniform(0.1, 1) * hum(seed, duration_s=0.37, f0_hz=rng.uniform(90, 250)).samples
        for seed in range(int(duration_s / 0.37) + 1)
    ]
    samples = np.concatenate(words)[: round(duration_s * RATE_HZ)]
    noise = 0.02 * rng.standard_normal(len(samples)) * (np.sin(np.arange(len(samples)) / 9000) > 0)
    return Audio((samples + noise).astype(np.float32), RATE_HZ)


def by_the_published_network(audio: Audio, network: Path) -> Opinion:
    """Each piece by itself, as the authors' program does it."""
    samples = audio.samples
    while len(samples) < int(PIECE_S * RATE_HZ):
        samples = np.concatenate([samples, samples])
    session = open_session(network)
    pieces = max(1, int(len(samples) // RATE_HZ - PIECE_S) + 1)
    starts = [second * RATE_HZ for second in range(pieces)]
    raw = [session.run(None, {"input_1": samples[None, s : s + int(PIECE_S * RATE_HZ)]})[0][0] for s in starts]
    fits = (dnsmos._SPEECH, dnsmos._BACKGROUND, dnsmos._OVERALL)
    return Opinion(*(float(np.polyval(fit, column).mean()) for fit, column in zip(fits, np.array(raw).T, strict=True)))


@pytest.mark.parametrize("duration_s", [3.1, 5.0, 12.0, pytest.param(40.0, marks=pytest.mark.slow)])
def test_the_numbers_are_those_of_the_published_network(duration_s: float, published: Path) -> None:
    audio = changing(duration_s)
    plain, (ours,) = by_the_published_network(audio, published), Dnsmos()([audio])
    for name in ("speech", "background", "overall"):
        assert getattr(ours, name) == pytest.approx(getattr(plain, name), abs=1e-4)


@dataclass
class Recorder(Session):
    """Takes the place of the second part and keeps what comes in."""

    pieces: list[np.ndarray[Any, Any]] = field(default_factory=list)

    def run(self, outputs: Sequence[str] | None, inputs: Mapping[str, np.ndarray[Any, Any]]) -> list[Any]:
        self.pieces.append(inputs["cut"].copy())
        return [np.zeros((1, 3), np.float32)]

    def get_inputs(self) -> Sequence[Any]:
        return [OnnxValue("cut", ())]

    def get_outputs(self) -> Sequence[Any]:
        return []

    def get_modelmeta(self) -> Any:
        return None


def at_the_cut(network: SplitNetwork, samples: np.ndarray[Any, Any], pieces: int) -> np.ndarray[Any, Any]:
    recorder = Recorder()
    SplitNetwork(network.first, recorder)(samples, pieces=pieces)
    return np.concatenate(recorder.pieces)


def test_every_value_at_the_cut_is_that_of_the_piece_alone(published: Path) -> None:
    """Also at the ends of pieces, which the last number may not show: it is made of maxima over time."""
    network = open_split(published, threads=1)
    samples = changing(11.5).samples
    alone = [
        network.first.run(None, {"input_1": samples[None, second * RATE_HZ : second * RATE_HZ + 144_160]})[0]
        for second in range(3)
    ]
    together = at_the_cut(network, samples, 3)
    assert together.shape == (3, 32, 450, 80)
    assert np.abs(together - np.concatenate(alone)).max() < 1e-4
    ends = np.abs(together[0, :, 50:] - together[1, :, :-50]).max(axis=(0, 2))
    assert (ends[:2] > 1e-3).all(), "the first frames of a piece differ from the same frames within another"
    assert (ends[-2:] > 1e-3).all()


def test_blocks_give_what_one_pass_gives(published: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    network = open_split(published, threads=1)
    samples = changing(10.5).samples
    monkeypatch.setattr(dnsmos_network, "BLOCK", 10_000)
    once = at_the_cut(network, samples, 2)
    monkeypatch.setattr(dnsmos_network, "BLOCK", 70)
    assert np.abs(at_the_cut(network, samples, 2) - once).max() < 1e-5


def test_long_sound_is_computed_in_blocks_of_bounded_size() -> None:
    sizes = []

    class Sized(Recorder):
        def run(self, outputs: Sequence[str] | None, inputs: Mapping[str, np.ndarray[Any, Any]]) -> list[Any]:
            sizes.append(inputs["input_1"].shape[1])
            frames = inputs["input_1"].shape[1] // 160 - 1
            return [np.zeros((1, 32, frames // 2, 80), np.float32)]

    raw = SplitNetwork(Sized(), Recorder())(np.zeros(60 * RATE_HZ, np.float32), pieces=51)
    assert raw.shape == (51, 3)
    assert max(sizes) <= (dnsmos_network.BLOCK + 9) * 160


def test_neighbours_and_their_order_change_nothing() -> None:
    sounds = [changing(duration_s) for duration_s in (3.1, 4.7)]
    together = Dnsmos()(sounds)
    assert Dnsmos()(sounds[::-1]) == together[::-1]
    assert Dnsmos()(sounds[1:]) == together[1:]


def test_pieces_are_counted_as_the_authors_count_them() -> None:
    counted = {duration_s: dnsmos._repeated(np.zeros(int(duration_s * RATE_HZ), np.float32)) for duration_s in (1, 12)}
    assert {duration_s: (len(samples), pieces) for duration_s, (samples, pieces) in counted.items()} == {
        1: (16 * RATE_HZ, 7),  # doubled to 16 s
        12: (12 * RATE_HZ, 3),
    }
    for duration_s in (9.01, 9.5, 10.0, 10.9):  # only whole seconds are looked at
        assert dnsmos._repeated(np.zeros(int(duration_s * RATE_HZ), np.float32))[1] == 1


def test_another_network_is_refused_in_one_line() -> None:
    value = OnnxValue("x", (1,), FLOAT)
    other = OnnxNetwork([make_node("Relu", ["x"], ["y"])], [value], [OnnxValue("y", (1,), FLOAT)], [])
    with pytest.raises(WeightsError, match="not the network this version knows"):
        split(encode_model(other, opsets={"": 12}, ir_version=7), where="some.onnx")
