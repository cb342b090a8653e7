"""What friendly ears hear in one utterance before and after anonymization; a failed measure is a reason, not a zero."""

from __future__ import annotations

import functools
import importlib.util
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from personare.core.audio import Audio, read_mono
from personare.core.errors import ConfigError, MissingExtraError, PersonareError, did_you_mean
from personare.core.weights import files_of
from personare.listeners import COMPARISONS, comparison, listener
from personare.listeners.affect import Affect
from personare.listeners.memory import remembered, remembered_each
from personare.metrics.utility.pitch import f0_spearman, pitch_correlation
from personare.metrics.utility.voicing import voicing_error

# measure -> library it needs and the extra that brings it
NEEDS: dict[str, tuple[str | None, str]] = {
    "words": ("jiwer", "asr"),
    "pitch": (None, ""),  # its tracker says what it needs
    "pesq": ("pesq", "quality"),
    "stoi": ("pystoi", "quality"),
    "estoi": ("pystoi", "quality"),
    "visqol": ("visqol", "quality"),
    "dnsmos": ("speechmos", "quality"),
    "affect": (None, ""),
}
USUAL = ("words", "pitch", "pesq", "stoi", "estoi", "dnsmos")
RECOGNIZERS = {"moonshine": None, "whisper": "faster_whisper"}  # and ctc:FOLDER, trained by oneself
OWN = "ctc:"
TRACKERS = {"pitch": "pyworld", "pitch-swift": None}  # SwiftF0 is a fetched model


@dataclass(frozen=True)
class SoundPair:
    """One utterance: the original file (or a part of it) and the anonymized file."""

    utterance: str
    speaker: str
    original: Path
    anonymized: Path
    start_s: float = 0.0
    end_s: float | None = None


