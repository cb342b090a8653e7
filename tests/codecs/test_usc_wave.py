"""The paper's layout at use: the exported files give what the trained network gives, at 16 and at 24 kHz."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from conftest import hum

torch = pytest.importorskip("torch")

from personare.codecs.codec import CODECS, Codec  # noqa: E402
from personare.codecs.usc.wave_codec import WaveUsc  # noqa: E402
from personare.codecs.usc.wave_export import export_paper  # noqa: E402
from personare.core.audio import Audio  # noqa: E402
from personare.core.errors import AudioError, TrainingError, WeightsError  # noqa: E402
from personare.training import checkpoints  # noqa: E402
from personare.training.usc.paper_task import PaperCodec, PaperShape  # noqa: E402

SHAPE = PaperShape(channels=2, width=12, decoder_channels=32, codes=(64, 16, 16), dims=4, teacher=6)
AT_24 = dataclasses.replace(SHAPE, decoder_strides=(10, 8, 4, 3), rate_hz=24_000)


def exported(shape: PaperShape, folder: Path) -> tuple[Any, WaveUsc]:
    torch.manual_seed(0)
    network = PaperCodec(shape, epsilon=0.0).eval()
    tensors = {f"network.{name}": tensor for name, tensor in network.state_dict().items()}
    checkpoints.save(checkpoints.Checkpoint("m", 7, tensors, {}), folder / "last.pt")
    settings = {"shape": dataclasses.asdict(shape)}
    export_paper(folder / "last.pt", settings, folder / "codec", card={"what": "a test"})
    return network, WaveUsc(str(folder / "codec"))


def test_tokens_and_sound_are_those_of_the_network(tmp_path: Path) -> None:
    network, codec = exported(SHAPE, tmp_path)
    audio = hum(0, duration_s=1.6)
    tokens = codec.encode(audio)
    with torch.no_grad():
        found = network.coded(torch.from_numpy(audio.samples)[None], torch.tensor([3]))
        expected = torch.stack(found.indices, dim=-1)[0].numpy()
        assert (tokens.codes[:, 0] == expected[:, 0]).mean() > 0.9
        total = network.quantizer.looked_up(torch.from_numpy(tokens.codes.astype(np.int64))[None])
        made = network.decoded(total)[0].numpy()
    back = codec.decode(tokens, rng=np.random.default_rng(0)).samples
    made = made * min(1.0, 0.99 / np.abs(made).max())
    assert back == pytest.approx(made, abs=0.02 * float(np.abs(made).max()))


def test_long_speech_in_pieces_is_the_same_as_in_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _, codec = exported(SHAPE, tmp_path)
    audio = hum(1, duration_s=4.0)
    whole = codec.encode(audio)
    sound = codec.decode(whole, rng=np.random.default_rng(0)).samples
    monkeypatch.setattr("personare.codecs.usc.wave_codec._PIECE", 30)
    assert np.array_equal(codec.encode(audio).codes, whole.codes)
    assert codec.decode(whole, rng=np.random.default_rng(0)).samples == pytest.approx(sound, abs=1e-4)


@pytest.mark.parametrize(("rate_hz", "duration_s"), [(16_000, 0.1), (8_000, 0.5), (48_000, 0.3)])
def test_any_rate_and_length_and_24_khz_after_the_second_stage(tmp_path: Path, rate_hz: int, duration_s: float) -> None:
    _, codec = exported(AT_24, tmp_path)
    assert codec.rate_hz == 24_000
    audio = hum(2, rate_hz=rate_hz, duration_s=duration_s)
    back = codec.decode(codec.encode(audio).kept(1), rng=np.random.default_rng(0))
    assert (len(back.samples), back.rate_hz) == (len(audio.samples), rate_hz)


def test_it_is_in_the_table_and_refuses_what_it_must(tmp_path: Path) -> None:
    _, codec = exported(SHAPE, tmp_path)
    assert isinstance(CODECS.make("usc-paper", weights=codec.weights), Codec)
    with pytest.raises(WeightsError, match="no shipped weights"):
        WaveUsc().encode(hum(3))
    with pytest.raises(AudioError, match="empty or holds NaN"):
        codec.encode(Audio(np.zeros(0, np.float32), 16_000))
    with (tmp_path / "codec" / "encoder.onnx").open("ab") as stream:
        stream.write(b"x")
    with pytest.raises(WeightsError, match="do not fit their card"):
        WaveUsc(f"{tmp_path}/codec/.").encode(hum(3))
    checkpoints.save(checkpoints.Checkpoint("m", 7, {"network.a": torch.zeros(1)}, {}), tmp_path / "other.pt")
    with pytest.raises(TrainingError, match="not a training of the paper's layout"):
        export_paper(tmp_path / "other.pt", {"shape": {"codes": []}}, tmp_path / "x", card={})
