"""The one training loop: learn from batches, be judged on what was held out, keep the best, end when it gets no better.

It knows nothing of speech. Every batch is a function of its step alone, so a training that was stopped goes on from its
last checkpoint and ends with the very same numbers as one that was not (same machine, same number of threads).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from personare.core.errors import OutputError, TrainingError
from personare.nn import checkpoints, together
from personare.nn.ahead import ahead
from personare.nn.checkpoints import BEST, LAST, Moment
from personare.nn.plan import Plan
from personare.nn.torch_extra import repeatable, torch_for


class Task(Protocol):
    """What is learnt: named tensors, batches, a loss, and a judgement on held-out examples (lower is better)."""

    @property
    def tensors(self) -> dict[str, Any]:
        """Every tensor by name; those that require a gradient are learnt."""
        ...

    def batch(self, step: int) -> Any:
        """Make the batch of a step; must depend on nothing but the step, and may run on another thread."""
        ...

    def loss(self, batch: Any) -> Any:
        """Compute the loss of a batch, as a tensor."""
        ...

    def judge(self) -> float:
        """Judge the network as it is."""
        ...


@dataclass(frozen=True)
class Learnt:
    """So many steps are done; ``held_out`` is the judgement after them, if there was one, ``best`` whether it is best.

    ``loss`` is that of the step, or, with a judgement, the mean since the last one (NaN before the first step).
    """

    step: int
    loss: float
    rate: float
    held_out: float | None = None
    best: bool = False


def train(task: Task, plan: Plan, folder: Path, *, mark: str, resume: bool = False) -> Iterator[Learnt]:
    """Learn; yields one ``Learnt`` per step. The folder holds last.pt (to go on from) and best.pt (the result).

    ``mark`` names everything the result depends on; going on with another mark is refused. Close the iterator, or let
    it end, before the tensors are used.
    """
    if (folder / LAST).exists() and not resume:
        raise OutputError(f"{folder}: holds a training already; go on with --resume, or choose a new folder")
    learnt, optimizer, moment = _begun(task, plan, folder, mark)
    with repeatable(threads=plan.threads, device=plan.device):
        yield from _steps(task, plan, folder, moment, optimizer, learnt)


def follow(task: Task, plan: Plan, folder: Path, *, mark: str) -> None:
    """Learn beside the process that calls ``train``: the same steps from the same beginning, without judgements."""
    learnt, optimizer, moment = _begun(task, plan, folder, mark)
    todo = range(moment.step, plan.steps)
    with repeatable(threads=plan.threads, device=plan.device):
        for step, batch in zip(todo, ahead(task.batch, todo, workers=plan.workers), strict=False):
            _learn(task, batch, optimizer, learnt, rate=plan.rate_at(step), plan=plan, step=step)


def _begun(task: Task, plan: Plan, folder: Path, mark: str) -> tuple[list[Any], Any, Moment]:
    """Give the learnt tensors, the optimizer and the moment to go on from: the last checkpoint, or the beginning."""
    torch = torch_for("training a network")
    learnt = [tensor for tensor in task.tensors.values() if tensor.requires_grad]
    optimizer = torch.optim.Adam(learnt, lr=plan.rate, weight_decay=plan.weight_decay, foreach=False)
    moment = Moment(mark, 0, task.tensors, {})
    if (folder / LAST).exists():
        moment = checkpoints.load(folder / LAST, mark=mark)
        checkpoints.fill(task.tensors, moment.tensors, where=str(folder / LAST))
        optimizer.load_state_dict(moment.optimizer)
    return learnt, optimizer, moment


def result(task: Task, folder: Path, *, mark: str) -> Moment:
    """Put the best tensors of a finished training into the task; gives the moment of its end."""
    best = checkpoints.load(folder / BEST, mark=mark)
    checkpoints.fill(task.tensors, best.tensors, where=str(folder / BEST))
    return checkpoints.load(folder / LAST, mark=mark)


def _steps(task: Task, plan: Plan, folder: Path, moment: Moment, optimizer: Any, learnt: list[Any]) -> Iterator[Learnt]:
    if not moment.rows:
        moment = _judged(task, folder, moment, optimizer, 0, float("nan"), plan.rate_at(0))
        yield _told(moment)
    losses: list[float] = []
    todo = range(moment.step, plan.steps)
    for step, batch in zip(todo, ahead(task.batch, todo, workers=plan.workers), strict=False):
        if plan.patience and moment.since >= plan.patience:
            return
        rate = plan.rate_at(step)
        losses.append(_learn(task, batch, optimizer, learnt, rate=rate, plan=plan, step=step))
        done = step + 1
        if done % plan.judge_every and done != plan.steps:
            yield Learnt(done, losses[-1], rate)
            continue
        moment = _judged(task, folder, moment, optimizer, done, sum(losses) / len(losses), rate)
        losses.clear()
        yield _told(moment)


def _told(moment: Moment) -> Learnt:
    step, loss, held_out, rate = moment.rows[-1]
    return Learnt(step, loss, rate, held_out, moment.since == 0)


def _learn(task: Task, batch: Any, optimizer: Any, learnt: list[Any], *, rate: float, plan: Plan, step: int) -> float:
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
    together.average(learnt)
    torch.nn.utils.clip_grad_norm_(learnt, plan.gradient_limit, foreach=False)
    optimizer.step()
    return value


def _judged(task: Task, folder: Path, before: Moment, optimizer: Any, step: int, loss: float, rate: float) -> Moment:
    """Judge and write a checkpoint; the best first, so that last.pt never speaks of a best that is not there."""
    held_out = task.judge()
    if not math.isfinite(held_out):
        raise TrainingError(f"the judgement is {held_out} after step {step}; lower 'rate' and begin anew")
    better = held_out < before.best
    moment = Moment(
        before.mark,
        step,
        task.tensors,
        optimizer.state_dict(),
        held_out if better else before.best,
        0 if better else before.since + 1,
        [*before.rows, (step, loss, held_out, rate)],
    )
    if better:
        checkpoints.save(moment, folder / BEST)
    checkpoints.save(moment, folder / LAST)
    return moment
