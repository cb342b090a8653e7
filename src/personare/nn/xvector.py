"""The x-vector network, to be trained: the classic ear of speaker recognition, small and quick, of any width.

Five time-delay layers that see 15 frames, the mean and standard deviation over time, one affine layer whose output is
the vector [snyder2018xvectors, table 1].
Deviations: reflect padding keeps the number of frames; segment7 is left out, because a margin softmax classifies the
vector itself, after one normalisation that centres it; 80 decibel mels stand in for 24 filter banks.
"""

from __future__ import annotations

from typing import Any

from personare.nn.layers import Conv, Norm, Tensors, convolved, normed, statistics, tdnn, tdnn_layers

# width and dilation of frame1..frame5: t-2..t+2; t-2, t, t+2; t-3, t, t+3; t; t
CONTEXTS = ((5, 1), (3, 2), (3, 3), (1, 1), (1, 1))


def xvector_layers(*, channels: int, frame_channels: int, dimensions: int = 512, mels: int = 80) -> list[Conv | Norm]:
    """List the layers."""
    sizes = [mels, *[channels] * (len(CONTEXTS) - 1), frame_channels]
    layers: list[Conv | Norm] = []
    for i, (width, _) in enumerate(CONTEXTS):
        layers += tdnn_layers(f"frame{i + 1}", sizes[i], sizes[i + 1], width)
    return [*layers, Conv("segment6.conv", 2 * frame_channels, dimensions), Norm("segment6.norm", dimensions)]


def xvector(tensors: Tensors, mels: Any, *, learning: bool) -> Any:
    """Turn mel frames [batch, 80, frames] into vectors [batch, dimensions]."""
    hidden = mels
    for i, (_, dilation) in enumerate(CONTEXTS):
        hidden = tdnn(tensors, f"frame{i + 1}", hidden, dilation=dilation, learning=learning)
    vector = convolved(tensors, "segment6.conv", statistics(hidden))
    return normed(tensors, "segment6.norm", vector, learning=learning)[:, :, 0]
