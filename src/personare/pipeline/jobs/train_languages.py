"""Training the neural voice for languages other than English: sentences, synthetic readers, a reader and a network.

Nobody's speech is needed. Mixtures of Kokoro's voices (Apache-2.0) read sentences and rows of words. The reader begins
with the English one of a voice, the network with the one that speaks what is read. So that the network speaks as any
pseudo-speaker, and not only as Kokoro's voices, it imitates the one that it began with on English content and
pseudo-speakers' vectors (personare.training.synthesizer.rehearsal). Both join the voice; its English stays as it is.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from personare.anonymizers.neural.xvector.weights import (
    CARD,
    ENGLISH,
    LANGUAGES_NETWORK,
    LANGUAGES_PROSODY,
    LANGUAGES_READER,
    PROSODY_NETWORK,
    READER_NETWORKS,
    READING_NETWORK,
    open_weights,
    package_files,
    shipped_folder,
)
from personare.core.errors import ConfigError, TrainingError
from personare.core.files import file_digest, write_bytes, write_text
from personare.core.seeding import Key, rng_for
from personare.corpora.voices.further_text import LanguageText, language_text
from personare.corpora.voices.reading_aloud import FURTHER_READERS, LONGEST, MIXTURES, clearest, read_by_mixture
from personare.corpora.voices.text import sentences as english_sentences
from personare.encoders.content import moonshine_content
from personare.encoders.grid import CONTENT_STEP, RATE_HZ, frame_count, on_frames
from personare.engine import Engine
from personare.languages import language
from personare.languages.table import LANGUAGES
from personare.pipeline.jobs.train_synthesizer import embed, move_resonances
from personare.pipeline.jobs.training_files import write_log, write_package
from personare.training import loop
from personare.training.checkpoints import Validation
from personare.training.plan import TrainingPlan
from personare.training.prosody.run import export_prosody
from personare.training.prosody.run import hold_out as hold_out_speakers
from personare.training.prosody.settings import ProsodySettings
from personare.training.prosody.task import held_out_measures
from personare.training.reader.run import ReaderTrainingRun, export_reader, hold_out
from personare.training.reader.settings import ReaderSettings
from personare.training.reader.start import EarlierReader
from personare.training.synthesizer import features, rehearsal
from personare.training.synthesizer.export import export
from personare.training.synthesizer.features import FeatureSources
from personare.training.synthesizer.joint import JointTrainingRun
from personare.training.synthesizer.rehearsal import RehearsalFiles
from personare.training.synthesizer.run import SynthesizerTrainingRun, SynthesizerUtterance
from personare.training.synthesizer.run import hold_out as hold_out_utterances
from personare.training.synthesizer.settings import SynthesizerSettings
from personare.voices.kokoro import LANGUAGES_MODEL
from personare.voices.kokoro import MODEL as KOKORO
from personare.voices.pronunciation import MODEL as PRONUNCIATION
from personare.voices.pronunciation import pronounce
from personare.voices.spelling import SYMBOL_COUNT, similar_numbers, spell, symbol_numbers

MODELS = ("moonshine", KOKORO, LANGUAGES_MODEL)
VOICE_MODELS = ("moonshine", "ge2e", "swift-f0", PRONUNCIATION)
PROSODY = ProsodySettings(
    plan=TrainingPlan(
        steps=500,
        validate_every=100,
        patience=0,
        rate=1e-3,
        lowest_rate=2e-5,
        warm_up=20,
        weight_decay=0.0,
        gradient_limit=2.0,
    ),
    true_content=1.0,
    voice_noise=0.05,
    voice_dropout=0.3,
    held_out=6,
)
READINGS, MORE_READINGS = "language-readings", "more-language-readings"
REHEARSED, PROSODY_CARD = "rehearsed.npz", "prosody.json"
_OTHER_MIXTURES = range(25, 125)  # they read for the network alone: many voices, but no readers of the reader
_OTHER_SHARE = 0.4
_ROWS_OF_FIVE = 2  # of five sentences, so many are rows of words
_REHEARSED_SENTENCES = 60
_TEMPO = 1.1  # of rehearsed sentences
TEMPO = 1.2  # how many times as long as in English everything lasts: a recognizer then understands more
_SHORTEST_SYMBOLS, _LONGEST_SYMBOLS = 5, min(150, LONGEST)


@dataclass(frozen=True)
class ForeignSentence:
    """A sentence to be read: its language, the number of the mixture of voices that reads it, and its file."""

    code: str
    text: str
    spelled: str
    number: int
    path: Path


@dataclass(frozen=True)
class LanguagesTrainingResult:
    """What a training ended with: the folder that speaks, validations, what was measured, the size of all files."""

    folder: Path
    validations: tuple[Validation, ...]
    measured: Mapping[str, float]
    megabytes: float


@dataclass(frozen=True)
class ReadForeign:
    """Let Kokoro read one sentence, unless that is done already; safe to run in any process."""

    def __call__(self, sentence: ForeignSentence) -> Path:
        """Read it; gives the file of the reading."""
        if not sentence.path.exists():
            audio, durations = read_by_mixture(sentence.spelled, number=sentence.number, rate_hz=RATE_HZ)
            slot = MIXTURES.index(sentence.number) if sentence.number in MIXTURES else sentence.number % len(MIXTURES)
            arrays = {
                "numbers": np.array(symbol_numbers(sentence.spelled), np.int16),
                "durations": durations,
                "content": moonshine_content(audio.samples).astype(np.float16),
                "audio": np.round(audio.samples * 32767).astype(np.int16),
                "reader": np.array(slot),
                "mixture": np.array(sentence.number),
                "text": np.array(sentence.text),
                "language": np.array(sentence.code),
            }
            features.save(arrays, sentence.path)
        return sentence.path


def planned_foreign(
    sentences: Mapping[str, Sequence[str]], folder: Path, *, each: int, seed: int
) -> list[ForeignSentence]:
    """Plan what is read, ``each`` times per language: sentences in order, rows of words between them."""
    for code in sentences:
        if code == ENGLISH or code not in LANGUAGES:
            known = ", ".join(one for one in LANGUAGES if one != ENGLISH)
            raise ConfigError(
                f"--language must be one of {known}, not '{code}'; train reader without it is for English"
            )
    texts = {code: language_text(given) for code, given in sentences.items()}
    plan: dict[Path, ForeignSentence] = {}
    for place in range(each):
        for code, text in texts.items():
            rng = rng_for(_key(seed), code, str(place))
            written = _sentence(text, place, rng)
            spelled = language(code).pronounce(written)
            if not _SHORTEST_SYMBOLS <= len(spelled) <= _LONGEST_SYMBOLS:
                continue
            is_other = rng.random() < _OTHER_SHARE
            readers = clearest(code)
            number = int(rng.choice(_OTHER_MIXTURES)) if is_other else readers[int(rng.integers(len(readers)))]
            name = hashlib.sha256(f"{spelled}\n{number}".encode()).hexdigest()[:20]
            path = folder / (MORE_READINGS if is_other else READINGS) / f"{code}-{name}.npz"
            plan[path] = ForeignSentence(code, written, spelled, number, path)
    return list(plan.values())


def _sentence(text: LanguageText, place: int, rng: np.random.Generator) -> str:
    turn, of_five = divmod(place, 5)
    number = turn * (5 - _ROWS_OF_FIVE) + of_five
    if of_five >= 5 - _ROWS_OF_FIVE or number >= 2 * len(text.sentences):
        return text.row(rng)
    return text.sentences[number % len(text.sentences)]


def read_foreign(
    plan: Sequence[ForeignSentence],
    settings: ReaderSettings,
    engine: Engine,
    *,
    voice: Path | None = None,
    watch: Callable[[int], None],
) -> tuple[ReaderTrainingRun, list[tuple[str, str]]]:
    """Let Kokoro read every sentence, unless that is done; gives the run of the reader's training and failures."""
    paths, failures = list[Path](), list[tuple[str, str]]()
    for read in engine.map(ReadForeign(), plan):
        watch(1)
        if not read.ok:
            failures.append((read.item.text, read.error or "failed"))
        elif read.item.number in MIXTURES:
            paths.append(read.item.path)
    start = _earlier_reader(voice or shipped_folder())
    return hold_out(paths, settings, symbols=SYMBOL_COUNT, readers=len(MIXTURES), start=start), failures


