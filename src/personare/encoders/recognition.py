"""Words, and how sure the recognizer is of each: Moonshine tiny or base (English), by onnxruntime, offline.

The likeliest word piece is written after the other; a word is as sure as its least likely piece was. The networks are
written out of the shipped files once a process with their constants folded, which makes the larger one several times
quicker and changes its numbers by no more than rounding. The words of the last sounds are remembered in memory, as long
as the process lives: who anonymizes the same recording several times, as attackers do, recognizes it once.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from personare.core.onnx_format import name_subgraphs
from personare.core.sessions import Session, open_session, to_onnx
from personare.core.weights import files_of, home
from personare.encoders.word_pieces import END, START, read_pieces, words_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

RATE_HZ = 16_000
RECOGNIZERS = ("moonshine-base", "moonshine")
SHORTEST = 1600  # samples: nothing shorter is a word
REMEMBERED = 512  # sounds
_TOKENS_PER_S, _SPARE_TOKENS = 6.5, 8  # nobody says more in that time


@dataclass(frozen=True)
class RecognizedWord:
    """A word as written, with its capitals and marks, and the probability of its least likely piece."""

    text: str
    confidence: float


@dataclass(frozen=True)
class _Networks:
    encoder: Session
    decoder: Session
    memories: tuple[str, ...]
    empty: tuple[int, ...]
    masked: bool
    pieces: tuple[bytes, ...]


_known: dict[tuple[str, Path, bytes], tuple[RecognizedWord, ...]] = {}  # of this process, the oldest first


def recognize(samples: Floats, *, model: str) -> list[RecognizedWord]:
    """Recognize the words of at most half a minute of 16 kHz samples; too little sound has none."""
    if len(samples) < SHORTEST:
        return []
    sound = (model, home(), hashlib.sha256(samples.tobytes()).digest())
    if sound not in _known:
        if len(_known) >= REMEMBERED:
            del _known[next(iter(_known))]
        _known[sound] = _recognized(samples, _networks(model, home()))
    return list(_known[sound])


def _recognized(samples: Floats, networks: _Networks) -> tuple[RecognizedWord, ...]:
    most = int(_TOKENS_PER_S * len(samples) / RATE_HZ) + _SPARE_TOKENS
    tokens, probabilities = _decode(samples, networks, most)
    return tuple(
        RecognizedWord(text, min(probabilities[place] for place in places))
        for text, places in words_of(tokens, networks.pieces)
    )


def _decode(samples: Floats, networks: _Networks, most: int) -> tuple[list[int], list[float]]:
    """Write word pieces until the end is the likeliest, each with its probability."""
    mask = {"attention_mask": np.ones((1, len(samples)), np.int64)} if networks.masked else {}
    states = networks.encoder.run(None, {"input_values": samples[None], **mask})[0]
    fixed = {"encoder_hidden_states": states}
    if networks.masked:
        fixed["encoder_attention_mask"] = mask["attention_mask"]
    memory = {_past(name): np.zeros(networks.empty, np.float32) for name in networks.memories}
    tokens: list[int] = []
    probabilities: list[float] = []
    last, first = START, True
    while len(tokens) < most:
        inputs: dict[str, NDArray[Any]] = {
            "input_ids": np.array([[last]], np.int64),
            "use_cache_branch": np.array([not first]),
            **fixed,
            **memory,
        }
        logits, *present = networks.decoder.run(None, inputs)
        for name, value in zip(networks.memories, present, strict=True):
            if first or ".encoder." not in name:  # later steps leave the encoder's memories empty
                memory[_past(name)] = value
        last, probability = _likeliest(logits[0, -1])
        if last == END:
            break
        tokens.append(last)
        probabilities.append(probability)
        first = False
    return tokens, probabilities


def _likeliest(logits: Floats) -> tuple[int, float]:
    best = int(logits.argmax())
    return best, float(1.0 / np.exp(logits.astype(np.float64) - float(logits[best])).sum())


def _past(name: str) -> str:
    return name.replace("present", "past_key_values", 1)


@lru_cache(maxsize=2)
def _networks(model: str, _cache: Path) -> _Networks:
    files = files_of(model)
    encoder, decoder = (
        open_session(name_subgraphs(to_onnx(files[name])), where=str(files[name]))
        for name in ("encoder_model.ort", "decoder_model_merged.ort")
    )
    shape = next(one.shape for one in decoder.get_inputs() if one.name.startswith("past_key_values"))
    return _Networks(
        encoder,
        decoder,
        tuple(output.name for output in decoder.get_outputs())[1:],
        (1, int(shape[1]), 0, int(shape[3])),
        any(one.name == "attention_mask" for one in encoder.get_inputs()),
        read_pieces(files["tokenizer.bin"]),
    )
