"""904 invented voices: text or phonemes and the number of a voice go through the Piper network, speech comes out.

Piper (a VITS network trained on LibriTTS-R) draws noise inside its graph, so that no two takes would be the same. Here
the two nodes that draw are replaced by an input: the noise is drawn by us, from the generator that comes in, and one
thread sums in one order. The same text, voice, rate and chance therefore give the same samples in any process on this
kind of machine.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from personare.core.audio import Audio
from personare.core.errors import ConfigError
from personare.core.fingerprint import Fingerprinted
from personare.core.onnx_format import (
    OnnxNode,
    OnnxTensor,
    OnnxValue,
    decode_model,
    encode_model,
    make_node,
    make_tensor,
)
from personare.core.sessions import Session, open_session
from personare.core.weights import files_of, home
from personare.voices.pronunciation import pronounce
from personare.voices.synthesizer import Gender, OfflineVoice

if TYPE_CHECKING:
    from numpy.typing import NDArray

RATE_HZ = 22_050
VOICES = 904
RATE_RANGE = (0.4, 2.5)  # speaking rates that still sound like speech
TABLE = "piper_voices.tsv"
LOUDEST = 0.95  # a peak above this is turned down to it
_BEGIN, _END, _BETWEEN = "^", "$", "_"
_NOISE_FRAMES = 1024  # 12 s; longer speech uses the same noise again
_NOISE_SIZES = {"/dp/RandomNormalLike": 2, "/RandomNormalLike": 192}
_OPSET, _IR_VERSION = 15, 8  # of the file


@dataclass(frozen=True)
class Piper(Fingerprinted):
    """Speaks with one of Piper's 904 voices.

    Parameters
    ----------
    variation : how far two takes of one text differ in sound, 0 (not at all) to 1.
    timing_variation : how far they differ in the lengths of their sounds, 0 to 1.
    """

    VERSION: ClassVar[int] = 1
    MODELS: ClassVar[tuple[str, ...]] = ("piper", "cmudict")

    variation: float = 0.333
    timing_variation: float = 0.333

    def __post_init__(self) -> None:
        for name in ("variation", "timing_variation"):
            if not 0 <= getattr(self, name) <= 1:
                raise ConfigError(f"{name} must be 0 to 1, not {getattr(self, name)}")

    @property
    def voices(self) -> Sequence[OfflineVoice]:
        """The measured voices; any number from 0 to 903 can be spoken with."""
        return measured_voices()

    def __call__(self, text: str, *, voice: int, rate: float, rng: np.random.Generator) -> Audio:
        """Speak a text, pronounced by the dictionary."""
        return self.speak(pronounce(text), voice=voice, rate=rate, rng=rng)

    def speak(self, phonemes: str, *, voice: int, rate: float, rng: np.random.Generator) -> Audio:
        """Speak phonemes (IPA as ``pronounce`` writes it); none give no samples."""
        if not 0 <= voice < VOICES:
            raise ConfigError(f"Piper has the voices 0 to {VOICES - 1}, not {voice}")
        if not RATE_RANGE[0] <= rate <= RATE_RANGE[1]:
            raise ConfigError(f"rate must be {RATE_RANGE[0]} to {RATE_RANGE[1]}, not {rate}")
        noise = {
            f"noise_{size}": rng.standard_normal((1, _NOISE_FRAMES, size), dtype=np.float32)
            for size in _NOISE_SIZES.values()
        }
        if not any(symbol.isalpha() for symbol in phonemes):
            return Audio(np.zeros(0, dtype=np.float32), RATE_HZ)
        ids = symbol_ids(phonemes)
        inputs: dict[str, NDArray[Any]] = {
            "input": np.array([ids], dtype=np.int64),
            "input_lengths": np.array([len(ids)], dtype=np.int64),
            "scales": np.array([self.variation, 1 / rate, self.timing_variation], dtype=np.float32),
            "sid": np.array([voice], dtype=np.int64),
            **{name: np.ascontiguousarray(values.transpose(0, 2, 1)) for name, values in noise.items()},
        }
        (wave,) = _session(home()).run(["output"], inputs)
        samples = np.ascontiguousarray(wave.reshape(-1), dtype=np.float32)
        peak = float(np.abs(samples).max(initial=0.0))
        return Audio(samples if peak <= LOUDEST else samples * np.float32(LOUDEST / peak), RATE_HZ)


def symbol_ids(phonemes: str) -> list[int]:
    """Turn phonemes into the network's numbers, framed, a blank after each; an unknown symbol is an error."""
    numbers = _symbols(home())
    plain = unicodedata.normalize("NFD", phonemes)
    strange = sorted(set(plain) - set(numbers))
    if strange:
        raise ConfigError(f"Piper has no symbol '{strange[0]}' (in '{phonemes}'); spell it with others")
    framed = [numbers[_BEGIN], numbers[_BETWEEN]]
    for symbol in plain:
        framed += [numbers[symbol], numbers[_BETWEEN]]
    return [*framed, numbers[_END]]


