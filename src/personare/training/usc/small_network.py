"""The small codec's network: two front ends, six levels of tokens, one decoder to a source and filter.

front ``split``: C0 from the content frames and relative prosody, C1-C5 from the mel spectrum and absolute F0.
front ``mel``: the paper's layout, one encoder from mel spectrum and F0 feeds all levels.
The decoder is told how many levels it gets. With C0 alone it may be given a speaker vector, so that C0 need not carry
the voice; without one it speaks in no voice in particular.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import nn

from personare.core.errors import ConfigError
from personare.training.usc import grid
from personare.training.usc.convnext import ConvNextBlock, Stack
from personare.training.usc.privacy import LaplaceNoise
from personare.training.usc.reading import ReadingHead
from personare.training.usc.residual_levels import ResidualLevels
from personare.training.usc.semantic_quantizer import SemanticQuantizer

OUTPUTS = grid.BANDS + 2  # bands, F0, voicing
_START_LOG = -4.0  # every band before anything is learnt
_VECTOR_SCALE = 16.0  # a vector of length 1 in 256 dimensions has numbers around 1/16


@dataclass(frozen=True)
class SmallShape:
    """The sizes of the small codec.

    Parameters
    ----------
    front : ``split`` or ``mel`` (the paper's layout).
    width, hidden : of the encoders' blocks, and the width of the quantized space.
    content_blocks, mel_blocks, decoder_blocks, sound_blocks : how many blocks each part has.
    decoder_width, decoder_hidden : of the decoder's blocks at 25 Hz; ``sound_width`` of those at 125 Hz.
    levels, semantic_codes, acoustic_codes, dims : of the quantizers; ``dims`` numbers per code.
    vector : numbers of a speaker vector; ``condition`` of what bends the decoder's blocks.
    """

    front: Literal["split", "mel"] = "split"
    width: int = 256
    hidden: int = 640
    content_blocks: int = 3
    mel_blocks: int = 3
    decoder_width: int = 320
    decoder_hidden: int = 800
    decoder_blocks: int = 6
    sound_width: int = 128
    sound_blocks: int = 3
    levels: int = 6
    semantic_codes: int = 16_384
    acoustic_codes: int = 1_024
    dims: int = 8
    vector: int = 256
    condition: int = 96

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if isinstance(value, int) and value < 1:
                raise ConfigError(f"the codec's {name} must be at least 1, not {value}")


@dataclass(frozen=True, eq=False)
class Coded:
    """What coding a batch gave: the semantic output and indices, the acoustic ones, their losses, what is left over."""

    z_0: Any
    total: Any
    indices: list[Any]
    codebook: Any
    commitment: Any
    acoustic_loss: Any
    left: list[Any]


class SmallCodec(nn.Module):
    """Encoders, quantizers and decoder of the small codec."""

    def __init__(self, shape: SmallShape, *, epsilon: float = 0.0) -> None:
        super().__init__()
        self.shape = shape
        acoustic = grid.MELS * grid.N_MELS + grid.ABSOLUTE
        semantic = grid.CONTENTS * grid.CONTENT_WIDTH + grid.PROSODY if shape.front == "split" else acoustic
        self.content = Stack(semantic, shape.width, shape.hidden, shape.content_blocks)
        if shape.front == "split":
            self.mel = Stack(acoustic, shape.width, shape.hidden, shape.mel_blocks)
        self.content_norm = nn.LayerNorm(shape.width)
        noise = LaplaceNoise(epsilon) if epsilon else None
        self.semantic = SemanticQuantizer(shape.width, shape.dims, shape.semantic_codes, noise=noise)
        self.acoustic = ResidualLevels(shape.width, shape.dims, shape.acoustic_codes, shape.levels - 1)
        self.distil = nn.Linear(shape.width, grid.CONTENT_WIDTH)
        self.reading = ReadingHead(shape.width)
        self.level_table = nn.Embedding(shape.levels, shape.condition)
        self.voice = nn.Linear(shape.vector, shape.condition)
        wide, sound = shape.decoder_width, shape.sound_width
        self.decoder = Stack(shape.width, wide, shape.decoder_hidden, shape.decoder_blocks, condition=shape.condition)
        self.spread = nn.Linear(wide, grid.SOUNDS * sound)
        self.sound = nn.ModuleList(
            ConvNextBlock(sound, 3 * sound, condition=shape.condition) for _ in range(shape.sound_blocks)
        )
        self.head_norm = nn.LayerNorm(sound)
        self.head = nn.Linear(sound, OUTPUTS)
        with torch.no_grad():
            self.head.weight.mul_(0.3)
            self.head.bias.zero_()
            self.head.bias[: grid.BANDS] = _START_LOG

    def encoded_semantic(self, batch: Any) -> Any:
        """What C0 is made from: [batch, frames, width]."""
        split = self.shape.front == "split"
        parts = (batch.content, batch.prosody) if split else (batch.mels, batch.absolute)
        return self.content(torch.cat(parts, dim=2))

    def encoded(self, batch: Any) -> tuple[Any, Any]:
        """What C0 and what C1-C5 are made from: [batch, frames, width] each."""
        z = self.encoded_semantic(batch)
        own = self.shape.front == "split"
        return self.content_norm(z), self.mel(torch.cat([batch.mels, batch.absolute], dim=2)) if own else z

    def coded(self, batch: Any, levels: Any, *, stop_alone: bool = False, generator: Any | None = None) -> Coded:
        """Encode and quantize; sample i keeps ``levels[i]`` levels (1 to all)."""
        z_s, z_a = self.encoded(batch)
        stopped = (levels == 1) if stop_alone else None
        if generator is not None:  # before the codes are used: the backward pass needs them as they were
            self.semantic.restart(z_s, generator)
        z_0, indices, codebook, commitment = self.semantic(z_s, stopped=stopped)
        extra, more, loss, left = self.acoustic(z_a, z_0, levels - 1, generator=generator)
        return Coded(z_0, z_0 + extra, [indices, *more], codebook, commitment, loss, left)

    def read(self, batch: Any) -> Any:
        """Log-probabilities of letters read from C0 of whole utterances: [batch, 2 frames, letters and blank]."""
        return self.reading(self.semantic(self.content_norm(self.encoded_semantic(batch)))[0])

    def conditioned(self, levels: Any, vector: Any, has_vector: Any) -> Any:
        """What bends the decoder: how many levels it gets, and with C0 alone the speaker vector; [batch, condition]."""
        given = (has_vector & (levels == 1)).to(vector.dtype)[:, None]
        return self.level_table(levels - 1) + given * self.voice(vector * _VECTOR_SCALE)

    def decoded(self, total: Any, condition: Any) -> Any:
        """Parameters of the sound: [batch, 5 frames, 122]: log-strengths of bands, octaves of F0, voicing logit."""
        x = self.spread(self.decoder(total, condition))
        x = x.reshape(x.shape[0], x.shape[1] * grid.SOUNDS, self.shape.sound_width)
        for block in self.sound:
            x = block(x, condition)
        return self.head(self.head_norm(x))
