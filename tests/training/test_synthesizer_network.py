"""The neural synthesizer in torch: the same sound as the numpy side, losses that know better from worse."""

from __future__ import annotations

import dataclasses
import functools
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs torch: pip install '.[neural]'")

from personare.core import bands  # noqa: E402 - after the skip
from personare.core.errors import ConfigError, WeightsError  # noqa: E402
from personare.core.seeding import Key  # noqa: E402
from personare.training import loop, parallel  # noqa: E402
from personare.training.plan import TrainingPlan  # noqa: E402
from personare.training.synthesizer import export, filtering, network, spectral_losses  # noqa: E402
from training.two_lines import TwoLines, train_lines  # noqa: E402

SMALL = network.SynthesizerShape(content=8, voice=6, width=16, blocks=2, voice_width=4, bands=2 * bands.BANDS)


def test_training_and_use_make_the_same_sound() -> None:
    rng = np.random.default_rng(0)
    frames = 40
    logs = rng.normal(-3, 1, (2, frames, bands.BANDS)).astype(np.float32)
    harmonic = bands.pulses(np.full((2, frames), 150.0, np.float32))
    noise = rng.standard_normal(harmonic.shape).astype(np.float32)
    in_torch = filtering.synthesize(*(torch.from_numpy(x) for x in (harmonic, noise, logs))).numpy()
    in_numpy = np.stack([bands.synthesize(harmonic[k], noise[k], logs[k]) for k in range(2)])
    np.testing.assert_allclose(in_torch, in_numpy, atol=1e-5)


def test_the_speaker_vector_changes_the_levels() -> None:
    tensors = network.new_tensors(SMALL, key=Key.from_seed(1))
    rng = np.random.default_rng(0)
    content, prosody = torch.randn(1, 20, 8), torch.randn(1, 20, 6)
    levels = [
        network.band_levels(
            tensors, content, prosody, torch.from_numpy(rng.normal(size=(1, 6)).astype(np.float32)), blocks=2
        )
        for _ in range(2)
    ]
    assert levels[0].shape == (1, 20, SMALL.bands)
    assert float((levels[0] - levels[1]).detach().abs().max()) > 1e-4


def test_a_graph_gives_its_tensors_back() -> None:
    """Round trip: what is written in half precision is read back by name; other sizes are refused."""
    for shape in (SMALL, dataclasses.replace(SMALL, prosody=0)):
        tensors = network.new_tensors(shape, key=Key.from_seed(1))
        read = export.read_tensors(export.encode({n: t.detach().numpy() for n, t in tensors.items()}, shape), shape)
        assert set(read) == set(tensors)
        for name, values in read.items():
            np.testing.assert_allclose(values, tensors[name].detach().numpy(), atol=2e-3)
    graph = export.encode({n: t.detach().numpy() for n, t in tensors.items()}, shape)
    with pytest.raises(WeightsError, match="no synthesizer of these sizes"):
        export.read_tensors(graph, dataclasses.replace(shape, blocks=3))
    with pytest.raises(WeightsError, match="has shape"):
        export.read_tensors(graph, dataclasses.replace(shape, width=24))


def test_eight_bits_are_half_the_size_and_near_the_network() -> None:
    shape = dataclasses.replace(SMALL, width=64)
    tensors = network.new_tensors(shape, key=Key.from_seed(1))
    (half, near), (small, far) = (export.export(tensors, shape, eight_bit=eight) for eight in (False, True))
    assert len(small) < 0.65 * len(half)
    assert near < far < 0.15, "levels differ by hardly more than a decibel"


def test_a_graph_in_eight_bits_gives_its_tensors_back() -> None:
    """Read back and written again, it is the same file."""
    shape = dataclasses.replace(SMALL, width=64)
    small, _ = export.export(network.new_tensors(shape, key=Key.from_seed(1)), shape, eight_bit=True)
    read = export.read_tensors(small, shape)
    assert export.encode(read, shape, eight_bit=True) == small
    with pytest.raises(WeightsError, match="no synthesizer of these sizes"):
        export.read_tensors(small, dataclasses.replace(shape, blocks=3))


def test_no_frame_sees_what_fills_a_batch_up() -> None:
    """Beside a longer one, what is shorter has the levels it has alone."""
    tensors = network.new_tensors(SMALL, key=Key.from_seed(1))
    rng = np.random.default_rng(0)
    content, prosody, voice = (
        torch.from_numpy(rng.normal(size=size).astype(np.float32)) for size in ((1, 9, 8), (1, 9, 6), (1, 6))
    )
    alone = network.band_levels(tensors, content, prosody, voice, blocks=2)
    filled = [torch.nn.functional.pad(x, (0, 0, 0, 5)) for x in (content, prosody)]
    there = torch.cat([torch.ones(1, 9), torch.zeros(1, 5)], dim=1)
    beside = network.band_levels(tensors, filled[0], filled[1], voice, blocks=2, there=there)
    np.testing.assert_allclose(beside[:, :9].detach().numpy(), alone.detach().numpy(), atol=1e-5)
    unaware = network.band_levels(tensors, filled[0], filled[1], voice, blocks=2)
    assert float((unaware[:, :9] - alone).detach().abs().max()) > 1e-4


def test_spectral_distance_is_zero_for_the_same_sound_and_grows_with_noise() -> None:
    rng = np.random.default_rng(0)
    true = torch.from_numpy(rng.standard_normal((2, 8000)).astype(np.float32)) * 0.1
    extra = torch.from_numpy(rng.standard_normal((2, 8000)).astype(np.float32))
    found = [float(spectral_losses.spectral_distance(true + level * extra, true)) for level in (0.0, 0.01, 0.1, 1.0)]
    assert found[0] == 0.0
    assert found == sorted(found)


def test_adversarial_losses_train_each_side_alone() -> None:
    tensors = spectral_losses.discriminator_tensors(key=Key.from_seed(1))
    made: Any = (0.1 * torch.randn(2, 6000)).requires_grad_(True)
    discriminator_loss, generator_loss, matching = spectral_losses.adversarial_losses(
        tensors, made, 0.1 * torch.randn(2, 6000)
    )
    discriminator_loss.backward(retain_graph=True)
    untouched: bool = made.grad is None
    assert untouched
    assert all(tensor.grad is not None for tensor in tensors.values())
    before = [tensor.grad.clone() for tensor in tensors.values()]
    (generator_loss + matching).backward()
    assert made.grad is not None
    assert all(torch.equal(a, t.grad) for a, t in zip(before, tensors.values(), strict=True))


def test_sizes_are_checked() -> None:
    with pytest.raises(ConfigError, match="blocks must be at least 1, not 0"):
        network.SynthesizerShape(blocks=0)


def test_two_processes_learn_like_one_with_both_their_batches(tmp_path: Path) -> None:
    plan = TrainingPlan(steps=12, validate_every=6, patience=0, rate=0.1, warm_up=2)
    shared = TwoLines(0)
    with parallel.worker_processes(2, functools.partial(train_lines, folder=tmp_path / "two", plan=plan)):
        list(loop.train(shared, plan, tmp_path / "two", fingerprint="m"))
    alone = TwoLines(None)
    list(loop.train(alone, plan, tmp_path / "one", fingerprint="m"))
    np.testing.assert_allclose(
        shared.tensors["w"].detach().numpy(), alone.tensors["w"].detach().numpy(), rtol=1e-5, atol=1e-6
    )
    other = TwoLines(1)
    list(loop.train(other, plan, tmp_path / "other", fingerprint="m"))
    assert not np.allclose(other.tensors["w"].detach().numpy(), shared.tensors["w"].detach().numpy(), atol=1e-4)
