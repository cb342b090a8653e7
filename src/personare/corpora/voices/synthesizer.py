"""Gives an invented speaker a sound: phonemes and a voice go through the Kokoro network (or Piper), speech comes out.

The network is that of ``personare.voices.kokoro``. Two voices are mixed by mixing their styles. The same utterance has
the same bits in any process on this kind of machine.
"""

from __future__ import annotations

import hashlib
import json
from importlib import metadata
from typing import TYPE_CHECKING

import numpy as np

from personare.core.audio import Audio, resample
from personare.core.carriers import WEIGHTS
from personare.corpora.voices.piper_source import MODELS as PIPER_MODELS
from personare.corpora.voices.piper_source import piper_fingerprint, piper_synthesize
from personare.corpora.voices.plan import PlannedUtterance
from personare.corpora.voices.speakers import Source, Speaker
from personare.voices.kokoro import LOUDEST, MODEL, RATE_HZ, mixed_style, speak_ids, symbol_ids

if TYPE_CHECKING:
    from numpy.typing import NDArray

MODELS: dict[Source, tuple[str, ...]] = {"kokoro": (MODEL,), "piper": PIPER_MODELS}
NATIVE_RATE_HZ = RATE_HZ
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
    wave = speak_ids(ids, style=style_of(utterance.speaker, len(ids)), rate=utterance.speaker.pace)
    return turned_down(resample(Audio(wave, NATIVE_RATE_HZ), rate_hz))


def turned_down(audio: Audio) -> Audio:
    """Turn a sound down whose peak is too high; resampling may overshoot."""
    peak = float(np.abs(audio.samples).max())
    return audio if peak <= LOUDEST else Audio(audio.samples * np.float32(LOUDEST / peak), audio.rate_hz)


def style_of(speaker: Speaker, length: int) -> NDArray[np.float32]:
    """Give the style [1, 256] of a speaker for a text of ``length`` symbols, mixed where there are two voices."""
    shares = (speaker.share, 1 - speaker.share) if len(speaker.voices) > 1 else (1.0,)
    return mixed_style(speaker.voices, shares, length=length)
