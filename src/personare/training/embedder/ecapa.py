"""ECAPA-TDNN, to be trained: the strong speaker embedder of the papers, of any width.

Three SE-Res2 blocks with dilations 2, 3, 4, whose outputs are aggregated; attention over time and channels with global
context; a vector of 192 numbers [desplanques2020ecapa, sec. 3].
Deviations: order inside a layer (convolution, ReLU, normalisation), reflect padding and names are SpeechBrain's, so
that its published weights fit in; the vector itself is not normalised after the last layer.
"""

from __future__ import annotations

from typing import Any

from personare.training.embedder.layers import Conv, Norm, Tensors, convolved, normed, statistics, tdnn, tdnn_layers
from personare.training.torch_extra import torch_for

DILATIONS = (2, 3, 4)
SCALE = 8  # Res2Net: the channels are cut into so many parts


def ecapa_layers(
    *, channels: int, frame_channels: int, attention: int, squeeze: int, dimensions: int = 192, mels: int = 80
) -> list[Conv | Norm]:
    """List the layers; ``channels`` must be a multiple of 8."""
    layers = tdnn_layers("blocks.0", mels, channels, 5)
    part = channels // SCALE
    for block in (f"blocks.{i}" for i, _ in enumerate(DILATIONS, start=1)):
        layers += tdnn_layers(f"{block}.tdnn1", channels, channels)
        for i in range(SCALE - 1):
            layers += tdnn_layers(f"{block}.res2net_block.blocks.{i}", part, part, 3)
        layers += tdnn_layers(f"{block}.tdnn2", channels, channels)
        layers += [
            Conv(f"{block}.se_block.conv1.conv", channels, squeeze),
            Conv(f"{block}.se_block.conv2.conv", squeeze, channels),
        ]
    layers += tdnn_layers("mfa", len(DILATIONS) * channels, frame_channels)
    layers += tdnn_layers("asp.tdnn", 3 * frame_channels, attention)
    layers += [Conv("asp.conv.conv", attention, frame_channels), Norm("asp_bn", 2 * frame_channels)]
    return [*layers, Conv("fc.conv", 2 * frame_channels, dimensions)]


def ecapa(tensors: Tensors, mels: Any, *, training: bool) -> Any:
    """Turn mel frames [batch, 80, frames] into vectors [batch, 192]."""
    torch = torch_for("ECAPA-TDNN")
    hidden = tdnn(tensors, "blocks.0", mels, training=training)
    outputs = []
    for index, dilation in enumerate(DILATIONS, start=1):
        hidden = _se_res2(tensors, f"blocks.{index}", hidden, dilation, training=training)
        outputs.append(hidden)
    frames = tdnn(tensors, "mfa", torch.cat(outputs, dim=1), training=training)
    pooled = normed(tensors, "asp_bn", _attended(tensors, frames, training=training), training=training)
    return convolved(tensors, "fc.conv", pooled)[:, :, 0]


def _se_res2(tensors: Tensors, name: str, x: Any, dilation: int, *, training: bool) -> Any:
    """One SE-Res2 block: 1x1 layer, Res2Net, 1x1 layer, squeeze-excitation, shortcut."""
    torch = torch_for("ECAPA-TDNN")
    hidden = tdnn(tensors, f"{name}.tdnn1", x, training=training)
    first, *parts = hidden.chunk(SCALE, dim=1)
    done = [first]
    for i, part in enumerate(parts):
        mixed = part + done[-1] if i else part
        done.append(tdnn(tensors, f"{name}.res2net_block.blocks.{i}", mixed, dilation=dilation, training=training))
    hidden = tdnn(tensors, f"{name}.tdnn2", torch.cat(done, dim=1), training=training)
    small = convolved(tensors, f"{name}.se_block.conv1.conv", hidden.mean(2, keepdim=True)).relu()
    gate = convolved(tensors, f"{name}.se_block.conv2.conv", small).sigmoid()
    return hidden * gate + x


def _attended(tensors: Tensors, frames: Any, *, training: bool) -> Any:
    """Attentive statistics with global context: [batch, 2 channels, 1]."""
    conv1d = torch_for("ECAPA-TDNN").nn.functional.conv1d
    weight, bias = tensors["asp.tdnn.conv.conv.weight"], tensors["asp.tdnn.conv.conv.bias"]
    size = frames.shape[1]
    # the context is the same at every moment: its share of the product is computed once
    mixed = conv1d(frames, weight[:, :size]) + conv1d(statistics(frames), weight[:, size:], bias)
    hidden = normed(tensors, "asp.tdnn.norm", mixed.relu(), training=training).tanh()
    return statistics(frames, convolved(tensors, "asp.conv.conv", hidden).softmax(dim=2))