@lru_cache(maxsize=1)
def measured_voices() -> tuple[OfflineVoice, ...]:
    """The voices of the shipped table, which ``benchmarks/piper_voices.py`` makes: those that were measured.

    >>> measured_voices()[3].gender
    'm'
    """
    lines = resources.files(__package__).joinpath(TABLE).read_text(encoding="utf-8").splitlines()[1:]
    voices = []
    for number, f0_hz, gender, dnsmos in (line.split("\t") for line in lines):
        guess: Gender = "f" if gender == "f" else "m" if gender == "m" else ""
        voices.append(OfflineVoice(int(number), float(f0_hz), guess, float(dnsmos)))
    return tuple(voices)


@lru_cache(maxsize=1)
def _symbols(_cache: Path) -> dict[str, int]:
    """Symbol -> number; one line is the blank itself."""
    lines = files_of("piper")["tokens.txt"].read_text(encoding="utf-8").splitlines()
    return {symbol or " ": int(number) for symbol, _, number in (line.rpartition(" ") for line in lines) if number}


@lru_cache(maxsize=1)
def _session(_cache: Path) -> Session:
    """The network, loaded once per process, on one thread."""
    place = files_of("piper")["model.onnx"]
    return open_session(noise_from_outside(place.read_bytes()), where=str(place))


def noise_from_outside(model: bytes) -> bytes:
    """Rewrite the network so that its noise comes in as the inputs ``noise_2`` and ``noise_192``."""
    network = decode_model(model)
    nodes: list[OnnxNode] = []
    constants: list[OnnxTensor] = [make_tensor("noise_axis", np.array(2, dtype=np.int64))]
    constants += [make_tensor(f"noise_{name}", np.array(value, dtype=np.int64)) for name, value in _BOUNDS.items()]
    for node in network.nodes:
        nodes += _given_noise(node) if node.op == "RandomNormalLike" else [node]
    inputs = [OnnxValue(f"noise_{size}", (1, size, _NOISE_FRAMES)) for size in _NOISE_SIZES.values()]
    rewritten = replace(
        network, nodes=nodes, inputs=[*network.inputs, *inputs], constants=[*network.constants, *constants]
    )
    return encode_model(rewritten, opsets={"": _OPSET}, ir_version=_IR_VERSION)


_BOUNDS = {"zero": 0, "one": 1, "frames": _NOISE_FRAMES}


def _given_noise(node: OnnxNode) -> list[OnnxNode]:
    """Nodes that take as many frames of the given noise as the network has, from the beginning again after the last."""
    size, (template,), (result,) = _NOISE_SIZES[node.name], node.inputs, node.outputs
    shape, count, places, turned = (f"{result}_{part}" for part in ("shape", "count", "places", "turned"))
    return [
        make_node("Shape", [template], [shape]),
        make_node("Gather", [shape, "noise_axis"], [count]),
        make_node("Range", ["noise_zero", count, "noise_one"], [places]),
        make_node("Mod", [places, "noise_frames"], [turned]),
        make_node("Gather", [f"noise_{size}", turned], [result], axis=2),
    ]
