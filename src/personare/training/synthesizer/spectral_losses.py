"""How far synthesized speech is from natural speech: spectra at several resolutions, and a discriminator.

Multi-resolution STFT loss: yamamoto2020parallel, eqs. 3-6. The discriminator is a small least-squares one over
logarithmic spectra (mao2017least); its layers' outputs for both sounds are compared too (feature matching).
"""

from __future__ import annotations

import itertools
from functools import cache
from typing import Any

import numpy as np

from personare.core.seeding import Key, rng_for
from personare.training.torch_extra import torch_for

RESOLUTIONS = ((256, 64), (512, 128), (1024, 256))  # transform length and hop, in samples
DISCRIMINATED = ((512, 128), (1024, 256))
DISCRIMINATOR = "judge"  # how its tensors are called in every checkpoint so far
_FLOOR = 1e-3
_MEL_SIZE, _N_MELS, _TOP_HZ = 1024, 80, 8000.0
_CHANNELS = (1, 12, 16, 16, 16, 1)
_KERNEL, _STRIDES = (9, 3), ((2, 1), (2, 1), (2, 1), (2, 1), (1, 1))  # over frequency and time
_LEAK = 0.1


@cache
def _window(size: int) -> Any:
    return torch_for("a spectrum").hann_window(size)


def magnitudes(sound: Any, size: int, hop: int) -> Any:
    """Magnitudes of the short-time spectrum: [batch, bins, frames]."""
    torch = torch_for("a spectrum")
    frames = sound.unfold(1, size, hop) * _window(size)
    spectrum = torch.view_as_real(torch.fft.rfft(frames, dim=2))
    return (spectrum.square().sum(-1) + _FLOOR * _FLOOR * 0.01).sqrt().transpose(1, 2)


@cache
def _mels(size: int) -> Any:
    """Triangles evenly spaced on the mel scale, each with area 1: [80, bins]."""
    torch = torch_for("a spectrum")
    edges_hz = 700 * (10 ** (np.linspace(0, 2595 * np.log10(1 + _TOP_HZ / 700), _N_MELS + 2) / 2595) - 1)
    bins_hz = np.linspace(0, _TOP_HZ, size // 2 + 1)
    hats = np.stack([np.interp(bins_hz, edges_hz, row) for row in np.eye(_N_MELS + 2)[1:-1]])
    return torch.from_numpy((hats / np.maximum(hats.sum(axis=1, keepdims=True), 1e-3)).astype(np.float32))


def spectral_distance(synthesized: Any, natural: Any) -> Any:
    """Mean over the resolutions of spectral convergence and the distance of log-magnitudes, plus that of log-mels.

    Mels are as fine as hearing is; without them half of the distance would lie above 4 kHz, where few words differ.
    """
    total: Any = 0.0
    for size, hop in RESOLUTIONS:
        a, b = magnitudes(synthesized, size, hop), magnitudes(natural, size, hop)
        total = total + ((a - b).norm() / b.norm().clamp_min(_FLOOR) + _log_distance(a, b)) / len(RESOLUTIONS)
        if size == _MEL_SIZE:
            total = total + _log_distance(_mels(size) @ a, _mels(size) @ b)
    return total


def _log_distance(a: Any, b: Any) -> Any:
    return ((a + _FLOOR).log() - (b + _FLOOR).log()).abs().mean()


def discriminator_tensors(*, key: Key) -> dict[str, Any]:
    """Draw the tensors of a new discriminator."""
    torch = torch_for("a new network")
    tensors = {}
    for size, _ in DISCRIMINATED:
        for layer, (source, target) in enumerate(itertools.pairwise(_CHANNELS)):
            name = f"{DISCRIMINATOR}{size}.{layer}"
            reach = 1 / np.sqrt(source * _KERNEL[0] * _KERNEL[1])
            weight = rng_for(key, "weights", name).uniform(-reach, reach, (target, source, *_KERNEL))
            tensors[f"{name}.weight"] = torch.from_numpy(weight.astype(np.float32)).requires_grad_(True)
            tensors[f"{name}.bias"] = torch.zeros(target, requires_grad=True)
    return tensors


def discriminate(tensors: dict[str, Any], sound: Any) -> list[list[Any]]:
    """The outputs of every layer, for every resolution; the last of each is the score (1 for natural)."""
    functional = torch_for("a discriminator").nn.functional
    outputs = []
    for size, hop in DISCRIMINATED:
        x = (magnitudes(sound, size, hop) + _FLOOR).log().unsqueeze(1)
        layers = []
        for layer, stride in enumerate(_STRIDES):
            padding = (_KERNEL[0] // 2, _KERNEL[1] // 2)
            name = f"{DISCRIMINATOR}{size}.{layer}"
            x = functional.conv2d(x, tensors[f"{name}.weight"], tensors[f"{name}.bias"], stride=stride, padding=padding)
            if layer < len(_STRIDES) - 1:
                x = functional.leaky_relu(x, _LEAK)
            layers.append(x)
        outputs.append(layers)
    return outputs


def adversarial_losses(tensors: dict[str, Any], synthesized: Any, natural: Any) -> tuple[Any, Any, Any]:
    """The losses of the discriminator and of the generator against it, and the feature matching loss.

    The first has a gradient for the discriminator alone, the others for the generator alone, so that one optimizer
    serves both.
    """
    fixed = {name: tensor.detach() for name, tensor in tensors.items()}
    discriminator_loss = sum(
        (real[-1] - 1).square().mean() + fake[-1].square().mean()
        for real, fake in zip(discriminate(tensors, natural), discriminate(tensors, synthesized.detach()), strict=True)
    )
    generator_loss: Any = 0.0
    matching: Any = 0.0
    for real, fake in zip(discriminate(fixed, natural), discriminate(fixed, synthesized), strict=True):
        generator_loss = generator_loss + (fake[-1] - 1).square().mean()
        for a, b in zip(real[:-1], fake[:-1], strict=True):
            matching = matching + (a - b).abs().mean() / a.abs().mean().clamp_min(_FLOOR)
    return discriminator_loss, generator_loss, matching
