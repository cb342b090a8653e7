"""Speculative decoding: where to go on in the transcript that one recognizer proposes to another."""

from __future__ import annotations

from collections.abc import Sequence

AHEAD, AHEAD_AFTER_MISS = 12, 4  # word pieces of a proposal that are read at a time
_BEFORE, _AFTER = 4, 10  # where a proposal was not followed, how far around it the piece written instead is looked for


def next_place(proposal: Sequence[int], place: int, written: int) -> int:
    """Where to go on in a proposal of which the piece at ``place`` was not followed, but another one written.

    >>> next_place([7, 8, 9, 5], 1, 9), next_place([7, 8, 9, 5], 1, 6)
    (3, 1)
    """
    near = range(max(place - _BEFORE, 0), min(place + _AFTER, len(proposal)))
    same = [other for other in near if proposal[other] == written]
    return 1 + min(same, key=lambda other: abs(other - place), default=place - 1)
