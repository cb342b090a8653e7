"""Several processes that train one network: each sees its own batches, and their gradients are averaged.

Two processes of one thread train faster than one process of two threads. All begin with the same tensors and take the
same averaged steps, so they stay alike; the first alone validates and writes checkpoints. They connect on this machine
only.
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

from personare.core.processes import inherited_variables
from personare.training.torch_extra import torch_for

_TIMEOUT = datetime.timedelta(hours=2)  # a validation by the first may take long; the others wait for it


def average_gradients(trained: list[Any]) -> None:
    """Average the gradients over the processes that train together; alone, nothing changes."""
    distributed = torch_for("training a network").distributed
    if not (distributed.is_available() and distributed.is_initialized()):
        return
    torch = torch_for("training a network")
    with torch.no_grad():
        flat = torch.cat([_gradient(tensor).reshape(-1) for tensor in trained])
        distributed.all_reduce(flat)
        flat /= distributed.get_world_size()
        first = 0
        for tensor in trained:
            tensor.grad = flat[first : first + tensor.numel()].reshape(tensor.shape).clone()
            first += tensor.numel()


def _gradient(tensor: Any) -> Any:
    torch = torch_for("training a network")
    return torch.zeros_like(tensor) if tensor.grad is None else tensor.grad


@contextlib.contextmanager
def worker_processes(processes: int, work: Callable[[int], None]) -> Iterator[None]:
    """Run ``work(rank)`` in ``processes - 1`` other processes, connected with this one; it must be picklable."""
    if processes < 2:
        yield
        return
    context = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as folder:
        rendezvous = Path(folder) / "rendezvous"
        workers = [
            context.Process(target=_worker, args=(work, rank, processes, rendezvous), daemon=True)
            for rank in range(1, processes)
        ]
        with inherited_variables():
            for worker in workers:
                worker.start()
        try:
            _connect(rendezvous, 0, processes)
            yield
        finally:
            _disconnect()
            for worker in workers:
                worker.join(timeout=5)
                if worker.is_alive():
                    worker.terminate()


def _worker(work: Callable[[int], None], rank: int, processes: int, rendezvous: Path) -> None:
    _connect(rendezvous, rank, processes)
    try:
        work(rank)
    finally:
        _disconnect()


def _connect(rendezvous: Path, rank: int, processes: int) -> None:
    if "lo" in (name for _, name in socket.if_nameindex()):
        os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")  # never listen to another machine
    distributed = torch_for("training a network").distributed
    distributed.init_process_group(
        "gloo", init_method=rendezvous.as_uri(), rank=rank, world_size=processes, timeout=_TIMEOUT
    )


def _disconnect() -> None:
    distributed = torch_for("training a network").distributed
    if distributed.is_initialized():
        distributed.destroy_process_group()
