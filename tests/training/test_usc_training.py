"""Trainings of the codec in miniature: one batch can be learnt by heart, all losses are on, a stop changes no bit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from conftest import hum

torch = pytest.importorskip("torch")

from personare.training import checkpoints, loop  # noqa: E402
from personare.training.usc import grid  # noqa: E402
from personare.training.usc.paper_task import PaperSettings, PaperShape, PaperTask  # noqa: E402
from personare.training.usc.small_network import SmallShape  # noqa: E402
from personare.training.usc.small_task import FadingPlan, SmallSettings, SmallTask, SmallWeights  # noqa: E402
from personare.training.usc.speech_store import PreparedUtterance, SpeechStore, open_store, pack  # noqa: E402
from personare.training.usc.wave_batches import WaveCrops, WaveUtterance  # noqa: E402

SMALL = SmallSettings(
    shape=SmallShape(
        width=32, hidden=48, content_blocks=1, mel_blocks=1, decoder_width=32, decoder_hidden=48, decoder_blocks=1,
        sound_width=16, sound_blocks=1, semantic_codes=64, acoustic_codes=16, dims=4, condition=8,
    ),
    weights=SmallWeights(reading=0.3, reversal_from=0.3, reversal_to=0.6),
    plan=FadingPlan(steps=12, validate_every=4, patience=0, rate=3e-3, warm_up=2, weight_decay=0.0, gradient_limit=1.0),
    crops=3, frames=12, start_levels_at=3, held_out=2, epsilon=15.0,
)  # fmt: skip
PAPER = PaperSettings(
    shape=PaperShape(
        channels=2, width=16, decoder_channels=16, codes=(32, 8, 8), dims=4, teacher=6, classifier_layers=1,
        discriminator_channels=2, periods=(2, 3), windows=(256,),
    ),
    plan=replace(PaperSettings().plan, steps=6, validate_every=3, warm_up=1, rate=2e-3),
    crops=3, frames=8,
)  # fmt: skip


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> SpeechStore:
    """Six invented speakers, two utterances each, with random content."""
    folder, rng, items = tmp_path_factory.mktemp("store"), np.random.default_rng(0), []
    for number in range(12):
        frames = 80
        sound = hum(number, duration_s=frames * 0.04, f0_hz=100.0 + 15 * (number // 2)).samples * np.float32(0.3)
        octaves = np.full((frames, grid.SOUNDS), np.log2((100 + 15 * (number // 2)) / grid.MIDDLE_HZ), np.float16)
        path = folder / f"{number}.npz"
        np.savez(
            path,
            audio=(sound * 32767).astype(np.int16).reshape(frames, grid.HOP),
            content=rng.standard_normal((frames, 3, 576)).astype(np.float16),
            prosody=rng.standard_normal((frames, grid.PROSODY)).astype(np.float16),
            mels=rng.standard_normal((frames, 320)).astype(np.float16),
            absolute=rng.standard_normal((frames, grid.ABSOLUTE)).astype(np.float16),
            octaves=octaves,
            voiced=np.ones((frames, grid.SOUNDS), np.bool_),
            vector=rng.normal(0, 1 / 16, 256).astype(np.float32),
        )
        items.append(
            PreparedUtterance(f"u{number}", f"s{number // 2}", "invented", path, "A WORD" if number % 3 else "")
        )
    pack(items, folder / "pack")
    return open_store(folder / "pack")


def wave_crops() -> WaveCrops:
    rng, utterances = np.random.default_rng(0), []
    for number in range(6):
        samples = hum(number, duration_s=0.8, f0_hz=100.0 + 20 * number).samples
        teacher = rng.standard_normal((20, 6), dtype=np.float32)
        utterances.append(WaveUtterance(samples, samples, teacher, number % 3 if number < 4 else -1))
    return WaveCrops(utterances[:5], utterances[5:], PAPER.crops, PAPER.frames, PAPER.labelled, "invented")


def test_a_packed_store_gives_back_what_was_put_in_and_zeros_beyond_the_ends(store: SpeechStore) -> None:
    second = store.utterances[1]
    assert (second.first, second.frames) == (80, 80)
    middle = store.crop("mels", 10, 5, second)
    assert np.array_equal(middle, store.arrays["mels"][90:95])
    ends = store.crop("mels", -2, 84, second)
    assert not ends[:2].any() and not ends[-2:].any()
    assert np.array_equal(ends[2:-2], store.arrays["mels"][80:160])


def test_the_small_codec_learns_one_batch_by_heart(store: SpeechStore) -> None:
    torch.set_num_threads(1)
    task = SmallTask(replace(SMALL, epsilon=0.0, start_levels_at=100), store)
    batch = task.batch(0)
    optimizer = torch.optim.Adam(task.network.parameters(), lr=5e-3)
    first = last = 0.0
    for step in range(60):
        optimizer.zero_grad()
        loss = task.loss(replace(batch, step=step % 12))
        last = task.parts["mel"]
        first = first or last
        loss.backward()
        optimizer.step()
    assert last < 0.4 * first


def test_a_small_training_has_every_loss_on_and_measures_every_level(store: SpeechStore, tmp_path: Path) -> None:
    task = SmallTask(SMALL, store)
    rows = list(loop.train(task, SMALL.plan, tmp_path, fingerprint=task.digest))
    assert rows[-1].step == 12
    expected = {"mel", "compressed", "f0", "voicing", "semantic", "acoustic", "distil", "reading", "classifier"}
    assert set(task.parts) == expected and all(np.isfinite(list(task.parts.values())))
    assert bool(task.network.acoustic.started)
    assert task.measured["levels"] == [1, 2, 3, 6]
    assert [len(task.measured[name]) for name in ("mel", "left", "used", "perplexity")] == [4, 6, 6, 6]
    assert task.aside.isdisjoint(task.crops.speakers)


@pytest.mark.parametrize("front", ["split", "mel"])
def test_a_small_training_that_was_stopped_ends_with_the_same_bits(
    store: SpeechStore, tmp_path: Path, front: str
) -> None:
    settings = replace(SMALL, shape=replace(SMALL.shape, front=front))  # type: ignore[arg-type]
    _same_bits(lambda: SmallTask(settings, store), tmp_path)


def test_the_papers_training_has_every_loss_of_equation_1_on(tmp_path: Path) -> None:
    task = PaperTask(PAPER, wave_crops())
    rows = list(loop.train(task, PAPER.plan, tmp_path, fingerprint=task.digest))
    assert rows[-1].step == 6
    expected = {"mel", "adversarial", "matching", "discriminators", "codebook", "commitment", "distil", "speaker"}
    assert set(task.parts) == expected and all(np.isfinite(list(task.parts.values())))


@pytest.mark.slow
def test_the_papers_training_that_was_stopped_ends_with_the_same_bits(tmp_path: Path) -> None:
    _same_bits(lambda: PaperTask(PAPER, wave_crops()), tmp_path)


@pytest.mark.slow
def test_the_papers_codec_learns_one_batch_by_heart() -> None:
    torch.set_num_threads(1)
    settings = replace(PAPER, epsilon=0.0, shape=replace(PAPER.shape, channels=4, decoder_channels=64))
    task = PaperTask(settings, wave_crops())
    batch = replace(task.batch(0), levels=torch.full((3,), 3))
    optimizer = torch.optim.Adam(task.tensors[n] for n in task.tensors if task.tensors[n].requires_grad)
    for group in optimizer.param_groups:
        group["lr"] = 3e-3
    first = last = 0.0
    for _ in range(40):
        optimizer.zero_grad()
        loss = task.loss(batch)
        last = task.parts["mel"]
        first = first or last
        loss.backward()
        optimizer.step()
    assert last < 0.6 * first


def test_the_second_stage_moves_the_decoder_and_nothing_before_it(tmp_path: Path) -> None:
    utterances = wave_crops().utterances
    doubled = [replace(u, target=np.repeat(u.samples, 3)[::2].astype(np.float32)) for u in utterances]
    crops = replace(wave_crops(), utterances=doubled, kept=doubled)
    shape = replace(PAPER.shape, decoder_strides=(10, 8, 4, 3), rate_hz=24_000)
    task = PaperTask(replace(PAPER, stage=2, shape=shape), crops)
    before = {name: tensor.detach().clone() for name, tensor in task.tensors.items()}
    assert task.network.decoded(torch.zeros(1, 8, 16)).shape == (1, 8 * 960)
    list(loop.train(task, PAPER.plan, tmp_path, fingerprint=task.digest))
    moved = {name for name, tensor in task.tensors.items() if not torch.equal(tensor, before[name])}
    assert moved and all(name.startswith(("network.decoder.", "discriminators.")) for name in moved)


def test_codes_are_restarted_in_the_middle_of_a_training(store: SpeechStore, tmp_path: Path) -> None:
    small, paper = SmallTask(SMALL, store), PaperTask(PAPER, wave_crops())
    books = [small.network.semantic, *paper.network.quantizer.levels]
    for book in books:
        book.patience = 2
        book.idle.fill_(10.0)
    for task in (small, paper):
        before = [book.codes.detach().clone() for book in books]
        loss: Callable[[Any], Any] = task.loss
        loss(task.batch(0)).backward()  # codes are restarted at every twentieth step
        moved = [not torch.equal(book.codes, codes) for book, codes in zip(books, before, strict=True)]
        assert moved == [task is small, *[task is paper] * 3]


def test_a_fifth_of_a_batch_is_labelled_at_least() -> None:
    crops = replace(wave_crops(), size=10, labelled=0.2)
    for step in range(20):
        batch = crops.batch(step, np.random.default_rng(step), dropout=PAPER.dropout, levels=3)
        assert int((batch.speakers[:2] >= 0).sum()) == 2


def _same_bits(new: object, folder: Path) -> None:
    """Train in one go, and with a stop after the first judgement; compare every tensor."""
    whole = new()  # type: ignore[operator]
    plan = whole.settings.plan
    list(loop.train(whole, plan, folder / "whole", fingerprint=whole.digest))
    stopped = new()  # type: ignore[operator]
    rows = loop.train(stopped, plan, folder / "halves", fingerprint=stopped.digest)
    for row in rows:
        if row.step > plan.validate_every:
            break
    rows.close()  # type: ignore[attr-defined]
    resumed = new()  # type: ignore[operator]
    list(loop.train(resumed, plan, folder / "halves", fingerprint=resumed.digest, resume=True))
    for name, tensor in whole.tensors.items():
        assert torch.equal(tensor, resumed.tensors[name]), name
    ends = [checkpoints.load(folder / part / "last.pt", fingerprint=whole.digest) for part in ("whole", "halves")]
    assert ends[0].validations[1:] == ends[1].validations[1:]
