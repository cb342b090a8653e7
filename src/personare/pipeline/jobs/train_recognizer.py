"""Training a recognizer from a corpus with text: a folder that hears, a log, a picture, a card naming the sources."""

from __future__ import annotations

import dataclasses
import importlib.util
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import polars as pl
import yaml

from personare.attackers.training.division import part_of
from personare.core.errors import MissingExtraError
from personare.core.files import write_text
from personare.core.findings import Estimate
from personare.core.seeding import Key, rng_for
from personare.core.tables import Corpus, write_frame
from personare.core.weights import file_sha256
from personare.listeners import ctc_training
from personare.listeners.ctc import hear
from personare.listeners.ctc_settings import Settings
from personare.listeners.ctc_speech import Speech, read_speech, texts_of
from personare.metrics.utility.wer import character_errors, wer_estimate
from personare.nn.checkpoints import BEST
from personare.nn.loop import Learnt
from personare.nn.torch_extra import torch_for
from personare.reports.learning_figure import write_learning_figure

LOG, FIGURE, CARD, SETTINGS = "log.tsv", "learning.png", "card.md", "settings.yaml"


@dataclass(frozen=True)
class TrainedRecognizer:
    """What a training ended with.

    Parameters
    ----------
    rows : the judgements, as (step, loss, loss on held-out speech, rate).
    cer : character error rate on held-out speakers, with an interval over them; they chose the best step.
    """

    folder: Path
    rows: tuple[tuple[int, float, float, float], ...]
    cer: Estimate

    @property
    def best_at(self) -> int:
        """After how many steps the network was best."""
        return min(self.rows, key=lambda row: row[2])[0]


def check_extras() -> None:
    """Say what must be installed before anything is read."""
    torch_for("personare train")
    if importlib.util.find_spec("jiwer") is None:
        raise MissingExtraError("asr", "the character error rate")


def open_speech(
    corpus: Corpus, settings: Settings, *, part: str | None = None, watch: Callable[[str], None] = lambda _: None
) -> Speech:
    """Choose who is learnt from and read their speech; ``watch`` is told of every utterance."""
    frame, _ = part_of(corpus.frame, part)
    return read_speech(Corpus(frame), settings, watch=watch)


def train_recognizer(
    speech: Speech,
    settings: Settings,
    folder: Path,
    *,
    sources: Iterable[str] = (),
    resume: bool = False,
    watch: Callable[[Learnt], None] = lambda _: None,
) -> TrainedRecognizer:
    """Train a recognizer into ``folder``; ``watch`` is told of every step, ``sources`` are named in its card."""
    for learnt in ctc_training.train_recognizer(
        speech.learn.examples,
        speech.judge.examples,
        folder,
        plan=settings.plan,
        shape=settings.shape,
        batch_size=settings.batch,
        seed=settings.seed,
        resume=resume,
    ):
        watch(learnt)
    done = TrainedRecognizer(folder, ctc_training.judgements(folder), _held_out_cer(speech, settings, folder))
    _write_log(done, title=f"ctc, {len(set(speech.learn.speakers))} speakers")
    write_text(folder / SETTINGS, yaml.safe_dump(dataclasses.asdict(settings), sort_keys=False))
    write_text(folder / CARD, _card(speech, settings, done, sorted(set(sources))))
    return done


def _held_out_cer(speech: Speech, settings: Settings, folder: Path) -> Estimate:
    heard = [hear(folder, one.bands) for one in speech.judge.examples]
    return wer_estimate(
        character_errors(list(texts_of(speech.judge)), heard),
        speakers=speech.judge.speakers,
        rng=rng_for(Key.from_seed(settings.seed), "held-out interval"),
    )


def _write_log(done: TrainedRecognizer, *, title: str) -> None:
    steps, losses, held_out, rates = (list(column) for column in zip(*done.rows, strict=True))
    known = [None if math.isnan(loss) else loss for loss in losses]
    frame = pl.DataFrame({"step": steps, "loss": known, "held_out_loss": held_out, "rate": rates})
    write_frame(frame, done.folder / LOG)
    write_learning_figure(
        [int(s) for s in steps],
        losses,
        held_out,
        done.folder / FIGURE,
        title=title,
        judged="loss on held-out speakers",
        scale=1.0,
    )


def _card(speech: Speech, settings: Settings, done: TrainedRecognizer, named: list[str]) -> str:
    """Say what the recognizer is, whose speech it has learnt from, how good it is, and what it must not be used for."""
    learn, judge, shape = speech.learn, speech.judge, settings.shape
    low, high = 100 * done.cer.low, 100 * done.cer.high
    return f"""# ctc, a recognizer of letters, width {shape.width}, {shape.blocks} blocks

- File: {BEST}, SHA-256 {file_sha256(done.folder / BEST)}
- Learnt from: {len(set(learn.speakers))} speakers, {len(learn.examples)} utterances, {learn.duration_s / 3600:.2f} h;
  {len(speech.failures)} could not be used, {speech.too_long} are longer than {settings.longest_s:g} s and were left out
- Sources: {", ".join(named) or "not named by the corpus; write them here with their licences"}
- Character error rate on {len(set(judge.speakers))} held-out speakers ({len(judge.examples)} utterances):
  {100 * done.cer.value:.1f} % [{low:.1f}, {high:.1f}]. They chose the best step: expect a little more on strangers.
- No language model, hence letters and not words: compare it with another training of the same settings only.
- Seed {settings.seed}; every setting is in {SETTINGS}, every judgement in {LOG}.

Use it with `personare listen ORIG ANON --measures words --recognizers ctc:FOLDER`. It learnt what its training speakers
said: give it away only where their speech may be given away.
"""
