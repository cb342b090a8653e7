"""Gives an invented speaker a sound: phonemes and a voice go through the Kokoro network (or Piper), speech comes out.

Kokoro takes symbol ids framed by 0, a style (how this voice sounds in a text of that length: row n of its table for n
ids) and a speaking rate. Two voices are mixed by mixing their styles. The network holds no chance, and one thread sums
in one order, so that the same utterance has the same bits in any process on this kind of machine.
"""

from __future__ import annotations

import hashlib
import json
from functools import lru_cache
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from personare.core.audio import Audio, resample
from personare.core.carriers import WEIGHTS
from personare.core.errors import ConfigError
from personare.core.sessions import open_session
from personare.core.weights import files_of
from personare.corpora.voices.kokoro_network import with_products
from personare.corpora.voices.piper_source import MODELS as PIPER_MODELS
from personare.corpora.voices.piper_source import piper_fingerprint, piper_synthesize
from personare.corpora.voices.plan import PlannedUtterance
from personare.corpora.voices.speakers import Source, Speaker

if TYPE_CHECKING:
    from numpy.typing import NDArray

MODEL = "kokoro"
MODELS: dict[Source, tuple[str, ...]] = {"kokoro": (MODEL,), "piper": PIPER_MODELS}
NATIVE_RATE_HZ = 24_000
STYLE_SIZE = 256
LOUDEST = 0.95  # resampling may overshoot; a peak above this is turned down to it
_RECIPE = 1  # raise it when the same plan would give another sound


def fingerprint(utterance: PlannedUtterance, *, rate_hz: int) -> str:
    """Name the sound of an utterance by all it depends on, and nothing else: equal names, equal sound."""
    who = utterance.speaker
    if who.source == "piper":
        return piper_fingerprint(utterance, rate_hz=rate_hz)
    made_of = {
        "recipe": _RECIPE,
        "phonemes": utterance.phonemes,
        "voices": who.voices,
        "share": who.share,
        "pace": who.pace,
        "rate_hz": rate_hz,
        "model": dict(WEIGHTS[MODEL].files),
        "runtime": metadata.version("onnxruntime"),
    }
    return hashlib.sha256(json.dumps(made_of, sort_keys=True).encode()).hexdigest()[:32]


def synthesize(utterance: PlannedUtterance, *, rate_hz: int) -> Audio:
    """Make the sound of one utterance at ``rate_hz``."""
    if utterance.speaker.source == "piper":
        return piper_synthesize(utterance, rate_hz=rate_hz)
    ids = symbol_ids(utterance.phonemes)
    inputs = {
        "input_ids": np.array([[0, *ids, 0]], dtype=np.int64),
        "style": style_of(utterance.speaker, len(ids)),
        "speed": np.array([utterance.speaker.pace], dtype=np.float32),
    }
    (wave,) = _session().run(["waveform"], inputs)
    audio = resample(Audio(np.ascontiguousarray(wave.reshape(-1), dtype=np.float32), NATIVE_RATE_HZ), rate_hz)
    return turned_down(audio)


def turned_down(audio: Audio) -> Audio:
    """Turn a sound down whose peak is too high."""
    peak = float(np.abs(audio.samples).max())
    return audio if peak <= LOUDEST else Audio(audio.samples * np.float32(LOUDEST / peak), audio.rate_hz)


def symbol_ids(phonemes: str) -> list[int]:
    """Turn phonemes into the network's numbers; a symbol it does not know is an error, never left out."""
    vocabulary = _vocabulary()
    strange = sorted(set(phonemes) - set(vocabulary))
    if strange:
        raise ConfigError(f"Kokoro has no symbol '{strange[0]}' (in '{phonemes}'); spell the sentence with others")
    return [vocabulary[symbol] for symbol in phonemes]


def style_of(speaker: Speaker, length: int) -> NDArray[np.float32]:
    """Give the style [1, 256] of a speaker for a text of ``length`` symbols, mixed where there are two voices."""
    first, *others = (_table(voice)[min(length, len(_table(voice)) - 1)] for voice in speaker.voices)
    style = first if not others else np.float32(speaker.share) * first + np.float32(1 - speaker.share) * others[0]
    return np.asarray(style, dtype=np.float32)


def network_file() -> Path:
    """Where the network lies."""
    return _files()["kokoro-quantized.onnx"]


@lru_cache(maxsize=1)
def _files() -> dict[str, Path]:
    """The model's files, hashed once per process."""
    return files_of(MODEL)


@lru_cache(maxsize=1)
def _session() -> Any:
    """The network, loaded once per process, on one thread."""
    network = network_file()
    return open_session(with_products(network.read_bytes()), where=str(network))


@lru_cache(maxsize=1)
def _vocabulary() -> dict[str, int]:
    """Symbol -> number, without the frame symbol."""
    table = json.loads(_files()["tokenizer.json"].read_text(encoding="utf-8"))["model"]["vocab"]
    return {symbol: number for symbol, number in table.items() if number != 0}


@lru_cache(maxsize=64)
def _table(voice: str) -> NDArray[np.float32]:
    """The styles of one voice: float32 [lengths, 1, 256]."""
    return np.fromfile(_files()[f"{voice}.bin"], dtype=np.float32).reshape(-1, 1, STYLE_SIZE)
