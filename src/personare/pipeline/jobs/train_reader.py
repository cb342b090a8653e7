"""Training the reader of a voice: what people say in corpora, read aloud by synthetic readers, two networks, a card.

Nobody's speech is learnt from: of the corpora only the recognized words are taken, as they will be when the reader is
used, and rows of words from the dictionary besides. Kokoro's voices read them.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from personare.anonymizers.neural.words.transcript import Recognizing, passages, transcribe
from personare.anonymizers.neural.xvector.weights import (
    CARD,
    READER_NETWORKS,
    SHIPPED,
    open_weights,
    package_files,
    shipped_folder,
)
from personare.core.audio import read_mono, resample
from personare.core.seeding import Key, rng_for
from personare.core.spoken import NOTHING_KNOWN
from personare.core.tables import Corpus
from personare.core.utterances import Utterance
from personare.corpora.voices.reading_aloud import LONGEST, READERS, read_aloud
from personare.corpora.voices.text import row_of_words
from personare.encoders.content import moonshine_content
from personare.encoders.grid import RATE_HZ
from personare.engine import Engine
from personare.pipeline.jobs.readings import READINGS
from personare.pipeline.jobs.training_files import sources_of, write_log, write_package
from personare.training import loop
from personare.training.checkpoints import Validation
from personare.training.reader.run import ReaderTrainingRun, export_reader, hold_out
from personare.training.reader.settings import ReaderSettings
from personare.training.reader.task import ReaderTask
from personare.training.synthesizer.features import save
from personare.voices.kokoro import MODEL as KOKORO
from personare.voices.pronunciation import MODEL as PRONUNCIATION
from personare.voices.pronunciation import pronounce
from personare.voices.spelling import ENGLISH_SYMBOL_COUNT, spell, symbol_numbers

RECOGNIZER = "moonshine"
MODELS = (RECOGNIZER, KOKORO, PRONUNCIATION)
ROWS_SHARE = 0.15  # rows of words for each utterance
_FIRST_READER = 0.25  # share of sentences that the clearest reader reads; the others are dealt among all


@dataclass(frozen=True)
class SentenceToRead:
    """A sentence to be read, by whom, and where the reading is kept."""

    text: str
    reader: int
    path: Path


@dataclass(frozen=True)
class ReaderTrainingResult:
    """What a training ended with: validations, what is measured on held-out sentences, the folder that speaks."""

    folder: Path
    validations: tuple[Validation, ...]
    measured: Mapping[str, float]
    megabytes: float


@dataclass(frozen=True)
class Recognize:
    """Recognize what is said in one utterance, cut into sentences; safe to run in any process."""

    def __call__(self, utterance: Utterance) -> list[str]:
        """Give its sentences."""
        audio = read_mono(utterance.audio, start_s=utterance.start_s, stop_s=utterance.end_s)
        how = Recognizing(RECOGNIZER, language="en")
        transcript = transcribe(resample(audio, RATE_HZ).samples, how=how, speaker=NOTHING_KNOWN, method="the reader")
        return [" ".join(word.text for word in one) for one in passages(transcript.spoken) if one]


@dataclass(frozen=True)
class ReadAloud:
    """Let a synthetic reader read one sentence, unless that is done already; safe to run in any process."""

    def __call__(self, sentence: SentenceToRead) -> Path:
        """Read it; gives the file of the reading."""
        if not sentence.path.exists():
            spelled = spell(pronounce(sentence.text))
            audio, durations = read_aloud(spelled, reader=sentence.reader, rate_hz=RATE_HZ)
            arrays = {
                "numbers": np.array(symbol_numbers(spelled), np.int16),
                "durations": durations,
                "content": moonshine_content(audio.samples).astype(np.float16),
                "audio": np.round(audio.samples * 32767).astype(np.int16),
                "reader": np.array(sentence.reader),
                "text": np.array(sentence.text),
            }
            save(arrays, sentence.path)
        return sentence.path


def planned(texts: Iterable[str], folder: Path, *, seed: int) -> list[SentenceToRead]:
    """Deal sentences among the readers; each is read once, and what nobody could pronounce is left out."""
    planned_ones: dict[str, SentenceToRead] = {}
    for text in texts:
        spelled = spell(pronounce(text))
        if not any(symbol.isalpha() for symbol in spelled) or len(spelled) > LONGEST:
            continue
        rng = rng_for(_key(seed), "reader", text)
        reader = 0 if rng.random() < _FIRST_READER else int(rng.integers(len(READERS)))
        name = hashlib.sha256(f"{spelled}\n{READERS[reader]}".encode()).hexdigest()[:24]
        planned_ones[text] = SentenceToRead(text, reader, folder / READINGS / f"{name}.npz")
    return list(planned_ones.values())


def planned_sentences(
    corpus: Corpus, folder: Path, engine: Engine, *, seed: int, watch: Callable[[int], None]
) -> tuple[list[SentenceToRead], list[tuple[str, str]]]:
    """Recognize every utterance that can be read, and deal what was said among the readers; gives failures too."""
    utterances, failures, texts = list(corpus), list[tuple[str, str]](), list[str]()
    for result in engine.map(Recognize(), utterances):
        watch(1)
        if result.value is not None:
            texts += result.value
        else:
            failures.append((result.item.utterance, result.error or "failed"))
    rng = rng_for(_key(seed), "rows of words")
    texts += [f"{row_of_words(rng).capitalize()}." for _ in range(round(ROWS_SHARE * len(utterances)))]
    return planned(texts, folder, seed=seed), failures


def read_sentences(
    to_read: Sequence[SentenceToRead],
    settings: ReaderSettings,
    engine: Engine,
    *,
    watch: Callable[[int], None],
) -> tuple[ReaderTrainingRun, list[tuple[str, str]]]:
    """Let the readers read every sentence, unless that is done; gives the run and failures."""
    paths, failures = list[Path](), list[tuple[str, str]]()
    for read in engine.map(ReadAloud(), to_read):
        watch(1)
        if read.ok:
            paths.append(read.item.path)
        else:
            failures.append((read.item.text, read.error or "failed"))
    return hold_out(paths, settings, symbols=ENGLISH_SYMBOL_COUNT, readers=len(READERS)), failures


def train_reader(
    run: ReaderTrainingRun,
    corpus: Corpus,
    folder: Path,
    *,
    voice: Path | None = None,
    resume: bool = False,
    watch: Callable[[loop.TrainingStep], None] = lambda _: None,
) -> ReaderTrainingResult:
    """Train into ``folder`` and write there the voice of the folder ``voice`` (None: the shipped one) with a reader."""
    open_weights(voice or SHIPPED)
    task = run.task()
    for step in run.train(task, folder, resume=resume):
        watch(step)
    validations = tuple(loop.best_of_training(task, folder, fingerprint=run.fingerprint).validations)
    return _finish(run, task, folder, sources=sources_of(corpus), before=voice or shipped_folder(), log=validations)


def _finish(
    run: ReaderTrainingRun,
    task: ReaderTask,
    folder: Path,
    *,
    sources: Sequence[str],
    before: Path,
    log: tuple[Validation, ...],
) -> ReaderTrainingResult:
    text, speech, difference = export_reader(task)
    files = {**package_files(before), **dict(zip(READER_NETWORKS, (text, speech), strict=True))}
    measured = {**task.held_out_measures(), "graph_difference": difference}
    card: dict[str, Any] = json.loads((before / CARD).read_text(encoding="utf-8"))
    card["sha256"] = {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}
    card["reader"] = {
        "what": "symbols of sounds + a reader -> durations and content (Moonshine tiny)",
        "symbols": run.symbols,
        "readers": list(READERS),
        "data": {
            "sources": ["Kokoro-82M's voices (Apache-2.0)", *(f"words recognized in {name}" for name in sources)],
            "sentences": len(run.readings),
            "held_out_sentences": len(run.held_out),
        },
        "settings": dataclasses.asdict(run.settings),
        "steps": log[-1].step,
        "measured": measured,
    }
    write_package(files, card, folder, card_name=CARD)
    write_log(
        log,
        folder,
        column="held_out_distance",
        title="the reader",
        label="distance of content on held-out sentences",
        scale=1.0,
    )
    return ReaderTrainingResult(folder, log, measured, sum(map(len, files.values())) / 1e6)


def _key(seed: int) -> Key:
    """The public key that all chance of a training comes from."""
    return Key.from_seed(f"reader {seed}")
