"""A dry run: what anonymizing a corpus would do, and how long it takes, measured on a few seconds of its speech."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from personare.core.audio import Audio, AudioFacts, read_channels
from personare.core.errors import PersonareError
from personare.core.tables import Corpus
from personare.engine import Result, Serial
from personare.pipeline.jobs.corpus_facts import facts_of, probe_files
from personare.pipeline.jobs.speaker_check import CheckedCorpus
from personare.pipeline.system import System

REHEARSED_S = 5.0
VOICES = 4


@dataclass(frozen=True)
class Rehearsal:
    """What would be done: people, utterances, hours of speech, files that cannot be read, and the expected seconds.

    ``expected_s`` is None where no file could be read; ``length_factor`` is how many times as long the result becomes,
    by a sample of a few seconds. ``several_speakers`` and ``person_on_each_channel`` name
    recordings whose speakers would share one voice, of ``speakers_checked`` that were checked.
    """

    people: int
    utterances: int
    hours: float
    unreadable: tuple[tuple[str, str], ...]
    expected_s: float | None
    several_speakers: tuple[str, ...] = ()
    person_on_each_channel: tuple[str, ...] = ()
    speakers_checked: int = 0
    length_factor: float | None = None


def rehearse_corpus(
    corpus: Corpus,
    system: System,
    *,
    jobs: int = 1,
    speakers: CheckedCorpus | None = None,
    watch: Callable[[Result[str, AudioFacts]], None] = lambda _: None,
) -> Rehearsal:
    """Read every header, anonymize a few seconds of one recording, and write nothing."""
    results = []
    for result in probe_files(corpus, Serial()):
        results.append(result)
        watch(result)
    headers = {r.item: r.value for r in results if r.value is not None}
    facts = facts_of(corpus, headers)
    hours = facts.hours or 0.0
    cost, length_factor = _sampled(headers, system)  # of all channels together
    workers = max(1, min(jobs, os.cpu_count() or 1))
    return Rehearsal(
        people=facts.speakers,
        utterances=facts.utterances,
        hours=hours,
        unreadable=tuple((r.item, r.error or "") for r in results if not r.ok),
        expected_s=None if cost is None else cost * hours * 3600 / workers,
        several_speakers=speakers.several if speakers else (),
        person_on_each_channel=speakers.each_channel if speakers else (),
        speakers_checked=speakers.checked if speakers else 0,
        length_factor=length_factor,
    )


def _sampled(headers: Mapping[str, AudioFacts], system: System) -> tuple[float | None, float | None]:
    """Measure seconds of work, and of the result, per second of a recording of usual length.

    Reading is included; models are loaded before. Lengths are the mean over the voices of a few speakers.
    """
    by_length = sorted(headers, key=lambda path: headers[path].duration_s)
    anonymize = system.build()
    for path in by_length[len(by_length) // 2 :]:
        stop_s = min(REHEARSED_S, headers[path].duration_s)
        try:
            first = _part(Path(path), stop_s)[0]
            lengths_s = [anonymize(first, rng=np.random.default_rng(seed)).duration_s for seed in range(VOICES)]
            began = time.perf_counter()
            channels = _part(Path(path), stop_s)
            for channel in channels:
                anonymize(channel, rng=np.random.default_rng(1))
        except PersonareError:
            continue
        cost = (time.perf_counter() - began) / channels[0].duration_s
        return cost, float(np.mean(lengths_s)) / first.duration_s if len(channels) == 1 else 1.0
    return None, None


def _part(path: Path, stop_s: float) -> list[Audio]:
    return read_channels(path, stop_s=stop_s)
