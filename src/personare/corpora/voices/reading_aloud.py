"""Kokoro reads sentences aloud and tells how long each symbol lasts: the training data of the reader.

English is read by the clear American ones of Kokoro's voices (Apache-2.0), other languages by mixtures of its voices
that a recognizer understands in all of them (``MIXTURES``; see benchmarks/kokoro_voices.py). Sentences are given in the
symbols of personare.voices.spelling; the lengths, in units of 25 ms, are those the network itself has decided on.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from personare.core.audio import Audio, resample
from personare.core.onnx_format import INT64, OnnxNetwork, OnnxValue, decode_model, encode_model
from personare.core.sessions import open_session
from personare.corpora.voices.synthesizer import NATIVE_RATE_HZ, turned_down
from personare.voices.kokoro import mixed_style, mixture, network_file, symbol_ids
from personare.voices.kokoro_network import IR_VERSION, OPSETS, with_products

if TYPE_CHECKING:
    from numpy.typing import NDArray

READERS = (
    *("af_heart", "af_bella", "af_aoede", "af_kore", "af_sarah", "af_nova", "af_sky", "af_alloy", "af_jessica"),
    *("af_river", "am_michael", "am_fenrir", "am_puck", "am_echo", "am_eric", "am_liam", "am_onyx"),
)
MIXTURES = (24, 2, 8, 6, 10, 0, 9, 11, 13, 3, 17, 5)  # women first; lowest CER by Whisper base of the measured ones
# of these, the ones that Whisper base understands best, by the set 'development' of trainings/sentences.tsv
_CLEAREST: dict[str, tuple[int, ...]] = {
    "de": (24, 2, 6, 9, 17),
    "fr": (24, 2, 0, 9, 11, 13),
    "it": (24, 8, 0, 13, 3, 17),
    "pt": (24, 2, 0, 11, 3, 17),
}
FURTHER_READERS = tuple(f"mixture {number}" for number in MIXTURES)
LONGEST = 400  # symbols of a sentence
_LENGTHS = "/encoder/Cast_output_0"  # of every symbol, in units of 25 ms: a value inside the network


def read_aloud(spelled: str, *, reader: int, rate_hz: int) -> tuple[Audio, NDArray[np.int16]]:
    """Let one of ``READERS`` read; gives the sound, and how many units each symbol lasts, the frame's two included."""
    return _read((READERS[reader],), (1.0,), spelled, rate=1.0, rate_hz=rate_hz)


def clearest(code: str) -> tuple[int, ...]:
    """Numbers of the mixtures that read a language.

    >>> clearest("es") == MIXTURES
    True
    """
    return _CLEAREST.get(code, MIXTURES)


def read_by_mixture(spelled: str, *, number: int, rate_hz: int) -> tuple[Audio, NDArray[np.int16]]:
    """Let a pseudo-speaker of Kokoro read (see ``personare.voices.kokoro.mixture``), at its own speaking rate."""
    speaker = mixture(number)
    return _read(speaker.voices, speaker.shares, spelled, rate=speaker.rate, rate_hz=rate_hz)


def _read(
    voices: tuple[str, ...], shares: tuple[float, ...], spelled: str, *, rate: float, rate_hz: int
) -> tuple[Audio, NDArray[np.int16]]:
    ids = symbol_ids(spelled)
    inputs = {
        "input_ids": np.array([[0, *ids, 0]], dtype=np.int64),
        "style": mixed_style(voices, shares, length=len(ids)),
        "speed": np.array([rate], np.float32),
    }
    wave, lengths = _session().run(["waveform", _LENGTHS], inputs)
    audio = resample(Audio(np.ascontiguousarray(wave.reshape(-1), dtype=np.float32), NATIVE_RATE_HZ), rate_hz)
    return turned_down(audio), lengths.reshape(-1).astype(np.int16)


@lru_cache(maxsize=1)
def _session() -> Any:
    """The network, loaded once per process, with one more output."""
    shipped = decode_model(with_products(network_file().read_bytes()))
    outputs = [*shipped.outputs, OnnxValue(_LENGTHS, ("symbols",), INT64)]
    network = OnnxNetwork(shipped.nodes, shipped.inputs, outputs, shipped.constants, shipped.name)
    return open_session(encode_model(network, opsets=OPSETS, ir_version=IR_VERSION), where=str(network_file()))
