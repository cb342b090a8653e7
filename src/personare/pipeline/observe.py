"""The work of a listener on a few utterances: read both sounds, observe them, and give a row or a reason for each.

What fails for one utterance fails for it alone: a sound that cannot be judged is a row with its reason, anything else
(a file that cannot be read, a bug) is a failure that the next run tries again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from personare.core.audio import Audio, read_mono
from personare.core.errors import PersonareError
from personare.core.observations import SIDES, Observation, ObservedUtterance, Side, Stimulus
from personare.core.protocols import Listener
from personare.engine.result import line_of
from personare.listeners.cache import observe

BATCH = 8


@dataclass(frozen=True)
class UtterancePair:
    """One utterance: the original file (or a part of it) and the anonymized file; None where nothing was changed.

    ``channel`` and ``anonymized_channel``: where the person is in the two files, if other channels are other people.
    ``language``: of the speech, where the corpus states it.
    """

    utterance: str
    original: Path
    anonymized: Path | None = None
    start_s: float = 0.0
    end_s: float | None = None
    channel: int | None = None
    anonymized_channel: int | None = None
    language: str | None = None

    def read(self) -> tuple[Audio, Audio]:
        """Read the original and the anonymized sound, one channel each."""
        original = read_mono(self.original, start_s=self.start_s, stop_s=self.end_s, channel=self.channel)
        if self.anonymized is None:
            return original, original
        return original, read_mono(self.anonymized, channel=self.anonymized_channel)

    @property
    def length(self) -> tuple[bool, float]:
        """By what pairs are sorted: the length of the part, else the size of the file."""
        if self.end_s is not None:
            return True, self.end_s - self.start_s
        return False, self.original.stat().st_size if self.original.is_file() else 0


def in_batches(pairs: Sequence[UtterancePair], listener: type[Listener]) -> list[tuple[UtterancePair, ...]]:
    """Give one pair at a time, or, where several at once are quicker, 8 of about equal length."""
    if not listener.batched:
        return [(pair,) for pair in pairs]
    order = sorted(range(len(pairs)), key=lambda i: (pairs[i].length, i))
    return [tuple(pairs[i] for i in order[start : start + BATCH]) for start in range(0, len(order), BATCH)]


@dataclass(frozen=True)
class ObserveWork:
    """The work on a batch of pairs; ``remember`` keeps observations in the cache folder, by content."""

    listener: Listener
    remember: bool = True

    def __call__(self, pairs: Sequence[UtterancePair]) -> list[ObservedUtterance | str]:
        """Give a row for each pair, or in words why there is none."""
        rows: dict[int, ObservedUtterance | str] = {}
        sounds: dict[int, tuple[Audio, Audio]] = {}
        for i, pair in enumerate(pairs):
            try:
                sounds[i] = pair.read()
            except Exception as error:  # as engines do: whatever happens to one pair is not the neighbours' failure
                rows[i] = line_of(error)
        try:
            observed = self._observed([(*sounds[i], pairs[i].language) for i in sounds])
            rows |= {i: ObservedUtterance(pairs[i].utterance, sides) for i, sides in zip(sounds, observed, strict=True)}
        except Exception as error:
            if len(sounds) > 1:
                rows |= {i: self([pairs[i]])[0] for i in sounds}
            elif isinstance(error, PersonareError):
                rows |= {i: ObservedUtterance(pairs[i].utterance, failure=str(error)) for i in sounds}
            else:
                rows |= {i: line_of(error) for i in sounds}
        return [rows[i] for i in range(len(pairs))]

    def _observed(self, sounds: Sequence[tuple[Audio, Audio, str | None]]) -> list[dict[Side, Observation]]:
        """Observe all pairs in one batch: side by side, or each side by itself."""
        if self.listener.compares:
            batch = [Stimulus(anonymized, original, language) for original, anonymized, language in sounds]
            return [{"both": observation} for observation in observe(self.listener, batch, remember=self.remember)]
        batch = [Stimulus(sound, language=language) for *pair, language in sounds for sound in pair]
        found = observe(self.listener, batch, remember=self.remember)
        return [dict(zip(SIDES, found[2 * i : 2 * i + 2], strict=True)) for i in range(len(sounds))]
