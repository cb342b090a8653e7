"""Recognizers of words in 99 languages: Whisper base and Whisper small, run by onnxruntime on a CPU, offline.

Each utterance is recognized in its own language, which the corpus, or the user, states; without one, in English. Texts
are made comparable by the rules of that language (``personare.languages``), and WER and CER are given for each
language. Take the one that the anonymizer does not use: ``personare languages`` names the recognizer of each language.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from personare.core.audio import Audio, resample
from personare.core.errors import AudioError
from personare.core.language_codes import language_title
from personare.core.observations import Observation, Stimulus
from personare.core.requirements import Requirements
from personare.encoders import whisper
from personare.encoders.graphs import fingerprint_of
from personare.listeners.normalize import BY_LANGUAGE
from personare.listeners.windows import is_silent, windows_at_quiet_points
from personare.listeners.words import Recognizer

RATE_HZ = 16_000
SHORTEST_S = 0.1
ENGLISH = "en"


@dataclass(frozen=True)
class WhisperBase(Recognizer):
    """Recognize words in any of 99 languages: stimuli in, one transcript each out ("" for silence).

    Parameters
    ----------
    window_s : longer speech is cut at quiet points into windows of at most this many seconds (the model takes 30 s).
    normalizer : how texts are made comparable before words are counted: by the rules of each language.
    """

    paper: ClassVar[str] = "Radford et al., Robust speech recognition via large-scale weak supervision, 2022"
    gives: ClassVar[tuple[str, ...]] = ("wer", "cer")
    batched: ClassVar[bool] = False
    languages: ClassVar[tuple[str, ...]] = whisper.LANGUAGES
    MODEL: ClassVar[str] = "whisper-base"
    requires = Requirements("the listener 'whisper-base'", models=("whisper-base",))

    window_s: float = 24.0
    normalizer: str = BY_LANGUAGE

    def __post_init__(self) -> None:
        if not 1 <= self.window_s <= 29:
            raise ValueError(f"window_s must be 1 to 29, not {self.window_s}")

    @property
    def fingerprint(self) -> str:
        """Name the exact model and settings, for caches."""
        return f"{self.MODEL}:{fingerprint_of(self.MODEL, 1)}:{self.window_s}"

    def observe(self, batch: Sequence[Stimulus]) -> list[Observation]:
        """Transcribe each stimulus in its own language."""
        return [Observation(words=self.transcribe(one.audio, language=one.language or ENGLISH)) for one in batch]

    def __call__(self, batch: Sequence[Audio]) -> list[str]:
        """Transcribe each Audio as English."""
        return [self.transcribe(audio, language=ENGLISH) for audio in batch]

    def transcribe(self, audio: Audio, *, language: str) -> str:
        """Transcribe one Audio in a language."""
        if language not in self.languages:
            raise AudioError(f"the listener '{self.MODEL}' does not recognize {language_title(language)}")
        windows = windows_at_quiet_points(resample(audio, RATE_HZ), longest_s=self.window_s)
        heard = [w.samples for w in windows if w.duration_s >= SHORTEST_S and not is_silent(w)]
        texts = [whisper.transcribe(samples, language=language, model=self.MODEL) for samples in heard]
        return " ".join(text for text in texts if text)


@dataclass(frozen=True)
class WhisperSmall(WhisperBase):
    """Recognize words in any of 99 languages, with fewer errors than Whisper base in three times the time."""

    MODEL: ClassVar[str] = "whisper-small"
    requires = Requirements("the listener 'whisper-small'", models=("whisper-small",))
