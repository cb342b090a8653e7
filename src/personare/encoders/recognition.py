"""Speech recognition with a confidence for every word: one function for all recognizers, offline.

Moonshine writes English only and is quick; Whisper writes 99 languages.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from personare.core.errors import ConfigError, UnknownNameError, did_you_mean
from personare.encoders import moonshine, whisper
from personare.encoders.word_pieces import RecognizedWord as RecognizedWord

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

RATE_HZ = moonshine.RATE_HZ
SHORTEST = moonshine.SHORTEST
ENGLISH_RECOGNIZERS = moonshine.MODELS
RECOGNIZERS = (*ENGLISH_RECOGNIZERS, *whisper.MODELS)


def recognize(
    samples: NDArray[np.float32], *, model: str, language: str = "en", proposed_by: str | None = None
) -> list[RecognizedWord]:
    """Recognize the words of at most 30 s of 16 kHz samples; less than 0.1 s has none.

    Parameters
    ----------
    model : one of ``RECOGNIZERS``.
    language : of the speech, a code of ``whisper.LANGUAGES``; ``ENGLISH_RECOGNIZERS`` accept ``en`` only.
    proposed_by : another recognizer of the same family (Moonshine, Whisper) whose transcript makes this one faster; the
        words stay the same, up to rounding.
    """
    check_recognizer(model, language=language)
    if len(samples) < SHORTEST:
        return []
    if model in ENGLISH_RECOGNIZERS:
        return moonshine.recognize(samples, model=model, proposed_by=proposed_by)
    return whisper.recognize(samples, model=model, language=language, proposed_by=proposed_by)


def check_recognizer(model: str, *, language: str) -> None:
    """Reject an unknown recognizer, and a language that it does not write."""
    if model not in RECOGNIZERS:
        raise UnknownNameError(f"no recognizer '{model}'; {did_you_mean(model, RECOGNIZERS)}")
    if model in ENGLISH_RECOGNIZERS and language != "en":
        raise ConfigError(
            f"recognizer '{model}' writes English only, not '{language}'; use {' or '.join(whisper.MODELS)}"
        )
    whisper.check_language(language)
