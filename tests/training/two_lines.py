"""A task that two processes share: each sees half of the examples; alone, all of them are seen."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from personare.core.seeding import Key, rng_for
from personare.training import loop
from personare.training.plan import TrainingPlan
from personare.training.torch_extra import torch_for

GOAL = np.array([1.0, -2.0, 0.5], np.float32)


def _start() -> dict[str, Any]:
    return {"w": torch_for("a test").zeros(3, requires_grad=True)}


@dataclass(frozen=True, eq=False)
class TwoLines:
    """Find three numbers; ``rank`` None sees the batches of both ranks."""

    rank: int | None
    tensors: dict[str, Any] = field(default_factory=_start)

    def batch(self, step: int) -> Any:
        """Draw the examples of one rank, or of both."""
        ranks = (0, 1) if self.rank is None else (self.rank,)
        parts = [rng_for(Key.from_seed(1), str(rank), str(step)).normal(size=(8, 3)) for rank in ranks]
        return np.concatenate(parts).astype(np.float32)

    def loss(self, batch: Any) -> Any:
        """Squared error."""
        torch = torch_for("a test")
        return (torch.from_numpy(batch) @ (self.tensors["w"] - torch.from_numpy(GOAL))).square().mean()

    def validate(self) -> float:
        """How far off."""
        return float(np.abs(self.tensors["w"].detach().numpy() - GOAL).max())


def train_lines(rank: int, *, folder: Path, plan: TrainingPlan) -> None:
    """Train beside the first process."""
    loop.train_worker(TwoLines(rank), plan, folder, fingerprint="m")