@dataclass(frozen=True)
class HeardPair:
    """Numbers by name, words by recognizer (original, anonymized), and reasons by measure that failed."""

    numbers: Mapping[str, float] = field(default_factory=dict)
    words: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    failures: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class ListenWork:
    """The work on one SoundPair.

    Parameters
    ----------
    measures : names out of ``NEEDS``.
    recognizers : listeners for words; tracker : listener for pitch; affect : the user's own model of feeling.
    remember : keep what was heard in the cache folder, so that a second run is quick.
    """

    measures: tuple[str, ...] = USUAL
    recognizers: tuple[str, ...] = ("moonshine",)
    tracker: str = "pitch"
    remember: bool = True
    affect: Affect | None = None

    def __post_init__(self) -> None:
        for what, known, names in (
            ("measure", NEEDS, self.measures),
            ("recognizer", [*RECOGNIZERS, f"{OWN}FOLDER"], [n for n in self.recognizers if not n.startswith(OWN)]),
            ("pitch tracker", TRACKERS, (self.tracker,)),
        ):
            for name in names:
                if name not in known:
                    raise ConfigError(f"no {what} '{name}'; {did_you_mean(name, known)}")
        if ("affect" in self.measures) != (self.affect is not None):
            raise ConfigError(
                "the measure 'affect' and a model of feeling need each other: --measures affect --affect FILE"
            )
        if not self.measures:
            raise ConfigError(f"nothing to measure; choose from: {', '.join(NEEDS)}")

    def check(self) -> None:
        """Say now what is not installed or not fetched, not once for each utterance."""
        for measure in self.measures:
            check_library(*NEEDS[measure], f"the measure '{measure}'")
        if self.affect is not None:
            self.affect.check()
            numbers = "pyworld" if self.affect.model.suffix == ".json" else None
            check_library(numbers, "pitch", "a .json model of feeling")
        if "pitch" in self.measures:
            check_library(TRACKERS[self.tracker], "pitch", f"the listener '{self.tracker}'")
            if self.tracker == "pitch-swift":
                files_of("swift-f0")
        if "words" in self.measures:
            for name in self.recognizers:
                if name.startswith(OWN):
                    _ear(name).check()
                    continue
                check_library(RECOGNIZERS[name], "asr", f"the listener '{name}'")
                files_of(name)

    def __call__(self, pair: SoundPair) -> HeardPair:
        """Listen to both sounds with every ear asked for."""
        original, anonymized = sounds_of_pair(pair)
        if "words" not in self.measures:
            return self.hear(original, anonymized, {}, {})
        try:
            return self.hear(original, anonymized, self.words([(original, anonymized)])[0], {})
        except PersonareError as error:
            return self.hear(original, anonymized, {}, {"words": str(error)})

    def hear(
        self,
        original: Audio,
        anonymized: Audio,
        words: Mapping[str, tuple[str, str]],
        failures: dict[str, str],
    ) -> HeardPair:
        """Measure everything but words, which were heard before (several utterances at once are quicker)."""
        numbers: dict[str, float] = {}
        for measure in self.measures:
            if measure == "words":
                continue
            try:
                found = self._numbers(measure, original, anonymized)
            except PersonareError as error:
                failures[measure] = str(error)
                continue
            numbers |= {name: value for name, value in found.items() if not math.isnan(value)}
            failures |= {name: "nothing to correlate" for name, value in found.items() if math.isnan(value)}
        return HeardPair(numbers, words, failures)

    def words(self, pairs: Sequence[tuple[Audio, Audio]]) -> list[dict[str, tuple[str, str]]]:
        """Hear the words of several pairs, each recognizer in one batch; what is remembered is not heard again."""
        sounds = [sound for pair in pairs for sound in pair]
        found: list[dict[str, tuple[str, str]]] = [{} for _ in pairs]
        for name in self.recognizers:
            ear = _ear(name)
            heard = remembered_each(ear.fingerprint, sounds, ear) if self.remember else ear(sounds)
            for i, one in enumerate(found):
                one[name] = (heard[2 * i], heard[2 * i + 1])
        return found

    def _numbers(self, measure: str, original: Audio, anonymized: Audio) -> dict[str, float]:
        if measure == "pitch":
            return self._pitch(original, anonymized)
        if self.affect is not None and measure == "affect":
            return self._affect(self.affect, {"original": original, "anonymized": anonymized})
        if measure == "dnsmos":
            plain = lambda o: {"": o.overall, "_speech": o.speech, "_background": o.background}  # noqa: E731
            before, after = (self._heard("dnsmos", sound, plain) for sound in (original, anonymized))
            sides = (("original", before), ("anonymized", after))
            return {f"dnsmos{part}|{side}": score for side, heard in sides for part, score in heard.items()}
        ear: Any = _ear(measure)
        return {
            measure: self._memory(ear.fingerprint, (original, anonymized), lambda: ear([(original, anonymized)])[0])
        }

    def _affect(self, ear: Affect, sides: Mapping[str, Audio]) -> dict[str, float]:
        found: dict[str, float] = {}
        for side, sound in sides.items():
            heard = self._memory(ear.fingerprint, (sound,), functools.partial(_first, ear, sound))
            found |= {f"affect|{name}|{side}": value for name, value in heard.items()}
        return found

    def _pitch(self, original: Audio, anonymized: Audio) -> dict[str, float]:
        before, after = _ear(self.tracker)([original, anonymized])
        return {
            "f0_spearman": f0_spearman(before, after),
            "pitch_correlation|voiced": pitch_correlation(before, after, frames="voiced"),
            "pitch_correlation|all": pitch_correlation(before, after, frames="all"),
            "voicing_error": voicing_error(before, after),
        }

    def _heard(self, name: str, sound: Audio, plain: Callable[[Any], Any]) -> Any:
        ear = _ear(name)
        return self._memory(ear.fingerprint, (sound,), lambda: plain(ear([sound])[0]))

    def _memory(self, fingerprint: str, sounds: tuple[Audio, ...], hear: Callable[[], Any]) -> Any:
        return remembered(fingerprint, sounds, hear) if self.remember else hear()


def sounds_of_pair(pair: SoundPair) -> tuple[Audio, Audio]:
    """Read the original, or the part of it that the utterance is, and the anonymized file."""
    return read_mono(pair.original, start_s=pair.start_s, stop_s=pair.end_s), read_mono(pair.anonymized)


def _first(ear: Affect, sound: Audio) -> dict[str, float]:
    return ear([sound])[0]


@functools.lru_cache(maxsize=12)
def _ear(name: str) -> Any:
    return comparison(name) if name in COMPARISONS.builtin else listener(name)


def check_library(library: str | None, extra: str, needed_for: str) -> None:
    """Say which extra to install when a library is not there."""
    if library is not None and importlib.util.find_spec(library) is None:
        raise MissingExtraError(extra, needed_for)
