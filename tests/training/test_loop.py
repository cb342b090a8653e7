"""The training loop on a task without speech: it learns, goes on after a stop, ends early, and says what is wrong."""

from __future__ import annotations

import dataclasses
import itertools
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from personare.core.config import load_yaml
from personare.core.errors import ConfigError, OutputError, TrainingError, WeightsError
from personare.core.seeding import Key, rng_for
from personare.training import checkpoints, loop
from personare.training.embedder.settings import EmbedderSettings
from personare.training.plan import TrainingPlan
from personare.training.synthesizer.settings import SynthesizerSettings

torch = pytest.importorskip("torch", reason="needs torch: pip install '.[neural]'")
PLAN = TrainingPlan(steps=60, validate_every=10, patience=0, rate=0.2, warm_up=5)
GOAL = np.array([1.0, -2.0, 0.5], np.float32)


@dataclass(frozen=True, eq=False)
class Line:
    """Find three numbers from noisy products with them; ``measures`` replaces the validation."""

    measures: tuple[float, ...] | None = None
    tensors: dict[str, Any] = field(default_factory=lambda: {"w": torch.zeros(3, requires_grad=True)})
    asked: list[float] = field(default_factory=list)

    def batch(self, step: int) -> Any:
        rng = rng_for(Key.from_seed(1), "line", str(step))
        x = rng.normal(size=(16, 3)).astype(np.float32)
        return x, x @ GOAL + 0.1 * rng.normal(size=16).astype(np.float32)

    def loss(self, batch: Any) -> Any:
        x, y = batch
        return (torch.from_numpy(x) @ self.tensors["w"] - torch.from_numpy(y)).square().mean()

    def validate(self) -> float:
        self.asked.append(0.0)
        if self.measures is not None:
            return self.measures[len(self.asked) - 1]
        return float(np.abs(self.tensors["w"].detach().numpy() - GOAL).max())


def _weights(task: Line) -> bytes:
    return bytes(task.tensors["w"].detach().numpy().tobytes())