def train_languages_reader(
    run: ReaderTrainingRun,
    folder: Path,
    *,
    codes: Sequence[str],
    voice: Path | None = None,
    resume: bool = False,
    watch: Callable[[loop.TrainingStep], None] = lambda _: None,
) -> LanguagesTrainingResult:
    """Train the reader into ``folder`` and write there the voice of the folder ``voice`` (None: shipped) with it."""
    before = voice or shipped_folder()
    task = run.task()
    for step in run.train(task, folder, resume=resume):
        watch(step)
    log = tuple(loop.best_of_training(task, folder, fingerprint=run.fingerprint).validations)
    text, speech, difference = export_reader(task, eight_bit=True)
    files = {**package_files(before), **dict(zip(LANGUAGES_READER, (text, speech), strict=True))}
    for name in (LANGUAGES_PROSODY, LANGUAGES_NETWORK):  # they spoke the content of another reader
        files.pop(name, None)
    measured = {**task.held_out_measures(), "graph_difference": difference}
    card = _card(before, files)
    card["languages"] = {
        "what": "symbols of sounds + a reader -> durations and content, for languages other than English",
        "codes": list(codes),
        "symbols": run.symbols,
        "readers": list(FURTHER_READERS),
        "data": {
            "sources": ["mixtures of Kokoro-82M's voices (Apache-2.0)"],
            "sentences": len(run.readings),
            "held_out_sentences": len(run.held_out),
        },
        "settings": dataclasses.asdict(run.settings),
        "steps": log[-1].step,
        "measured": measured,
    }
    return _written(folder, files, card, log, measured, title="the reader of further languages")


