"""Training the neural synthesizer from a corpus: features, a network, pseudo-speakers, a log, a picture and a card."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from personare.anonymizers.neural.xvector import voice_pool
from personare.anonymizers.neural.xvector.weights import (
    CARD,
    MASK,
    NETWORK,
    PROSODY_NETWORK,
    READING_NETWORK,
    VOICES,
    package_files,
    read_bank,
)
from personare.anonymizers.signal.mcadams import McAdams
from personare.core.audio import Audio
from personare.core.errors import TrainingError
from personare.core.findings import Estimate
from personare.core.seeding import rng_for
from personare.core.tables import Corpus
from personare.engine import Engine
from personare.pipeline.jobs.readings import prepared_readings
from personare.pipeline.jobs.training_files import write_log, write_package
from personare.training import loop
from personare.training.checkpoints import Validation
from personare.training.embedder.speakers import part_of
from personare.training.synthesizer import adversary
from personare.training.synthesizer.export import export
from personare.training.synthesizer.features import FeatureSources
from personare.training.synthesizer.run import (
    ExtractFeatures,
    SynthesizerTrainingRun,
    SynthesizerUtterance,
    best_of,
    features_path,
    hold_out,
    key_of,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from personare.training.synthesizer.settings import SynthesizerSettings
    from personare.training.synthesizer.task import SynthesizerTask

FEATURES = "features"
VOICES_PER_GENDER = 500


@dataclass(frozen=True)
class SynthesizerTrainingResult:
    """What a training ended with.

    Parameters
    ----------
    validations : their held-out measure is the distance of contents.
    wer, wer_original : of held-out speakers in other people's voices, and of their own speech; None without texts.
    difference : of the exported graph from the network.
    """

    folder: Path
    validations: tuple[Validation, ...]
    wer: Estimate | None
    wer_original: Estimate | None
    difference: float
    megabytes: float


def embed(audio: Audio) -> NDArray[np.float32]:
    """Give the speaker vector of a recording."""
    from personare.encoders.ge2e import Ge2e

    vector: NDArray[np.float32] = Ge2e()([audio])[0]
    return vector


def move_resonances(audio: Audio, alpha: float, rng: np.random.Generator) -> Audio:
    """Move the resonances of a recording by a McAdams coefficient."""
    return McAdams(alpha=alpha)(audio, rng=rng)


def together(corpora: Sequence[Corpus], part: str | None) -> Corpus:
    """One part of several corpora as one; a corpus without parts is taken whole, a speaker's name means one person."""
    frames = [
        frame if part is None or "part" not in frame.columns else part_of(frame, part)[0]
        for frame in (corpus.frame for corpus in corpora)
    ]
    return Corpus(pl.concat(frames, how="diagonal_relaxed"))


def prepared(
    corpus: Corpus, folder: Path, engine: Engine, *, seed: int, watch: Callable[[int], None]
) -> tuple[list[SynthesizerUtterance], list[tuple[str, str]]]:
    """Extract the features of every utterance that can be read, unless they are there; gives them and failures."""
    items, failures = [], []
    for one in corpus:
        try:
            path = features_path(folder / FEATURES, one.audio, start_s=one.start_s, end_s=one.end_s)
        except OSError as error:
            failures.append((one.utterance, f"{one.audio}: {error.strerror or 'cannot be read'}"))
            continue
        items.append(SynthesizerUtterance(one.utterance, one.speaker, one.audio, path, one.start_s, one.end_s))
    ready = []
    for result in engine.map(ExtractFeatures(FeatureSources(embed, move_resonances), seed), items):
        watch(1)
        if result.ok:
            ready.append(result.item)
        else:
            failures.append((result.item.name, result.error or "failed"))
    return ready, failures


def open_run(
    corpus: Corpus,
    settings: SynthesizerSettings,
    folder: Path,
    engine: Engine,
    *,
    watch: Callable[[int], None],
    start: Path | None = None,
    prosody: Path | None = None,
    readings: Path | None = None,
) -> tuple[SynthesizerTrainingRun, list[tuple[str, str]]]:
    """Prepare every utterance that can be read; gives the run and failures.

    ``start`` is the folder of a training or a voice to begin from, ``prosody`` that of a voice with a prosody network,
    ``readings`` that of a voice with a reader and what it learnt from, so that its content is spoken well.
    """
    if start is not None:
        best_of(start)
    graph = None if prosody is None else prosody / PROSODY_NETWORK
    if graph is not None and not graph.is_file():
        raise TrainingError(f"{prosody}: has no {PROSODY_NETWORK}; name a folder made by personare train prosody")
    ready, failures = prepared(corpus, folder, engine, seed=settings.seed, watch=watch)
    if readings is not None:
        sources = FeatureSources(embed, move_resonances)
        read, unread = prepared_readings(readings, folder / FEATURES, sources, engine, most=settings.most_readings)
        ready, failures = [*ready, *read], [*failures, *unread]
    return hold_out(ready, settings, start=start, prosody=graph), failures


def train_synthesizer(
    run: SynthesizerTrainingRun,
    corpus: Corpus,
    folder: Path,
    *,
    sources: Sequence[str] = (),
    resume: bool = False,
    beside: Path | None = None,
    watch: Callable[[loop.TrainingStep], None] = lambda _: None,
) -> SynthesizerTrainingResult:
    """Train a synthesizer into ``folder``; ``sources`` are named in its card.

    ``beside`` is the folder of a voice with a reader that the network joins, to speak what is read; all else stays.
    """
    task = run.task()
    for step in run.train(task, folder, resume=resume):
        watch(step)
    return finish(run, task, corpus, folder, sources=sources, beside=beside)


