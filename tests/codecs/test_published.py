"""Other people's codecs: tensors named and shaped as published, checked with small random weights of that layout."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from conftest import hum

torch = pytest.importorskip("torch")

from personare.codecs.codec import CODECS, Codec  # noqa: E402
from personare.codecs.published import checkpoint  # noqa: E402
from personare.codecs.published.codecs import Dac, EnCodec, FaCodec, SpeechTokenizer  # noqa: E402
from personare.codecs.published.facodec import FacodecDecoder, FacodecEncoder  # noqa: E402
from personare.codecs.published.residual_wave import DacCodec, SnakeWithoutAliases, half_band_filter  # noqa: E402
from personare.codecs.published.seanet import SeanetCodec  # noqa: E402
from personare.codecs.tokens import TokenError, bit_rate, decode_file, encode_file  # noqa: E402
from personare.core.errors import ConfigError, WeightsError  # noqa: E402


def as_published(network: Any, extra: dict[str, Any] | None = None) -> dict[str, Any]:
    """Store weights as direction and length, as the published files do, with tensors that only training needs."""
    state: dict[str, Any] = {}
    for name, tensor in network.state_dict().items():
        if name.endswith(".weight") and tensor.ndim == 3:
            stem = name.removesuffix("weight")
            state[f"{stem}weight_g"] = tensor.norm(dim=(1, 2), keepdim=True)
            state[f"{stem}weight_v"] = 3.0 * tensor
        else:
            state[name] = tensor.clone()
    return state | (extra or {})


def seanet(*, causal: bool) -> Any:
    torch.manual_seed(0)
    network = SeanetCodec(
        width=4, ratios=(8, 5, 4, 2), latent=6, levels=8, codes=32, causal=causal, both_ways=not causal
    )
    for book in network.quantizer.books:
        book.normal_(0, 0.1)
    return network.eval()


@pytest.fixture
def files(tmp_path: Path) -> dict[str, str]:
    """Small random weights of each codec in the published form."""
    torch.manual_seed(0)
    encodec, tokenizer = seanet(causal=True), seanet(causal=False)
    training_only = {"quantizer.vq.layers.0._codebook.inited": torch.ones(1)}
    torch.save(as_published(encodec, training_only), tmp_path / "encodec.th")
    torch.save(as_published(tokenizer, {"transform.weight": torch.zeros(3, 6)}), tmp_path / "tokenizer.pt")
    dac = DacCodec(width=4, strides=(2, 4, 8, 8), latent=12, decoder_width=32, levels=9, codes=32, dims=4)
    kept = {"state_dict": as_published(dac), "metadata": {"kwargs": {"sample_rate": 44_100}}}
    torch.save(kept, tmp_path / "dac.pth")
    (tmp_path / "facodec").mkdir()
    first = FacodecEncoder(4, (2, 4, 5, 5), 8)
    second = FacodecDecoder(
        latent=8, width=32, strides=(5, 5, 4, 2), levels=(1, 2, 3), codes=32, dims=4, inner=16, layers=2
    )
    torch.save(as_published(first), tmp_path / "facodec" / "ns3_facodec_encoder.bin")
    unused = {"f0_predictor.heads.0.weight": torch.zeros(1, 8)}
    torch.save(as_published(second, unused), tmp_path / "facodec" / "ns3_facodec_decoder.bin")
    np.save(tmp_path / "timbre.npy", np.zeros(8, np.float32))
    names = {"encodec": "encodec.th", "speechtokenizer": "tokenizer.pt", "dac": "dac.pth", "facodec": "facodec"}
    return {name: str(tmp_path / file) for name, file in names.items()} | {"timbre": str(tmp_path / "timbre.npy")}


def codec_of(name: str, files: dict[str, str]) -> Any:
    more = {"timbre": files["timbre"]} if name == "facodec" else {}
    return CODECS.make(name, weights=files[name], **more)


@pytest.mark.parametrize("name", ["encodec", "dac", "speechtokenizer", "facodec"])
@pytest.mark.parametrize(("rate_hz", "duration_s"), [(16_000, 0.63), (44_100, 0.2), (8_000, 0.011)])
def test_every_codec_codes_any_rate_and_length_and_comes_back_as_long(
    files: dict[str, str], name: str, rate_hz: int, duration_s: float
) -> None:
    codec, audio = codec_of(name, files), hum(1, rate_hz=rate_hz, duration_s=duration_s)
    tokens = codec.encode(audio)
    assert len(tokens.codes) == math.ceil(len(audio.samples) / rate_hz * codec.frame_rate_hz - 1e-6)
    assert tokens.levels == codec.levels
    for levels in (1, codec.levels):
        made = codec.decode(decode_file(encode_file(tokens.kept(levels)), where="x"), rng=np.random.default_rng(0))
        assert (len(made.samples), made.rate_hz) == (len(audio.samples), rate_hz)
        assert np.isfinite(made.samples).all()


@pytest.mark.parametrize(
    ("name", "frame_rate_hz", "levels", "kbit"),
    [("encodec", 75, 8, 6.0), ("dac", 44_100 / 512, 9, 7.75), ("speechtokenizer", 50, 8, 4.0), ("facodec", 80, 6, 4.8)],
)
def test_rates_are_those_of_table_1_for_books_of_1024(
    files: dict[str, str], name: str, frame_rate_hz: float, levels: int, kbit: float
) -> None:
    codec = codec_of(name, files)
    assert isinstance(codec, Codec)
    assert codec.frame_rate_hz == pytest.approx(frame_rate_hz)
    assert len(codec.code_counts) == levels
    assert bit_rate([1024] * levels, codec.frame_rate_hz) / 1000 == pytest.approx(kbit, abs=0.01)


def test_stored_directions_and_lengths_are_multiplied_out(files: dict[str, str]) -> None:
    network = seanet(causal=True)
    state, _ = checkpoint.read_state(files["encodec"], codec="EnCodec", published="x")
    for name, tensor in network.state_dict().items():
        assert torch.allclose(state[name], tensor, atol=1e-6), name
    samples = torch.from_numpy(hum(2).samples)
    with torch.no_grad():
        expected = network.encode(samples)
        found = EnCodec(files["encodec"])._network().encode(samples)
    assert float((expected == found).float().mean()) > 0.99


def test_a_causal_codec_does_not_look_ahead_and_the_other_does(files: dict[str, str]) -> None:
    samples = torch.from_numpy(hum(3).samples)
    later = samples.clone()
    later[12_000:] = 0.0
    with torch.no_grad():
        encodec, tokenizer = (codec_of(name, files)._network().encoder for name in ("encodec", "speechtokenizer"))
        ahead = [
            (net(samples[None, None]) - net(later[None, None])).abs()[0, :, :30].max() for net in (encodec, tokenizer)
        ]
    assert float(ahead[0]) == 0
    assert float(ahead[1]) > 0


def test_residual_levels_bring_the_sum_nearer_to_what_was_coded() -> None:
    network = seanet(causal=True)
    for level, book in enumerate(network.quantizer.books):
        book.mul_(0.6**level)
    z = 0.1 * torch.randn(200, 6)
    codes = network.quantizer.encode(z)
    apart = [float((z - network.quantizer.decode(codes[:, :n])).square().sum()) for n in (1, 3, 8)]
    assert apart[0] > apart[1] > apart[2]


def test_facodec_gives_its_timbre_with_all_levels_only(files: dict[str, str]) -> None:
    codec = codec_of("facodec", files)
    tokens = codec.encode(hum(4))
    assert tokens.vector is not None and tokens.vector.shape == (8,)
    assert tokens.kept(3).vector is None
    with pytest.raises(ConfigError, match="mean timbre"):
        replace(codec, timbre="").decode(tokens.kept(3), rng=np.random.default_rng(0))
    with pytest.raises(WeightsError, match="not a timbre vector"):
        replace(codec, timbre=files["encodec"]).decode(tokens.kept(3), rng=np.random.default_rng(0))


def test_the_alias_free_snake_keeps_length_and_leaves_slow_waves_alone() -> None:
    taps = half_band_filter()[0, 0]
    assert float(taps.sum()) == pytest.approx(1)
    assert torch.allclose(taps, taps.flip(0))
    snake = SnakeWithoutAliases(1)
    with torch.no_grad():
        snake.act.beta.fill_(40.0)  # the sine term vanishes: only the two filters are left
        x = torch.sin(torch.arange(400) * 0.05)[None, None]
        y = snake(x)
    assert y.shape == x.shape
    assert float((y - x)[..., 20:-20].abs().max()) < 0.01


FULL: dict[str, tuple[Callable[[], Any], dict[str, tuple[int, ...]]]] = {
    "EnCodec": (
        lambda: SeanetCodec(
            width=32, ratios=(8, 5, 4, 2), latent=128, levels=32, codes=1024, causal=True, both_ways=False
        ),
        {
            "encoder.model.0.conv.conv.weight": (32, 1, 7),
            "encoder.model.1.shortcut.conv.conv.weight": (32, 32, 1),
            "encoder.model.12.conv.conv.weight": (512, 256, 16),
            "encoder.model.13.lstm.weight_ih_l1": (2048, 512),
            "encoder.model.15.conv.conv.weight": (128, 512, 7),
            "quantizer.vq.layers.31._codebook.embed": (1024, 128),
            "decoder.model.3.convtr.convtr.weight": (512, 256, 16),
            "decoder.model.15.conv.conv.weight": (1, 32, 7),
        },
    ),
    "SpeechTokenizer": (
        lambda: SeanetCodec(
            width=64, ratios=(8, 5, 4, 2), latent=1024, levels=8, codes=1024, causal=False, both_ways=True
        ),
        {
            "encoder.model.13.lstm.weight_ih_l1_reverse": (4096, 2048),
            "encoder.model.15.conv.conv.weight": (1024, 2048, 7),
            "decoder.model.1.lstm.weight_hh_l0": (4096, 1024),
            "quantizer.vq.layers.7._codebook.embed": (1024, 1024),
        },
    ),
    "DAC": (
        lambda: DacCodec(width=64, strides=(2, 4, 8, 8), latent=1024, decoder_width=1536, levels=9, codes=1024, dims=8),
        {
            "encoder.block.1.block.0.block.0.alpha": (1, 64, 1),
            "encoder.block.4.block.4.weight": (1024, 512, 16),
            "encoder.block.6.weight": (1024, 1024, 3),
            "quantizer.quantizers.8.in_proj.weight": (8, 1024, 1),
            "quantizer.quantizers.0.codebook.weight": (1024, 8),
            "decoder.model.1.block.1.weight": (1536, 768, 16),
            "decoder.model.6.weight": (1, 96, 7),
        },
    ),
    "FaCodec": (
        lambda: FacodecDecoder(latent=256, width=1024, strides=(5, 5, 4, 2), levels=(1, 2, 3), codes=1024, dims=8),
        {
            "quantizer.2.layers.2._codebook.weight": (1024, 8),
            "quantizer.0.layers.0.in_proj.weight": (8, 256),
            "model.1.block.1.weight": (1024, 512, 10),
            "model.1.block.0.act.alpha": (1024,),
            "model.1.block.0.downsample.lowpass.filter": (1, 1, 12),
            "timbre_encoder.layers.3.self_attn.in_proj_weight": (768, 256),
            "timbre_encoder.position_emb.pe": (5000, 1, 256),
            "timbre_linear.weight": (512, 256),
        },
    ),
}


@pytest.mark.parametrize("name", sorted(FULL))
def test_the_full_size_has_the_published_names_and_shapes(name: str) -> None:
    make, shapes = FULL[name]
    with torch.device("meta"):
        state = make().state_dict()
    for tensor, shape in shapes.items():
        assert tuple(state[tensor].shape) == shape, tensor


def test_dac_at_44_khz_has_about_76_million_weights_as_published() -> None:
    with torch.device("meta"):
        network = FULL["DAC"][0]()
    assert sum(p.numel() for p in network.parameters()) / 1e6 == pytest.approx(76.6, abs=0.5)


@pytest.mark.parametrize("codec", [EnCodec, SpeechTokenizer, Dac, FaCodec])
def test_without_weights_one_line_says_what_to_bring(codec: Any, tmp_path: Path) -> None:
    for path in ("", str(tmp_path / "none")):
        with pytest.raises(WeightsError, match="needs its published weights"):
            codec(path).encode(hum(5))


def test_files_of_something_else_are_refused(files: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "text.pt").write_text("hello")
    with pytest.raises(WeightsError, match="not a checkpoint"):
        EnCodec(str(tmp_path / "text.pt")).encode(hum(6))
    torch.save({"a": 1}, tmp_path / "numbers.pt")
    with pytest.raises(WeightsError, match="no table of tensors"):
        EnCodec(str(tmp_path / "numbers.pt")).encode(hum(6))
    with pytest.raises(WeightsError, match=r"not EnCodec's weights|has no tensor"):
        EnCodec(files["dac"]).encode(hum(6))
    state = torch.load(files["encodec"])
    state["surprise"] = torch.zeros(1)
    torch.save(state, tmp_path / "more.th")
    with pytest.raises(WeightsError, match="'surprise' that this codec does not have"):
        EnCodec(str(tmp_path / "more.th")).encode(hum(6))


def test_tokens_of_other_weights_are_refused(files: dict[str, str]) -> None:
    tokens = codec_of("encodec", files).encode(hum(7))
    with pytest.raises(TokenError, match="cannot be decoded"):
        codec_of("dac", files).decode(tokens, rng=np.random.default_rng(0))


@pytest.mark.parametrize("name", ["encodec", "dac", "speechtokenizer", "facodec"])
def test_every_codec_can_be_played_as_a_system_with_all_levels_and_with_some(name: str, files: dict[str, str]) -> None:
    from personare.anonymizers import anonymizer

    audio, some = hum(2, duration_s=0.5, rate_hz=22_050), 3 if name == "facodec" else 1
    parameters = {"timbre": files["timbre"]} if name == "facodec" else {}
    settings: dict[str, Any] = {"codec": name, "weights": files[name], "parameters": parameters}
    methods = [anonymizer("codec", **settings), anonymizer("codec", levels=some, **settings)]
    made = [method(audio, rng=np.random.default_rng(0)).samples for method in methods]
    assert all(len(samples) == len(audio.samples) and np.isfinite(samples).all() for samples in made)
    assert not np.array_equal(made[0], made[1])
    assert methods[0].fingerprint != methods[1].fingerprint
