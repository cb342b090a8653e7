"""The paper's codec and its training as a task for the training loop: all losses of equation 1, and the 24 kHz stage.

L = 15 L_f + 1 L_G + 2 L_FM + 1 L_c + 0.25 L_w + 25 L_AM + 45 L_S     (turavecino2025usc, eq. 1)
Second stage: encoder and quantizer frozen, a new decoder that gives 24 kHz (turavecino2025usc, sec. 3.1).
The clipping value C of the Laplace block comes from a finished variant without it (sec. 2.5): train with epsilon 0,
take ``l1_norm`` of its validation, and set ``clip`` to it.
Deviations: one Adam for networks and discriminators with one gradient limit (the paper names no optimizer); the
gradient of L_AM is reversed before C0, and the classifier itself learns by the same term.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import torch
from torch import nn

from personare.core.errors import ConfigError
from personare.core.seeding import Key, rng_for
from personare.training.plan import TrainingPlan
from personare.training.usc.adversaries import PERIODS, WINDOWS, Discriminators, contest
from personare.training.usc.mel_loss import multi_scale_mel_loss
from personare.training.usc.privacy import LaplaceNoise, SpeakerClassifier, reversed_gradient
from personare.training.usc.residual_quantizer import Quantized, QuantizerDropout, ResidualQuantizer
from personare.training.usc.semantic_quantizer import perplexity
from personare.training.usc.small_losses import distillation_loss
from personare.training.usc.wave_batches import WaveBatch, WaveCrops
from personare.training.usc.waveform_network import WaveDecoder, WaveEncoder

VERSION = 2  # raise it whenever the same settings and speech would end in other weights
_RESTART_EVERY = 20


@dataclass(frozen=True)
class PaperShape:
    """Sizes of the paper's codec; where it names none, DAC's.

    Parameters
    ----------
    channels, strides, width : of the encoder: first channels (doubled by every stride), strides, channels of z_e.
    decoder_channels, decoder_strides : of the decoder; the strides' product is the hop at ``rate_hz``.
    codes, dims : codes per level, the first being C0; dimensions of a code.
    classifier_layers : transformer layers of the speaker classifier.
    discriminator_channels, periods, windows : of the discriminators.
    """

    channels: int = 64
    strides: tuple[int, ...] = (2, 4, 8, 10)
    width: int = 1024
    decoder_channels: int = 1536
    decoder_strides: tuple[int, ...] = (10, 8, 4, 2)
    rate_hz: int = 16_000
    codes: tuple[int, ...] = (16_384, 1_024, 1_024, 1_024, 1_024, 1_024)
    dims: int = 8
    teacher: int = 768
    classifier_layers: int = 2
    discriminator_channels: int = 32
    periods: tuple[int, ...] = PERIODS
    windows: tuple[int, ...] = WINDOWS

    def __post_init__(self) -> None:
        if not self.codes or min(self.codes) < 2:
            raise ConfigError(f"every level needs at least 2 codes, not {self.codes}")
        for name in ("channels", "width", "decoder_channels", "dims", "teacher"):
            if getattr(self, name) < 1:
                raise ConfigError(f"the codec's {name} must be at least 1, not {getattr(self, name)}")


@dataclass(frozen=True)
class PaperWeights:
    """The weights of equation 1."""

    mel: float = 15.0
    adversarial: float = 1.0
    matching: float = 2.0
    codebook: float = 1.0
    commitment: float = 0.25
    speaker: float = 25.0
    distil: float = 45.0


@dataclass(frozen=True)
class PaperSettings:
    """Everything a training of the paper's codec is configured by.

    Parameters
    ----------
    epsilon : of the Laplace block; 0 leaves it out (the paper's variant without LDP).
    clip : C of the Laplace block, the ``l1_norm`` of a finished variant without it; None estimates C in the first
        batches instead, from a network that has learnt nothing yet.
    reversal : whether the speaker classifier is there.
    stage : 1 trains everything at 16 kHz; 2 freezes encoder and quantizer and trains a new decoder.
    crops, frames : crops per batch, token frames per crop; ``labelled`` is the share of crops from labelled speakers.
    """

    seed: int = 0
    shape: PaperShape = field(default_factory=PaperShape)
    weights: PaperWeights = field(default_factory=PaperWeights)
    dropout: QuantizerDropout = field(default_factory=QuantizerDropout)
    plan: TrainingPlan = field(
        default_factory=lambda: TrainingPlan(
            steps=1_000_000,
            validate_every=5_000,
            patience=0,
            rate=1e-4,
            lowest_rate=1e-6,
            warm_up=1_000,
            weight_decay=0.0,
        )
    )
    epsilon: float = 15.0
    clip: float | None = None
    reversal: bool = True
    stage: int = 1
    crops: int = 16
    frames: int = 25
    labelled: float = 0.2
    held_out: int = 12

    def __post_init__(self) -> None:
        if self.stage not in (1, 2):
            raise ConfigError(f"stage must be 1 or 2, not {self.stage}")
        if self.clip is not None and (self.clip <= 0 or not self.epsilon):
            raise ConfigError(f"clip must be above 0, and needs an epsilon above 0; not clip {self.clip}")
        if self.crops < 1 or self.frames < 2 or not 0 <= self.labelled <= 1:
            raise ConfigError("crops must be at least 1, frames at least 2, labelled between 0 and 1")


class PaperCodec(nn.Module):
    """Encoder, quantizer, distillation head and decoder of the paper."""

    def __init__(self, shape: PaperShape, *, epsilon: float, clip: float | None = None) -> None:
        super().__init__()
        self.encoder = WaveEncoder(shape.channels, shape.strides, shape.width)
        noise = LaplaceNoise(epsilon, clip=clip) if epsilon else None
        self.quantizer = ResidualQuantizer(shape.width, shape.dims, shape.codes, noise=noise)
        self.distil = nn.Linear(shape.width, shape.teacher)
        self.decoder = WaveDecoder(shape.decoder_channels, shape.decoder_strides, shape.width)

    def coded(self, wave: Any, used: Any, *, generator: Any | None = None) -> Quantized:
        """Waves [batch, samples] -> tokens and quantized frames."""
        z_e = self.encoder(wave[:, None]).transpose(1, 2)
        return self.quantizer(z_e, used, generator=generator)  # type: ignore[no-any-return]

    def decoded(self, z_q: Any) -> Any:
        """[batch, frames, width] -> waves [batch, samples]."""
        return self.decoder(z_q.transpose(1, 2))[:, 0]

    def l1_norm(self, wave: Any) -> float:
        """The mean L1 norm of the vectors that the Laplace block gets: C, in a finished variant without the block."""
        z_e = self.encoder(wave[:, None]).transpose(1, 2)
        return float(self.quantizer.levels[0].enter(z_e).abs().sum(-1).mean())


class PaperTask:
    """A training of the paper's codec: what the loop asks for."""

    def __init__(self, settings: PaperSettings, crops: WaveCrops) -> None:
        self.settings = settings
        self.crops = crops
        self.key = Key.from_seed(f"usc paper {settings.seed}")
        shape = settings.shape
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(int(rng_for(self.key, "weights").integers(2**62)))
            self.network = PaperCodec(shape, epsilon=settings.epsilon, clip=settings.clip)
            self.classifier = SpeakerClassifier(shape.width, crops.speaker_count, layers=shape.classifier_layers)
            self.discriminators = Discriminators(
                shape.discriminator_channels, periods=shape.periods, windows=shape.windows
            )
        if settings.stage == 2:
            for part in (self.network.encoder, self.network.quantizer, self.network.distil, self.classifier):
                part.requires_grad_(False)
        self.aside = set(crops.aside)
        self.parts: dict[str, float] = {}
        self.measured: dict[str, Any] = {}

    @property
    def digest(self) -> str:
        """Name everything the weights depend on: this code, the settings and the speech."""
        plain = json.dumps(dataclasses.asdict(self.settings), sort_keys=True)
        return hashlib.sha256(f"{VERSION} {plain} {self.crops.digest}".encode()).hexdigest()

    @cached_property
    def tensors(self) -> dict[str, Any]:
        """Every tensor by name."""
        parts: dict[str, Any] = {
            "network": self.network,
            "classifier": self.classifier,
            "discriminators": self.discriminators,
        }
        return {
            f"{part}.{name}": tensor
            for part, module in parts.items()
            for name, tensor in module.state_dict(keep_vars=True).items()
        }

    def batch(self, step: int) -> WaveBatch:
        """Draw the batch of a step."""
        rng = rng_for(self.key, "batch", str(step))
        return self.crops.batch(step, rng, dropout=self.settings.dropout, levels=len(self.settings.shape.codes))

    def loss(self, batch: WaveBatch) -> Any:
        """Compute equation 1 and the discriminators' own loss for a batch."""
        first = self.settings.stage == 1
        generator = torch.Generator().manual_seed(int(rng_for(self.key, "codes", str(batch.step)).integers(2**62)))
        restart = generator if first and batch.step % _RESTART_EVERY == 0 else None
        self.network.train(first)
        with torch.random.fork_rng(devices=[]), torch.set_grad_enabled(first):
            torch.manual_seed(int(rng_for(self.key, "noise", str(batch.step)).integers(2**62)))
            coded = self.network.coded(batch.wave, batch.levels, generator=restart)
        made = self.network.decoded(coded.total)
        loss_d, loss_g, matching = contest(self.discriminators, made[:, None], batch.target[:, None])
        weights = self.settings.weights
        parts = {
            "mel": weights.mel * multi_scale_mel_loss(made, batch.target, rate_hz=self.settings.shape.rate_hz),
            "adversarial": weights.adversarial * loss_g,
            "matching": weights.matching * matching,
            "discriminators": loss_d,
        }
        if first:
            parts |= self._biases(coded, batch)
        self.parts = {name: float(value.detach()) for name, value in parts.items()}
        return sum(parts.values())

    def _biases(self, coded: Quantized, batch: WaveBatch) -> dict[str, Any]:
        """The discretization and disentanglement terms; the classifier sees labelled crops only."""
        weights = self.settings.weights
        parts = {
            "codebook": weights.codebook * coded.codebook,
            "commitment": weights.commitment * coded.commitment,
            "distil": weights.distil * distillation_loss(self.network.distil(coded.z_0), batch.teacher),
        }
        known = batch.speakers >= 0
        if self.settings.reversal and bool(known.any()):
            guess = self.classifier(reversed_gradient(coded.z_0[known]), batch.speakers[known])
            parts["speaker"] = weights.speaker * guess
        return parts

    def validate(self) -> float:
        """Measure on held-out speech; gives the mel loss with C0 alone plus that with all levels."""
        self.network.eval()
        batch, counts = self.crops.held_out, (1, len(self.settings.shape.codes))
        mels = []
        with torch.no_grad():
            for count in counts:
                coded = self.network.coded(batch.wave, torch.full_like(batch.levels, count))
                made = self.network.decoded(coded.total)
                mels.append(float(multi_scale_mel_loss(made, batch.target, rate_hz=self.settings.shape.rate_hz)))
            norm = self.network.l1_norm(batch.wave)
        self.measured = {
            "l1_norm": norm,
            "levels": list(counts),
            "mel": mels,
            "left": coded.left,
            "used": [len(indices.unique()) for indices in coded.indices],
            "frames": coded.indices[0].numel(),
            "perplexity": [perplexity(indices) for indices in coded.indices],
        }
        return sum(mels)