@dataclass(frozen=True)
class ExtractForeign:
    """Extract the features of one reading for the network; safe to run in any process."""

    voice: Path
    sources: FeatureSources

    def __call__(self, item: SynthesizerUtterance) -> str:
        """Extract them, unless they are there; gives the name of the sentence."""
        if not item.features.exists():
            further = open_weights(self.voice).further
            assert further is not None, "prepared by languages_run"
            with np.load(item.audio, allow_pickle=False) as given:
                reading = {name: given[name] for name in ("numbers", "durations", "content", "audio", "reader")}
            durations, numbers = reading["durations"].astype(np.float64), reading["numbers"].tolist()
            read = further.reader.in_time(
                numbers, durations, reader=int(reading["reader"]), count=len(reading["content"])
            )
            samples = (reading["audio"] / np.float32(32767)).astype(np.float32)
            features.save(features.of_reading(samples, reading["content"], read, self.sources), item.features)
        return item.name


def readings_of(voice: Path) -> list[Path]:
    """The readings of a folder of ``train_languages_reader``, those of voices beside the readers too."""
    return sorted([*(voice / READINGS).glob("*.npz"), *(voice / MORE_READINGS).glob("*.npz")])


def languages_run(
    voice: Path,
    settings: SynthesizerSettings,
    folder: Path,
    engine: Engine,
    *,
    start: Path | None = None,
    watch: Callable[[int], None],
) -> tuple[SynthesizerTrainingRun, list[tuple[str, str]]]:
    """Prepare the training of the network that speaks what the further reader of ``voice`` reads; and failures.

    ``start`` is the folder of an earlier such training; None begins with the network that speaks English words. The
    prosody network is trained here, in minutes: the English one errs in the voicing and energy of other languages.
    """
    if open_weights(voice).further is None:
        raise TrainingError(
            f"{voice}: has no {LANGUAGES_READER[0]}; name a folder of personare train reader --language"
        )
    reader_print = file_digest(voice / LANGUAGES_READER[1])[:8]
    items = []
    for path in readings_of(voice):
        with np.load(path, allow_pickle=False) as given:
            speaker = f"mixture {int(given['mixture'])}"
        kept = folder / "features" / f"{path.stem}-{reader_print}-v{features.VERSION}.npz"
        items.append(SynthesizerUtterance(path.stem, speaker, path, kept, is_read=True))
    ready, failures = list[SynthesizerUtterance](), list[tuple[str, str]]()
    for result in engine.map(ExtractForeign(voice, FeatureSources(embed, move_resonances)), items):
        watch(1)
        if result.ok:
            ready.append(result.item)
        else:
            failures.append((result.item.name, result.error or "failed"))
    rehearsed = _rehearsal(voice, folder / REHEARSED, settings.seed)
    begin, prosody = start or voice / READING_NETWORK, _trained_prosody(voice, ready, folder)
    return hold_out_utterances(ready, settings, start=begin, prosody=prosody, rehearsal=rehearsed), failures


