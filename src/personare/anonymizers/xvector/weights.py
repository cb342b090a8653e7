"""The neural voice as it is shipped or trained: the network, its card, and the voices it may speak with.

A folder holds ``voice.onnx`` (content, prosody, speaker vector -> bands), ``mask.onnx`` (content -> content with less
of the speaker in it), ``voice.json`` (the card: data, licence, hashes, what was measured) and ``voices.npz`` (invented
speaker vectors with their genders, and how high such voices speak). Files that do not fit the card are refused.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from personare.core.errors import WeightsError
from personare.core.sessions import open_session

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

NETWORK, MASK, CARD, VOICES = "voice.onnx", "mask.onnx", "voice.json", "voices.npz"
SHIPPED = "shipped"


@dataclass(frozen=True, eq=False)
class Voices:
    """The voices that can be spoken with.

    Parameters
    ----------
    vectors, genders : invented speakers, [n, 256] of length 1, and f or m for each.
    pitch : a straight line from a vector (with a 1 behind it) to the middle (log2 Hz) and the spread (octaves) of its
        pitch; [257, 2].
    gender : a straight line from a vector to its gender, above 0 for f; [257].
    """

    vectors: Floats
    genders: tuple[str, ...]
    pitch: Floats
    gender: Floats

    def pitch_of(self, vector: Floats) -> tuple[float, float]:
        """How high a voice speaks (log2 Hz), and how far its pitch swings (octaves)."""
        middle, swing = np.append(vector, 1.0) @ self.pitch
        return float(np.clip(middle, 6.1, 8.5)), float(np.clip(swing, 0.08, 0.6))

    def gender_of(self, vector: Floats) -> str:
        """Guess the gender of a voice from its vector."""
        return "f" if float(np.append(vector, 1.0) @ self.gender) > 0 else "m"


@dataclass(frozen=True, eq=False)
class Weights:
    """An opened voice: its network, its mask, its voices, its card."""

    network: Any
    mask: Any
    voices: Voices
    card: dict[str, Any]

    def masked(self, content: Floats) -> Floats:
        """Take the speaker out of content [frames, 288], as far as the mask has learnt to."""
        kept: Floats = self.mask.run(None, {"content": content})[0]
        return kept

    def described(self, content: Floats, prosody: Floats, vector: Floats) -> Floats:
        """Say how strong every band is: [frames, bands]."""
        inputs = {"content": content[None], "prosody": prosody[None], "voice": vector[None].astype(np.float32)}
        logs: Floats = self.network.run(None, inputs)[0][0]
        return logs


def open_weights(where: str) -> Weights:
    """Open the shipped voice, or one that was trained into a folder."""
    return _opened(where, 1)


@lru_cache(maxsize=2)
def _opened(where: str, threads: int) -> Weights:
    folder = resources.files("personare.anonymizers.xvector") / "shipped" if where == SHIPPED else Path(where)
    try:
        card = json.loads((folder / CARD).read_text(encoding="utf-8"))
        parts = {name: (folder / name).read_bytes() for name in (NETWORK, MASK, VOICES)}
        hashes = {name: hashlib.sha256(content).hexdigest() for name, content in parts.items()}
        if hashes != {name: card["sha256"][name] for name in parts}:
            raise WeightsError(f"{where}: the files do not fit their card; train the voice again or restore them")
        network, mask = (
            open_session(parts[name], threads=threads, where=str(folder / name)) for name in (NETWORK, MASK)
        )
        return Weights(network, mask, read_voices(parts[VOICES]), card)
    except FileNotFoundError as error:
        missing = Path(str(error.filename)).name
        raise WeightsError(f"{where}: has no {missing}; train a voice into this folder, or name another") from None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise WeightsError(f"{where}: not a trained voice ({type(error).__name__}: {error})") from None


def read_voices(content: bytes) -> Voices:
    """Read the voices from the bytes of an npz."""
    import io

    with np.load(io.BytesIO(content), allow_pickle=False) as found:
        genders = tuple(str(word) for word in found["genders"])
        return Voices(found["vectors"], genders, found["pitch"], found["gender"])
