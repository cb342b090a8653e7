"""Kokoro reads sentences aloud and tells how long each symbol lasts: what the reader of the neural voice learns from.

The readers are the clear American ones of Kokoro's voices (Apache-2.0). What they read is spelled with one symbol a
sound (personare.voices.spelling); the lengths, in units of 25 ms, are those the network itself has decided on.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from personare.core.audio import Audio, resample
from personare.core.onnx_format import INT64, OnnxNetwork, OnnxValue, decode_model, encode_model
from personare.core.sessions import open_session
from personare.corpora.voices.speakers import Speaker
from personare.corpora.voices.synthesizer import NATIVE_RATE_HZ, style_of, turned_down
from personare.voices.kokoro import network_file, symbol_ids
from personare.voices.kokoro_network import IR_VERSION, OPSETS, with_products

if TYPE_CHECKING:
    from numpy.typing import NDArray

READERS = (
    *("af_heart", "af_bella", "af_aoede", "af_kore", "af_sarah", "af_nova", "af_sky", "af_alloy", "af_jessica"),
    *("af_river", "am_michael", "am_fenrir", "am_puck", "am_echo", "am_eric", "am_liam", "am_onyx"),
)
LONGEST = 400  # symbols of a sentence
_LENGTHS = "/encoder/Cast_output_0"  # of every symbol, in units of 25 ms: a value inside the network


def read_aloud(spelled: str, *, reader: int, rate_hz: int) -> tuple[Audio, NDArray[np.int16]]:
    """Let one of the readers read; gives the sound, and how many units each symbol lasts, the frame's two included."""
    ids = symbol_ids(spelled)
    voice = READERS[reader]
    speaker = Speaker(voice, "f" if voice[1] == "f" else "m", "american", (voice,), share=1.0, pace=1.0)
    inputs = {
        "input_ids": np.array([[0, *ids, 0]], dtype=np.int64),
        "style": style_of(speaker, len(ids)),
        "speed": np.ones(1, np.float32),
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
