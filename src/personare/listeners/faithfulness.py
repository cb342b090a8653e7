"""Faithfulness by two recognizers: does the result say what the original says? No written text is needed.

Moonshine tiny and Whisper base, which were trained apart, transcribe both sides. Words that a method has invented are
in no transcript of the original.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from personare.core.audio import Audio, resample
from personare.core.errors import ConfigError
from personare.core.observations import Observation, ObservedUtterance, Stimulus, SummaryContext, UtilitySummary
from personare.core.protocols import Listener
from personare.core.requirements import Requirements
from personare.encoders import whisper
from personare.encoders.graphs import fingerprint_of
from personare.listeners.means import MeanOf, mean_findings
from personare.listeners.moonshine import Moonshine
from personare.listeners.normalize import normalizer
from personare.listeners.windows import is_silent, windows_at_quiet_points
from personare.metrics.utility.faithfulness import faithfulness, word_agreement

RATE_HZ = 16_000
_WINDOW_S = 24.0
_NOTE = "The ceiling is the agreement of the two recognizers on the original: words that neither hears cannot be kept."


@dataclass(frozen=True)
class Faithfulness(Listener):
    """Compare the words of an original and its anonymized version: a batch of pairs in, one agreement each out.

    Parameters
    ----------
    language : of the speech, by which Whisper transcribes.
    normalizer : how texts are made comparable before words are counted.
    """

    paper: ClassVar[str] = ""
    gives: ClassVar[tuple[str, ...]] = ("faithfulness",)
    compares: ClassVar[bool] = True
    requires = Requirements("the listener 'faithfulness'", models=("moonshine", whisper.MODEL))

    language: str = "en"
    normalizer: str = "whisper-english"

    def __post_init__(self) -> None:
        if self.language not in whisper.LANGUAGES:
            raise ConfigError(
                f"faithfulness: language must be a code that Whisper knows, e.g. en, not '{self.language}'"
            )

    @property
    def fingerprint(self) -> str:
        """The exact models and settings."""
        models = f"{Moonshine().fingerprint}:{fingerprint_of(whisper.MODEL, 1)}"
        return f"faithfulness:{models}:{self.language}:{normalizer(self.normalizer).fingerprint}"

    def observe(self, batch: Sequence[Stimulus]) -> list[Observation]:
        """Compare each sound with its original."""
        return [self._one(*stimulus.pair) for stimulus in batch]

    def _one(self, original: Audio, anonymized: Audio) -> Observation:
        before, after = self._texts(original), self._texts(anonymized)
        values = {"faithfulness": faithfulness(before, after), "ceiling": word_agreement(*before)}
        return Observation(values=values)

    def _texts(self, audio: Audio) -> tuple[str, str]:
        sound, normalize = resample(audio, RATE_HZ), normalizer(self.normalizer)
        windows = [w for w in windows_at_quiet_points(sound, longest_s=_WINDOW_S) if not is_silent(w)]
        second = " ".join(whisper.transcribe(w.samples, language=self.language) for w in windows)
        return normalize(Moonshine()([sound])[0]), normalize(second)

    def summarize(self, rows: Sequence[ObservedUtterance], context: SummaryContext) -> UtilitySummary:
        """Average the agreement, and the recognizers' own on the original."""
        means = (
            MeanOf("faithfulness", "faithfulness", conditions={"speech": "anonymized"}),
            MeanOf("faithfulness", "ceiling", conditions={"speech": "original"}),
        )
        return UtilitySummary(mean_findings(rows, context, means), (_NOTE,))
