"""Faithfulness by two recognizers: does the result say what the original says? No written text is needed.

Moonshine tiny and Whisper base, which were trained apart, transcribe both sides. Words that a method has invented are
in no transcript of the original. Moonshine knows English only: speech in another language is transcribed by Whisper
base and Whisper small, and compared by the rules of that language.
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
from personare.core.weights import require
from personare.encoders import whisper
from personare.encoders.graphs import fingerprint_of
from personare.listeners.means import MeanOf, mean_findings
from personare.listeners.moonshine import Moonshine
from personare.listeners.normalize import BY_LANGUAGE, normalizer
from personare.listeners.windows import is_silent, windows_at_quiet_points
from personare.metrics.utility.faithfulness import faithfulness, word_agreement

RATE_HZ = 16_000
_WINDOW_S = 24.0
_OTHER = "whisper-small"  # the second recognizer of speech that is not English
_NOTE = "The ceiling is the agreement of the two recognizers on the original: words that neither hears cannot be kept."


@dataclass(frozen=True)
class Faithfulness(Listener):
    """Compare the words of an original and its anonymized version: a batch of pairs in, one agreement each out.

    Parameters
    ----------
    language : of speech whose language the corpus does not state.
    normalizer : how texts are made comparable before words are counted.
    """

    paper: ClassVar[str] = ""
    gives: ClassVar[tuple[str, ...]] = ("faithfulness",)
    compares: ClassVar[bool] = True
    languages: ClassVar[tuple[str, ...]] = whisper.LANGUAGES
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
        return [self._one(*stimulus.pair, language=stimulus.language or self.language) for stimulus in batch]

    def _one(self, original: Audio, anonymized: Audio, *, language: str) -> Observation:
        whisper.check_language(language)
        before, after = self._texts(original, language), self._texts(anonymized, language)
        values = {"faithfulness": faithfulness(before, after), "ceiling": word_agreement(*before)}
        return Observation(values=values)

    def _texts(self, audio: Audio, language: str) -> tuple[str, str]:
        sound = resample(audio, RATE_HZ)
        windows = [w for w in windows_at_quiet_points(sound, longest_s=_WINDOW_S) if not is_silent(w)]

        def heard(model: str) -> str:
            return " ".join(whisper.transcribe(w.samples, language=language, model=model) for w in windows)

        if language == "en":
            normalize = normalizer(self.normalizer)
            return normalize(Moonshine()([sound])[0]), normalize(heard(whisper.MODEL))
        require(_OTHER)
        normalize = normalizer(BY_LANGUAGE).of_language(language)
        return normalize(heard(_OTHER)), normalize(heard(whisper.MODEL))

    def summarize(self, rows: Sequence[ObservedUtterance], context: SummaryContext) -> UtilitySummary:
        """Average the agreement, and the recognizers' own on the original."""
        means = (
            MeanOf("faithfulness", "faithfulness", conditions={"speech": "anonymized"}),
            MeanOf("faithfulness", "ceiling", conditions={"speech": "original"}),
        )
        return UtilitySummary(mean_findings(rows, context, means), (_NOTE,))
