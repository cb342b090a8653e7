"""The one place that asks for torch: a machine without it gets one line that says what to install."""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Iterator
from typing import Any

from personare.core.errors import MissingExtraError


def torch_for(purpose: str) -> Any:
    """Import torch, or say that ``purpose`` (e.g. "training an embedder") needs the extra ``neural``."""
    try:
        return importlib.import_module("torch")
    except ImportError:
        raise MissingExtraError("neural", purpose) from None


@contextlib.contextmanager
def repeatable(*, threads: int, device: str) -> Iterator[None]:
    """Compute so that the same numbers in give the same numbers out; torch's settings are put back afterwards.

    Sums depend on how many threads share them, so their number is fixed. On a graphics card the gradient of reflect
    padding has no repeatable form: torch then warns, and two runs may differ in the last digits.
    """
    torch = torch_for("training a network")
    before = torch.get_num_threads(), torch.are_deterministic_algorithms_enabled()
    torch.set_num_threads(threads)
    torch.use_deterministic_algorithms(True, warn_only=device != "cpu")
    try:
        yield
    finally:
        torch.set_num_threads(before[0])
        torch.use_deterministic_algorithms(before[1])
