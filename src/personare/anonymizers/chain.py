"""Chain: several ways to hide a voice, one after the other."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from personare.anonymizers import anonymizer
from personare.core.audio import Audio
from personare.core.errors import ConfigError


@dataclass(frozen=True)
class Step:
    """One link of a chain: a method by name, with its parameters."""

    name: str
    parameters: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Chain:
    """Several methods, one after the other.

    Parameters
    ----------
    steps : the methods in order, each ``{name: ..., parameters: {...}}``.

    >>> method = anonymizer("chain", steps=[{"name": "mcadams", "parameters": {"alpha": 0.9}}])
    >>> method.steps[0].name
    'mcadams'
    """

    paper: ClassVar[str] = ""

    steps: tuple[Step, ...]

    def __post_init__(self) -> None:
        if not self.steps:
            raise ConfigError("chain: steps must name at least one method")
        for step in self.steps:
            anonymizer(step.name, **step.parameters)  # refuses unknown names and parameters at once

    def __call__(self, audio: Audio, *, rng: np.random.Generator) -> Audio:
        """Apply every method to what the one before has made; each draws from a generator of its own."""
        for step, own in zip(self.steps, rng.spawn(len(self.steps)), strict=True):
            audio = anonymizer(step.name, **step.parameters)(audio, rng=own)
        return audio
