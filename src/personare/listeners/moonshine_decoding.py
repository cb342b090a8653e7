"""From sound to word pieces with Moonshine: utterances of about the same length are written down together.

The encoder takes one utterance at a time (its 8-bit rounding has a scale per input, so padding would change words), and
so does the decoder's first step. All further steps, where most of the time goes, are taken by several utterances
together, each rounded by itself (``moonshine_step``). The encoder's frames are padded to the next multiple of 64 and
masked, which depends on the utterance alone: its words are the same in any batch and any order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from personare.core.sessions import open_session
from personare.core.weights import files_of
from personare.encoders.word_pieces import END, START
from personare.listeners.moonshine_step import HEAD_PADDED, step_network

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Samples = NDArray[np.float32]
    Memory = dict[str, NDArray[np.float32]]

PADDED = 64
_HOP = 384  # samples a frame
_HEADS, _HEAD_WIDTH, _WIDTH = 8, 36, 288


@dataclass(frozen=True)
class Networks:
    """The encoder, the shipped decoder (first step), the decoder row by row (further steps), and the memory's names."""

    encoder: Any
    decoder: Any
    step: Any
    names: tuple[str, ...]


@dataclass(frozen=True)
class Begun:
    """One utterance after the first step: its first word piece, what the decoder remembers, its frames."""

    token: int
    memory: Memory
    frames: int


def decode(sounds: Sequence[Samples], most: Sequence[int], *, rows: int, threads: int) -> list[list[int]]:
    """Write down each sound (16 kHz) in word pieces, the likeliest one after the other.

    Parameters
    ----------
    most : how many word pieces each sound may have.
    rows : how many sounds are written down together at most.
    """
    found: dict[int, list[int]] = {}
    for group in _groups([len(sound) for sound in sounds], rows):
        begun = [_begin(sounds[i], networks(threads)) for i in group]
        found |= zip(group, _together(begun, [most[i] for i in group], networks(threads)), strict=True)
    return [found[i] for i in range(len(sounds))]


def _groups(lengths: Sequence[int], rows: int) -> Iterator[list[int]]:
    """Put sounds together whose padded frames are equally many, shortest first."""
    order = sorted(range(len(lengths)), key=lambda i: (lengths[i], i))
    group: list[int] = []
    for i in order:
        if group and (len(group) == rows or padded_frames(lengths[i]) != padded_frames(lengths[group[0]])):
            yield group
            group = []
        group.append(i)
    if group:
        yield group


def padded_frames(samples: int) -> int:
    """Frames the encoder gives for so many samples, rounded up to a multiple of 64.

    >>> padded_frames(16_000), padded_frames(48_000)
    (64, 128)
    """
    frames = (((samples - 127) // 64 + 1 - 7) // 3 + 1 - 3) // 2 + 1
    return _padded(max(frames, 1))


def _padded(frames: int) -> int:
    return -(-frames // PADDED) * PADDED


def _begin(sound: Samples, networks: Networks) -> Begun:
    """Encode one sound and take the first step with the shipped networks."""
    mask = np.ones((1, len(sound)), np.int64)  # in samples for the decoder too, which thins it out itself
    states = networks.encoder.run(None, {"input_values": sound[None], "attention_mask": mask})[0]
    nothing = np.zeros((1, _HEADS, 0, _HEAD_WIDTH), np.float32)
    inputs = {
        "input_ids": np.array([[START]], np.int64),
        "encoder_attention_mask": mask,
        "encoder_hidden_states": states,
        "use_cache_branch": np.array([False]),
    }
    logits, *present = networks.decoder.run(None, inputs | {_past(name): nothing for name in networks.names})
    memory = dict(zip(map(_past, networks.names), present, strict=True))
    return Begun(int(logits[0, -1].argmax()), memory, states.shape[1])


def _together(begun: Sequence[Begun], most: Sequence[int], networks: Networks) -> list[list[int]]:
    """Take the further steps, all sounds at once; who has finished leaves."""
    width = _padded(max(one.frames for one in begun))
    memory = {
        name: np.concatenate([_widened(name, one.memory[name], width) for one in begun]) for name in begun[0].memory
    }
    mask = np.zeros((len(begun), width * _HOP), np.int64)
    for row, one in enumerate(begun):
        mask[row, : one.frames * _HOP] = 1
    written = [[one.token] for one in begun]
    names = [name for name in networks.names if ".decoder." in name]
    live = list(range(len(begun)))
    while True:
        kept = [k for k, row in enumerate(live) if written[row][-1] != END and len(written[row]) < most[row]]
        if not kept:
            return [
                [token for token in tokens[:cap] if token != END] for tokens, cap in zip(written, most, strict=True)
            ]
        if len(kept) < len(live):
            live, mask = [live[k] for k in kept], mask[kept]
            memory = {name: value[kept] for name, value in memory.items()}
        inputs = {
            "input_ids": np.array([[written[row][-1]] for row in live], np.int64),
            "encoder_attention_mask": mask,
            "encoder_hidden_states": np.zeros((len(live), width, _WIDTH), np.float32),  # only its shape is looked at
        }
        logits, *present = networks.step.run(["logits", *names], inputs | memory)
        memory |= zip(map(_past, names), present, strict=True)
        for row, token in zip(live, logits[:, -1].argmax(axis=-1).tolist(), strict=True):
            written[row].append(token)


def _widened(name: str, value: NDArray[np.float32], width: int) -> NDArray[np.float32]:
    """Pad the encoder's keys and values to ``width`` frames and the heads' padded width."""
    if ".encoder." not in name:
        return value
    return np.pad(value, ((0, 0), (0, 0), (0, width - value.shape[2]), (0, HEAD_PADDED - _HEAD_WIDTH)))


def _past(name: str) -> str:
    return name.replace("present", "past_key_values", 1)


@lru_cache(maxsize=2)
def networks(threads: int) -> Networks:
    """Load the networks once a process."""
    files = files_of("moonshine")
    shipped = files["decoder_model_merged.ort"]
    encoder, decoder, step = (
        open_session(network, threads=threads, optimization="basic")
        for network in (files["encoder_model.ort"], shipped, step_network(shipped))
    )
    return Networks(encoder, decoder, step, tuple(output.name for output in decoder.get_outputs())[1:])
