"""Chain: several anonymizers, one after the other."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from personare.anonymizers import anonymizer
from personare.core.audio import Audio
from personare.core.errors import ConfigError
from personare.core.fingerprint import Fingerprinted
from personare.core.progress import part
from personare.core.protocols import Anonymizer


@dataclass(frozen=True)
class Step:
    """One step of a chain: a method by name (or ``module:Class``), with its parameters."""

    name: str
    parameters: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Chain(Fingerprinted):
    """Several methods, one after the other.

    Parameters
    ----------
    steps : the methods in order, each ``{name: ..., parameters: {...}}``.

    >>> method = anonymizer("chain", steps=[{"name": "mcadams", "parameters": {"alpha": 0.9}}])
    >>> method.steps[0].name
    'mcadams'
    """

    paper: ClassVar[str] = ""
    VERSION: ClassVar[int] = 1

    steps: tuple[Step, ...] = field(compare=False)
    methods: tuple[Anonymizer, ...] = field(init=False, repr=False)
    """The steps, built: what the chain is compared by."""

    def __post_init__(self) -> None:
        if not self.steps:
            raise ConfigError("chain: steps must name at least one method")
        built = tuple(anonymizer(step.name, **step.parameters) for step in self.steps)
        object.__setattr__(self, "methods", built)

    def __call__(self, audio: Audio, *, rng: np.random.Generator) -> Audio:
        """Apply every method to the result of the one before; each draws from a generator of its own."""
        for method, own in zip(self.methods, rng.spawn(len(self.methods)), strict=True):
            with part(1 / len(self.methods)):
                audio = method(audio, rng=own)
        return audio
