"""How long and how fast to train: the settings of the training loop, and the learning rate of every step."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

from personare.core.errors import ConfigError


@dataclass(frozen=True)
class TrainingPlan:
    """The training loop's settings.

    Parameters
    ----------
    steps : batches to train on at most.
    validate_every : steps between two validations on held-out speech; each also writes a checkpoint.
    patience : validations without a new best before the training ends early; 0 never ends it early.
    rate, lowest_rate : the highest and the lowest learning rate of Adam.
    schedule : ``cosine`` rises over ``warm_up`` steps, then falls along half a cosine; ``triangles`` rises and falls
        every ``2 * warm_up`` steps, with half the height each time (triangular2 of smith2017cyclical).
    weight_decay : of every trained tensor, added to its gradient.
    gradient_limit : a longer gradient is shortened to this length.
    threads : processor threads of torch; part of what makes a run repeatable.
    workers : threads that prepare batches ahead; 0 prepares each when it is needed.
    device : ``cpu``, or ``cuda`` for a graphics card.
    """

    RENAMED: ClassVar[Mapping[str, str]] = {"judge_every": "validate_every"}

    steps: int = 400
    validate_every: int = 50
    patience: int = 4
    rate: float = 1e-3
    lowest_rate: float = 1e-5
    schedule: Literal["cosine", "triangles"] = "cosine"
    warm_up: int = 40
    weight_decay: float = 2e-5
    gradient_limit: float = 5.0
    threads: int = 1
    workers: int = 0
    device: Literal["cpu", "cuda"] = "cpu"

    def __post_init__(self) -> None:
        for name in ("steps", "validate_every", "warm_up", "threads"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} must be at least 1, not {getattr(self, name)}")
        for name in ("patience", "workers", "weight_decay"):
            if getattr(self, name) < 0:
                raise ConfigError(f"{name} must not be negative, not {getattr(self, name)}")
        if not 0 <= self.lowest_rate <= self.rate or self.rate <= 0:
            raise ConfigError(f"the rates must be 0 <= lowest_rate <= rate > 0, not {self.lowest_rate} and {self.rate}")
        if self.gradient_limit <= 0:
            raise ConfigError(f"gradient_limit must be above 0, not {self.gradient_limit}")

    def rate_at(self, step: int) -> float:
        """Give the learning rate of a step, the first being 0.

        >>> plan = TrainingPlan(steps=100, warm_up=10, rate=1.0, lowest_rate=0.0)
        >>> [round(plan.rate_at(step), 3) for step in (0, 9, 54, 99)]
        [0.1, 1.0, 0.5, 0.0]
        >>> plan = TrainingPlan(steps=100, warm_up=10, rate=1.0, lowest_rate=0.0, schedule="triangles")
        >>> [round(plan.rate_at(step), 3) for step in (0, 5, 10, 15, 20, 30)]
        [0.0, 0.5, 1.0, 0.5, 0.0, 0.5]
        """
        if self.schedule == "triangles":
            cycle, place = divmod(step, 2 * self.warm_up)
            height = math.ldexp(1 - abs(place / self.warm_up - 1), -cycle)
        elif step < self.warm_up:
            height = (step + 1) / self.warm_up
        else:
            done = (step + 1 - self.warm_up) / max(1, self.steps - self.warm_up)
            height = (1 + math.cos(math.pi * min(1.0, done))) / 2
        return self.lowest_rate + (self.rate - self.lowest_rate) * height
