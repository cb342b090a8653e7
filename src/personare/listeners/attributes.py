"""Does a voice sound like a woman's or a man's, a child's or an adult's? A guess, for breakdowns where nobody noted it.

Two straight lines through the numbers of ``paralinguistics``, fitted by ``benchmarks/attributes.py``. Every answer is
marked as predicted: it is how a voice sounds, not who somebody is, and it is often wrong (see the card).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import ClassVar

import numpy as np

from personare.core.audio import Audio
from personare.core.errors import ConfigError
from personare.listeners.linear import Line
from personare.listeners.paralinguistics import NAMES, Paralinguistics

SHIPPED = Path(__file__).parent / "fitted"
KINDS = ("gender", "age_group")


@dataclass(frozen=True)
class Guess:
    """The likeliest class, and the probability of each; ``predicted`` is always true and says so in tables."""

    value: str
    probabilities: Mapping[str, float]
    predicted: bool = True


@dataclass(frozen=True)
class Attributes:
    """Guess attributes: a batch of Audio in, for each a mapping gender -> Guess, age_group -> Guess.

    Parameters
    ----------
    folder : where ``gender.json`` and ``age_group.json`` lie; the shipped ones if None.
    """

    paper: ClassVar[str] = ""

    folder: Path | None = None

    @property
    def fingerprint(self) -> str:
        """Name the models, for caches."""
        return "attributes-1" if self.folder is None else f"attributes:{self.folder}"

    def __call__(self, batch: Sequence[Audio]) -> list[dict[str, Guess]]:
        """Guess for each Audio; silence and unvoiced sound are refused."""
        return [guessed([row], self.folder) for row in Paralinguistics()(batch)]

    def of_speaker(self, utterances: Sequence[Audio]) -> dict[str, Guess]:
        """Guess once from several utterances of one speaker, which is right more often."""
        if not utterances:
            raise ConfigError("a guess about a speaker needs at least one utterance")
        return guessed(Paralinguistics()(utterances), self.folder)


def guessed(rows: Sequence[np.ndarray], folder: Path | None) -> dict[str, Guess]:
    """Guess from rows of paralinguistic numbers; several rows count as one speaker (mean of log probabilities)."""
    found = {}
    for kind in KINDS:
        line = _line((folder or SHIPPED) / f"{kind}.json")
        logs = np.log(np.maximum(line(np.stack(rows)), 1e-12)).mean(axis=0)
        shares = np.exp(logs - logs.max())
        shares /= shares.sum()
        probabilities = dict(zip(line.outputs, shares.tolist(), strict=True))
        found[kind] = Guess(line.outputs[int(shares.argmax())], probabilities)
    return found


@lru_cache(maxsize=8)
def _line(path: Path) -> Line:
    line = Line.load(path)
    if line.kind != "classes" or line.inputs != NAMES:
        raise ConfigError(f"{path}: must give classes from the {len(NAMES)} paralinguistic numbers")
    return line
