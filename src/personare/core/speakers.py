"""Lists of speakers: those that must not overlap, and names as tokens.

A model must never be tested on speakers it was trained on. A model file names its training speakers by tokens, so that
they can be recognised in a test but not read.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from personare.core.errors import LeakError
from personare.core.seeding import Key, token_for

_TOKENS = Key.from_seed("speakers a trained embedder has learnt from")  # public; files hold tokens made with it


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