def train_languages_voice(
    run: SynthesizerTrainingRun,
    voice: Path,
    folder: Path,
    *,
    resume: bool = False,
    watch: Callable[[loop.TrainingStep], None] = lambda _: None,
) -> LanguagesTrainingResult:
    """Train the network into ``folder`` and write there ``voice`` with it."""
    if run.settings.reader_weight:
        return _train_jointly(run, voice, folder, resume=resume, watch=watch)
    task = run.task()
    for step in run.train(task, folder, resume=resume):
        watch(step)
    log = tuple(loop.best_of_training(task, folder, fingerprint=run.fingerprint).validations)
    graph, difference = export(task.tensors, run.settings.shape, eight_bit=True)
    return _spoken_by(run, voice, folder, graph, {}, difference, log)


def _train_jointly(
    run: SynthesizerTrainingRun,
    voice: Path,
    folder: Path,
    *,
    resume: bool,
    watch: Callable[[loop.TrainingStep], None],
) -> LanguagesTrainingResult:
    """Train the reader of ``voice`` with the network (see personare.training.synthesizer.joint)."""
    both = JointTrainingRun(run, ReaderSettings(), _earlier_reader(voice))
    task = both.task()
    for step in both.train(task, folder, resume=resume):
        watch(step)
    log = tuple(loop.best_of_training(task, folder, fingerprint=both.fingerprint).validations)
    graph, difference = export(task.voice.tensors, run.settings.shape, eight_bit=True)
    text, speech, also = export_reader(task.reader, eight_bit=True)
    reader = dict(zip(LANGUAGES_READER, (text, speech), strict=True))
    return _spoken_by(run, voice, folder, graph, reader, max(difference, also), log)


def _spoken_by(
    run: SynthesizerTrainingRun,
    voice: Path,
    folder: Path,
    graph: bytes,
    reader: Mapping[str, bytes],
    difference: float,
    log: tuple[Validation, ...],
) -> LanguagesTrainingResult:
    """Write ``voice`` with a new network, and a new reader if there is one, into ``folder``."""
    assert run.prosody is not None, "prepared by languages_run"
    files = {**package_files(voice), **reader, LANGUAGES_PROSODY: run.prosody.read_bytes(), LANGUAGES_NETWORK: graph}
    measured = {
        "held_out_loss" if reader else "distance_of_what_is_understood": min(validation.held_out for validation in log),
        "graph_difference": difference,
    }
    card = _card(voice, files)
    card["languages"]["voice"] = {
        "data": {
            "sources": ["mixtures of Kokoro-82M's voices (Apache-2.0)", "the voice it began with (rehearsal)"],
            "speakers": len({item.speaker for item in run.utterances}),
            "utterances": len(run.utterances),
        },
        "started_from_sha256": run.start_sha256,
        "settings": dataclasses.asdict(run.settings),
        "steps": log[-1].step,
        "measured": measured,
    }
    card["languages"]["prosody"] = json.loads((folder / PROSODY_CARD).read_text(encoding="utf-8"))
    told = card["languages"]
    told["tempo"], told["readers_of"] = TEMPO, {code: _slots(code) for code in told["codes"]}
    card["reader"]["languages"] = [ENGLISH, *told["codes"]]
    return _written(folder, files, card, log, measured, title="the voice in further languages")


