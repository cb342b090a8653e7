"""Training a recognizer from a corpus with text: a folder to recognize with, a log, a picture, a card."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from personare.core.files import write_text
from personare.core.findings import Estimate
from personare.core.tables import Corpus
from personare.core.weights import file_sha256
from personare.listeners.ctc import transcribe
from personare.listeners.normalize import Letters
from personare.metrics.utility.wer import character_errors, wer_estimate
from personare.pipeline.jobs.training_files import CARD, LOG, SETTINGS, write_log, write_settings
from personare.training.checkpoints import BEST, Validation
from personare.training.embedder.speakers import part_of
from personare.training.loop import TrainingStep
from personare.training.recognizer import run
from personare.training.recognizer.examples import RecognizerData, read_data
from personare.training.recognizer.settings import RecognizerSettings
from personare.training.torch_extra import torch_for


@dataclass(frozen=True)
class RecognizerTrainingResult:
    """What a training ended with: its validations (the held-out measure is a loss), and its error rate.

    Parameters
    ----------
    cer : character error rate on held-out speakers, with an interval over them; they chose the best step.
    """

    folder: Path
    validations: tuple[Validation, ...]
    cer: Estimate

    @property
    def best_at(self) -> int:
        """After how many steps the network was best."""
        return min(self.validations, key=lambda validation: validation.held_out).step


def check_extras() -> None:
    """Say what must be installed before anything is read."""
    torch_for("personare train")


def open_data(
    corpus: Corpus,
    settings: RecognizerSettings,
    *,
    part: str | None = None,
    watch: Callable[[str], None] = lambda _: None,
) -> RecognizerData:
    """Choose the training speakers and read their speech; ``watch`` is called with every utterance."""
    frame, _ = part_of(corpus.frame, part)
    return read_data(Corpus(frame), settings, normalize=Letters(), watch=watch)


def train_recognizer(
    data: RecognizerData,
    settings: RecognizerSettings,
    folder: Path,
    *,
    sources: Iterable[str] = (),
    resume: bool = False,
    watch: Callable[[TrainingStep], None] = lambda _: None,
) -> RecognizerTrainingResult:
    """Train a recognizer into ``folder``; ``watch`` is called with every step, ``sources`` are named in its card."""
    for step in run.train_recognizer(
        data.train.examples,
        data.held_out.examples,
        folder,
        plan=settings.plan,
        shape=settings.shape,
        batch_size=settings.batch,
        mask=settings.mask,
        seed=settings.seed,
        resume=resume,
    ):
        watch(step)
    result = RecognizerTrainingResult(folder, run.validations_of(folder), _held_out_cer(data, folder))
    write_log(
        result.validations,
        folder,
        column="held_out_loss",
        title=f"ctc, {len(set(data.train.speakers))} speakers",
        label="loss on held-out speakers",
        scale=1.0,
    )
    write_settings(settings, folder)
    write_text(folder / CARD, _card(data, settings, result, sorted(set(sources))))
    return result


def _held_out_cer(data: RecognizerData, folder: Path) -> Estimate:
    transcripts = [transcribe(folder, example.bands) for example in data.held_out.examples]
    return wer_estimate(
        character_errors(list(data.held_out.texts()), transcripts),
        speakers=data.held_out.speakers,
    )


def _card(
    data: RecognizerData, settings: RecognizerSettings, result: RecognizerTrainingResult, sources: list[str]
) -> str:
    """Say what the recognizer is, whose speech it was trained on, how good it is, what it must not be used for."""
    train, held_out, shape = data.train, data.held_out, settings.shape
    return f"""# ctc, a recognizer of letters, width {shape.width}, {shape.blocks} blocks

- File: {BEST}, SHA-256 {file_sha256(result.folder / BEST)}
- Trained on: {len(set(train.speakers))} speakers, {len(train.examples)} utterances, {train.duration_s / 3600:.2f} h;
  {len(data.failures)} could not be used, {data.too_long} are longer than {settings.longest_s:g} s and were left out
- Sources: {", ".join(sources) or "not named by the corpus; write them here with their licences"}
- Character error rate on {len(set(held_out.speakers))} held-out speakers ({len(held_out.examples)} utterances):
  {result.cer.text("%")}. They chose the best step: expect a little more on others.
- No language model, hence letters and not words: compare it with another training of the same settings only.
- Seed {settings.seed}; every setting is in {SETTINGS}, every validation in {LOG}.

Use it with `personare listen ORIG ANON --listeners ctc:FOLDER`. It learnt what its training speakers said: give it away
only where their speech may be given away.
"""
