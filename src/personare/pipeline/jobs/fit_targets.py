"""Voices to aim at, measured on a corpus: one row of average pitch and resonances per speaker, without any name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from personare.core.audio import read_mono
from personare.core.errors import CorpusError

if TYPE_CHECKING:
    from personare.anonymizers.signal.targets import TargetVoice
    from personare.core.tables import Corpus
    from personare.engine.result import Engine

Cut = tuple[Path, float, float | None]


@dataclass(frozen=True)
class Person:
    """A speaker and the utterances to measure."""

    speaker: str
    gender: str
    utterances: tuple[Cut, ...]


def measure_person(person: Person) -> TargetVoice:
    """Measure one speaker."""
    from personare.anonymizers.signal.targets import measure_target

    heard = [read_mono(path, start_s=start, stop_s=stop) for path, start, stop in person.utterances]
    found = measure_target(heard, gender=person.gender)
    if found is None:
        raise CorpusError("too little voiced speech to measure pitch and formants")
    return found


def people_of(corpus: Corpus, *, most: int) -> list[Person]:
    """List the speakers with their first ``most`` utterances."""
    people = []
    for (speaker,), rows in corpus.frame.sort("utterance").group_by(["speaker"], maintain_order=True):
        chosen = rows.head(most).to_dicts()
        cuts = tuple((Path(r["audio"]), r.get("start_s") or 0.0, r.get("end_s")) for r in chosen)
        people.append(Person(str(speaker), chosen[0].get("gender") or "", cuts))
    return sorted(people, key=lambda person: person.speaker)


def fit_targets(
    corpus: Corpus, path: Path, *, engine: Engine, most: int = 10, watch: Callable[[], None] = lambda: None
) -> tuple[list[TargetVoice], list[tuple[str, str]]]:
    """Measure every speaker and write the table; give the targets and the speakers that failed, with the reason."""
    from personare.anonymizers.signal.targets import save_targets

    targets: list[TargetVoice] = []
    failed: list[tuple[str, str]] = []
    for result in engine.map(measure_person, people_of(corpus, most=most)):
        watch()
        if result.value is None:
            failed.append((result.item.speaker, result.error or "no value"))
        else:
            targets.append(result.value)
    if not targets:
        raise CorpusError(f"no speaker could be measured (first: {failed[0][0]}: {failed[0][1]})")
    # sorted by pitch: the order of the rows must not tell which row is which speaker
    targets.sort(key=lambda target: (target.gender, target.f0_hz))
    save_targets(targets, path)
    return targets, failed