def _slots(code: str) -> list[int]:
    """Numbers of the readers that read a language."""
    return [MIXTURES.index(number) for number in clearest(code)]


def _trained_prosody(voice: Path, ready: Sequence[SynthesizerUtterance], folder: Path) -> Path:
    """Train the prosody network of the readings, unless that is done; gives its graph."""
    graph_path = folder / LANGUAGES_PROSODY
    if not graph_path.exists():
        run = hold_out_speakers(ready, PROSODY, start=voice / PROSODY_NETWORK)
        task, place = run.task(), folder / "prosody"
        before = held_out_measures(task)
        for _ in loop.train(task, PROSODY.plan, place, fingerprint=run.fingerprint, resume=True):
            pass
        loop.best_of_training(task, place, fingerprint=run.fingerprint)
        graph, difference, widening = export_prosody(task, eight_bit=True)
        told = {
            "settings": dataclasses.asdict(PROSODY),
            "steps": PROSODY.plan.steps,
            "measured": {**held_out_measures(task), "f0_widening": widening, "graph_difference": difference},
            "measured_before": before,
        }
        write_text(folder / PROSODY_CARD, json.dumps(told, indent=2) + "\n")
        write_bytes(graph_path, graph)
    return graph_path


def _rehearsal(voice: Path, path: Path, seed: int) -> RehearsalFiles:
    """Write English content and pseudo-speakers to rehearse, unless that is done."""
    if not path.exists():
        model, rng = open_weights(voice), rng_for(_key(seed), "rehearsal")
        contents = []
        for sentence in english_sentences()[:_REHEARSED_SENTENCES]:
            numbers = symbol_numbers(spell(pronounce(sentence.text)))
            content = model.reader(numbers, reader=int(rng.integers(model.reader.readers)), tempo=_TEMPO)
            contents.append(on_frames(content, frame_count(len(content) * CONTENT_STEP)))
        spoken = [model.bank.f0_of(vector) for vector in model.bank.vectors]
        rehearsal.save(path, contents=contents, vectors=model.bank.vectors, spoken=spoken)
    return RehearsalFiles(voice / READING_NETWORK, voice / PROSODY_NETWORK, path)


def _earlier_reader(voice: Path) -> EarlierReader:
    """The reader that a training begins with: that of further languages, where the voice has one with our readers."""
    model = open_weights(voice)
    if model.further is not None and (model.further.reader.symbols, model.further.reader.readers) == (
        SYMBOL_COUNT,
        len(MIXTURES),
    ):
        text, speech = ((voice / name).read_bytes() for name in LANGUAGES_READER)
        return EarlierReader(text, speech, SYMBOL_COUNT, len(MIXTURES), {}, same_readers=True)
    return english_reader(voice)


def english_reader(voice: Path) -> EarlierReader:
    """The English reader of a voice, to begin with."""
    reader = open_weights(voice).reader
    text, speech = ((voice / name).read_bytes() for name in READER_NETWORKS)
    return EarlierReader(text, speech, reader.symbols, reader.readers, similar_numbers())


def _card(before: Path, files: Mapping[str, bytes]) -> dict[str, Any]:
    card: dict[str, Any] = json.loads((before / CARD).read_text(encoding="utf-8"))
    card["sha256"] = {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}
    return card


def _written(
    folder: Path,
    files: Mapping[str, bytes],
    card: dict[str, Any],
    log: tuple[Validation, ...],
    measured: Mapping[str, float],
    *,
    title: str,
) -> LanguagesTrainingResult:
    write_package(files, card, folder, card_name=CARD)
    label = "distance of content on held-out sentences"
    write_log(log, folder, column="held_out_distance", title=title, label=label, scale=1.0)
    return LanguagesTrainingResult(folder, log, measured, sum(map(len, files.values())) / 1e6)


def _key(seed: int) -> Key:
    """The public key that all chance of a training comes from."""
    return Key.from_seed(f"languages {seed}")
