"""Whisper base and small, multilingual, by onnxruntime: language identification and transcription, offline.

The published encoder takes exactly 30 s. Its positions are turned into an input, so that a short sound costs what it
lasts: 3 s take a fifteenth of the time of a full window. Decoding is greedy, with a cap on word pieces, because
the model repeats itself on sounds that hold no words. A word is as sure as its least likely piece was.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from personare.core.errors import ConfigError
from personare.core.onnx_format import FLOAT, OnnxNetwork, OnnxValue, decode_model, encode_model
from personare.core.sessions import Session, open_session
from personare.core.weights import files_of, home
from personare.encoders.mels import HOP, RATE_HZ, power_mels
from personare.encoders.word_pieces import RecognizedWord, spaced_words

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

MODEL = "whisper-base"  # identifies languages, and transcribes unless another model is named
MODELS = ("whisper-base", "whisper-small")
LONGEST_S = 30.0
_CODES = """
en zh de es ru ko fr ja pt tr pl ca nl ar sv it id hi fi vi he uk el ms cs ro da hu ta no th ur hr bg lt la
mi ml cy sk te fa lv bn sr az sl kn et mk br eu is hy ne mn bs kk sq sw gl mr pa si km sn yo so af oc ka be
tg sd gu am yi lo uz fo ht ps tk nn mt sa lb my bo tl mg as tt haw ln ha ba jw su
"""
LANGUAGES = tuple(_CODES.split())
_POSITIONS = "embed_positions.weight"
_START, _END, _TRANSCRIBE, _NO_TIMES, _FIRST_LANGUAGE = 50258, 50257, 50359, 50363, 50259
_BLANK = 220
_TOKENS_PER_S, _SPARE_TOKENS = 8.0, 8  # no speaker says more in that time
_END_S = 0.5  # silence after the sound: the model expects speech to end before its window does
_PADDED_S = 7.0  # shorter sounds are transcribed with silence behind them: else the model repeats itself
_LOOP = 4  # word pieces
_REMEMBERED = 512  # sounds


@dataclass(frozen=True)
class _WhisperNetworks:
    encoder: Session
    decoder: Session
    positions: Floats
    memories: tuple[str, ...]
    heads: int
    width: int


_Key = tuple[str, str, Path, bytes]  # model, task or language, cache folder, digest of the sound
_known: dict[_Key, Any] = {}  # of this process, the oldest first


def language_probabilities(samples: Floats) -> Floats:
    """Give the probability of each of ``LANGUAGES`` for at most 30 s of 16 kHz samples: float32 [99], sum 1."""
    key = _key(samples, MODEL, "identify")
    if key not in _known:
        networks = _networks(MODEL, home())
        logits, _ = _step(networks, _encode(samples, networks), [_START], {})
        languages = logits[-1, _FIRST_LANGUAGE : _FIRST_LANGUAGE + len(LANGUAGES)].astype(np.float64)
        shares = np.exp(languages - languages.max())
        _remember(key, (shares / shares.sum()).astype(np.float32))
    result: Floats = _known[key]
    return result


def transcribe(samples: Floats, *, language: str, model: str = MODEL) -> str:
    """Transcribe at most 30 s of 16 kHz samples in a known language; greedy, deterministic."""
    return " ".join(word.text for word in recognize(samples, model=model, language=language))


def recognize(samples: Floats, *, model: str, language: str) -> list[RecognizedWord]:
    """Recognize the words of at most 30 s of 16 kHz samples in a known language; greedy, deterministic.

    Words are separated by white space: a language written without spaces gives few, long words.
    """
    check_language(language)
    key = _key(samples, model, language)
    if key not in _known:
        tokens, probabilities = _decode(samples, _networks(model, home()), language)
        pieces = _pieces(model, home())
        _remember(key, tuple(spaced_words([pieces.get(token, b"") for token in tokens], probabilities)))
    return list(_known[key])


def check_language(language: str) -> None:
    """Reject a code that is no language of Whisper."""
    if language not in LANGUAGES:
        raise ConfigError(f"language must be a code that Whisper knows, e.g. en or de, not '{language}'")


def _decode(samples: Floats, networks: _WhisperNetworks, language: str) -> tuple[list[int], list[float]]:
    """Write word pieces until the end is the likeliest, each with its probability; cut a repetition."""
    padded = np.pad(samples, (0, max(0, round(_PADDED_S * RATE_HZ) - len(samples))))
    states = _encode(padded, networks)
    most = int(_TOKENS_PER_S * len(samples) / RATE_HZ) + _SPARE_TOKENS
    prompt = [_START, _FIRST_LANGUAGE + LANGUAGES.index(language), _TRANSCRIBE, _NO_TIMES]
    logits, memory = _step(networks, states, prompt, {})
    tokens: list[int] = []
    probabilities: list[float] = []
    while len(tokens) < most:
        row = logits[-1].astype(np.float64)
        allowed = row[:_START].copy()  # neither marks nor times
        if not tokens:
            allowed[[_BLANK, _END]] = -np.inf
        best = int(allowed.argmax())
        if best == _END:
            break
        tokens.append(best)
        probabilities.append(float(1.0 / np.exp(row - row[best]).sum()))
        if _repeats(tokens):
            return tokens[: -2 * _LOOP], probabilities[: -2 * _LOOP]
        logits, memory = _step(networks, states, [best], memory)
    return tokens, probabilities


def _repeats(tokens: Sequence[int]) -> bool:
    """Whether the last pieces stand there three times: the model has left the sound and would go on for ever."""
    last = tokens[-3 * _LOOP :]
    return len(last) == 3 * _LOOP and last[:_LOOP] == last[_LOOP : 2 * _LOOP] == last[2 * _LOOP :]


def _key(samples: Floats, model: str, task: str) -> _Key:
    return model, task, home(), hashlib.sha256(samples.tobytes()).digest()


def _remember(key: _Key, value: object) -> None:
    while len(_known) >= _REMEMBERED:
        del _known[next(iter(_known))]
    _known[key] = value


def _encode(samples: Floats, networks: _WhisperNetworks) -> Floats:
    sound = np.pad(samples.astype(np.float32, copy=False), (0, round(_END_S * RATE_HZ)))
    frames = min(len(sound) // HOP // 2 * 2, round(LONGEST_S * RATE_HZ) // HOP)
    mels = np.log10(np.maximum(power_mels(sound, n_mels=80)[:frames], np.float32(1e-10)))
    features = (np.maximum(mels, mels.max() - np.float32(8)) + np.float32(4)) / np.float32(4)
    inputs = {"input_features": np.ascontiguousarray(features.T)[None], _POSITIONS: networks.positions[: frames // 2]}
    states: Floats = networks.encoder.run(["last_hidden_state"], inputs)[0]
    return states


def _step(
    networks: _WhisperNetworks, states: Floats, tokens: Sequence[int], memory: dict[str, NDArray[Any]]
) -> tuple[Floats, dict[str, NDArray[Any]]]:
    """Read tokens after those in ``memory``: logits [tokens, vocabulary] and the new memory."""
    empty = np.zeros((1, networks.heads, 0, networks.width), np.float32)
    inputs = {
        "input_ids": np.array([tokens], np.int64),
        "encoder_hidden_states": states,
        "use_cache_branch": np.array([bool(memory)]),
        **(dict.fromkeys(networks.memories, empty) | memory),
    }
    logits, *present = networks.decoder.run(None, inputs)
    now = dict(zip(networks.memories, present[: len(networks.memories)], strict=True))
    if memory:  # later steps leave the encoder's part empty: the first step's stays
        now |= {name: value for name, value in memory.items() if ".encoder." in name}
    return logits[0], now


@lru_cache(maxsize=2)
def _networks(model: str, _cache: Path) -> _WhisperNetworks:
    files = files_of(model)
    network = decode_model(files["encoder_model_quantized.onnx"].read_bytes())
    positions = next(one for one in network.constants if one.name == _POSITIONS).array().astype(np.float32)
    flexible = OnnxNetwork(
        network.nodes,
        [*network.inputs, OnnxValue(_POSITIONS, ("frames", positions.shape[1]), FLOAT)],
        network.outputs[:1],
        [one for one in network.constants if one.name != _POSITIONS],
        network.name,
    )
    encoder = open_session(encode_model(flexible, opsets={"": 11}, ir_version=6), where=model)
    decoder = open_session(files["decoder_model_merged_quantized.onnx"])
    past = [one for one in decoder.get_inputs() if one.name.startswith("past_key_values")]
    return _WhisperNetworks(
        encoder,
        decoder,
        positions,
        tuple(one.name for one in past),
        int(past[0].shape[1]),
        int(past[0].shape[3]),
    )


@lru_cache(maxsize=2)
def _pieces(model: str, _cache: Path) -> dict[int, bytes]:
    """Read the word pieces: each byte is written as a printable character (GPT-2's table)."""
    printable = [*range(ord("!"), ord("~") + 1), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in printable]
    byte_of = {chr(byte): byte for byte in printable} | {chr(256 + n): byte for n, byte in enumerate(others)}
    vocabulary = json.loads(files_of(model)["vocab.json"].read_text(encoding="utf-8"))
    return {number: bytes(byte_of[c] for c in piece) for piece, number in vocabulary.items() if number < _END}
