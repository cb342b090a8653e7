"""A recognizer of one's own, small enough for a CPU: trained on original or on anonymized speech with the same recipe.

ASR_eval^anon of [tomashenko2022voiceprivacy, sec. 4.1.4]: a recognizer that has learnt from anonymized speech may
get more of it right than one that has not. Letters, not words, are its units: its character error rate is reported.
Deviations: the challenge's recognizer is a TDNN with a language model; this one has no language model at all.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from personare.core.audio import Audio, resample
from personare.core.config import from_mapping
from personare.core.errors import WeightsError
from personare.core.requirements import Requirements
from personare.core.weights import file_sha256
from personare.listeners.windows import is_silent, windows_at_quiet_points
from personare.listeners.words import Recognizer
from personare.training import checkpoints
from personare.training.recognizer.features import RATE_HZ, features, letters_of
from personare.training.recognizer.network import RecognizerShape, network
from personare.training.recognizer.run import CARD
from personare.training.torch_extra import torch_for

if TYPE_CHECKING:
    from numpy.typing import NDArray

SHORTEST_S = 0.1


@dataclass(frozen=True)
class Ctc(Recognizer):
    """Recognize letters: a batch of Audio in, one transcript each out ("" for silence), by a recognizer of one's own.

    Parameters
    ----------
    folder : what ``train_recognizer`` wrote.
    window_s : longer speech is cut at quiet points.
    normalizer : how texts are made comparable before letters are counted.
    """

    paper: ClassVar[str] = (
        "Graves et al., Connectionist temporal classification, 2006; "
        "Tomashenko et al., The VoicePrivacy 2020 Challenge, 2022, sec. 4.1.4"
    )
    gives: ClassVar[tuple[str, ...]] = ("cer",)
    argument: ClassVar[str | None] = "folder"
    trainable: ClassVar[bool] = True
    requires = Requirements("the listener 'ctc'", {"torch": "neural"})

    folder: Path
    window_s: float = 20.0
    normalizer: str = "letters"

    @property
    def fingerprint(self) -> str:
        """Name the exact network and settings, for caches."""
        place = self.folder / checkpoints.BEST
        if not place.is_file():
            raise WeightsError(f"{self.folder}: holds no trained recognizer")
        return f"ctc:{file_sha256(place)}:{self.window_s}"

    def check(self) -> None:
        """Say now what is missing, not once for each utterance."""
        super().check()
        torch_for("the listener 'ctc'")
        _trained(self.folder, _stamp(self.folder))

    def __call__(self, batch: Sequence[Audio]) -> list[str]:
        """Transcribe each Audio, resampled to 16 kHz: the likeliest letter of each frame, without repeats."""
        return [" ".join("".join(self._windows(resample(audio, RATE_HZ))).split()) for audio in batch]

    def _windows(self, audio: Audio) -> list[str]:
        texts = []
        for window in windows_at_quiet_points(audio, longest_s=self.window_s):
            if window.duration_s < SHORTEST_S or is_silent(window):
                continue
            texts.append(transcribe(self.folder, features(window)) + " ")
        return texts


def transcribe(folder: Path, bands: NDArray[np.float32]) -> str:
    """Transcribe float32 [frames, bands] with the best network of a folder."""
    torch = torch_for("the listener 'ctc'")
    with torch.no_grad():
        scores = _trained(folder, _stamp(folder))(torch.from_numpy(bands[None]))[0]
    return letters_of(scores.argmax(dim=-1).tolist())


def _stamp(folder: Path) -> int:
    """Tell one state of a folder from a later one, so that a training that went on is read anew."""
    place = folder / checkpoints.BEST
    return place.stat().st_mtime_ns if place.is_file() else 0


@lru_cache(maxsize=4)
def _trained(folder: Path, _stamp: int) -> Any:
    try:
        card = json.loads((folder / CARD).read_text(encoding="utf-8"))
        shape, fingerprint = from_mapping(RecognizerShape, card["shape"], where=str(folder / CARD)), str(card["mark"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise WeightsError(f"{folder}: holds no trained recognizer ({error})") from None
    built = network(shape, seed=0)
    checkpoints.fill(
        built.state_dict(),
        checkpoints.load(folder / checkpoints.BEST, fingerprint=fingerprint).tensors,
        where=str(folder),
    )
    return built.eval()
