"""Words as a bias of C0: letters are read from its output by a small head (CTC, graves2006connectionist).

What is said is what C0 must keep; the sound alone teaches it much that is not words. Whole utterances with known texts
are read, two letters at most per token frame. The head is thrown away after training.
Deviations from turavecino2025usc: not in the paper, whose semantic bias is distillation from HuBERT; offline there is
no such teacher, and distillation from the recognizer's last layer does not fit into 14 bits per frame.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import nn

from personare.training.usc.speech_store import SpeechStore, StoredUtterance

if TYPE_CHECKING:
    from numpy.typing import NDArray

LETTERS = " 'ABCDEFGHIJKLMNOPQRSTUVWXYZ"  # number 0 is CTC's blank, the letters count from 1
STEPS = 2  # letters a token frame can hold
LONGEST_FRAMES = 400
_FIELDS = ("prosody", "mels", "absolute")


def spelled(text: str) -> list[int]:
    """Numbers of the letters of a text; everything else is left out, spaces are single.

    >>> spelled("It's 2 o'clock")
    [11, 22, 2, 21, 1, 17, 2, 5, 14, 17, 5, 13]
    """
    kept = "".join(letter for letter in text.upper() if letter in LETTERS)
    return [1 + LETTERS.index(letter) for letter in " ".join(kept.split())]


class ReadingHead(nn.Module):
    """Letters from C0's output: [batch, frames, width] -> log-probabilities [batch, 2 frames, 29]."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.time = nn.Conv1d(width, width, 5, padding=2)
        self.out = nn.Linear(width, STEPS * (1 + len(LETTERS)))

    def forward(self, z: Any) -> Any:
        """Read."""
        x = nn.functional.silu(self.time(self.norm(z).transpose(1, 2)).transpose(1, 2))
        return self.out(x).reshape(len(z), STEPS * z.shape[1], -1).log_softmax(-1)


@dataclass(frozen=True, eq=False)
class ReadingBatch:
    """Whole utterances with their letters, padded to the longest."""

    content: Any
    prosody: Any
    mels: Any
    absolute: Any
    frames: Any
    letters: Any
    letter_counts: Any


def readable(utterances: tuple[tuple[int, StoredUtterance], ...]) -> list[StoredUtterance]:
    """The utterances that have a text and are short enough; the text must fit into the frames."""
    return [
        utterance
        for _, utterance in utterances
        if utterance.frames <= LONGEST_FRAMES and 0 < len(spelled(utterance.text)) <= STEPS * utterance.frames
    ]


def reading_batch(
    store: SpeechStore, utterances: list[StoredUtterance], count: int, *, copies: int, rng: np.random.Generator
) -> ReadingBatch:
    """Draw whole utterances to read, each from one of its content copies."""
    chosen = [utterances[int(index)] for index in rng.integers(0, len(utterances), count)]
    copy = rng.integers(0, copies, count)
    longest = max(utterance.frames for utterance in chosen)

    def padded(field: str) -> NDArray[Any]:
        return np.stack([store.crop(field, 0, longest, utterance) for utterance in chosen])

    content = np.stack([rows[:, index] for rows, index in zip(padded("content"), copy, strict=True)])
    letters = [spelled(utterance.text) for utterance in chosen]
    prosody, mels, absolute = (torch.from_numpy(padded(field).astype(np.float32)) for field in _FIELDS)
    return ReadingBatch(
        content=torch.from_numpy(content.astype(np.float32)),
        prosody=prosody,
        mels=mels,
        absolute=absolute,
        frames=torch.tensor([utterance.frames for utterance in chosen]),
        letters=torch.tensor([number for word in letters for number in word]),
        letter_counts=torch.tensor([len(word) for word in letters]),
    )


def reading_loss(log_probabilities: Any, batch: ReadingBatch) -> Any:
    """CTC loss per letter; utterances whose text does not fit count nothing."""
    return nn.functional.ctc_loss(
        log_probabilities.transpose(0, 1),
        batch.letters,
        STEPS * batch.frames,
        batch.letter_counts,
        zero_infinity=True,
    )


def letter_error_rate(log_probabilities: Any, batch: ReadingBatch) -> float:
    """Greedy reading against the text: edits per letter."""
    wrong = total = 0
    ends = np.cumsum(batch.letter_counts.numpy())
    for row, (frames, end, count) in enumerate(zip(batch.frames, ends, batch.letter_counts, strict=True)):
        best = log_probabilities[row, : STEPS * int(frames)].argmax(-1).tolist()
        said = [now for now, before in zip(best, [0, *best[:-1]], strict=True) if now != before and now]
        wrong += edits(said, batch.letters[int(end - count) : int(end)].tolist())
        total += int(count)
    return wrong / max(1, total)


def edits(a: list[int], b: list[int]) -> int:
    """The fewest insertions, deletions and substitutions between two sequences.

    >>> edits([1, 2, 3], [2, 3, 3])
    2
    """
    row = np.arange(len(b) + 1)
    for index, x in enumerate(a):
        before = row.copy()
        row[0] = index + 1
        cost = before[:-1] + (np.array(b) != x)
        for place in range(1, len(b) + 1):
            row[place] = min(cost[place - 1], before[place] + 1, row[place - 1] + 1)
    return int(row[-1])
