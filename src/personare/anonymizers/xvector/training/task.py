"""What the neural voice learns: to make true speech from its content, pitch, energy and speaker vector.

The first two thirds of the steps compare spectra; in the last third a judge of true and made sound joins in. Between
steps it is judged by the recognizer's encoder: held-out speech is said in another held-out person's voice, and what
the encoder understands is compared with what it understood of the original.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from personare.anonymizers.neural.xvector.content import moonshine_content
from personare.anonymizers.neural.xvector.grid import FINE, PAIR, STEP, frame_count, on_frames
from personare.anonymizers.neural.xvector.prosody import ProsodyTrack, features
from personare.anonymizers.xvector.training.lessons import Lesson
from personare.anonymizers.xvector.training.settings import Settings
from personare.core import bands
from personare.core.seeding import Key, rng_for
from personare.nn import spectral_losses, voice, voice_sound
from personare.nn.torch_extra import torch_for

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

_OWN_VECTOR = 0.5  # share of pieces spoken with the utterance's own vector; the others with a mean over four
_MEAN_OVER = 4
_JUDGED_UTTERANCES, _JUDGED_S, _JUDGED_FROM_DB = 24, 6.0, -40.0
_RAMP = 0.05  # share of the steps over which the judge's verdict gains its weight


@dataclass(frozen=True, eq=False)
class VoiceTask:
    """The voice as the training loop sees it; ``rank`` numbers the processes that learn together."""

    settings: Settings
    lessons: Sequence[Lesson]
    judged: Sequence[Lesson]
    tensors: dict[str, Any]
    key: Key
    rank: int = 0

    def batch(self, step: int) -> dict[str, Any]:
        """Draw pieces of speech, longer utterances more often."""
        torch = torch_for("training the voice")
        rng = rng_for(self.key, "batch", str(self.rank), str(step))
        lengths = np.array([len(lesson.audio) for lesson in self.lessons], dtype=np.float64)
        chosen = rng.choice(len(self.lessons), self.settings.batch, p=lengths / lengths.sum())
        pieces = [self._piece(self.lessons[int(index)], rng) for index in chosen]
        arrays = {name: np.stack([piece[name] for piece in pieces]) for name in pieces[0]}
        arrays["harmonic"] = bands.pulses(arrays.pop("f0"), phase=rng.random(len(pieces)))
        arrays["noise"] = rng.standard_normal(arrays["harmonic"].shape, dtype=np.float32)
        batch: dict[str, Any] = {name: torch.from_numpy(values) for name, values in arrays.items()}
        return {**batch, "contest": self._contest_weight(step)}

    def _piece(self, lesson: Lesson, rng: np.random.Generator) -> dict[str, Floats]:
        frames, count = self.settings.frames, frame_count(len(lesson.audio))
        first = int(rng.integers(0, max(1, count - frames + 1)))
        copy = 0 if rng.random() < self.settings.true_content else int(rng.integers(1, len(lesson.contents)))
        content = on_frames(lesson.contents[copy].astype(np.float32), count, speed=lesson.speeds[copy])
        part = slice(first, first + frames)
        sound = lesson.samples[first * STEP : (first + frames) * STEP]
        fine = lesson.track.f0_hz[first * PAIR : (first + frames) * PAIR]
        return {
            "content": _filled(content[part], frames),
            "prosody": _filled(features(lesson.track, count)[part], frames, edge=True),
            "voice": self._vector(lesson, rng),
            "f0": _filled(fine[:, None], frames * PAIR, edge=True)[:, 0],
            "true": _filled(sound[:, None], frames * STEP)[:, 0],
        }

    def _vector(self, lesson: Lesson, rng: np.random.Generator) -> Floats:
        vector = lesson.vector
        if rng.random() >= _OWN_VECTOR:
            own = [other.vector for other in self.lessons if other.speaker == lesson.speaker]
            vector = np.mean([own[int(index)] for index in rng.integers(0, len(own), _MEAN_OVER)], axis=0)
            vector = vector / np.linalg.norm(vector)
        noise = rng.normal(0.0, self.settings.voice_noise, vector.shape)
        return (vector + noise).astype(np.float32)

    def _contest_weight(self, step: int) -> float:
        begin = self.settings.contest_from * self.settings.plan.steps
        return float(np.clip((step - begin) / (_RAMP * self.settings.plan.steps), 0.0, 1.0))

    def loss(self, batch: Mapping[str, Any]) -> Any:
        """The distance of spectra, and with the contest the judge's and the voice's losses before it."""
        logs = voice.described(
            self.tensors, batch["content"], batch["prosody"], batch["voice"], blocks=self.settings.shape.blocks
        )
        logs = logs.reshape(len(logs), -1, bands.BANDS)
        made = voice_sound.synthesize(batch["harmonic"], batch["noise"], logs)
        total = spectral_losses.spectral_distance(made, batch["true"])
        if batch["contest"] > 0:
            heard = slice(0, self.settings.contest_pieces), slice(0, self.settings.contest_frames * STEP)
            judge = {name: tensor for name, tensor in self.tensors.items() if name.startswith("judge")}
            losses = spectral_losses.contest(judge, made[heard], batch["true"][heard])
            weights = 1.0, self.settings.contest_weight, self.settings.matching_weight
            weights = weights[0], weights[1] * batch["contest"], weights[2] * batch["contest"]
            total = total + sum(weight * loss for weight, loss in zip(weights, losses, strict=True))
        return total

    def judge(self) -> float:
        """How differently the encoder understands held-out speech in another voice: 0 alike, 1 unrelated."""
        rng = rng_for(self.key, "judgement")
        distances = []
        for lesson in self.judged[:_JUDGED_UTTERANCES]:
            others = [other for other in self.judged if other.speaker != lesson.speaker]
            made = self.spoken(lesson, others[int(rng.integers(len(others)))].vector, rng=rng)
            heard = moonshine_content(made)
            meant = lesson.contents[0].astype(np.float32)[: len(heard)]
            loud = _loud(lesson.track, len(meant))
            distances.append(float(np.square(heard[: len(meant)] - meant)[loud].mean() / 2))
        return float(np.mean(distances))

    def spoken(self, lesson: Lesson, vector: Floats, *, rng: np.random.Generator) -> Floats:
        """Say an utterance in the voice of a vector, at its own pitch: samples at the common level."""
        torch = torch_for("training the voice")
        count = frame_count(len(lesson.audio))
        inputs = on_frames(lesson.contents[0].astype(np.float32), count), features(lesson.track, count), vector
        with torch.no_grad():
            logs = voice.described(
                self.tensors, *(torch.from_numpy(x)[None] for x in inputs), blocks=self.settings.shape.blocks
            )
        harmonic = bands.pulses(lesson.track.f0_hz[: count * PAIR])
        noise = rng.standard_normal(len(harmonic), dtype=np.float32)
        return bands.synthesize(harmonic, noise, logs.numpy().reshape(-1, bands.BANDS))[: len(lesson.audio)]


def _filled(values: Floats, length: int, *, edge: bool = False) -> Floats:
    """Fill up a short piece with silence, or with its last row."""
    missing = length - len(values)
    if not missing:
        return values
    return np.pad(values, ((0, missing), (0, 0)), mode="edge" if edge else "constant")


def _loud(track: ProsodyTrack, count: int) -> NDArray[np.bool_]:
    """Which encoder frames hold speech."""
    places = np.minimum((448 + 384 * np.arange(count)) // FINE, len(track.energy_db) - 1)
    return track.energy_db[places] > _JUDGED_FROM_DB


def new_task(settings: Settings, lessons: Sequence[Lesson], judged: Sequence[Lesson], *, rank: int = 0) -> VoiceTask:
    """Make a task with a new network and a new judge."""
    key = Key.from_seed(f"synthesizer {settings.seed}")
    tensors = {
        **voice.new_tensors(settings.shape, key=key),
        **spectral_losses.judge_tensors(key=key),
    }
    return VoiceTask(settings, lessons, judged, tensors, key, rank)
