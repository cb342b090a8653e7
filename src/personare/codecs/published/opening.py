"""Opening other people's codecs: sizes are read from the tensors of the published checkpoints themselves."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from personare.codecs.published import checkpoint
from personare.codecs.published.facodec import UNUSED, FacodecDecoder, FacodecEncoder
from personare.codecs.published.residual_wave import DacCodec
from personare.codecs.published.seanet import SeanetCodec
from personare.core.errors import WeightsError
from personare.training.torch_extra import torch_for

FACODEC_FILES = ("ns3_facodec_encoder.bin", "ns3_facodec_decoder.bin")
_FACODEC_GROUPS = (1, 2, 3)  # prosody, content, residual
_TRAINING_ONLY = (".inited", ".cluster_size", ".embed_avg")  # what quantizers keep for their training


@lru_cache(maxsize=2)
def open_seanet(path: str, codec: str, published: str, *, causal: bool) -> Any:
    """Open EnCodec or SpeechTokenizer; sizes are read from the tensors themselves."""
    state, _ = checkpoint.read_state(path, codec=codec, published=published)
    state = {name: value for name, value in state.items() if not name.endswith(_TRAINING_ONLY)}
    try:
        books = [name for name in state if name.endswith("._codebook.embed")]
        codes, latent = state[books[0]].shape
        ups = [value for name, value in state.items() if name.startswith("decoder.") and name.endswith("convtr.weight")]
        network = SeanetCodec(
            width=state["encoder.model.0.conv.conv.weight"].shape[0],
            ratios=[value.shape[2] // 2 for value in ups],
            latent=latent,
            levels=len(books),
            codes=codes,
            causal=causal,
            both_ways=any(name.endswith("_reverse") for name in state),
        )
    except (IndexError, KeyError, ValueError) as error:
        raise WeightsError(f"{path}: not {codec}'s weights ({error}); it needs {published}") from None
    checkpoint.fill(network, state, where=path, unused=("transform.",))
    return network


@lru_cache(maxsize=2)
def open_dac(path: str) -> tuple[Any, int]:
    """Open DAC; sizes are read from the tensors, the sample rate from what the file says about itself."""
    published = "weights_44khz_8kbps.pth"
    state, rest = checkpoint.read_state(path, codec="DAC", published=published)
    try:
        rate_hz = int(rest["metadata"]["kwargs"]["sample_rate"])
        stages = sorted({int(name.split(".")[2]) for name in state if name.startswith("encoder.block.")})[1:-2]
        levels = len({name.split(".")[2] for name in state if name.startswith("quantizer.quantizers.")})
        codes, dims = state["quantizer.quantizers.0.codebook.weight"].shape
        network = DacCodec(
            width=state["encoder.block.0.weight"].shape[0],
            strides=[state[f"encoder.block.{stage}.block.4.weight"].shape[2] // 2 for stage in stages],
            latent=state["decoder.model.0.weight"].shape[1],
            decoder_width=state["decoder.model.0.weight"].shape[0],
            levels=levels,
            codes=codes,
            dims=dims,
        )
    except (IndexError, KeyError, ValueError, TypeError) as error:
        raise WeightsError(f"{path}: not DAC's weights ({error}); it needs {published} or its like") from None
    checkpoint.fill(network, state, where=path)
    return network, rate_hz


@dataclass(frozen=True, eq=False)
class Facodec:
    """Both halves of FaCodec."""

    encoder: Any
    decoder: Any
    hop: int

    def frames(self, samples: Any) -> Any:
        """[n] -> [ceil(n / hop), latent]."""
        torch = torch_for("other codecs")
        padded = torch.nn.functional.pad(samples, (0, -len(samples) % self.hop))
        return self.encoder(padded[None, None])[0].t()


@lru_cache(maxsize=1)
def open_facodec(folder: str) -> Facodec:
    """Open FaCodec; sizes are read from the tensors."""
    published = "a folder with ns3_facodec_encoder.bin and ns3_facodec_decoder.bin"
    first, second = (
        checkpoint.read_state(str(Path(folder) / name) if folder else "", codec="FaCodec", published=published)[0]
        for name in FACODEC_FILES
    )
    try:
        stages = sorted({int(name.split(".")[1]) for name in first})[1:-2]
        strides = [first[f"block.{stage}.block.4.weight"].shape[2] // 2 for stage in stages]
        latent = second["timbre_linear.weight"].shape[1]
        codes, dims = second["quantizer.0.layers.0._codebook.weight"].shape
        layers = {name.split(".")[2] for name in second if name.startswith("timbre_encoder.layers.")}
        encoder = FacodecEncoder(first["block.0.weight"].shape[0], strides, latent)
        decoder = FacodecDecoder(
            latent=latent,
            width=second["model.0.weight"].shape[0],
            strides=strides[::-1],
            levels=_FACODEC_GROUPS,
            codes=codes,
            dims=dims,
            inner=second["timbre_encoder.layers.0.ffn.ffn_1.weight"].shape[0],
            layers=len(layers),
        )
    except (IndexError, KeyError, ValueError) as error:
        raise WeightsError(f"{folder}: not FaCodec's weights ({error}); it needs {published}") from None
    checkpoint.fill(encoder, first, where=f"{folder}: {FACODEC_FILES[0]}")
    checkpoint.fill(decoder, second, where=f"{folder}: {FACODEC_FILES[1]}", unused=UNUSED)
    return Facodec(encoder, decoder, int(np.prod(strides)))
