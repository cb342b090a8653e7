"""The task of the synthesizer's training: speech from its content, pitch, energy and speaker vector.

The first two thirds of the steps compare spectra; in the last third a discriminator joins in. Validation is by the
recognizer's encoder: held-out speech is synthesized with another held-out speaker's vector, and the content of the
result is compared with the content of the original.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from personare.core import bands
from personare.core.seeding import Key, rng_for
from personare.core.sessions import Session
from personare.encoders.content import moonshine_content
from personare.encoders.grid import (
    CONTENT_CENTRE,
    CONTENT_STEP,
    FINE,
    PAIR,
    STEP,
    frame_count,
    on_frames,
)
from personare.encoders.prosody import ProsodyTrack, features, read_prediction
from personare.training.synthesizer import filtering, network, spectral_losses
from personare.training.synthesizer.features import SynthesizerFeatures
from personare.training.synthesizer.rehearsal import TeacherRehearsal
from personare.training.synthesizer.settings import SynthesizerSettings
from personare.training.synthesizer.spectral_losses import DISCRIMINATOR
from personare.training.torch_extra import torch_for

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

_OWN_VECTOR = 0.5  # share of crops synthesized with the utterance's own vector; the others with a mean over four
_MEAN_OVER = 4
_VALIDATED_UTTERANCES, _SPEECH_FROM_DB = 24, -40.0
_RAMP = 0.05  # share of the steps over which the adversarial loss gains its weight


@dataclass(frozen=True, eq=False)
class SynthesizerTask:
    """The synthesizer as the training loop sees it; ``rank`` numbers the processes that train together.

    ``prosody`` is an opened prosody network that predicts energy and voicing for a share of the crops, or None;
    ``rehearsal`` gives further crops, on which the network is to speak as its teacher does.
    """

    settings: SynthesizerSettings
    utterances: Sequence[SynthesizerFeatures]
    held_out: Sequence[SynthesizerFeatures]
    tensors: dict[str, Any]
    key: Key
    rank: int = 0
    prosody: Session | None = None
    rehearsal: TeacherRehearsal | None = None

    def batch(self, step: int) -> dict[str, Any]:
        """Draw crops of speech, longer utterances more often."""
        torch = torch_for("training the synthesizer")
        rng = rng_for(self.key, "batch", str(self.rank), str(step))
        lengths = np.array([len(utterance.audio) for utterance in self.utterances], dtype=np.float64)
        drawn = rng.choice(len(self.utterances), self.settings.batch, p=lengths / lengths.sum())
        crops = [self._crop(self.utterances[int(index)], rng) for index in drawn]
        arrays = {name: np.stack([crop[name] for crop in crops]) for name in crops[0]}
        arrays["drawn"] = drawn.astype(np.int64)
        arrays["harmonic"] = bands.pulses(arrays.pop("f0"), phase=rng.random(len(crops)))
        arrays["noise"] = rng.standard_normal(arrays["harmonic"].shape, dtype=np.float32)
        if self.rehearsal is not None:
            taught = self.rehearsal.crops(self.settings.rehearsed, self.settings.frames, rng)
            arrays |= {f"taught_{name}": values for name, values in taught.items()}
            given = self.rehearsal.other_speakers(arrays, self.settings.other_speakers, rng)
            arrays |= {f"other_{name}": values for name, values in given.items()}
        batch: dict[str, Any] = {name: torch.from_numpy(values) for name, values in arrays.items()}
        return {**batch, "adversarial": self._adversarial_share(step)}

    def _crop(self, utterance: SynthesizerFeatures, rng: np.random.Generator) -> dict[str, NDArray[Any]]:
        frames, count = self.settings.frames, frame_count(len(utterance.audio))
        first = int(rng.integers(0, max(1, count - frames + 1)))
        copy = 0 if rng.random() < self.settings.true_content else int(rng.integers(1, len(utterance.contents)))
        content = on_frames(utterance.contents[copy].astype(np.float32), count, speed=utterance.speeds[copy])
        part = slice(first, first + frames)
        samples = utterance.samples[first * STEP : (first + frames) * STEP]
        f0_hz = utterance.track.f0_hz[first * PAIR : (first + frames) * PAIR]
        vector, track = self._vector(utterance, rng), utterance.track
        if self.prosody is not None and rng.random() < self.settings.predicted_energy:
            track = _predicted(self.prosody, track, content, vector)
        return {
            "content": _padded(content[part], frames),
            "prosody": _padded(features(track, count)[part], frames, edge=True),
            "voice": vector,
            "f0": _padded(f0_hz[:, None], frames * PAIR, edge=True)[:, 0],
            "natural": _padded(samples[:, None], frames * STEP)[:, 0],
            "first": np.array(first),
        }

    def _vector(self, utterance: SynthesizerFeatures, rng: np.random.Generator) -> Floats:
        vector = utterance.vector
        if rng.random() >= _OWN_VECTOR:
            own = [other.vector for other in self.utterances if other.speaker == utterance.speaker]
            vector = np.mean([own[int(index)] for index in rng.integers(0, len(own), _MEAN_OVER)], axis=0)
            vector = vector / np.linalg.norm(vector)
        noise = rng.normal(0.0, self.settings.voice_noise, vector.shape)
        return (vector + noise).astype(np.float32)

    def _adversarial_share(self, step: int) -> float:
        """How much of its weight the adversarial loss has at a step: 0 before the discriminator joins in, then 1."""
        begin = self.settings.discriminator_from * self.settings.plan.steps
        return float(np.clip((step - begin) / (_RAMP * self.settings.plan.steps), 0.0, 1.0))

    def loss(self, batch: Mapping[str, Any]) -> Any:
        """The distance of spectra, and with the discriminator its own loss and those against it."""
        logs = network.band_levels(
            self.tensors, batch["content"], batch["prosody"], batch["voice"], blocks=self.settings.shape.blocks
        )
        logs = logs.reshape(len(logs), -1, bands.BANDS)
        synthesized = filtering.synthesize(batch["harmonic"], batch["noise"], logs)
        total = spectral_losses.spectral_distance(synthesized, batch["natural"])
        if batch["adversarial"] > 0:
            part = slice(0, self.settings.discriminator_crops), slice(0, self.settings.discriminator_frames * STEP)
            discriminator = {name: tensor for name, tensor in self.tensors.items() if name.startswith(DISCRIMINATOR)}
            losses = spectral_losses.adversarial_losses(discriminator, synthesized[part], batch["natural"][part])
            share = batch["adversarial"]
            weights = 1.0, self.settings.adversarial_weight * share, self.settings.matching_weight * share
            total = total + sum(weight * loss for weight, loss in zip(weights, losses, strict=True))
        if self.rehearsal is None:
            return total
        return total + self.settings.rehearsal_weight * (self._forgotten(batch) + self._strange(batch, logs))

    def _forgotten(self, batch: Mapping[str, Any]) -> Any:
        """How far the levels of rehearsed crops are from the teacher's, on average."""
        inputs = (batch[f"taught_{name}"] for name in ("content", "prosody", "voice"))
        levels = network.band_levels(self.tensors, *inputs, blocks=self.settings.shape.blocks)
        return (levels - batch["taught_levels"]).abs().mean()

    def _strange(self, batch: Mapping[str, Any], logs: Any) -> Any:
        """How far levels are, on average, from moving as the teacher's do from one speaker to another."""
        count = len(batch["other_voice"])
        levels = network.band_levels(
            self.tensors,
            batch["content"][:count],
            batch["other_prosody"],
            batch["other_voice"],
            blocks=self.settings.shape.blocks,
        )
        own = logs[:count].detach().reshape(levels.shape)
        return (levels - own - batch["other_moved"]).abs().mean()

    def validate(self) -> float:
        """How far the content of held-out speech in another voice is from the original's: 0 alike, 1 unrelated."""
        rng = rng_for(self.key, "judgement")  # the word decides the draw: it stays as it was
        distances = []
        for utterance in self.held_out[:_VALIDATED_UTTERANCES]:
            others = [other for other in self.held_out if other.speaker != utterance.speaker]
            samples = self.synthesize(utterance, others[int(rng.integers(len(others)))].vector, rng=rng)
            content = moonshine_content(samples)
            expected = utterance.contents[0].astype(np.float32)[: len(content)]
            speech = _speech_frames(utterance.track, len(expected))
            distances.append(float(np.square(content[: len(expected)] - expected)[speech].mean() / 2))
        return float(np.mean(distances))

    def synthesize(self, utterance: SynthesizerFeatures, vector: Floats, *, rng: np.random.Generator) -> Floats:
        """Synthesize an utterance with a speaker vector, at its own pitch: samples at the common level."""
        torch = torch_for("training the synthesizer")
        count = frame_count(len(utterance.audio))
        content = utterance.contents[1 if utterance.is_read else 0].astype(np.float32)
        inputs = on_frames(content, count), features(utterance.track, count), vector
        with torch.no_grad():
            logs = network.band_levels(
                self.tensors, *(torch.from_numpy(x)[None] for x in inputs), blocks=self.settings.shape.blocks
            )
        harmonic = bands.pulses(utterance.track.f0_hz[: count * PAIR])
        noise = rng.standard_normal(len(harmonic), dtype=np.float32)
        return bands.synthesize(harmonic, noise, logs.numpy().reshape(-1, bands.BANDS))[: len(utterance.audio)]


