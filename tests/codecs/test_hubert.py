"""HuBERT as a teacher: tensors as published, one frame every 20 ms, the layer that was asked for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from conftest import hum

torch = pytest.importorskip("torch")

from personare.codecs.published.hubert import Hubert, HubertNetwork  # noqa: E402
from personare.codecs.usc.prepare import Preparation  # noqa: E402
from personare.core.audio import write  # noqa: E402
from personare.core.errors import ConfigError, WeightsError  # noqa: E402


def tiny(layers: int) -> Any:
    torch.manual_seed(0)
    return HubertNetwork(front=8, width=16, inner=24, layers=layers, positions=8, groups=4).eval()


@pytest.fixture
def weights(tmp_path: Path) -> str:
    """A checkpoint with the published names, the position convolution stored by direction and length."""
    state = {f"hubert.{name}": tensor for name, tensor in tiny(3).state_dict().items()}
    place = state.pop("hubert.encoder.pos_conv_embed.conv.weight")
    state["hubert.encoder.pos_conv_embed.conv.weight_g"] = place.norm(dim=(0, 1), keepdim=True)
    state["hubert.encoder.pos_conv_embed.conv.weight_v"] = 2 * place
    state["hubert.masked_spec_embed"] = torch.zeros(16)
    torch.save(state, tmp_path / "pytorch_model.bin")
    return str(tmp_path / "pytorch_model.bin")


def test_frames_are_those_of_the_layer_that_was_asked_for(weights: str) -> None:
    samples = hum(0).samples
    for layer in (1, 2, 3):
        network = tiny(3)
        del network.encoder["layers"][layer:]
        with torch.no_grad():
            expected = network(torch.from_numpy(samples)).numpy()
        assert Hubert(weights, layer=layer, normalize=False)(samples) == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize(("n_samples", "frames"), [(16_000, 49), (400, 1), (720, 2), (10, 1)])
def test_there_is_a_frame_every_20_ms(weights: str, n_samples: int, frames: int) -> None:
    sound = np.random.default_rng(0).normal(0, 0.1, n_samples).astype(np.float32)
    assert Hubert(weights, layer=2)(sound).shape == (frames, 16)


def test_the_level_of_a_recording_does_not_matter_when_it_is_normalised(weights: str) -> None:
    samples = hum(1).samples
    loud, soft = (Hubert(weights, layer=2)(samples * np.float32(gain)) for gain in (1.0, 0.1))
    assert loud == pytest.approx(soft, abs=1e-3)


def test_the_base_size_has_the_published_names_and_shapes() -> None:
    with torch.device("meta"):
        network = HubertNetwork(front=512, width=768, inner=3072, layers=12, positions=128, groups=16)
    state = network.state_dict()
    shapes = {
        "feature_extractor.conv_layers.0.conv.weight": (512, 1, 10),
        "feature_extractor.conv_layers.0.layer_norm.weight": (512,),
        "feature_extractor.conv_layers.6.conv.weight": (512, 512, 2),
        "feature_projection.projection.weight": (768, 512),
        "encoder.pos_conv_embed.conv.weight": (768, 48, 128),
        "encoder.layers.11.attention.q_proj.weight": (768, 768),
        "encoder.layers.8.feed_forward.intermediate_dense.weight": (3072, 768),
        "encoder.layers.8.final_layer_norm.bias": (768,),
    }
    assert {name: tuple(state[name].shape) for name in shapes} == shapes
    # 94.4 million as published, less the mask vector
    assert sum(tensor.numel() for tensor in state.values()) / 1e6 == pytest.approx(94.37, abs=0.05)


def test_missing_weights_and_layers_are_one_line(weights: str, tmp_path: Path) -> None:
    with pytest.raises(WeightsError, match="the teacher HuBERT needs its published weights"):
        Hubert()(hum(2).samples)
    with pytest.raises(ConfigError, match="has 3 layers; layer 9"):
        Hubert(weights)(hum(2).samples)
    torch.save({"a": torch.zeros(1)}, tmp_path / "other.bin")
    with pytest.raises(WeightsError, match="not HuBERT's weights"):
        Hubert(str(tmp_path / "other.bin"), layer=1)(hum(2).samples)


@pytest.mark.models
def test_prepared_speech_carries_the_teacher_and_a_target_at_24_khz(weights: str, tmp_path: Path) -> None:
    audio = tmp_path / "a.wav"
    write(audio, hum(3, duration_s=1.0, rate_hz=24_000))
    place = Preparation(tmp_path / "p", teacher=Hubert(weights, layer=2), target_rate_hz=24_000)(audio)
    with np.load(place) as found:
        assert found["teacher"].shape == (25, 16)
        assert found["target"].shape == (25, 960)
        assert found["audio"].shape == (25, 640)
    assert Preparation(tmp_path / "p").place_of(audio) != place
