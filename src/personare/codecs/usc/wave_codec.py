"""The universal speech codec in the paper's layout at use: from the wave to tokens and back, by onnxruntime."""

from __future__ import annotations

import hashlib
import io
import json
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from personare.codecs.tokens import TokenError, Tokens
from personare.codecs.usc import wave_export
from personare.codecs.usc.export import CARD, fingerprint_of
from personare.core.audio import Audio, resample
from personare.core.errors import AudioError, WeightsError
from personare.core.sessions import check_threads, open_session
from personare.training.usc.grid import FRAME_RATE_HZ, HOP, RATE_HZ

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

_BLOCK = 512  # frames compared with a codebook at a time
_PIECE, _CONTEXT = 500, 25  # token frames coded or decoded at a time, and seen beside them
_PEAK = np.float32(0.99)


@dataclass(frozen=True)
class WaveUsc:
    """USC as published: strided convolutions at 16 kHz, 640 samples per frame, all levels factorized and normalised.

    Parameters
    ----------
    weights : the folder of an exported training with ``config: paper`` or ``tiny``.
    threads : processor threads of one call.
    """

    weights: str = ""
    threads: int = 1

    def __post_init__(self) -> None:
        check_threads(self.threads)

    @property
    def _files(self) -> _WaveFiles:
        if not self.weights:
            raise WeightsError("usc-paper has no shipped weights; train it and set weights=FOLDER")
        return _opened(self.weights, self.threads)

    @property
    def fingerprint(self) -> str:
        """The exact files."""
        return self._files.fingerprint

    @property
    def rate_hz(self) -> int:
        """What the decoder gives: 16 kHz, or 24 kHz after the second stage."""
        return self._files.rate_hz

    @property
    def frame_rate_hz(self) -> float:
        """25 frames per second."""
        return FRAME_RATE_HZ

    @property
    def code_counts(self) -> tuple[int, ...]:
        """Codes per level."""
        return tuple(len(level["codes"]) for level in self._files.levels)

    def encode(self, audio: Audio) -> Tokens:
        """Code one channel at any sample rate, with all levels."""
        if not len(audio.samples) or not np.isfinite(audio.samples).all():
            raise AudioError("a recording is empty or holds NaN; repair or remove it")
        samples = resample(audio, RATE_HZ).samples
        count = max(1, -(-len(samples) // HOP))
        padded = np.pad(samples, (0, count * HOP - len(samples))).reshape(count, HOP)
        frames = _in_pieces(
            padded, lambda part: self._files.encoder.run(None, {"wave": part.reshape(1, 1, -1)})[0][0].T
        )
        codes = self._files.nearest(frames)
        return Tokens(codes, self.code_counts, self.fingerprint, audio.rate_hz, len(audio.samples))

    def decode(self, tokens: Tokens, *, rng: np.random.Generator) -> Audio:  # noqa: ARG002 - nothing here is drawn
        """Make sound from tokens with any number of levels."""
        if tokens.fingerprint != self.fingerprint:
            raise TokenError(f"tokens of the codec {tokens.fingerprint} cannot be decoded by {self.fingerprint}")
        hop = round(self.rate_hz / FRAME_RATE_HZ)
        total = self._files.looked_up(tokens.codes)
        run = self._files.decoder.run
        made = _in_pieces(total, lambda part: run(None, {"frames_in": part.T[None]})[0].reshape(-1, hop)).reshape(-1)
        back = resample(Audio(np.ascontiguousarray(made), self.rate_hz), tokens.rate_hz).samples[: tokens.samples]
        back = np.pad(back, (0, tokens.samples - len(back)))
        peak = float(np.abs(back).max(initial=0.0))
        return Audio(back if peak <= _PEAK else back * (_PEAK / np.float32(peak)), tokens.rate_hz)


def _in_pieces(rows: Floats, work: Any) -> Floats:
    """Run a network over frames [n, ...] piece by piece, each with what lies beside it; one row out per row in."""
    parts = []
    for first in range(0, len(rows), _PIECE):
        low, high = max(0, first - _CONTEXT), min(len(rows), first + _PIECE + _CONTEXT)
        out = work(np.ascontiguousarray(rows[low:high]))
        parts.append(out[first - low : first - low + min(_PIECE, len(rows) - first)])
    return np.concatenate(parts)


@dataclass(frozen=True, eq=False)
class _WaveFiles:
    """Opened graphs and tables."""

    encoder: Any
    decoder: Any
    levels: tuple[dict[str, Floats], ...]
    rate_hz: int
    fingerprint: str

    def nearest(self, frames: Floats) -> NDArray[np.int32]:
        """Code [frames, width] level by level: [frames, levels]."""
        residual, columns = frames, []
        for level in self.levels:
            p = residual @ level["enter"].T + level["enter_bias"]
            chosen = np.concatenate(
                [(p[i : i + _BLOCK] @ level["codes"].T).argmax(axis=1) for i in range(0, len(p), _BLOCK)]
            )
            residual = residual - self._made(level, chosen)
            columns.append(chosen)
        return np.stack(columns, axis=1).astype(np.int32)

    @staticmethod
    def _made(level: dict[str, Floats], chosen: NDArray[np.integer]) -> Floats:
        return np.asarray(level["codes"][chosen] @ level["leave"] + level["leave_bias"], np.float32)

    def looked_up(self, codes: NDArray[np.int32]) -> Floats:
        """What the decoder gets for codes [frames, levels given]: [frames, width]."""
        parts = [self._made(self.levels[k], codes[:, k]) for k in range(codes.shape[1])]
        return np.asarray(np.sum(parts, axis=0), np.float32)


@lru_cache(maxsize=2)
def _opened(where: str, threads: int) -> _WaveFiles:
    folder = Path(where)
    try:
        card = json.loads((folder / CARD).read_text(encoding="utf-8"))
        contents = {name: (folder / name).read_bytes() for name in wave_export.FILES}
        hashes = {name: hashlib.sha256(content).hexdigest() for name, content in contents.items()}
        if hashes != card["sha256"]:
            raise WeightsError(f"{where}: the files do not fit their card; export the codec again or restore them")
        with np.load(io.BytesIO(contents[wave_export.TABLES]), allow_pickle=False) as found:
            tables = {name: found[name].astype(np.float32) for name in found.files}
        count = sum(name.startswith("codes") for name in tables)
        names = ("enter", "enter_bias", "codes", "leave", "leave_bias")
        levels = tuple({name: tables[f"{name}{k}"] for name in names} for k in range(count))
        graphs = [open_session(contents[name], threads=threads) for name in (wave_export.ENCODER, wave_export.DECODER)]
        return _WaveFiles(graphs[0], graphs[1], levels, int(card["rate_hz"]), fingerprint_of(hashes))
    except FileNotFoundError as error:
        missing = Path(str(error.filename)).name
        raise WeightsError(f"{where}: has no {missing}; export a trained codec into this folder") from None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise WeightsError(f"{where}: not an exported codec ({type(error).__name__}: {error})") from None
