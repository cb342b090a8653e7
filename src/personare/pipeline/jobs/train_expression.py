"""Fitting the label maker of the method expressive from corpora: numbers of utterances, a fit, measures, a card."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from personare.core.audio import resample
from personare.core.errors import ConfigError, PersonareError
from personare.core.seeding import Key, rng_for
from personare.core.tables import Corpus
from personare.encoders.expression.labels import CARD, FILE, LABELS, SIZE, encode_labels
from personare.encoders.swift import RATE_HZ
from personare.pipeline.jobs.speaker_survey import survey_rank
from personare.pipeline.jobs.training_files import write_package
from personare.training.expression import (
    CLEAN,
    CONDITIONS,
    LabelSettings,
    MeasuredSpeech,
    fit_labels,
    labels_of,
    left_out,
    measured,
    recalls,
)

FOUR = tuple(label for label in LABELS if label != "fear")
_LEAST_ACTORS = 2


@dataclass(frozen=True)
class LabelTrainingResult:
    """The folder of a fitted label maker, its measures by name, and utterances that could not be read."""

    folder: Path
    card: Mapping[str, Any]
    failures: tuple[tuple[str, str], ...]


def train_expression(
    corpora: Sequence[Corpus],
    folder: Path,
    settings: LabelSettings,
    *,
    part: str | None,
    measure_part: str | None,
    watch: Callable[[int], None] = lambda _: None,
) -> LabelTrainingResult:
    """Fit a label maker into ``folder``.

    Utterances with an ``emotion`` are acted speech, all others neutral speech. Those of ``measure_part`` are measured
    and never trained on.
    """
    failures: list[tuple[str, str]] = []
    rows = [row for corpus in corpora for row in _rows(corpus, part)]
    speech = _measured(_chosen(rows, settings), settings, failures, watch, augment=True)
    acted, neutral = speech.where(speech.emotions != ""), speech.where(speech.emotions == "")
    if len(set(acted.speakers.tolist())) < _LEAST_ACTORS or set(LABELS) - set(acted.emotions.tolist()):
        raise ConfigError(
            f"labels need utterances of at least {_LEAST_ACTORS} speakers with a column 'emotion' that holds "
            f"{', '.join(LABELS)}; name such a corpus with --corpus"
        )
    maker = fit_labels(acted, neutral, settings)
    measures: dict[str, Any] = {}
    clean = acted.where(acted.conditions == CLEAN)
    for known in (False, True):
        given = left_out(acted, neutral, settings, knows_speaker=known)
        measures[f"speaker left out, {_condition(known)}"] = _recalls(given, clean.emotions)
    others = (
        [row for corpus in corpora for row in _rows(corpus, measure_part) if row["emotion"]] if measure_part else []
    )
    heard = _measured(others, settings, failures, watch, augment=False)
    for name in sorted(set(heard.corpora.tolist())):
        own = heard.where(heard.corpora == name)
        for known in (False, True):
            measures[f"{name}, never trained on, {_condition(known)}"] = _recalls(
                labels_of(maker, own, knows_speaker=known), own.emotions
            )
    content = encode_labels(maker)
    card = {
        "what": f"{SIZE} numbers of the prosody of a sentence -> one of {', '.join(LABELS)}",
        "data": {
            "acted": _described(clean),
            "neutral": _described(neutral),
            "conditions": list(CONDITIONS),
        },
        "settings": dataclasses.asdict(settings),
        "measured": measures,
        "sha256": {FILE: hashlib.sha256(content).hexdigest()},
    }
    folder.mkdir(parents=True, exist_ok=True)
    write_package({FILE: content}, card, folder, card_name=CARD)
    return LabelTrainingResult(folder, card, tuple(failures))


def _condition(known: bool) -> str:
    return "other sentences of the speaker known" if known else "sentence alone"


def _recalls(given: Any, emotions: Any) -> dict[str, Any]:
    four = np.isin(emotions, FOUR)
    of_five, of_four = recalls(given, emotions, LABELS), recalls(given[four], emotions[four], FOUR)
    return {
        "utterances": int(np.isin(emotions, LABELS).sum()),
        "uar_of_4": round(of_four["uar"], 1),
        "uar_of_5": round(of_five["uar"], 1),
        "recall": {label: round(value, 1) for label, value in of_five.items() if label != "uar"},
    }


def _described(speech: MeasuredSpeech) -> dict[str, Any]:
    return {
        "sources": sorted(set(speech.corpora.tolist())),
        "speakers": len(set(speech.speakers.tolist())),
        "utterances": len(speech.numbers),
    }


def _rows(corpus: Corpus, part: str | None) -> list[dict[str, Any]]:
    frame = corpus.frame
    columns = frame.columns
    kept = []
    for row in frame.iter_rows(named=True):
        if part is None or row.get("part") == part:
            emotion = (row.get("emotion") or "") if "emotion" in columns else ""
            kept.append({**row, "emotion": emotion, "corpus": row.get("corpus") or "unnamed"})
    return kept


def _chosen(rows: Sequence[dict[str, Any]], settings: LabelSettings) -> list[dict[str, Any]]:
    """Take all labelled utterances, and some of every speaker without labels."""
    counts: dict[str, int] = {}
    chosen = []
    for row in sorted(rows, key=lambda row: survey_rank(row["speaker"], row["utterance"])):
        if not row["emotion"]:
            counts[row["speaker"]] = counts.get(row["speaker"], 0) + 1
            if counts[row["speaker"]] > settings.most_per_speaker:
                continue
        chosen.append(row)
    return chosen


def _measured(
    rows: Sequence[dict[str, Any]],
    settings: LabelSettings,
    failures: list[tuple[str, str]],
    watch: Callable[[int], None],
    *,
    augment: bool,
) -> MeasuredSpeech:
    from personare.core.audio import read_mono

    key = Key.from_seed(settings.seed)
    numbers, facts = [], []
    for row in rows:
        try:
            audio = resample(read_mono(Path(row["audio"])), RATE_HZ)
        except PersonareError as error:
            failures.append((row["utterance"], str(error)))
            continue
        samples = audio.samples[: round(settings.most_s * RATE_HZ)]
        for condition in CONDITIONS if augment and row["emotion"] in LABELS else (CLEAN,):
            found = measured(samples, condition, rng=rng_for(key, "condition", row["utterance"], condition))
            if found is not None:
                numbers.append(found)
                facts.append((row["speaker"], row["corpus"], row["emotion"], condition))
        watch(1)
    columns = np.array(facts, dtype="U64").reshape(-1, 4)
    return MeasuredSpeech(np.array(numbers).reshape(-1, SIZE), *columns.T)