def _bits(value: Any) -> Any:
    """Everything in a checkpoint, tensors and numbers as their very bits."""
    if dataclasses.is_dataclass(value):
        return {f.name: _bits(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, dict):
        return {name: _bits(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_bits(part) for part in value]
    if isinstance(value, torch.Tensor):
        return str(value.dtype), tuple(value.shape), value.numpy().tobytes()
    return value.hex() if isinstance(value, float) else value


def test_it_learns_and_the_best_is_kept(tmp_path: Path) -> None:
    task = Line()
    steps = list(loop.train(task, PLAN, tmp_path, fingerprint="m"))
    assert [s.step for s in steps] == list(range(61))
    end = loop.best_of_training(task, tmp_path, fingerprint="m")
    assert [row.step for row in end.validations] == [0, 10, 20, 30, 40, 50, 60]
    assert end.best == min(row.held_out for row in end.validations) < 0.15
    assert end.validations[-1].loss < 0.2 * end.validations[1].loss
    np.testing.assert_allclose(task.tensors["w"].detach().numpy(), GOAL, atol=0.15)


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("stop", [1, 13, 30, 45])
def test_a_stopped_training_ends_like_one_that_was_not(tmp_path: Path, stop: int, workers: int) -> None:
    whole = Line()
    list(loop.train(whole, PLAN, tmp_path / "whole", fingerprint="m"))
    plan = dataclasses.replace(PLAN, workers=workers)
    stopped = loop.train(Line(), plan, tmp_path / "parts", fingerprint="m")
    list(itertools.islice(stopped, stop))
    stopped.close()  # type: ignore[attr-defined]
    again = Line()
    list(loop.train(again, plan, tmp_path / "parts", fingerprint="m", resume=True))
    assert _weights(again) == _weights(whole)
    for name in (checkpoints.LAST, checkpoints.BEST):
        whole_end, parts_end = (checkpoints.load(tmp_path / f / name, fingerprint="m") for f in ("whole", "parts"))
        assert _bits(whole_end) == _bits(parts_end), f"{name} differs"


def test_it_ends_early_and_keeps_the_best_of_before(tmp_path: Path) -> None:
    task = Line(measures=(0.9, 0.5, 0.6, 0.5, 0.7, 0.1))
    steps = list(loop.train(task, dataclasses.replace(PLAN, patience=2), tmp_path, fingerprint="m"))
    assert steps[-1].step == 30
    after = _weights(task)
    end = loop.best_of_training(task, tmp_path, fingerprint="m")
    assert (end.best, end.since_best, end.step) == (0.5, 2, 30)
    assert _weights(task) != after, "the best weights are those of step 10"
    assert list(loop.train(Line(), dataclasses.replace(PLAN, patience=2), tmp_path, fingerprint="m", resume=True)) == []


def test_a_full_folder_and_a_foreign_checkpoint_are_refused(tmp_path: Path) -> None:
    list(loop.train(Line(), dataclasses.replace(PLAN, steps=5), tmp_path, fingerprint="m"))
    with pytest.raises(OutputError, match="--resume"):
        list(loop.train(Line(), PLAN, tmp_path, fingerprint="m"))
    with pytest.raises(ConfigError, match="another configuration"):
        list(loop.train(Line(), PLAN, tmp_path, fingerprint="other", resume=True))
    (tmp_path / checkpoints.LAST).write_bytes(b"no checkpoint")
    with pytest.raises(WeightsError, match="not a readable checkpoint"):
        list(loop.train(Line(), PLAN, tmp_path, fingerprint="m", resume=True))


def test_a_checkpoint_cannot_run_anything(tmp_path: Path) -> None:
    class Evil:
        def __reduce__(self) -> Any:
            return (Path.touch, (tmp_path / "ran",))

    torch.save({"mark": Evil()}, tmp_path / checkpoints.LAST)
    with pytest.raises(WeightsError, match="not a readable checkpoint"):
        checkpoints.load(tmp_path / checkpoints.LAST, fingerprint="m")
    assert not (tmp_path / "ran").exists()


def test_a_loss_that_is_no_number_ends_it(tmp_path: Path) -> None:
    task = Line(tensors={"w": torch.full((3,), 1e30, requires_grad=True)})
    with pytest.raises(TrainingError, match="loss is inf at step 1; lower 'rate'"):
        list(loop.train(task, PLAN, tmp_path, fingerprint="m"))
    with pytest.raises(TrainingError, match="validation gives nan"):
        list(loop.train(Line(measures=(float("nan"),)), PLAN, tmp_path / "n", fingerprint="m"))


def test_torch_is_left_as_it_was(tmp_path: Path) -> None:
    before = torch.get_num_threads(), torch.are_deterministic_algorithms_enabled()
    list(loop.train(Line(), dataclasses.replace(PLAN, steps=2, threads=before[0] + 1), tmp_path, fingerprint="m"))
    assert (torch.get_num_threads(), torch.are_deterministic_algorithms_enabled()) == before


@pytest.mark.parametrize(
    ("wrong", "line"),
    [
        ({"steps": 0}, "steps must be at least 1"),
        ({"patience": -1}, "patience must not be negative"),
        ({"rate": 1e-6}, "lowest_rate <= rate"),
        ({"gradient_limit": 0.0}, "gradient_limit must be above 0"),
    ],
)
def test_impossible_plans(wrong: dict[str, Any], line: str) -> None:
    with pytest.raises(ConfigError, match=line):
        TrainingPlan(**wrong)


def test_a_checkpoint_has_the_keys_every_version_has_written(tmp_path: Path) -> None:
    """Files of earlier versions, whose keys these are, are read; ours can be read by them."""
    plain = {
        "mark": "m",
        "step": 3,
        "tensors": {"w": torch.ones(3)},
        "optimizer": {},
        "best": 0.5,
        "since": 1,
        "rows": [(0, float("nan"), 0.5, 0.1), (3, 0.7, 0.6, 0.1)],
    }
    torch.save(plain, tmp_path / "old.pt")
    state = checkpoints.load(tmp_path / "old.pt", fingerprint="m")
    assert (state.step, state.best, state.since_best, state.validations[1].held_out) == (3, 0.5, 1, 0.6)
    checkpoints.save(state, tmp_path / "new.pt")
    assert _bits(torch.load(tmp_path / "new.pt", weights_only=True)) == _bits(plain)


@pytest.mark.parametrize(
    ("kind", "text", "line"),
    [
        (TrainingPlan, "judge_every: 5", "the key 'judge_every' is called 'validate_every' now; write that"),
        (SynthesizerSettings, "contest_from: 0.5", "the key 'contest_from' is called 'discriminator_from' now"),
        (EmbedderSettings, "plan: {judge_every: 5}", "plan: the key 'judge_every' is called 'validate_every' now"),
    ],
)
def test_a_renamed_key_says_its_new_name(kind: Any, text: str, line: str, tmp_path: Path) -> None:
    (tmp_path / "settings.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match=line):
        load_yaml(kind, tmp_path / "settings.yaml")
