"""What the trainable recognizer takes in and gives out: log mel bands of speech, and the letters as numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from personare.core.errors import ConfigError
from personare.encoders.spectra import RATE_HZ, mel_bands, power_spectra

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from personare.core.audio import Audio

__all__ = ["BANDS", "LETTERS", "RATE_HZ", "SYMBOLS", "features", "letters_of", "symbols_of"]

BANDS = 40
LETTERS = " 'abcdefghijklmnopqrstuvwxyz"
SYMBOLS = len(LETTERS) + 1  # and the blank, which is symbol 0


def features(audio: Audio) -> NDArray[np.float32]:
    """Log power in 40 mel bands of 16 kHz audio, each without its mean and of unit spread: float32 [frames, 40]."""
    levels = np.log(power_spectra(audio.samples) @ mel_bands(BANDS).T + 1e-8)
    even: NDArray[np.float32] = ((levels - levels.mean(axis=0)) / (levels.std(axis=0) + 1e-3)).astype(np.float32)
    return even


def symbols_of(text: str) -> list[int]:
    """Turn normalized text into symbols; a text with digits or letters of another alphabet is refused.

    >>> symbols_of("ab two")
    [3, 4, 1, 22, 25, 17]
    """
    if unknown := [c for c in text if c not in LETTERS]:
        raise ConfigError(f"'{unknown[0]}' is no letter the network can write; write numbers out in words")
    return [LETTERS.index(c) + 1 for c in text]


def letters_of(symbols: Sequence[int]) -> str:
    """Drop repeats, then blanks.

    >>> letters_of([3, 3, 0, 3, 4, 4, 0, 0])
    'aab'
    """
    kept = [s for i, s in enumerate(symbols) if s and (i == 0 or symbols[i - 1] != s)]
    return "".join(LETTERS[s - 1] for s in kept)
