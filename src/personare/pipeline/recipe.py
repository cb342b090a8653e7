"""How voices are hidden: what an informed attacker may know, what the card in an anonymized folder says, new names."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np

from personare.anonymizers import anonymizer
from personare.core.audio import Audio
from personare.core.errors import PersonareError
from personare.core.seeding import Key, token_for

CARD = "anonymization.json"
Level = Literal["speaker", "utterance"]


@dataclass(frozen=True)
class Recipe:
    """How voices are hidden: what an informed attacker may know, and what the card in the target folder says.

    Parameters
    ----------
    method : name in the catalog of anonymizers; ``parameters`` are its fields.
    level : one pseudo-voice per speaker, or a new one for each utterance.
    """

    method: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    level: Level = "speaker"

    def in_words(self) -> str:
        """Write the recipe on one line.

        >>> Recipe("mcadams", {"alpha": [0.5, 0.9]}).in_words()
        'mcadams (alpha = [0.5, 0.9]) per speaker'
        """
        return f"{self.system} per {self.level}"

    @property
    def system(self) -> str:
        """The method and its settings: what an attacker may know, whoever gets a new voice and how often."""
        settings = ", ".join(f"{name} = {value}" for name, value in self.parameters.items())
        return f"{self.method}{f' ({settings})' if settings else ''}"

    def names_of(self, speaker: str, utterance: str) -> tuple[str, ...]:
        """Whose voice it is under this recipe: the names that chance is drawn for."""
        return (speaker,) if self.level == "speaker" else (speaker, utterance)


def utterance_token(key: Key, speaker: str, utterance: str) -> str:
    """Give the new name of an utterance, which the key alone tells, however it was anonymized."""
    return token_for(key, "utterance", speaker, utterance)


def tokens_of(key: Key, recipe: Recipe, speaker: str, utterance: str) -> tuple[str, str]:
    """Give the new names of an utterance and its speaker; at utterance level no name says who belongs together."""
    return (
        utterance_token(key, speaker, utterance),
        token_for(key, "speaker", *recipe.names_of(speaker, utterance), digits=12),
    )


def rehearse(recipe: Recipe) -> bool:
    """Hide a moment of noise twice: a wrong name or parameter or a missing extra must fail before anything is written.

    Tells whether the method draws anything: if not, everybody gets the same change, and no key protects it.
    """
    noise = Audio(np.random.default_rng(0).normal(0.0, 0.1, 4000).astype(np.float32), 16_000)
    hide = anonymizer(recipe.method, **recipe.parameters)
    once, again = (hide(noise, rng=np.random.default_rng(seed)).samples for seed in (1, 2))
    return not np.array_equal(once, again)


def read_recipe(folder: Path) -> Recipe | None:
    """Read from an anonymized folder how it was made; None when another tool made it."""
    path = folder / CARD
    if not path.is_file():
        return None
    try:
        card = json.loads(path.read_text(encoding="utf-8"))
        return Recipe(card["method"], card["parameters"], card["level"])
    except (ValueError, KeyError, TypeError, OSError) as error:
        raise PersonareError(f"{path}: not a card written by personare anonymize ({error})") from None
