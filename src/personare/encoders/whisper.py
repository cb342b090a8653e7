"""Whisper base and small, multilingual, by onnxruntime: language identification and transcription, offline.

Decoding is greedy. A word is as sure as its least likely piece was. The model sometimes repeats itself or goes on for
ever, above all where little silence follows the sound. A transcript that repeats something counts only if the sound,
followed by more silence, gives the same one; a transcript that does not end, or loops, never counts: then there are no
words. What one model has written can be proposed to the other, which reads it at once and steps only where it would
have written something else.
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
from personare.core.sessions import Session
from personare.core.weights import files_of, home
from personare.encoders.mels import HOP, RATE_HZ, power_mels
from personare.encoders.proposals import AHEAD, AHEAD_AFTER_MISS, next_place
from personare.encoders.whisper_network import POSITIONS, Memory, WhisperDecoder, open_decoder, open_encoder
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
_START, _END, _TRANSCRIBE, _NO_TIMES, _FIRST_LANGUAGE = 50258, 50257, 50359, 50363, 50259
_BLANK = 220
_TOKENS_PER_S, _SPARE_TOKENS = 8.0, 8  # no speaker says more in that time
_END_S = 0.5  # silence after the sound: the model expects speech to end before its window does
# seconds of a sound and the silence behind it, tried in turn: with less of it, the smaller model repeats itself often
_PADDED_S = {"whisper-base": (7.0, 10.0, 14.0), "whisper-small": (4.0, 7.0, 10.0)}
_MORE_SILENCE_S = (0.0, 1.5, 3.0)  # behind longer sounds
_PERIODS = range(1, 9)  # word pieces of a loop
_LOOP, _TIMES = 12, 3  # a loop is as many word pieces that repeat so often at least
_REPEATED = 4  # as many word pieces twice in a row are a repetition
_REMEMBERED = 512  # sounds
_REMEMBERED_STATES = 2


@dataclass(frozen=True)
class _WhisperNetworks:
    encoder: Session
    decoder: WhisperDecoder
    positions: Floats


@dataclass(frozen=True)
class _Decoded:
    """Word pieces and their probabilities; ``is_whole`` unless they loop or do not end."""

    tokens: tuple[int, ...] = ()
    probabilities: tuple[float, ...] = ()
    is_whole: bool = True


_Key = tuple[str, str, Path, bytes]  # model, task or language, cache folder, digest of the sound
_known: dict[_Key, Any] = {}  # of this process, the oldest first
_states: dict[_Key, Memory] = {}  # of the last sounds: identification and transcription encode the same one


def language_probabilities(samples: Floats, *, model: str = MODEL) -> Floats:
    """Give the probability of each of ``LANGUAGES`` for at most 30 s of 16 kHz samples: float32 [99], sum 1."""
    key = _key(samples, model, "identify")
    if key not in _known:
        logits, _ = _networks(model, home()).decoder.read([_START], _heard(samples, model), rows=1)
        languages = logits[-1, _FIRST_LANGUAGE : _FIRST_LANGUAGE + len(LANGUAGES)].astype(np.float64)
        shares = np.exp(languages - languages.max())
        _remember(key, (shares / shares.sum()).astype(np.float32))
    result: Floats = _known[key]
    return result


def transcribe(samples: Floats, *, language: str, model: str = MODEL) -> str:
    """Transcribe at most 30 s of 16 kHz samples in a known language; greedy, deterministic."""
    return " ".join(word.text for word in recognize(samples, model=model, language=language))


def recognize(samples: Floats, *, model: str, language: str, proposed_by: str | None = None) -> list[RecognizedWord]:
    """Recognize the words of at most 30 s of 16 kHz samples in a known language; greedy, deterministic.

    Words are separated by white space: a language written without spaces gives few, long words. With what another
    model writes (``proposed_by``) it takes less time; the words are the same, but for rounding.
    """
    written = _written(samples, model, language, proposed_by)
    pieces = _pieces(model, home())
    return spaced_words([pieces.get(token, b"") for token in written.tokens], written.probabilities)


def transcript_likelihood(samples: Floats, *, language: str, model: str = MODEL) -> float:
    """Give the mean log-probability of the word pieces of the transcript in a language; -inf without words."""
    probabilities = _written(samples, model, language, None).probabilities
    return float(np.mean(np.log(np.maximum(probabilities, 1e-12)))) if probabilities else -np.inf


def check_language(language: str) -> None:
    """Reject a code that is no language of Whisper."""
    if language not in LANGUAGES:
        raise ConfigError(f"language must be a code that Whisper knows, e.g. en or de, not '{language}'")


def _written(samples: Floats, model: str, language: str, proposed_by: str | None) -> _Decoded:
    """What a model writes, or has written lately; nothing if it runs away."""
    check_language(language)
    key = _key(samples, f"{model} {proposed_by or ''}", language)
    if key not in _known:
        proposal = () if proposed_by is None else _written(samples, proposed_by, language, None).tokens
        _remember(key, _believed(samples, model, language, proposal))
    result: _Decoded = _known[key]
    return result


def _believed(samples: Floats, model: str, language: str, proposal: Sequence[int]) -> _Decoded:
    """Transcribe with more and more silence behind the sound, until the transcript repeats nothing.

    Two transcripts that are the same count as well: somebody did say it twice. Else there are no words.
    """
    duration_s, before = len(samples) / RATE_HZ, None
    most = int(_TOKENS_PER_S * duration_s) + _SPARE_TOKENS
    for padded_s, more_s in zip(_PADDED_S[model], _MORE_SILENCE_S, strict=True):
        silence_s = max(padded_s - duration_s, more_s)
        padded = np.pad(samples, (0, round(silence_s * RATE_HZ)))
        written = _decode(padded, model, language, proposal, most=most)
        if written.is_whole and (not _is_repetition(written.tokens) or written.tokens == before):
            return written
        before = written.tokens
    return _Decoded()


def _decode(samples: Floats, model: str, language: str, proposal: Sequence[int], *, most: int) -> _Decoded:
    """Write word pieces until the end is the likeliest, each with its probability.

    The pieces of a proposal are read together with the last one written; as many are kept as the network would have
    written itself, and then the one that it prefers.
    """
    prompt = [_START, _FIRST_LANGUAGE + LANGUAGES.index(language), _TRANSCRIBE, _NO_TIMES]
    decoder = _networks(model, home()).decoder
    logits, memory = decoder.read(prompt, _heard(samples, model), rows=1)
    tokens: list[int] = []
    probabilities: list[float] = []
    ahead: Sequence[int] = ()
    place = 0
    while True:
        followed = 0
        for proposed, row in zip([*ahead, None], logits, strict=True):
            best, probability = _likeliest(row, is_first=not tokens)
            if best == _END:
                return _Decoded(tuple(tokens), tuple(probabilities))
            tokens.append(best)
            probabilities.append(probability)
            if len(tokens) > most or _loops(tokens):
                return _Decoded(tuple(tokens), tuple(probabilities), is_whole=False)
            if best != proposed:
                break
            followed += 1
        count = AHEAD if followed == len(ahead) else AHEAD_AFTER_MISS
        place = next_place(proposal, place + followed, tokens[-1])
        ahead = proposal[place : place + count]
        read = len(prompt) + len(tokens) - 1
        if memory.length > read:
            memory = memory.cut(read)
        logits, memory = decoder.read([tokens[-1], *ahead], memory, rows=1 + len(ahead))


def _likeliest(logits: Floats, *, is_first: bool) -> tuple[int, float]:
    row = logits.astype(np.float64)
    allowed = row[:_START].copy()  # neither marks nor times
    if is_first:
        allowed[[_BLANK, _END]] = -np.inf
    best = int(allowed.argmax())
    return best, float(1.0 / np.exp(row - row[best]).sum())


def _loops(tokens: Sequence[int]) -> bool:
    """Whether the last pieces repeat again and again: the model has left the sound and would go on for ever.

    >>> _loops([9, 5, 6, 5, 6, 5, 6, 5, 6, 5, 6, 5, 6]), _loops([5, 6, 7, 8, 5, 6, 7, 8])
    (True, False)
    """
    for period in _PERIODS:
        last = tokens[-max(_LOOP, _TIMES * period) :]
        if len(last) == max(_LOOP, _TIMES * period) and all(a == b for a, b in zip(last, last[period:], strict=False)):
            return True
    return False


def _is_repetition(tokens: Sequence[int]) -> bool:
    """Whether some pieces come twice in a row.

    >>> _is_repetition([9, 5, 6, 7, 8, 5, 6, 7, 8]), _is_repetition([5, 6, 7, 5, 6, 7])
    (True, False)
    """
    for period in range(_REPEATED, len(tokens) // 2 + 1):
        same = 0
        for one, other in zip(tokens, tokens[period:], strict=False):
            same = same + 1 if one == other else 0
            if same == period:
                return True
    return False


def _heard(samples: Floats, model: str) -> Memory:
    """Encode a sound, or give the decoder's beginning of one that was encoded lately."""
    key = _key(samples, model, "encode")
    if key in _states:
        return _states[key]
    networks = _networks(model, home())
    memory = networks.decoder.start(_encode(samples, networks))
    while len(_states) >= _REMEMBERED_STATES:
        del _states[next(iter(_states))]
    _states[key] = memory
    return memory


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
    inputs = {"input_features": np.ascontiguousarray(features.T)[None], POSITIONS: networks.positions[: frames // 2]}
    states: Floats = networks.encoder.run(["last_hidden_state"], inputs)[0]
    return states


@lru_cache(maxsize=2)
def _networks(model: str, _cache: Path) -> _WhisperNetworks:
    files = files_of(model)
    encoder, positions = open_encoder(files["encoder_model_quantized.onnx"], where=model)
    return _WhisperNetworks(encoder, open_decoder(files["decoder_model_merged_quantized.onnx"], where=model), positions)


@lru_cache(maxsize=2)
def _pieces(model: str, _cache: Path) -> dict[int, bytes]:
    """Read the word pieces: each byte is written as a printable character (GPT-2's table)."""
    printable = [*range(ord("!"), ord("~") + 1), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in printable]
    byte_of = {chr(byte): byte for byte in printable} | {chr(256 + n): byte for n, byte in enumerate(others)}
    vocabulary = json.loads(files_of(model)["vocab.json"].read_text(encoding="utf-8"))
    return {number: bytes(byte_of[c] for c in piece) for piece, number in vocabulary.items() if number < _END}
