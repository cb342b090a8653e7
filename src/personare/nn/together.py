"""Several processes that learn one network: each sees its own batches, and their gradients are averaged.

Two processes of one thread learn faster than one process of two threads. All begin with the same tensors and take the
same averaged steps, so they stay alike; the first alone judges and writes checkpoints. They meet on this machine only.
"""

from __future__ import annotations

import contextlib
import datetime
import multiprocessing
import os
import socket
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from personare.nn.torch_extra import torch_for

_PATIENCE = datetime.timedelta(hours=2)  # a judgement of the first may take long; the others wait for it


def average(learnt: list[Any]) -> None:
    """Average the gradients over the processes that learn together; alone, nothing changes."""
    distributed = torch_for("training a network").distributed
    if not (distributed.is_available() and distributed.is_initialized()):
        return
    torch = torch_for("training a network")
    with torch.no_grad():
        flat = torch.cat([_gradient(tensor).reshape(-1) for tensor in learnt])
        distributed.all_reduce(flat)
        flat /= distributed.get_world_size()
        first = 0
        for tensor in learnt:
            tensor.grad = flat[first : first + tensor.numel()].reshape(tensor.shape).clone()
            first += tensor.numel()


def _gradient(tensor: Any) -> Any:
    torch = torch_for("training a network")
    return torch.zeros_like(tensor) if tensor.grad is None else tensor.grad


@contextlib.contextmanager
def helped(processes: int, follow: Callable[[int], None]) -> Iterator[None]:
    """Run ``follow(rank)`` in ``processes - 1`` other processes and meet them; ``follow`` must be picklable."""
    if processes < 2:
        yield
        return
    context = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as place:
        meeting = Path(place) / "meeting"
        others = [
            context.Process(target=_other, args=(follow, rank, processes, meeting), daemon=True)
            for rank in range(1, processes)
        ]
        for other in others:
            other.start()
        try:
            _meet(meeting, 0, processes)
            yield
        finally:
            _part()
            for other in others:
                other.join(timeout=5)
                if other.is_alive():
                    other.terminate()


def _other(follow: Callable[[int], None], rank: int, processes: int, meeting: Path) -> None:
    _meet(meeting, rank, processes)
    try:
        follow(rank)
    finally:
        _part()


def _meet(meeting: Path, rank: int, processes: int) -> None:
    if "lo" in (name for _, name in socket.if_nameindex()):
        os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")  # never listen to another machine
    distributed = torch_for("training a network").distributed
    distributed.init_process_group(
        "gloo", init_method=meeting.as_uri(), rank=rank, world_size=processes, timeout=_PATIENCE
    )


def _part() -> None:
    distributed = torch_for("training a network").distributed
    if distributed.is_initialized():
        distributed.destroy_process_group()
