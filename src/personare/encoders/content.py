"""Content: what is said, without who says it, by the encoder of a speech recognizer, normalized over the utterance.

The encoder of Moonshine tiny turns sound into 288 numbers every 24 ms from which a decoder could write the words. Each
number is brought to mean 0 and standard deviation 1 over the utterance, which removes much of the speaker (the EER of a
speaker probe rises from 30 to 41 %).
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from personare.core.errors import UnknownNameError, did_you_mean
from personare.core.sessions import Session, open_session
from personare.core.weights import files_of
from personare.encoders.grid import CONTENT_STEP, WIDTH

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

ENCODERS = {"moonshine": "personare.encoders.content:moonshine_content"}
_SHORTEST = 1600  # samples: the encoder's own front end needs some frames
_SD_FLOOR = 1e-3


def content_encoder(name: str) -> Callable[[Floats], Floats]:
    """Give the content encoder of a name: 16 kHz samples in, [encoder frames, 288] out."""
    if name not in ENCODERS:
        raise UnknownNameError(f"no content encoder '{name}'; {did_you_mean(name, sorted(ENCODERS))}")
    module, _, function = ENCODERS[name].partition(":")
    encoder: Callable[[Floats], Floats] = getattr(importlib.import_module(module), function)
    return encoder


def moonshine_content(samples: Floats) -> Floats:
    """Encode 16 kHz samples: [encoder frames, 288], each column with mean 0 and standard deviation 1."""
    padded = np.pad(samples, (0, max(0, _SHORTEST - len(samples)) + 2 * CONTENT_STEP))
    mask = np.ones((1, len(padded)), np.int64)
    frames = _encoder().run(None, {"input_values": padded[None], "attention_mask": mask})[0][0]
    return normalize(frames)


def normalize(frames: Floats) -> Floats:
    """Bring each column to mean 0 and standard deviation 1 over the utterance."""
    centred = frames - frames.mean(axis=0)
    scaled: Floats = centred / np.maximum(centred.std(axis=0), _SD_FLOOR)
    return scaled.astype(np.float32).reshape(-1, WIDTH)


@lru_cache(maxsize=1)
def _encoder() -> Session:
    return open_session(files_of("moonshine")["encoder_model.ort"])
