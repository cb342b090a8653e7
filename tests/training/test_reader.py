"""The reader's training: it learns what symbols and readers tell, resumes with the same bits, and is exported."""

from __future__ import annotations

import contextlib
import dataclasses
import io
from collections.abc import Generator
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from numpy.typing import NDArray

torch = pytest.importorskip("torch", reason="needs torch: pip install '.[neural]'")

from personare.core.errors import ConfigError, TrainingError  # noqa: E402 - after the skip
from personare.core.sessions import open_session  # noqa: E402
from personare.encoders.grid import WIDTH  # noqa: E402
from personare.encoders.reading import READER_SHARE, ContentReader, frame_total, one_hot, within_symbols  # noqa: E402
from personare.training import loop  # noqa: E402
from personare.training.plan import TrainingPlan  # noqa: E402
from personare.training.reader.run import ReaderTrainingRun, export_reader, hold_out, load  # noqa: E402
from personare.training.reader.settings import ReaderSettings  # noqa: E402
from personare.training.reader.start import EarlierReader  # noqa: E402
from personare.training.reader.task import TEXT, ReaderTask, part  # noqa: E402
from personare.training.synthesizer import network  # noqa: E402
from personare.training.synthesizer.features import save  # noqa: E402

SYMBOLS, READERS = 6, 3
TINY = ReaderSettings(
    plan=TrainingPlan(steps=150, validate_every=75, patience=0, rate=2e-2, warm_up=2, weight_decay=0.0),
    **{"width": 24, "text_blocks": 1, "speech_blocks": 1, "text_reach": 1, "speech_reach": 1},
    **{"states": 8, "batch": 8, "alike": 12, "processes": 1, "held_out": 4},
)
_SOUNDS = np.random.default_rng(1).standard_normal((SYMBOLS, WIDTH))
_MANNERS = np.random.default_rng(2).standard_normal((READERS, WIDTH))


def spoken(numbers: NDArray[np.int16], reader: int) -> tuple[NDArray[np.int16], NDArray[np.float32]]:
    """Durations and content as fixed functions of symbol and reader."""
    durations = (2 + numbers + reader).astype(np.int16)
    lasts = durations.astype(np.float64)
    content = _SOUNDS[numbers[within_symbols(lasts, frame_total(lasts))[0]]] + 0.5 * _MANNERS[reader]
    return durations, content.astype(np.float32)


def arrays(seed: int, *, count: int | None = None) -> dict[str, NDArray[Any]]:
    rng = np.random.default_rng(seed)
    inner = rng.integers(1, SYMBOLS, count or rng.integers(4, 9))
    numbers, reader = np.array([0, *inner, 0], np.int16), int(rng.integers(READERS))
    durations, content = spoken(numbers, reader)
    named = {"numbers": numbers, "durations": durations, "content": content.astype(np.float16)}
    return {**named, "reader": np.array(reader), "text": np.array(f"text {seed}")}


@pytest.fixture
def paths(tmp_path: Path) -> list[Path]:
    made = [tmp_path / "readings" / f"{seed}.npz" for seed in range(28)]
    for seed, path in enumerate(made):
        save(arrays(seed), path)
    return made


@pytest.fixture
def run(paths: list[Path]) -> ReaderTrainingRun:
    return hold_out(paths, TINY, symbols=SYMBOLS, readers=READERS)


@pytest.fixture
def two(tmp_path: Path, run: ReaderTrainingRun) -> tuple[ReaderTask, Any, Any]:
    """A task whose networks are not new any more, a short sentence and a long one."""
    task, generator = run.task(), torch.Generator().manual_seed(1)
    with torch.no_grad():
        for tensor in task.tensors.values():
            tensor += 0.1 * torch.randn(tensor.shape, generator=generator)
    for count in (4, 12):
        save(arrays(count, count=count), tmp_path / f"{count}.npz")
    return task, load(tmp_path / "4.npz"), load(tmp_path / "12.npz")


def test_no_sentence_is_on_both_sides_and_none_is_lost(paths: list[Path], run: ReaderTrainingRun) -> None:
    assert len(run.held_out) == TINY.held_out
    assert set(run.held_out).isdisjoint(run.readings)
    assert sorted([*run.held_out, *run.readings]) == sorted(paths)
    again = hold_out(paths[::-1], TINY, symbols=SYMBOLS, readers=READERS)
    assert again == run
    other = hold_out(paths, dataclasses.replace(TINY, seed=2), symbols=SYMBOLS, readers=READERS)
    assert set(other.held_out) != set(run.held_out)
    fewer = hold_out(paths[:-1], TINY, symbols=SYMBOLS, readers=READERS)
    assert len({one.fingerprint for one in (run, other, fewer, dataclasses.replace(run, readers=4))}) == 4


