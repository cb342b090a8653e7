"""The default ear for words: Moonshine tiny (English), run by onnxruntime on a CPU, offline.

An encoder turns 16 kHz samples into frames of 24 ms; a decoder writes one word piece after the other (the likeliest
each time), until it says it is done or has written more than anybody could have said in that time. Utterances are heard
one by one, not padded to a common length: the weights are 8-bit with a scale per input, so padding would change words.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from personare.core.audio import Audio, resample
from personare.core.carriers import WEIGHTS
from personare.core.errors import WeightsError
from personare.core.weights import files_of
from personare.listeners.windows import is_silent, windows_at_quiet_points

if TYPE_CHECKING:
    from numpy.typing import NDArray

RATE_HZ = 16_000
SHORTEST_S = 0.1  # two encoder frames; nothing shorter is a word
_START, _END = 1, 2
_FIRST_SPECIAL = 32_000  # the vocabulary's last 768 entries are marks, not text
_HEADS, _HEAD_WIDTH = 8, 36


@dataclass(frozen=True)
class Moonshine:
    """Hear words: a batch of Audio in, one transcript each out ("" for silence).

    Parameters
    ----------
    tokens_per_s, spare_tokens : at most tokens_per_s * t + spare_tokens word pieces are written for t seconds.
    window_s : longer speech is cut at quiet points into windows of at most this many seconds.
    threads : processor threads the model may use.
    """

    tokens_per_s: float = 6.5
    spare_tokens: int = 8
    window_s: float = 24.0
    threads: int = 1

    def __post_init__(self) -> None:
        if not (self.tokens_per_s > 0 and self.spare_tokens >= 0 and self.window_s >= 1 and self.threads >= 1):
            raise ValueError(f"tokens_per_s > 0, spare_tokens >= 0, window_s >= 1, threads >= 1; not {self}")

    @property
    def fingerprint(self) -> str:
        """Name the exact model and settings, for caches."""
        model = "-".join(sha256[:8] for sha256 in WEIGHTS["moonshine"].files.values())
        return f"moonshine:{model}:{self.tokens_per_s}:{self.spare_tokens}:{self.window_s}"

    def __call__(self, batch: Sequence[Audio]) -> list[str]:
        """Transcribe each Audio; any sample rate is resampled to 16 kHz first."""
        return [self._transcribe(resample(audio, RATE_HZ)) for audio in batch]

    def _transcribe(self, audio: Audio) -> str:
        heard = []
        for window in windows_at_quiet_points(audio, longest_s=self.window_s):
            if window.duration_s < SHORTEST_S or is_silent(window):
                continue
            heard.append(_text(self._tokens(window.samples), _model(self.threads)[2]))
        return " ".join(text for text in heard if text)

    def _tokens(self, samples: NDArray[np.float32]) -> list[int]:
        """Decode greedily, keeping the attention's keys and values between steps."""
        encoder, decoder, _ = _model(self.threads)
        mask = np.ones((1, len(samples)), np.int64)  # in samples for the decoder too, which thins it out itself
        frames = encoder.run(None, {"input_values": samples[None], "attention_mask": mask})[0]
        fixed = {"encoder_attention_mask": mask, "encoder_hidden_states": frames}
        names = [output.name for output in decoder.get_outputs()][1:]
        past = {_past(name): np.zeros((1, _HEADS, 0, _HEAD_WIDTH), np.float32) for name in names}
        tokens: list[int] = []
        for step in range(int(self.tokens_per_s * len(samples) / RATE_HZ) + self.spare_tokens):
            inputs = {"input_ids": np.array([[tokens[-1] if tokens else _START]], np.int64)}
            logits, *present = decoder.run(None, fixed | inputs | past | {"use_cache_branch": np.array([step > 0])})
            best = int(logits[0, -1].argmax())
            if best == _END:
                break
            tokens.append(best)
            for name, value in zip(names, present, strict=True):
                if step == 0 or ".decoder." in name:  # the encoder's keys come with the first step only
                    past[_past(name)] = value
        return tokens


def _past(name: str) -> str:
    return name.replace("present", "past_key_values", 1)


@lru_cache(maxsize=2)
def _model(threads: int) -> tuple[Any, Any, tuple[bytes, ...]]:
    """Load encoder, decoder and word pieces once a process."""
    import onnxruntime

    files = files_of("moonshine")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 4
    encoder, decoder = (
        onnxruntime.InferenceSession(files[name], options, providers=["CPUExecutionProvider"])
        for name in ("encoder_model.ort", "decoder_model_merged.ort")
    )
    return encoder, decoder, read_pieces(files["tokenizer.bin"])


def read_pieces(path: Path) -> tuple[bytes, ...]:
    """Read the word pieces: each is its length in one byte (two from 128 on, low seven bits first), then its bytes."""
    content = path.read_bytes()
    pieces: list[bytes] = []
    place = 0
    while place < len(content):
        length = content[place]
        place += 1
        if length >= 128:
            length = length - 128 + 128 * content[place]
            place += 1
        if place + length > len(content):
            raise WeightsError(f"{path}: word piece {len(pieces)} runs over the end of the file")
        pieces.append(content[place : place + length])
        place += length
    return tuple(pieces)


def _text(tokens: list[int], pieces: tuple[bytes, ...]) -> str:
    """Join word pieces; U+2581 stands for a space."""
    joined = b"".join(pieces[t] for t in tokens if _END < t < _FIRST_SPECIAL)
    return " ".join(joined.decode("utf-8", errors="replace").replace("\u2581", " ").split())
