"""Speakers and their vectors: vectors of length 1, lists of speakers that must not overlap, names as tokens.

A model must never be tested on speakers it was trained on. A model file names its training speakers by tokens, so that
they can be recognised in a test but not read.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from personare.core.errors import LeakError
from personare.core.seeding import Key, token_for

if TYPE_CHECKING:
    from numpy.typing import NDArray

_TOKENS = Key.from_seed("speakers a trained embedder has learnt from")  # public; files hold tokens made with it


def unit_rows(vectors: NDArray[Any]) -> NDArray[np.float32]:
    """Scale every row to length 1; a row of zeros stays (it is like nobody).

    >>> unit_rows(np.array([[3.0, 4.0], [0.0, 0.0]])).tolist()
    [[0.6000000238418579, 0.800000011920929], [0.0, 0.0]]
    """
    lengths = np.linalg.norm(vectors.astype(np.float64), axis=1, keepdims=True)
    return (vectors / np.where(lengths > 0, lengths, 1.0)).astype(np.float32)


def refuse_overlap(trained_on: Iterable[str], attacked: Iterable[str]) -> None:
    """Refuse an attack on speakers its model was trained on; fitted models call this before they score."""
    both = sorted({*trained_on} & {*attacked})
    if both:
        raise LeakError(
            f"{len(both)} trial speakers are also in the attacker's training (first: '{both[0]}'); train on others"
        )


def speaker_tokens(speakers: Iterable[str]) -> list[str]:
    """Name speakers so that they can be recognised but not read, sorted."""
    return sorted(token_for(_TOKENS, speaker) for speaker in speakers)


def speakers_among(tokens: Collection[str], speakers: Iterable[str]) -> list[str]:
    """Give the speakers whose tokens are listed, sorted.

    >>> speakers_among(speaker_tokens(["anna", "ben"]), ["ben", "cleo"])
    ['ben']
    """
    listed = set(tokens)
    return sorted(speaker for speaker in set(speakers) if token_for(_TOKENS, speaker) in listed)
