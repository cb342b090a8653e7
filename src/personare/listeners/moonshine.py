"""The default recognizer of words: Moonshine tiny (English), run by onnxruntime on a CPU, offline.

The network and its decoding are those of ``encoders.moonshine``, which the anonymizers use too. Every utterance is
recognized by itself, so its words do not depend on the batch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from personare.core.audio import Audio, resample
from personare.core.carriers import WEIGHTS
from personare.core.requirements import Requirements
from personare.encoders.moonshine import RATE_HZ, SHORTEST, SPARE_TOKENS, TOKENS_PER_S
from personare.encoders.recognition import recognize
from personare.listeners.windows import is_silent, windows_at_quiet_points
from personare.listeners.words import Recognizer

if TYPE_CHECKING:
    from numpy.typing import NDArray

MODEL = "moonshine"


@dataclass(frozen=True)
class Moonshine(Recognizer):
    """Recognize words: a batch of Audio in, one transcript each out ("" for silence).

    Parameters
    ----------
    window_s : longer speech is cut at quiet points into windows of at most this many seconds.
    normalizer : how texts are made comparable before words are counted.
    """

    paper: ClassVar[str] = (
        "Jeffries et al., Moonshine: speech recognition for live transcription and voice commands, 2024"
    )
    languages: ClassVar[tuple[str, ...]] = ("en",)
    requires = Requirements("the listener 'moonshine'", models=(MODEL,))

    window_s: float = 24.0
    normalizer: str = "whisper-english"

    def __post_init__(self) -> None:
        if not self.window_s >= 1:
            raise ValueError(f"window_s >= 1; not {self}")

    @property
    def fingerprint(self) -> str:
        """Name the exact model and settings, for caches."""
        model = "-".join(sha256[:8] for sha256 in WEIGHTS[MODEL].files.values())
        return f"moonshine:{model}:{TOKENS_PER_S}:{SPARE_TOKENS}:{self.window_s}"

    def __call__(self, batch: Sequence[Audio]) -> list[str]:
        """Transcribe each Audio; any sample rate is resampled to 16 kHz first."""
        return [self._transcript(resample(audio, RATE_HZ)) for audio in batch]

    def _transcript(self, audio: Audio) -> str:
        words = (word.text for window in self._windows(audio) for word in recognize(window, model=MODEL))
        return " ".join(words)

    def _windows(self, audio: Audio) -> list[NDArray[np.float32]]:
        """Cut long speech; skip windows that are silent or too short to hold a word."""
        windows = windows_at_quiet_points(audio, longest_s=self.window_s)
        return [window.samples for window in windows if len(window.samples) >= SHORTEST and not is_silent(window)]
