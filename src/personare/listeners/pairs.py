"""What scores of an original beside its anonymized version share: one rate, one length, one mean and one caution."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from personare.core.audio import Audio, resample
from personare.core.errors import AudioError
from personare.core.observations import Observation, ObservedUtterance, Stimulus, SummaryContext, UtilitySummary
from personare.core.protocols import Listener
from personare.listeners.means import MeanOf, mean_findings
from personare.listeners.windows import is_silent

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST_APART = 0.05
CAUTION = "PESQ, STOI and ViSQOL punish every change of the voice, wanted or not: they compare anonymizers."


class PairScore(Listener):
    """A listener that scores anonymized speech beside its original: a batch of pairs in, one number each out.

    The one metric it gives is the mean of the scores.
    """

    compares: ClassVar[bool] = True

    @abstractmethod
    def __call__(self, batch: Sequence[tuple[Audio, Audio]]) -> list[float]:
        """Score each (original, anonymized)."""
        ...

    def observe(self, batch: Sequence[Stimulus]) -> list[Observation]:
        """Score each sound beside its original."""
        (name,) = self.gives
        return [Observation(values={name: score}) for score in self([stimulus.pair for stimulus in batch])]

    def summarize(self, rows: Sequence[ObservedUtterance], context: SummaryContext) -> UtilitySummary:
        """Average the scores."""
        (name,) = self.gives
        return UtilitySummary(mean_findings(rows, context, (MeanOf(name, name),)), (CAUTION,))


def matched(original: Audio, anonymized: Audio, *, rate_hz: int, shortest_s: float) -> tuple[NDArray[np.float32], ...]:
    """Resample both to ``rate_hz`` and cut the longer to the shorter: two float32 [frames].

    Lengths more than 5 % apart, clips under ``shortest_s`` and silence are refused: no number could be trusted.
    """
    longer, shorter = sorted((original.duration_s, anonymized.duration_s), reverse=True)
    if longer - shorter > MOST_APART * longer:
        raise AudioError(
            f"original ({original.duration_s:.2f} s) and anonymized ({anonymized.duration_s:.2f} s) differ by more "
            "than 5 % in length; compare them with measures that need no reference"
        )
    if shorter < shortest_s:
        raise AudioError(f"{shorter:.2f} s are too short to compare; this measure needs {shortest_s:g} s")
    for name, audio in (("original", original), ("anonymized", anonymized)):
        if is_silent(audio):
            raise AudioError(f"the {name} is silent: there is nothing to compare")
    one, other = resample(original, rate_hz).samples, resample(anonymized, rate_hz).samples
    frames = min(len(one), len(other))
    return one[:frames], other[:frames]
