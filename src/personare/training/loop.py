"""The one training loop: step through batches, validate on held-out speech, keep the best, stop when it gets no better.

It knows nothing of speech. Every batch is a function of its step alone, so a training that was stopped continues from
its last checkpoint and ends with the very same numbers as one that was not (same machine, same number of threads).
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar

from personare.core.errors import OutputError, TrainingError
from personare.training import checkpoints, parallel
from personare.training.checkpoints import BEST, LAST, Checkpoint, Validation
from personare.training.plan import TrainingPlan
from personare.training.torch_extra import repeatable, torch_for

Batch = TypeVar("Batch")


class Task(Protocol):
    """What is trained: named tensors, batches, a loss, and a measure on held-out examples (lower is better)."""

    @property
    def tensors(self) -> dict[str, Any]:
        """Every tensor by name; those that require a gradient are trained."""
        ...

    def batch(self, step: int) -> Any:
        """Make the batch of a step; must depend on nothing but the step, and may run on another thread."""
        ...

    def loss(self, batch: Any) -> Any:
        """Compute the loss of a batch, as a tensor."""
        ...

    def validate(self) -> float:
        """Measure the network as it is on held-out examples."""
        ...


@dataclass(frozen=True)
class TrainingStep:
    """So many steps are done; ``held_out`` is the validation after them, if there was one, ``best`` whether it is best.

    ``loss`` is that of the step, or, with a validation, the mean since the last one (NaN before the first step).
    """

    step: int
    loss: float
    rate: float
    held_out: float | None = None
    best: bool = False


def train(
    task: Task, plan: TrainingPlan, folder: Path, *, fingerprint: str, resume: bool = False
) -> Iterator[TrainingStep]:
    """Train; yields after every step. The folder holds last.pt (to continue from) and best.pt (the result).

    ``fingerprint`` names everything the result depends on; continuing with another one is refused. Close the iterator,
    or let it end, before the tensors are used.
    """
    if (folder / LAST).exists() and not resume:
        raise OutputError(f"{folder}: holds a training already; go on with --resume, or choose a new folder")
    trained, optimizer, state = _start(task, plan, folder, fingerprint)
    with repeatable(threads=plan.threads, device=plan.device):
        yield from _steps(task, plan, folder, state, optimizer, trained)


def train_worker(task: Task, plan: TrainingPlan, folder: Path, *, fingerprint: str) -> None:
    """Train beside the process that calls ``train``: the same steps from the same beginning, without validations."""
    trained, optimizer, state = _start(task, plan, folder, fingerprint)
    steps = range(state.step, plan.steps)
    with repeatable(threads=plan.threads, device=plan.device):
        for step, batch in zip(steps, prefetched(task.batch, steps, workers=plan.workers), strict=False):
            _step(task, batch, optimizer, trained, rate=plan.rate_at(step), plan=plan, step=step)


def best_of_training(task: Task, folder: Path, *, fingerprint: str) -> Checkpoint:
    """Put the best tensors of a finished training into the task; gives the checkpoint of its end."""
    best = checkpoints.load(folder / BEST, fingerprint=fingerprint)
    checkpoints.fill(task.tensors, best.tensors, where=str(folder / BEST))
    return checkpoints.load(folder / LAST, fingerprint=fingerprint)


def prefetched(make: Callable[[int], Batch], steps: range, *, workers: int) -> Iterator[Batch]:
    """Yield ``make(step)`` for every step, in order; ``workers`` threads make up to twice their number in advance.

    >>> list(prefetched(lambda step: step * step, range(2, 5), workers=2))
    [4, 9, 16]
    """
    if workers < 1:
        yield from map(make, steps)
        return
    pending: deque[Future[Batch]] = deque()
    with ThreadPoolExecutor(workers) as pool:
        try:
            for step in steps:
                pending.append(pool.submit(make, step))
                if len(pending) > 2 * workers:
                    yield pending.popleft().result()
            while pending:
                yield pending.popleft().result()
        finally:
            for future in pending:
                future.cancel()


def _start(task: Task, plan: TrainingPlan, folder: Path, fingerprint: str) -> tuple[list[Any], Any, Checkpoint]:
    """Give the trained tensors, the optimizer and the state to continue from: the last checkpoint, or a new one."""
    torch = torch_for("training a network")
    trained = [tensor for tensor in task.tensors.values() if tensor.requires_grad]
    optimizer = torch.optim.Adam(trained, lr=plan.rate, weight_decay=plan.weight_decay, foreach=False)
    state = Checkpoint(fingerprint, 0, task.tensors, {})
    if (folder / LAST).exists():
        state = checkpoints.load(folder / LAST, fingerprint=fingerprint)
        checkpoints.fill(task.tensors, state.tensors, where=str(folder / LAST))
        optimizer.load_state_dict(state.optimizer)
    return trained, optimizer, state


def _steps(
    task: Task, plan: TrainingPlan, folder: Path, state: Checkpoint, optimizer: Any, trained: list[Any]
) -> Iterator[TrainingStep]:
    if not state.validations:
        state = _validated(task, folder, state, optimizer, 0, float("nan"), plan.rate_at(0))
        yield _last_validation(state)
    losses: list[float] = []
    steps = range(state.step, plan.steps)
    for step, batch in zip(steps, prefetched(task.batch, steps, workers=plan.workers), strict=False):
        if plan.patience and state.since_best >= plan.patience:
            return
        rate = plan.rate_at(step)
        losses.append(_step(task, batch, optimizer, trained, rate=rate, plan=plan, step=step))
        done = step + 1
        if done % plan.validate_every and done != plan.steps:
            yield TrainingStep(done, losses[-1], rate)
            continue
        state = _validated(task, folder, state, optimizer, done, sum(losses) / len(losses), rate)
        losses.clear()
        yield _last_validation(state)


def _last_validation(state: Checkpoint) -> TrainingStep:
    last = state.validations[-1]
    return TrainingStep(last.step, last.loss, last.rate, last.held_out, state.since_best == 0)


def _step(
    task: Task, batch: Any, optimizer: Any, trained: list[Any], *, rate: float, plan: TrainingPlan, step: int
) -> float:
    """Do one step of Adam; gives the loss before it."""
    torch = torch_for("training a network")
    for group in optimizer.param_groups:
        group["lr"] = rate
    optimizer.zero_grad(set_to_none=True)
    loss = task.loss(batch)
    value = float(loss.detach())
    if not math.isfinite(value):
        raise TrainingError(f"the loss is {value} at step {step + 1}; lower 'rate' and begin anew")
    loss.backward()
    parallel.average_gradients(trained)
    torch.nn.utils.clip_grad_norm_(trained, plan.gradient_limit, foreach=False)
    optimizer.step()
    return value


def _validated(
    task: Task, folder: Path, before: Checkpoint, optimizer: Any, step: int, loss: float, rate: float
) -> Checkpoint:
    """Validate and write a checkpoint; the best first, so that last.pt never names a best that is not there."""
    held_out = task.validate()
    if not math.isfinite(held_out):
        raise TrainingError(f"the validation gives {held_out} after step {step}; lower 'rate' and begin anew")
    better = held_out < before.best
    state = Checkpoint(
        before.fingerprint,
        step,
        task.tensors,
        optimizer.state_dict(),
        held_out if better else before.best,
        0 if better else before.since_best + 1,
        [*before.validations, Validation(step, loss, held_out, rate)],
    )
    if better:
        checkpoints.save(state, folder / BEST)
    checkpoints.save(state, folder / LAST)
    return state