def test_it_learns_and_its_graphs_read_as_it_does(run: ReaderTrainingRun, tmp_path: Path) -> None:
    task = run.task()
    before = task.held_out_measures()
    for _ in run.train(task, tmp_path / "training"):
        pass
    after = task.held_out_measures()
    nobodys = 0.25 * np.square(_MANNERS - _MANNERS.mean(axis=0)).mean()  # what would be left without the reader
    assert task.validate() == after["content_distance"] < 0.8 * nobodys < 0.2 * before["content_distance"]
    assert 1 <= after["duration_factor"] < 1.1 < before["duration_factor"]
    text, speech, difference = export_reader(task)
    assert difference < 2e-2
    reader = ContentReader(open_session(text), open_session(speech), symbols=SYMBOLS, readers=READERS)
    for number in range(READERS):
        numbers = np.array([0, 4, 2, 5, 1, 0], np.int16)
        content, (durations, expected) = reader(numbers.tolist(), reader=number), spoken(numbers, number)
        cut = round(2 * max(durations[0] - 2, 0) * 400 / 384)
        assert len(content) == pytest.approx(len(expected) - cut, abs=3)
        middle = expected[within_symbols(durations.astype(float), len(expected))[0] == 3]
        assert np.square(content[:, None] - middle[0]).mean(axis=2).min() < 0.2 * np.square(middle).mean()


def test_a_symbol_that_it_does_not_know_is_refused(run: ReaderTrainingRun) -> None:
    text, speech, _ = export_reader(run.task())
    reader = ContentReader(open_session(text), open_session(speech), symbols=SYMBOLS, readers=READERS)
    assert len(reader([0, SYMBOLS - 1, 0], reader=0))
    with pytest.raises(ConfigError, match=f"knows the symbols 0 to {SYMBOLS - 1}, not {SYMBOLS}"):
        reader([0, SYMBOLS, 0], reader=0)


@pytest.mark.parametrize("eight_bit", [False, True])
def test_it_can_begin_with_an_earlier_reader_of_fewer_symbols(
    eight_bit: bool, run: ReaderTrainingRun, tmp_path: Path
) -> None:
    """Known symbols keep their weights, new ones begin as the mean of similar ones, readers as the mean of all."""
    for _ in run.train(earlier := run.task(), tmp_path / "earlier"):
        pass
    text, speech, _ = export_reader(earlier, eight_bit=eight_bit)
    similar = {SYMBOLS: (1, 2), SYMBOLS + 1: (4,)}
    start = EarlierReader(text, speech, SYMBOLS, READERS, similar)
    further = dataclasses.replace(run, symbols=SYMBOLS + 2, readers=READERS + 2, start=start)
    before, after = earlier.tensors, further.task().tensors
    assert set(after) == set(before)
    rows, weight = after[f"{TEXT}content.weight"], before[f"{TEXT}content.weight"]
    near = 2e-2 if eight_bit else 2e-3
    np.testing.assert_allclose(rows[:SYMBOLS].detach(), weight.detach(), atol=near)
    np.testing.assert_allclose(rows[SYMBOLS].detach(), weight[1:3].mean(dim=0).detach(), atol=near)
    np.testing.assert_allclose(rows[SYMBOLS + 1].detach(), weight[4].detach(), atol=near)
    mean = before[f"{TEXT}voice.weight"].mean(dim=0).detach()
    assert all(np.allclose(row, mean, atol=near) for row in after[f"{TEXT}voice.weight"].detach())
    assert len(after[f"{TEXT}voice.weight"]) == READERS + 2
    assert further.fingerprint != dataclasses.replace(further, start=None).fingerprint
    with pytest.raises(TrainingError, match=f"symbol {SYMBOLS + 1} is new to the earlier reader"):
        dataclasses.replace(further, start=dataclasses.replace(start, similar={SYMBOLS: (1,)})).task()
    with pytest.raises(TrainingError, match=f"knows {SYMBOLS} symbols, more than the 3 of this training"):
        dataclasses.replace(further, symbols=3).task()


def test_its_graphs_equal_its_networks(two: tuple[ReaderTask, Any, Any]) -> None:
    task, short, _ = two
    text, speech, difference = export_reader(task)
    batch = task.arrays([short])
    with torch.no_grad():
        durations, content = task.predict(batch)
    voice = (READER_SHARE * one_hot([short.reader], READERS)).astype(np.float32)
    given = open_session(text).run(None, {"content": one_hot(short.numbers.tolist(), SYMBOLS)[None], "voice": voice})[0]
    np.testing.assert_allclose(given[..., 0], durations.numpy(), atol=1e-2)
    symbols, places = within_symbols(short.durations.astype(np.float64), len(short.content))
    states = np.concatenate([given[0][symbols, 1:], places], axis=1).astype(np.float32)
    read = open_session(speech).run(None, {"content": states[None], "voice": voice})[0]
    np.testing.assert_allclose(read, content.numpy(), atol=3e-2)
    assert 0 < difference < 1e-2
    levels = network.band_levels(part(task.tensors, TEXT), batch["symbols"], None, batch["reader"], blocks=1)
    assert levels.shape == (1, len(short.numbers), 1 + TINY.states)


