"""Moonshine tiny and base by onnxruntime: the words of English speech, each with a confidence, offline.

The likeliest word piece is written after the other; a word is as sure as its least likely piece was. The networks are
written out of the shipped files once a process with their constants folded, which makes the larger one several times
quicker and changes its numbers by no more than rounding. What one model has written can be proposed to the other, which
reads it at once and steps only where it would have written something else. The words of the last sounds are remembered
in memory, as long as the process lives: who anonymizes the same recording several times, as attackers do, recognizes it
once.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from personare.core.onnx_format import name_subgraphs
from personare.core.sessions import Session, open_session, to_onnx
from personare.core.weights import files_of, home
from personare.encoders.proposals import AHEAD, AHEAD_AFTER_MISS, next_place
from personare.encoders.word_pieces import END, START, RecognizedWord, read_pieces, words_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

RATE_HZ = 16_000
MODELS = ("moonshine-base", "moonshine")
SHORTEST = 1600  # samples: nothing shorter is a word
REMEMBERED = 512  # sounds
TOKENS_PER_S, SPARE_TOKENS = 6.5, 8  # nobody says more in that time


@dataclass(frozen=True)
class _Networks:
    encoder: Session
    decoder: Session
    memories: tuple[str, ...]
    empty: tuple[int, ...]
    masked: bool
    pieces: tuple[bytes, ...]


@dataclass(frozen=True)
class _Written:
    tokens: tuple[int, ...]
    probabilities: tuple[float, ...]


_known: dict[tuple[str, str | None, Path, bytes], _Written] = {}  # of this process, the oldest first


def recognize(samples: Floats, *, model: str, proposed_by: str | None = None) -> list[RecognizedWord]:
    """Recognize the words of at most half a minute of 16 kHz samples; too little sound has none.

    With what another model writes (``proposed_by``) it takes less time; the words are the same, but for rounding.
    """
    if len(samples) < SHORTEST:
        return []
    networks, written = _networks(model, home()), _written(samples, model, proposed_by)
    return [
        RecognizedWord(text, min(written.probabilities[place] for place in places))
        for text, places in words_of(written.tokens, networks.pieces)
    ]


def _written(samples: Floats, model: str, proposed_by: str | None) -> _Written:
    """What a model writes, or has written lately."""
    sound = (model, proposed_by, home(), hashlib.sha256(samples.tobytes()).digest())
    if sound not in _known:
        proposal = () if proposed_by is None else _written(samples, proposed_by, None).tokens
        most = int(TOKENS_PER_S * len(samples) / RATE_HZ) + SPARE_TOKENS
        written = _decode(samples, _networks(model, home()), proposal, most)
        while len(_known) >= REMEMBERED:
            del _known[next(iter(_known))]
        _known[sound] = written
    return _known[sound]


def _decode(samples: Floats, networks: _Networks, proposal: Sequence[int], most: int) -> _Written:
    """Write word pieces until the end is the likeliest, each with its probability.

    The pieces of a proposal are read together with the last one written; as many are kept as the network would have
    written itself, and then the one that it prefers.
    """
    mask = {"attention_mask": np.ones((1, len(samples)), np.int64)} if networks.masked else {}
    states = networks.encoder.run(None, {"input_values": samples[None], **mask})[0]
    fixed = {"encoder_hidden_states": states}
    if networks.masked:
        fixed["encoder_attention_mask"] = mask["attention_mask"]
    memory = {_past(name): np.zeros(networks.empty, np.float32) for name in networks.memories}
    tokens: list[int] = []
    probabilities: list[float] = []
    last, place, count = START, 0, AHEAD
    while len(tokens) < most:
        ahead = proposal[place : place + min(count, most - len(tokens) - 1)]
        inputs: dict[str, NDArray[Any]] = {
            "input_ids": np.array([[last, *ahead]], np.int64),
            "use_cache_branch": np.array([bool(tokens)]),
            **fixed,
            **memory,
        }
        logits, *present = networks.decoder.run(None, inputs)
        followed = 0
        for proposed, row in zip([*ahead, None], logits[0], strict=True):
            last, probability = _likeliest(row)
            if last == END:
                return _Written(tuple(tokens), tuple(probabilities))
            tokens.append(last)
            probabilities.append(probability)
            if last != proposed:
                break
            followed += 1
        for name, value in zip(networks.memories, present, strict=True):
            if ".encoder." not in name:
                memory[_past(name)] = value[:, :, : len(tokens)]
            elif len(tokens) == followed + 1:  # the first step's; later ones leave the encoder's memories empty
                memory[_past(name)] = value
        count = AHEAD if followed == len(ahead) else AHEAD_AFTER_MISS
        place = next_place(proposal, place + followed, last)
    return _Written(tuple(tokens), tuple(probabilities))


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