def finish(
    run: SynthesizerTrainingRun,
    task: SynthesizerTask,
    corpus: Corpus,
    folder: Path,
    *,
    sources: Sequence[str],
    beside: Path | None = None,
) -> SynthesizerTrainingResult:
    """Take the best network, train its head, draw its voices, measure it, and write everything down."""
    seed = run.settings.seed
    validations = tuple(loop.best_of_training(task, folder, fingerprint=run.fingerprint).validations)
    graph, difference = export(task.tensors, run.settings.shape, eight_bit=beside is not None)
    genders = dict(corpus.frame.select("speaker", "gender").iter_rows()) if "gender" in corpus.frame.columns else {}
    speakers = voice_pool.training_speakers(task.utterances, genders)
    if beside is None:
        head = adversary.train_head(task.utterances, folder / "mask", fingerprint=run.fingerprint, seed=seed)
        voices = voice_pool.draw_voices(speakers, count=VOICES_PER_GENDER, rng=rng_for(key_of(seed), "voices"))
        files = {NETWORK: graph, MASK: adversary.encode(head.tensors), VOICES: voice_pool.encode_voices(voices)}
        if run.prosody is not None:
            files[PROSODY_NETWORK] = run.prosody.read_bytes()
    else:
        files = {**package_files(beside), READING_NETWORK: graph}
        voices = read_bank(files[VOICES])
    wer_original, wer = _wer(run, task, corpus)
    megabytes = sum(map(len, files.values())) / 1e6
    result = SynthesizerTrainingResult(folder, validations, wer, wer_original, difference, megabytes)
    card = _card(run, result, speakers, voices.vectors, files, sources)
    if beside is not None:
        told = ("data", "started_from_sha256", "settings", "steps", "measured")
        before = json.loads((beside / CARD).read_text(encoding="utf-8"))
        card = {**before, "sha256": card["sha256"], "reading_voice": {name: card[name] for name in told}}
    elif run.prosody is not None:
        card["prosody"] = json.loads((run.prosody.parent / CARD).read_text(encoding="utf-8"))["prosody"]
    write_package(files, card, folder, card_name=CARD)
    write_log(
        validations,
        folder,
        column="held_out_distance",
        title="the neural synthesizer",
        label="distance of contents on held-out speakers",
        scale=1.0,
    )
    return result


def _wer(run: SynthesizerTrainingRun, task: SynthesizerTask, corpus: Corpus) -> tuple[Estimate | None, Estimate | None]:
    """Transcribe held-out speakers with the default recognizer, as they are and in the voices of others."""
    from personare.listeners.moonshine import Moonshine
    from personare.listeners.normalize import WhisperEnglish
    from personare.metrics.utility.wer import wer_estimate, word_errors

    if "text" not in corpus.frame.columns:
        return None, None
    texts = dict(corpus.frame.select("utterance", "text").drop_nulls().iter_rows())
    rng, recognizer, normalize = rng_for(key_of(run.settings.seed), "held-out words"), Moonshine(), WhisperEnglish()
    rows: list[tuple[str, str, str, str]] = []
    for item in run.held_out:
        if item.name not in texts:
            continue
        utterance = item.load()
        others = [other for other in task.held_out if other.speaker != item.speaker]
        vector = others[int(rng.integers(len(others)))].vector
        synthesized = _within_full_scale(task.synthesize(utterance, vector, rng=rng))
        transcripts = recognizer([Audio(utterance.samples, 16_000), Audio(synthesized, 16_000)])
        reference, original, other = (normalize(text) for text in (texts[item.name], *transcripts))
        rows.append((item.speaker, reference, original, other))
    if not rows:
        return None, None
    speakers, references, *sides = (list(column) for column in zip(*rows, strict=True))
    first, second = (wer_estimate(word_errors(references, side), speakers=speakers) for side in sides)
    return first, second


def _within_full_scale(samples: NDArray[np.float32]) -> NDArray[np.float32]:
    return samples / np.float32(max(1.0, float(np.abs(samples).max(initial=0.0))))


def _card(
    run: SynthesizerTrainingRun,
    result: SynthesizerTrainingResult,
    speakers: voice_pool.TrainingSpeakers,
    vectors: NDArray[np.float32],
    files: Mapping[str, bytes],
    sources: Sequence[str],
) -> dict[str, Any]:
    """Say what the synthesizer is, whose speech it was trained on, how good it is."""
    nearest = (vectors @ speakers.vectors.T.astype(np.float32)).max(axis=1)
    return {
        "name": "personare neural voice",
        "what": "content (Moonshine tiny) + pitch + speaker vector (GE2E) -> 80 harmonic and 40 noise bands, 16 kHz",
        "sha256": {name: hashlib.sha256(content).hexdigest() for name, content in files.items()},
        "data": {
            "sources": list(sources),
            "speakers": len({item.speaker for item in run.utterances}),
            "utterances": len(run.utterances),
            "held_out_speakers": len({item.speaker for item in run.held_out}),  # a voice may be given away, names not
        },
        "licence": "CC BY 4.0; the speech of the sources keeps its own",
        "started_from_sha256": run.start_sha256,
        "settings": dataclasses.asdict(run.settings),
        "steps": result.validations[-1].step,
        "measured": {
            "distance_of_what_is_understood": min(validation.held_out for validation in result.validations),
            "wer_held_out_original": None if result.wer_original is None else result.wer_original.value,
            "wer_held_out_in_other_voices": None if result.wer is None else result.wer.value,
            "graph_difference": result.difference,
        },
        "voices": {
            "invented": len(vectors),
            "drawn_from_speakers": len(speakers.vectors),
            "nearest_cosine_to_a_training_speaker": float(nearest.max()),
            "median_cosine_of_a_recording_to_its_speaker": speakers.nearness,
        },
    }