def _predicted(prosody: Session, track: ProsodyTrack, content: Floats, vector: Floats) -> ProsodyTrack:
    """Give a track predicted energy and voicing; F0 stays, since the sound to come near to has it."""
    made = read_prediction(prosody.run(None, {"content": content[None], "voice": vector[None]})[0][0])
    return replace(track, voiced=made.voiced, energy_db=made.energy_db)


def _padded(values: Floats, length: int, *, edge: bool = False) -> Floats:
    """Pad a short crop with silence, or with its last row."""
    missing = length - len(values)
    if not missing:
        return values
    return np.pad(values, ((0, missing), (0, 0)), mode="edge" if edge else "constant")


def _speech_frames(track: ProsodyTrack, count: int) -> NDArray[np.bool_]:
    """Which encoder frames hold speech."""
    fine = np.minimum((CONTENT_CENTRE + CONTENT_STEP * np.arange(count)) // FINE, len(track.energy_db) - 1)
    return track.energy_db[fine] > _SPEECH_FROM_DB


def new_task(
    settings: SynthesizerSettings,
    utterances: Sequence[SynthesizerFeatures],
    held_out: Sequence[SynthesizerFeatures],
    *,
    rank: int = 0,
    prosody: Session | None = None,
    rehearsal: TeacherRehearsal | None = None,
) -> SynthesizerTask:
    """Make a task with a new network and a new discriminator."""
    key = Key.from_seed(f"synthesizer {settings.seed}")
    tensors = {
        **network.new_tensors(settings.shape, key=key),
        **spectral_losses.discriminator_tensors(key=key),
    }
    return SynthesizerTask(settings, utterances, held_out, tensors, key, rank, prosody, rehearsal)
