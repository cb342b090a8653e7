"""The check for several speakers in one recording, over a corpus: on one channel, or one on each of two channels.

A method gives each recording one new voice, so that two people who share a recording would share it. The check runs
before a job, on all recordings or on an evenly spread sample, and again inside the job, on every recording it reads. Of
a recording of more than ten minutes, stretches that are spread over its length are checked.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from personare.core import weights
from personare.core.audio import Audio, open_blocks, probe
from personare.core.corpus_parts import CorpusParts, in_parts
from personare.core.errors import AudioError, FailureKind, PersonareError
from personare.core.tables import Corpus
from personare.core.utterances import Utterance, utterances_in
from personare.corpora.problems import Problem, found
from personare.encoders.segmentation import NEEDS, several_speakers
from personare.engine import Engine, Result, Serial

if TYPE_CHECKING:
    from numpy.typing import NDArray

SAMPLED_S = 3600.0  # of sound that is checked before a job
NOT_CHECKED = (
    "not checked whether recordings have more than one speaker on a channel; fetch the model with: "
    f"personare models fetch {' '.join(NEEDS)}"
)
_FRAME_S, _LOUD_DB, _LOUDER_DB = 0.05, 30.0, 6.0
_LEAST_S, _LEAST_SHARE = 1.0, 0.05
_STRETCH_S = 10.0  # a window of the segmentation
_MOST_STRETCHES = 60  # of one recording: ten minutes are checked whole, half or more as much of a longer one


@dataclass(frozen=True)
class SpeakerCheck:
    """What the check found in one recording.

    ``several``: more than one person on one channel; None: not checked. ``each_channel``: channels that are read as
    one person hold another person each.
    """

    several: bool | None
    each_channel: bool

    @property
    def shared(self) -> bool | None:
        """Whether several people would share one new voice; None: not checked."""
        return True if self.each_channel else self.several


def check_sounds(channels: Sequence[Audio], *, one_person: bool) -> SpeakerCheck:
    """Check the channels of a recording; ``one_person``: all of them are read as one person."""
    heard = [Audio(spread_stretches([c.samples], _frames(c.rate_hz)), c.rate_hz) for c in channels]
    each_channel = one_person and channels_differ(heard)
    answers = [several_speakers(sound) for sound in _distinct(heard)]
    several = None if None in answers else any(answers)
    return SpeakerCheck(several, each_channel)


def shared_voice(item: object, channels: Sequence[Audio]) -> bool | None:
    """Whether several people of an item of work would share one new voice; None: not checked."""
    return check_sounds(channels, one_person=isinstance(item, Utterance)).shared


def spread_stretches(
    blocks: Iterable[NDArray[np.float32]], frames: int, *, most: int = _MOST_STRETCHES
) -> NDArray[np.float32]:
    """Keep stretches of so many frames, evenly spread over all blocks; how many blocks there are need not be known.

    All of them are kept up to ``most``. From there on every second one is dropped, then every second of the rest.

    >>> blocks = [np.arange(10, dtype=np.float32), np.arange(10, 23, dtype=np.float32)]
    >>> spread_stretches(blocks, 4, most=6).astype(int).tolist() == list(range(23))
    True
    >>> spread_stretches(blocks, 4, most=5).astype(int).tolist()
    [0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19]
    """
    kept: dict[int, list[NDArray[np.float32]]] = {}
    step, position = 1, 0
    for block in blocks:
        for part in np.split(block, range(-position % frames or frames, len(block), frames)):
            number = position // frames
            if number % step == 0:
                kept.setdefault(number, []).append(part.copy())  # a view would hold the whole block
            if len(kept) > most:
                step *= 2
                kept = {n: parts for n, parts in kept.items() if n % step == 0}
            position += len(part)
    return np.concatenate([part for parts in kept.values() for part in parts])


def read_stretches(one: Utterance) -> list[Audio]:
    """Read the channels of an utterance to check them: stretches of a long one, which is never held whole.

    The file is decoded to its end, so that a broken one is noticed.
    """
    opened = open_blocks(one.audio, start_s=one.start_s, stop_s=one.end_s)
    frames = spread_stretches(opened, _frames(opened.rate_hz))
    if one.person_channel is not None and one.person_channel > frames.shape[1]:
        raise AudioError(f"{one.audio}: has no channel {one.person_channel}; it has {frames.shape[1]}")
    chosen = range(frames.shape[1]) if one.person_channel is None else [one.person_channel - 1]
    return [Audio(np.ascontiguousarray(frames[:, c]), opened.rate_hz) for c in chosen]


def _frames(rate_hz: int) -> int:
    return round(_STRETCH_S * rate_hz)


def _distinct(channels: Sequence[Audio]) -> Sequence[Audio]:
    """Leave out a channel that repeats the first one."""
    first, *others = channels
    return [first, *(one for one in others if not np.array_equal(one.samples, first.samples))]


def channels_differ(channels: Sequence[Audio]) -> bool:
    """Whether two channels hold a person each: each is 6 dB louder than the other for a part of the active time.

    A stereo recording of one person has nearly the same level difference all the time; a call or an interview with
    two microphones has not.
    """
    if len(channels) != 2:
        return False
    frame = max(1, round(_FRAME_S * channels[0].rate_hz))
    count = len(channels[0].samples) // frame
    if not count:
        return False
    power = np.stack(
        [np.square(c.samples[: count * frame], dtype=np.float64).reshape(count, frame).mean(1) for c in channels]
    )
    level_db = 10 * np.log10(power + 1e-10)
    loudest = np.percentile(level_db.max(axis=0), 95)
    active = level_db[:, level_db.max(axis=0) > max(loudest - _LOUD_DB, -70.0)]
    ahead = active[0] - active[1]
    needed = max(_LEAST_S / _FRAME_S, _LEAST_SHARE * active.shape[1])
    return bool((ahead > _LOUDER_DB).sum() >= needed and (ahead < -_LOUDER_DB).sum() >= needed)


def check_utterance(one: Utterance) -> SpeakerCheck:
    """Read one utterance and check it: the work of an engine."""
    return check_sounds(read_stretches(one), one_person=one.person_channel is None)


def check_file(path: Path, *, each_channel: bool) -> CheckedCorpus:
    """Check one file; ``each_channel``: each of its channels is a person of their own."""
    name, usable = path.name, not weights.missing(*NEEDS)
    try:
        found = check_sounds(read_stretches(Utterance(name, name, path)), one_person=not each_channel)
    except PersonareError as error:
        return CheckedCorpus((), (), ((name, str(error), error.kind),), 0, 1, usable)
    several, apart = (name,) if found.several else (), (name,) if found.each_channel else ()
    return CheckedCorpus(several, apart, (), int(found.several is not None), 1, usable)


@dataclass(frozen=True)
class CheckedCorpus:
    """What a check of a corpus found: names of recordings, how many were checked, of how many.

    ``unreadable`` are (name, reason, kind of failure). ``usable`` is False where a model is not fetched: nothing was
    checked then but the channels.
    """

    several: tuple[str, ...]
    each_channel: tuple[str, ...]
    unreadable: tuple[tuple[str, str, FailureKind], ...]
    checked: int
    recordings: int
    usable: bool

    def problems(self, place: str) -> list[Problem]:
        """Name them in one line for each kind."""
        return [
            *found("several-speakers", place, self.several),
            *found("person-on-each-channel", place, self.each_channel),
        ]

    @property
    def notes(self) -> list[str]:
        """Say what was not checked."""
        if not self.usable:
            return [NOT_CHECKED]
        if self.checked < self.recordings - len(self.unreadable):
            return [f"{self.checked:,} of {self.recordings:,} recordings were checked for more than one speaker"]
        return []


def check_corpus(
    corpus: Corpus | CorpusParts,
    *,
    engine: Engine | None = None,
    most_s: float | None = None,
    watch: Callable[[Result[Utterance, SpeakerCheck]], None] = lambda _: None,
) -> CheckedCorpus:
    """Check the recordings of a corpus, or an evenly spread sample of ``most_s`` seconds of sound."""
    parts = in_parts(corpus)
    several, each_channel, unreadable, checked = [], [], [], 0
    for result in (engine or Serial()).map(check_utterance, list(_chosen(parts, most_s))):
        watch(result)
        name = result.item.utterance
        if result.value is None:
            unreadable.append((name, result.error or "", result.kind))
            continue
        checked += result.value.several is not None
        several += [name] if result.value.several else []
        each_channel += [name] if result.value.each_channel else []
    usable = not weights.missing(*NEEDS)
    return CheckedCorpus(tuple(several), tuple(each_channel), tuple(unreadable), checked, len(parts), usable)


def _chosen(parts: CorpusParts, most_s: float | None) -> Iterator[Utterance]:
    """Give the utterances to check: all of them, or a sample of so many seconds."""
    optional = ("start_s", "end_s", "person_channel")
    columns = ["utterance", "speaker", "audio", *(c for c in optional if c in parts.columns)]
    if most_s is None:
        for frame in parts.frames(*columns):
            yield from utterances_in(frame)
        return
    used_s, step = 0.0, 64  # every 64th, then those between: a sample that is spread, whatever the budget
    frame = pl.concat(parts.frames(*columns))
    order = [i for first in _spread(step) for i in range(first, len(frame), step)]
    for one in utterances_in(frame[order]):
        if used_s >= most_s:
            return
        with contextlib.suppress(PersonareError):  # told as unreadable
            used_s += (one.end_s or probe(one.audio).duration_s) - one.start_s
        yield one


def _spread(step: int) -> list[int]:
    """Order the numbers below a power of two so that each next one lies far from those before (bit reversal).

    >>> _spread(8)
    [0, 4, 2, 6, 1, 5, 3, 7]
    """
    bits = step.bit_length() - 1
    return [int(f"{i:0{bits}b}"[::-1], 2) if bits else 0 for i in range(step)]
