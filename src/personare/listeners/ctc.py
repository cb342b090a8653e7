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
from personare.core.errors import ConfigError, WeightsError
from personare.core.requirements import Requirements
from personare.core.weights import file_sha256
from personare.listeners.normalize import Letters
from personare.listeners.spectra import RATE_HZ, mel_bands, power_spectra
from personare.listeners.windows import is_silent, windows_at_quiet_points
from personare.listeners.words import Recognizer
from personare.nn import checkpoints
from personare.nn.ctc import Shape, network
from personare.nn.torch_extra import torch_for

if TYPE_CHECKING:
    from numpy.typing import NDArray

LETTERS = " 'abcdefghijklmnopqrstuvwxyz"
SYMBOLS = len(LETTERS) + 1  # and the blank
CARD = "recognizer.json"
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

    gives: ClassVar[tuple[str, ...]] = ("cer",)
    argument: ClassVar[str | None] = "folder"
    trainable: ClassVar[bool] = True
    requires = Requirements("the listener 'ctc'", {"jiwer": "asr"})

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
            texts.append(hear(self.folder, features(window)) + " ")
        return texts


def hear(folder: Path, bands: NDArray[np.float32]) -> str:
    """Transcribe float32 [frames, bands] with the best network of a folder."""
    torch = torch_for("the listener 'ctc'")
    with torch.no_grad():
        scores = _trained(folder, _stamp(folder))(torch.from_numpy(bands[None]))[0]
    return letters_of(scores.argmax(dim=-1).tolist())


def features(audio: Audio) -> NDArray[np.float32]:
    """Log power in 40 mel bands, each without its mean and of unit spread: float32 [frames, 40]."""
    levels = np.log(power_spectra(audio.samples) @ mel_bands(Shape.bands).T + 1e-8)
    even: NDArray[np.float32] = ((levels - levels.mean(axis=0)) / (levels.std(axis=0) + 1e-3)).astype(np.float32)
    return even


def symbols_of(text: str) -> list[int]:
    """Turn text into symbols; a text with digits or letters of another alphabet is refused.

    >>> symbols_of("Ab, two")
    [3, 4, 1, 22, 25, 17]
    """
    plain = Letters()(text)
    if unknown := [c for c in plain if c not in LETTERS]:
        raise ConfigError(f"'{unknown[0]}' is no letter the network can write; write numbers out in words")
    return [LETTERS.index(c) + 1 for c in plain]


def letters_of(symbols: Sequence[int]) -> str:
    """Drop repeats, then blanks.

    >>> letters_of([3, 3, 0, 3, 4, 4, 0, 0])
    'aab'
    """
    kept = [s for i, s in enumerate(symbols) if s and (i == 0 or symbols[i - 1] != s)]
    return "".join(LETTERS[s - 1] for s in kept)


def _stamp(folder: Path) -> int:
    """Tell one state of a folder from a later one, so that a training that went on is read anew."""
    place = folder / checkpoints.BEST
    return place.stat().st_mtime_ns if place.is_file() else 0


@lru_cache(maxsize=4)
def _trained(folder: Path, _stamp: int) -> Any:
    try:
        card = json.loads((folder / CARD).read_text(encoding="utf-8"))
        shape, mark = from_mapping(Shape, card["shape"], where=str(folder / CARD)), str(card["mark"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise WeightsError(f"{folder}: holds no trained recognizer ({error})") from None
    built = network(shape, seed=0)
    checkpoints.fill(
        built.state_dict(), checkpoints.load(folder / checkpoints.BEST, mark=mark).tensors, where=str(folder)
    )
    return built.eval()
