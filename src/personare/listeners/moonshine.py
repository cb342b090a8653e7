"""The default recognizer of words: Moonshine tiny (English), run by onnxruntime on a CPU, offline.

An encoder turns 16 kHz samples into frames of 24 ms; a decoder writes one word piece after the other (the likeliest
each time), until it says it is done or has written more than anybody could have said in that time. A batch is written
down several utterances at a time, and each is recognized as if it were alone (``moonshine_decoding``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from personare.core.audio import Audio, resample
from personare.core.carriers import WEIGHTS
from personare.core.requirements import Requirements
from personare.core.weights import files_of
from personare.encoders.word_pieces import read_pieces as read_pieces
from personare.encoders.word_pieces import text_of
from personare.listeners.moonshine_decoding import decode
from personare.listeners.windows import is_silent, windows_at_quiet_points
from personare.listeners.words import Recognizer

if TYPE_CHECKING:
    from numpy.typing import NDArray

RATE_HZ = 16_000
SHORTEST_S = 0.1  # two encoder frames; nothing shorter is a word


@dataclass(frozen=True)
class Moonshine(Recognizer):
    """Recognize words: a batch of Audio in, one transcript each out ("" for silence).

    Parameters
    ----------
    tokens_per_s, spare_tokens : at most tokens_per_s * t + spare_tokens word pieces are written for t seconds.
    window_s : longer speech is cut at quiet points into windows of at most this many seconds.
    rows : how many windows are written down together; changes the speed, not the words.
    threads : processor threads the model may use.
    normalizer : how texts are made comparable before words are counted.
    """

    paper: ClassVar[str] = (
        "Jeffries et al., Moonshine: speech recognition for live transcription and voice commands, 2024"
    )
    languages: ClassVar[tuple[str, ...]] = ("en",)
    requires = Requirements("the listener 'moonshine'", models=("moonshine",))

    tokens_per_s: float = 6.5
    spare_tokens: int = 8
    window_s: float = 24.0
    rows: int = 8
    threads: int = 1
    normalizer: str = "whisper-english"

    def __post_init__(self) -> None:
        if not (self.tokens_per_s > 0 and self.spare_tokens >= 0 and self.window_s >= 1):
            raise ValueError(f"tokens_per_s > 0, spare_tokens >= 0, window_s >= 1; not {self}")
        if not (self.rows >= 1 and self.threads >= 1):
            raise ValueError(f"rows >= 1, threads >= 1; not {self}")

    @property
    def fingerprint(self) -> str:
        """Name the exact model and settings, for caches."""
        model = "-".join(sha256[:8] for sha256 in WEIGHTS["moonshine"].files.values())
        return f"moonshine:{model}:{self.tokens_per_s}:{self.spare_tokens}:{self.window_s}"

    def __call__(self, batch: Sequence[Audio]) -> list[str]:
        """Transcribe each Audio; any sample rate is resampled to 16 kHz first."""
        windows = [self._windows(resample(audio, RATE_HZ)) for audio in batch]
        each = [samples for own in windows for samples in own]
        most = [int(self.tokens_per_s * len(samples) / RATE_HZ) + self.spare_tokens for samples in each]
        texts = iter(
            [text_of(tokens, _pieces()) for tokens in decode(each, most, rows=self.rows, threads=self.threads)]
        )
        return [" ".join(text for text in [next(texts) for _ in own] if text) for own in windows]

    def _windows(self, audio: Audio) -> list[NDArray[np.float32]]:
        """Cut long speech; leave out what is silent or too short to be a word."""
        windows = windows_at_quiet_points(audio, longest_s=self.window_s)
        return [w.samples for w in windows if w.duration_s >= SHORTEST_S and not is_silent(w)]


@lru_cache(maxsize=1)
def _pieces() -> tuple[bytes, ...]:
    return read_pieces(files_of("moonshine")["tokenizer.bin"])
