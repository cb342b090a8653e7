"""Several utterances heard at once: words go to the recognizer as a batch, sounds of about equal length together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from personare.core.audio import Audio
from personare.core.errors import PersonareError
from personare.engine.result import line_of
from personare.pipeline.listening import HeardPair, ListenWork, SoundPair, sounds_of_pair

PAIRS = 8


def in_batches(pairs: Sequence[SoundPair]) -> list[tuple[SoundPair, ...]]:
    """Sort pairs by length (of the part, else the file's size) and take 8 at a time; what is heard is the same."""
    order = sorted(range(len(pairs)), key=lambda i: (_length(pairs[i]), i))
    return [tuple(pairs[i] for i in order[start : start + PAIRS]) for start in range(0, len(order), PAIRS)]


def _length(pair: SoundPair) -> tuple[bool, float]:
    if pair.end_s is not None:
        return True, pair.end_s - pair.start_s
    return False, pair.original.stat().st_size if pair.original.is_file() else 0


@dataclass(frozen=True)
class ListenTogether:
    """The work on a few pairs: for each what was heard, or in words why nothing could be."""

    work: ListenWork

    def __call__(self, pairs: Sequence[SoundPair]) -> list[HeardPair | str]:
        """Read all, hear all words in one batch, then measure pair by pair; what fails for one, fails for one."""
        sounds: dict[int, tuple[Audio, Audio]] = {}
        told: list[HeardPair | str] = [""] * len(pairs)
        for i, pair in enumerate(pairs):
            try:
                sounds[i] = sounds_of_pair(pair)
            except Exception as error:  # as engines do: whatever happens to one pair is not the neighbours' failure
                told[i] = line_of(error)
        try:
            words, failed = self._words(list(sounds.values()))
        except Exception as error:
            for i in sounds:
                told[i] = line_of(error) if len(sounds) == 1 else self([pairs[i]])[0]
            return told
        for (i, (original, anonymized)), own in zip(sounds.items(), words, strict=True):
            try:
                told[i] = self.work.hear(original, anonymized, own, dict(failed))
            except Exception as error:
                told[i] = line_of(error)
        return told

    def _words(self, sounds: Sequence[tuple[Audio, Audio]]) -> tuple[list[dict[str, tuple[str, str]]], dict[str, str]]:
        """Hear the words of all, if words are asked for; a pair alone may fail with a reason and be measured on."""
        nothing: list[dict[str, tuple[str, str]]] = [{} for _ in sounds]
        if "words" not in self.work.measures or not sounds:
            return nothing, {}
        try:
            return self.work.words(sounds), {}
        except PersonareError as error:
            if len(sounds) > 1:
                raise
            return nothing, {"words": str(error)}