def test_stopped_and_resumed_it_ends_with_the_same_bits(run: ReaderTrainingRun, tmp_path: Path) -> None:
    plan = dataclasses.replace(TINY.plan, steps=6, validate_every=3)
    short = dataclasses.replace(run, settings=dataclasses.replace(TINY, plan=plan))
    for _ in short.train(whole := short.task(), tmp_path / "whole"):
        pass
    steps = cast(Generator[loop.TrainingStep], short.train(short.task(), tmp_path / "parts"))
    with contextlib.closing(steps) as stopped:
        assert next(step.step for step in stopped if step.step == 4)
    for _ in short.train(again := short.task(), tmp_path / "parts", resume=True):
        pass
    assert export_reader(again) == export_reader(whole)
    assert export_reader(again)[:2] != export_reader(short.task())[:2]


def test_batches_are_of_about_one_length_and_other_processes_get_others(run: ReaderTrainingRun) -> None:
    task = run.task()
    lengths = sorted(len(reading.content) for reading in task.readings)
    widest = max(last - first for first, last in zip(lengths, lengths[TINY.alike - 1 :], strict=False))
    for step in range(8):
        batch = task.batch(step)
        frames = batch["there"].sum(dim=1)
        assert len(frames) == TINY.batch
        assert float(frames.max() - frames.min()) <= widest
        assert all(torch.equal(batch[name], values) for name, values in task.batch(step).items())
    first, second = (run.task(rank).batch(0)["symbols"] for rank in (0, 1))
    assert first.shape != second.shape or not torch.equal(first, second)


def test_what_fills_a_sentence_up_has_no_weight_in_the_loss(two: tuple[ReaderTask, Any, Any]) -> None:
    task, short, long = two
    batch = task.arrays([short, long])
    with torch.no_grad():
        loss = float(task.loss(batch))
        batch["content"][0, len(short.content) :] = 99
        batch["durations"][0, len(short.numbers) :] = 99
        assert float(task.loss(batch)) == loss


def test_filling_a_sentence_up_does_not_change_what_is_predicted(two: tuple[ReaderTask, Any, Any]) -> None:
    """Beside a longer sentence, a sentence has the durations, content and loss that it has alone."""
    task, short, long = two
    with torch.no_grad():
        durations, content = task.predict(task.arrays([short]))
        filled_durations, filled_content = task.predict(task.arrays([short, long]))
        np.testing.assert_allclose(filled_durations[:1, : len(short.numbers)], durations, atol=1e-5)
        np.testing.assert_allclose(filled_content[:1, : len(short.content)], content, atol=1e-5)
        weights = [(len(one.content), len(one.numbers)) for one in (short, long)]
        alone = [_parts(task, one) for one in (short, long)]
        apart, lasts = (np.average([of[k] for of in alone], weights=[of[k] for of in weights]) for k in (0, 1))
        both = float(task.loss(task.arrays([short, long])))
    assert both == pytest.approx(apart + TINY.duration_weight * lasts, rel=1e-4)


def _parts(task: ReaderTask, reading: Any) -> tuple[float, float]:
    """The losses of content and of durations of one sentence alone."""
    content_only = dataclasses.replace(task, settings=dataclasses.replace(task.settings, duration_weight=0.0))
    batch = task.arrays([reading])
    apart = float(content_only.loss(batch))
    return apart, (float(task.loss(batch)) - apart) / task.settings.duration_weight


def _bytes(made: dict[str, NDArray[Any]]) -> bytes:
    stream = io.BytesIO()
    np.savez(stream, **made)  # type: ignore[arg-type]  # numpy's stub takes the names for its own options
    return stream.getvalue()


def _array() -> bytes:
    stream = io.BytesIO()
    np.save(stream, np.zeros(3))
    return stream.getvalue()


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"half a file",
        _bytes(arrays(0))[:-100],
        _bytes({"numbers": np.zeros(3)}),
        _bytes({**arrays(0), "reader": np.zeros(2)}),
        _array(),
    ],
    ids=["empty", "no archive", "cut off", "something missing", "two readers", "one array"],
)
def test_a_broken_reading_is_one_line(content: bytes, run: ReaderTrainingRun) -> None:
    path = run.readings[3]
    path.write_bytes(content)
    with pytest.raises(TrainingError, match=f"{path.name}: no reading .*; remove it and begin anew") as refused:
        run.task()
    assert "\n" not in str(refused.value)


def test_wrong_settings_and_too_few_sentences_are_one_line(paths: list[Path]) -> None:
    with pytest.raises(TrainingError, match="23 sentences were read; the reader needs at least 24 to be trained"):
        hold_out(paths[:23], TINY, symbols=SYMBOLS, readers=READERS)
    assert len(hold_out(paths[:24], TINY, symbols=SYMBOLS, readers=READERS).readings) == 20
    with pytest.raises(ConfigError, match="width must be at least 1, not 0"):
        ReaderSettings(width=0)
    with pytest.raises(ConfigError, match="alike must be at least the batch of 16, not 4"):
        ReaderSettings(alike=4)
    with pytest.raises(ConfigError, match="duration_weight must not be negative"):
        ReaderSettings(duration_weight=-1)
