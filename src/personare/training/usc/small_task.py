"""The training of the small codec as a task for the loop: batches, the loss, measurements on held-out speech."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import torch

from personare.core.errors import ConfigError
from personare.core.seeding import Key, rng_for
from personare.training.plan import TrainingPlan
from personare.training.usc import grid
from personare.training.usc import small_losses as losses
from personare.training.usc.privacy import SpeakerClassifier, reversed_gradient
from personare.training.usc.reading import ReadingBatch, letter_error_rate, readable, reading_batch, reading_loss
from personare.training.usc.semantic_quantizer import perplexity
from personare.training.usc.small_batches import CodecBatch, Crops, LevelShares
from personare.training.usc.small_network import SmallCodec, SmallShape
from personare.training.usc.speech_store import SpeechStore, held_out_speakers

VERSION = 2  # raise it whenever the same settings and speech would end in other weights
_RESTART_EVERY = 20
_START_BATCHES = 30
_EVERY_SECOND = 2  # spectral terms are computed on every second sound frame
_CLASSIFIER_WEIGHT = 0.3  # how fast the classifier itself learns
_CLASSIFIER_AHEAD = 0.03  # it learns for this share of the training before its gradient is reversed
_HELD_OUT_FRAMES = 75
_HELD_OUT_EACH = 2
_READ_ASIDE = 12  # held-out utterances whose letters are read
_MEASURED_LEVELS = (1, 2, 3)  # and all


@dataclass(frozen=True)
class FadingPlan(TrainingPlan):
    """A plan whose rate rises over ``warm_up`` steps, stays, and falls to the lowest over the last ``fade`` share."""

    fade: float = 0.3

    def rate_at(self, step: int) -> float:
        """Give the learning rate of a step, the first being 0.

        >>> plan = FadingPlan(steps=100, warm_up=10, rate=1.0, lowest_rate=0.0, fade=0.2)
        >>> [round(plan.rate_at(step), 2) for step in (0, 9, 79, 89, 99)]
        [0.1, 1.0, 1.0, 0.55, 0.05]
        """
        rising = (step + 1) / self.warm_up
        falling = (self.steps - step) / max(1.0, self.fade * self.steps)
        return self.lowest_rate + (self.rate - self.lowest_rate) * min(1.0, rising, falling)


@dataclass(frozen=True)
class SmallWeights:
    """Weights of the losses.

    Parameters
    ----------
    mel, compressed, f0, voicing : of the sound.
    semantic : of C0's codebook loss (commitment at a quarter of it); ``acoustic`` of the residual levels' losses.
    distil : of the distillation of C0; ``reading`` of the letters read from it.
    reversal : of the speaker classifier behind gradient reversal, risen to between ``reversal_from`` and
        ``reversal_to`` (shares of the training).
    """

    mel: float = 1.0
    compressed: float = 3.0
    f0: float = 0.6
    voicing: float = 0.3
    semantic: float = 0.1
    acoustic: float = 0.1
    distil: float = 0.3
    reading: float = 0.0
    reversal: float = 0.1
    reversal_from: float = 0.6
    reversal_to: float = 0.8

    def reversal_at(self, share: float) -> float:
        """The weight of the reversal when ``share`` of the training is done.

        >>> [round(SmallWeights(reversal=0.1).reversal_at(s), 3) for s in (0.5, 0.7, 0.9)]
        [0.0, 0.05, 0.1]
        """
        risen = (share - self.reversal_from) / max(self.reversal_to - self.reversal_from, 1e-9)
        return self.reversal * min(1.0, max(0.0, risen))


@dataclass(frozen=True)
class SmallSettings:
    """Everything a training of the small codec is configured by.

    Parameters
    ----------
    crops, frames : crops per batch and token frames per crop; ``readings`` whole utterances per batch to read.
    start_levels_at : the step at which C1-C5 begin to quantize.
    stop_alone : stop the gradient of the sound before the encoder when C0 is alone (the paper's rule).
    epsilon : of the Laplace block; 0 leaves it out.
    held_out : speakers set aside to measure on.
    """

    seed: int = 0
    shape: SmallShape = field(default_factory=SmallShape)
    weights: SmallWeights = field(default_factory=SmallWeights)
    shares: LevelShares = field(default_factory=LevelShares)
    plan: FadingPlan = field(
        default_factory=lambda: FadingPlan(
            steps=30_000, validate_every=250, patience=0, rate=1.5e-3, warm_up=200, weight_decay=0.0, gradient_limit=1.0
        )
    )
    crops: int = 10
    frames: int = 48
    readings: int = 2
    start_levels_at: int = 500
    stop_alone: bool = False
    epsilon: float = 0.0
    held_out: int = 12

    def __post_init__(self) -> None:
        if self.crops < 1 or self.frames < 2 or self.held_out < 1:
            raise ConfigError(f"crops and held_out must be at least 1 and frames 2, not {self.crops}, {self.frames}")


class SmallTask:
    """A training of the small codec: what the loop asks for."""

    def __init__(self, settings: SmallSettings, store: SpeechStore) -> None:
        self.settings = settings
        self.store = store
        self.key = Key.from_seed(f"usc {settings.seed}")
        rows = list(enumerate(store.utterances))
        self.aside = held_out_speakers(store, settings.held_out, rng=rng_for(self.key, "held out"))
        options = {"size": settings.crops, "shares": settings.shares, "levels": settings.shape.levels}
        learnt = tuple((row, u) for row, u in rows if u.speaker not in self.aside)
        kept = tuple((row, u) for row, u in rows if u.speaker in self.aside)
        self.crops = Crops(store, learnt, settings.frames, **options)  # type: ignore[arg-type]
        self.kept = Crops(store, kept, _HELD_OUT_FRAMES, **options)  # type: ignore[arg-type]
        self.readable = readable(learnt)
        if settings.weights.reading > 0 and not self.readable:
            raise ConfigError("reading letters from C0 needs utterances with texts; set weights.reading to 0")
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(int(rng_for(self.key, "weights").integers(2**62)))
            self.network = SmallCodec(settings.shape, epsilon=settings.epsilon)
            self.classifier = SpeakerClassifier(settings.shape.width, max(2, len(self.crops.speakers)))
        self.measured: dict[str, Any] = {}
        self.parts: dict[str, float] = {}

    @property
    def digest(self) -> str:
        """Name everything the weights depend on: this code, the settings and the speech."""
        plain = json.dumps(dataclasses.asdict(self.settings), sort_keys=True)
        return hashlib.sha256(f"{VERSION} {plain} {self.store.digest}".encode()).hexdigest()

    @cached_property
    def tensors(self) -> dict[str, Any]:
        """Every tensor by name."""
        named = {f"network.{k}": v for k, v in self.network.state_dict(keep_vars=True).items()}
        return named | {f"classifier.{k}": v for k, v in self.classifier.state_dict(keep_vars=True).items()}

    def batch(self, step: int) -> CodecBatch:
        """Draw the batch of a step."""
        return self.crops.batch(step, rng_for(self.key, "batch", str(step)))

    def loss(self, batch: CodecBatch) -> Any:
        """Compute the loss of a batch; before step ``start_levels_at`` the levels C1-C5 hand on what they get."""
        settings, weights = self.settings, self.settings.weights
        if batch.step == settings.start_levels_at and not bool(self.network.acoustic.started):
            self._start_levels(batch.step)
        generator = torch.Generator().manual_seed(int(rng_for(self.key, "codes", str(batch.step)).integers(2**62)))
        restart = generator if batch.step % _RESTART_EVERY == 0 else None
        self.network.train()
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(int(rng_for(self.key, "noise", str(batch.step)).integers(2**62)))
            coded = self.network.coded(batch, batch.levels, stop_alone=settings.stop_alone, generator=restart)
        made = self.network.decoded(coded.total, self.network.conditioned(batch.levels, batch.vector, batch.has_vector))
        odd = batch.step % _EVERY_SECOND
        log_power = losses.predicted_log_power(
            made[:, odd::_EVERY_SECOND, : grid.BANDS], batch.pulses[:, odd::_EVERY_SECOND]
        )
        true = batch.power[:, odd::_EVERY_SECOND]
        parts = {
            "mel": weights.mel * losses.mel_distance(log_power, true).mean(),
            "compressed": weights.compressed * losses.compressed_distance(log_power, true).mean(),
            "f0": weights.f0 * losses.f0_distance(made[..., -2], batch.octaves, batch.voiced),
            "voicing": weights.voicing * losses.voicing_loss(made[..., -1], batch.voiced),
            "semantic": weights.semantic * (coded.codebook + 0.25 * coded.commitment),
            "acoustic": weights.acoustic * coded.acoustic_loss,
            "distil": weights.distil * losses.distillation_loss(self.network.distil(coded.z_0), batch.teacher),
        }
        if weights.reading > 0:
            text = self.reading(batch.step)
            parts["reading"] = weights.reading * reading_loss(self.network.read(text), text)
        share = batch.step / settings.plan.steps
        if weights.reversal > 0 and share >= weights.reversal_from - _CLASSIFIER_AHEAD:
            weight = weights.reversal_at(share) / _CLASSIFIER_WEIGHT
            guess = self.classifier(reversed_gradient(coded.z_0, weight), batch.speakers)
            parts["classifier"] = _CLASSIFIER_WEIGHT * guess
        self.parts = {name: float(value.detach()) for name, value in parts.items()}
        return sum(parts.values())

    def reading(self, step: int) -> ReadingBatch:
        """Draw the utterances that are read in a step."""
        rng, copies = rng_for(self.key, "reading", str(step)), len(self.crops.copies)
        return reading_batch(self.store, self.readable, self.settings.readings, copies=copies, rng=rng)

    def _start_levels(self, step: int) -> None:
        """Start C1-C5 on what several batches leave over after C0."""
        self.network.eval()
        with torch.no_grad():
            left = []
            for index in range(_START_BATCHES):
                batch = self.crops.batch(step, rng_for(self.key, "start", str(index)))
                z_s, z_a = self.network.encoded(batch)
                z_0 = self.network.semantic(z_s)[0]
                left.append(self.network.acoustic.rest(z_a, z_0).reshape(-1, self.settings.shape.width))
            seed = int(rng_for(self.key, "k-means").integers(2**62))
            self.network.acoustic.start(torch.cat(left), torch.Generator().manual_seed(seed))

    @cached_property
    def _held_out(self) -> CodecBatch:
        rng = rng_for(self.key, "measured")
        long = [(row, u) for row, u in self.kept.utterances if u.frames >= _HELD_OUT_FRAMES]
        each: dict[str, int] = {}
        places = []
        for row, utterance in long:
            each[utterance.speaker] = each.get(utterance.speaker, 0) + 1
            if each[utterance.speaker] <= _HELD_OUT_EACH:
                places.append((row, utterance, (utterance.frames - _HELD_OUT_FRAMES) // 2))
        count = len(places)
        if not count:
            raise ConfigError(f"no held-out utterance lasts {_HELD_OUT_FRAMES} token frames; set more speakers aside")
        return self.kept.assemble(
            0,
            places,
            copies=[0] * count,
            levels=np.ones(count, np.int64),
            vectors=np.stack([self.store.vectors[row] for row, _, _ in places]),
            has_vector=np.ones(count, np.bool_),
            turns=rng.random(count),
        )

    def validate(self) -> float:
        """Measure on held-out speakers; gives the mel distance with C0 alone plus that with all levels."""
        batch, network, settings = self._held_out, self.network, self.settings
        shape = settings.shape
        measured = sorted({min(count, shape.levels) for count in (*_MEASURED_LEVELS, shape.levels)})
        network.eval()
        mels, f0 = [], []
        with torch.no_grad():
            for count in measured:
                levels = torch.full_like(batch.levels, count)
                coded = network.coded(batch, levels)
                made = network.decoded(coded.total, network.conditioned(levels, batch.vector, batch.has_vector))
                power = losses.predicted_log_power(made[..., : grid.BANDS], batch.pulses)
                mels.append(float(losses.mel_distance(power, batch.power).mean()))
                f0.append(float(losses.f0_distance(made[..., -2], batch.octaves, batch.voiced)))
            distilled = network.distil(coded.z_0)
            cosine = float(torch.nn.functional.cosine_similarity(distilled, batch.teacher, dim=-1).mean())
        self.measured = {
            "levels": measured,
            "mel": mels,
            "f0_octaves": f0,
            "left": [float(left.square().sum(-1).mean()) for left in coded.left],
            "used": [len(indices.unique()) for indices in coded.indices],
            "frames": coded.indices[0].numel(),
            "perplexity": [perplexity(indices) for indices in coded.indices],
            "idle": int((network.semantic.idle > 100).sum()),
            "distil_cosine": cosine,
        }
        if settings.weights.reading > 0 and self._read_aside is not None:
            with torch.no_grad():
                text = self._read_aside
                self.measured["letters_wrong"] = letter_error_rate(network.read(text), text)
        return mels[0] + mels[-1]

    @cached_property
    def _read_aside(self) -> ReadingBatch | None:
        aside = readable(self.kept.utterances)
        if not aside:
            return None
        rng = rng_for(self.key, "read aside")
        return reading_batch(self.store, aside, _READ_ASIDE, copies=1, rng=rng)
