"""An invented speaker: who they are, and which of whose voices they are made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from personare.corpora.voices.text import Accent

Gender = Literal["f", "m"]
Source = Literal["kokoro", "piper"]


@dataclass(frozen=True)
class Speaker:
    """An invented person.

    Parameters
    ----------
    name : ``v001``, ``v002``, ... (Kokoro), ``p001``, ... (Piper).
    gender : guessed by pitch for Piper's voices, None where pitch does not tell.
    voices : the one or two voices this one is made of; ``share`` is the first one's part.
    pace : speaking rate, 1 is the voice's own.
    source : whose voices they are.
    """

    name: str
    gender: Gender | None
    accent: Accent
    voices: tuple[str, ...]
    share: float
    pace: float
    source: Source = "kokoro"
