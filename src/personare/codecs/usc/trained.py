"""A trained small codec, opened from its folder: graphs for onnxruntime, the quantizers, the voices of C0."""

from __future__ import annotations

import hashlib
import io
import json
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from personare.codecs.usc import export
from personare.codecs.usc.quantize import LevelTable, Quantizers
from personare.core.errors import UnknownNameError, WeightsError, did_you_mean
from personare.core.sessions import open_session
from personare.training.usc import grid

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

SHIPPED = "shipped"
NO_VOICE = "none"
_VECTOR_SCALE = np.float32(16.0)
_PIECE, _CONTEXT = 1500, 32  # token frames decoded at a time, and seen beside them


@dataclass(frozen=True, eq=False)
class TrainedCodec:
    """The networks and tables of a small codec; arrays are [frames, channels]."""

    semantic: Any
    acoustic: Any
    decoder: Any
    quantizers: Quantizers
    conditions: dict[str, Floats]
    voices: dict[str, Floats]
    fingerprint: str
    card: dict[str, Any] = field(repr=False)

    def encoded(self, content: Floats, prosody: Floats, mels: Floats, absolute: Floats) -> NDArray[np.int32]:
        """Code the measurements of an utterance: [frames, levels]."""
        acoustic_in = np.concatenate([mels, absolute], axis=1)
        semantic_in = acoustic_in if self.card.get("front") == "mel" else np.concatenate([content, prosody], axis=1)
        p = self.semantic.run(None, {"features": semantic_in[None]})[0][0]
        z_a = self.acoustic.run(None, {"features": acoustic_in[None]})[0][0]
        return self.quantizers.nearest(p, z_a)

    def condition(self, levels: int, voice: Floats | None) -> Floats:
        """What the decoder is told: the number of levels and, with C0 alone, the voice; [1, c]."""
        told = self.conditions["levels"][levels - 1]
        if levels == 1 and voice is not None:
            told = told + (voice * _VECTOR_SCALE) @ self.conditions["voice"] + self.conditions["voice_bias"]
        return np.asarray(told[None], np.float32)

    def decoded(self, codes: NDArray[np.int32], voice: Floats | None) -> Floats:
        """Parameters of the sound for codes [frames, levels]: [5 frames, 122]; long ones piece by piece."""
        frames, condition = self.quantizers.looked_up(codes), self.condition(codes.shape[1], voice)
        parts = []
        for first in range(0, len(frames), _PIECE):
            low, high = max(0, first - _CONTEXT), min(len(frames), first + _PIECE + _CONTEXT)
            out = self.decoder.run(None, {"frames_in": frames[None, low:high], "condition": condition})[0][0]
            own = min(_PIECE, len(frames) - first)
            parts.append(out[(first - low) * grid.SOUNDS : (first - low + own) * grid.SOUNDS])
        return np.concatenate(parts)

    def voice_named(self, name: str) -> Floats | None:
        """The vector of a voice, or None for no voice in particular."""
        if name == NO_VOICE:
            return None
        if name not in self.voices:
            raise UnknownNameError(f"the codec has no voice '{name}'; {did_you_mean(name, [*self.voices, NO_VOICE])}")
        return self.voices[name]


def open_trained(where: str, *, threads: int = 1) -> TrainedCodec:
    """Open the shipped codec, or one that was exported into a folder."""
    return _opened(where, threads)


@lru_cache(maxsize=4)
def _opened(where: str, threads: int) -> TrainedCodec:
    folder = resources.files("personare.codecs.usc") / "shipped" if where == SHIPPED else Path(where)
    try:
        card = json.loads((folder / export.CARD).read_text(encoding="utf-8"))
        contents = {name: (folder / name).read_bytes() for name in export.FILES}
        hashes = {name: hashlib.sha256(content).hexdigest() for name, content in contents.items()}
        if hashes != card["sha256"]:
            raise WeightsError(f"{where}: the files do not fit their card; export the codec again or restore them")
        with np.load(io.BytesIO(contents[export.TABLES]), allow_pickle=False) as found:
            tables = {name: found[name] for name in found.files}
        graphs = {
            name: open_session(contents[name], threads=threads)
            for name in (export.SEMANTIC, export.ACOUSTIC, export.DECODER)
        }
        quantizers, conditions, voices = _read(tables)
        return TrainedCodec(
            graphs[export.SEMANTIC],
            graphs[export.ACOUSTIC],
            graphs[export.DECODER],
            quantizers,
            conditions,
            voices,
            export.fingerprint_of(hashes),
            card,
        )
    except FileNotFoundError as error:
        missing = Path(str(error.filename)).name
        if where == SHIPPED:
            raise WeightsError(
                "this copy of personare brings no weights of the codec usc along; train it (personare train usc) and "
                "set weights=FOLDER"
            ) from None
        raise WeightsError(
            f"{where}: has no {missing}; export a trained codec into this folder, or name another"
        ) from None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise WeightsError(f"{where}: not an exported codec ({type(error).__name__}: {error})") from None


def _read(tables: dict[str, NDArray[Any]]) -> tuple[Quantizers, dict[str, Floats], dict[str, Floats]]:
    wide = {name: values.astype(np.float32) for name, values in tables.items() if name != "voice_names"}
    count = sum(name.startswith("enter") for name in wide)
    levels = tuple(LevelTable(wide[f"enter{k}"], wide[f"codes{k}"], wide[f"leave{k}"]) for k in range(count))
    quantizers = Quantizers(
        wide["codes"], wide["leave"], wide["leave_bias"], wide["predict"], wide["predict_bias"], levels
    )
    conditions = {name: wide[name] for name in ("levels", "voice", "voice_bias")}
    voices = {str(name): vector for name, vector in zip(tables["voice_names"], wide["voice_vectors"], strict=True)}
    return quantizers, conditions, voices
