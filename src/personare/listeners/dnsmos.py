"""DNSMOS P.835: what a listener would say of the speech, the background and the whole, with no original at hand.

A small network that takes 9.01 s of sound, moved on second by second; shorter sound is repeated.     [reddy2022dnsmos]
Scores from 1 to 5. What overlapping pieces have in common is computed once (``dnsmos_network``). The network is fetched
once (``personare models fetch dnsmos``, out of the package speechmos, whose own code needs librosa and is not used) and
run by onnxruntime.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from personare.core.audio import Audio, resample
from personare.core.errors import AudioError
from personare.core.observations import SIDES, Observation, ObservedUtterance, Stimulus, SummaryContext, UtilitySummary
from personare.core.protocols import Listener
from personare.core.requirements import Requirements
from personare.core.sessions import check_threads
from personare.core.weights import files_of
from personare.listeners.dnsmos_network import PIECE_SAMPLES, SplitNetwork, open_split
from personare.listeners.means import MeanOf, mean_findings
from personare.listeners.windows import is_silent

if TYPE_CHECKING:
    from numpy.typing import NDArray

MODEL = "dnsmos"
RATE_HZ = 16_000
SHORTEST_S = 0.1
# from the raw outputs to opinion scores: quadratics fitted by the authors on their listening tests
_SPEECH = (-0.08397278, 1.22083953, 0.0052439)
_BACKGROUND = (-0.13166888, 1.60915514, -0.39604546)
_OVERALL = (-0.06766283, 1.11546468, 0.04602535)


@dataclass(frozen=True)
class Opinion:
    """Scores from 1 to 5: of the speech itself, of the background, of the whole."""

    speech: float
    background: float
    overall: float


SCORES = {"dnsmos": "overall", "dnsmos_speech": "speech", "dnsmos_background": "background"}
MEANS = tuple(MeanOf(metric, part, side, {"speech": side}) for side in SIDES for metric, part in SCORES.items())


@dataclass(frozen=True)
class Dnsmos(Listener):
    """Judge quality without a reference: a batch of Audio in, one Opinion each out.

    Parameters
    ----------
    threads : processor threads the model may use.
    """

    paper: ClassVar[str] = "Reddy et al., DNSMOS P.835, 2022"
    gives: ClassVar[tuple[str, ...]] = tuple(SCORES)
    requires = Requirements("the listener 'dnsmos'", models=(MODEL,))

    threads: int = 1

    def __post_init__(self) -> None:
        check_threads(self.threads)

    @property
    def fingerprint(self) -> str:
        """Name the model, for caches."""
        return "dnsmos-p835-speechmos-0.0.1.1-v2"

    def __call__(self, batch: Sequence[Audio]) -> list[Opinion]:
        """Judge each Audio, resampled to 16 kHz; silence and clips under 0.1 s are refused."""
        return [self._one(resample(audio, RATE_HZ)) for audio in batch]

    def observe(self, batch: Sequence[Stimulus]) -> list[Observation]:
        """Judge each stimulus."""
        return [Observation(values=asdict(opinion)) for opinion in self([stimulus.audio for stimulus in batch])]

    def summarize(self, rows: Sequence[ObservedUtterance], context: SummaryContext) -> UtilitySummary:
        """Average the three scores on both sides."""
        return UtilitySummary(mean_findings(rows, context, MEANS))

    def _one(self, audio: Audio) -> Opinion:
        if audio.duration_s < SHORTEST_S or is_silent(audio):
            raise AudioError(f"DNSMOS needs {SHORTEST_S:g} s of sound; this is silent or shorter")
        samples, pieces = _repeated(np.clip(audio.samples, -1.0, 1.0))
        raw = _network(self.threads)(samples, pieces=pieces)
        speech, background, overall = (
            float(np.polyval(fit, raw[:, column]).mean()) for column, fit in enumerate((_SPEECH, _BACKGROUND, _OVERALL))
        )
        return Opinion(speech, background, overall)


def _repeated(samples: NDArray[np.float32]) -> tuple[NDArray[np.float32], int]:
    """Double sound that is shorter than a piece until it is as long; give it, and how many pieces the authors cut."""
    while len(samples) < PIECE_SAMPLES:
        samples = np.concatenate([samples, samples])
    seconds = len(samples) // RATE_HZ
    return samples, max(1, int(seconds - PIECE_SAMPLES / RATE_HZ) + 1)


@lru_cache(maxsize=2)
def _network(threads: int) -> SplitNetwork:
    return open_split(files_of(MODEL)["sig_bak_ovr.onnx"], threads=threads)
