"""A training of the codec from utterances to files for use: prepare, pack, train with a log and a page, export."""

from __future__ import annotations

import dataclasses
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from personare.codecs.usc import export
from personare.codecs.usc.prepare import Preparation
from personare.core.errors import TrainingError
from personare.core.files import write_text
from personare.core.vectors import kmeans_labels, unit_rows
from personare.training import checkpoints, loop
from personare.training.usc import grid
from personare.training.usc.configurations import task_of
from personare.training.usc.speech_store import (
    INDEX,
    PreparedUtterance,
    SpeechStore,
    digest_of,
    open_store,
    pack,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from personare.codecs.codec import Codec
    from personare.core.audio import Audio
    from personare.training.usc.paper_task import PaperSettings
    from personare.training.usc.small_task import SmallSettings

    Floats = NDArray[np.float32]

LOG, SETTINGS, STORE = "log.jsonl", "settings.json", "speech"
_NETWORK = "network."
_FEWEST_IN_A_VOICE = 4


@dataclass(frozen=True)
class TrainingRecording:
    """An utterance to train on; an empty speaker means nobody knows who speaks, an empty text what is said."""

    name: str
    speaker: str
    corpus: str
    audio: Path
    text: str = ""
    start_s: float = 0.0
    end_s: float | None = None

    def prepared(self, preparation: Preparation) -> Path:
        """Prepare it unless that is done; gives the place of its file."""
        return preparation(self.audio, start_s=self.start_s, end_s=self.end_s)

    def place(self, preparation: Preparation) -> Path:
        """Where it is prepared to."""
        return preparation.place_of(self.audio, start_s=self.start_s, end_s=self.end_s)


@dataclass(frozen=True)
class TrainingRun:
    """A training in a folder: its settings, its prepared speech, its log and checkpoints.

    ``start`` is the folder of an earlier training whose last network is trained on.
    """

    settings: PaperSettings | SmallSettings
    folder: Path
    start: Path | None = None

    def packed(self, utterances: Sequence[TrainingRecording], preparation: Preparation) -> SpeechStore:
        """Pack prepared utterances once, in an order that does not depend on names or folders."""
        place = self.folder / STORE
        items = [PreparedUtterance(u.name, u.speaker, u.corpus, u.place(preparation), u.text) for u in utterances]
        items.sort(key=lambda item: item.path.name)
        if not (place / INDEX).is_file():
            missing = [item.name for item in items if not item.path.is_file()]
            if missing:
                raise TrainingError(f"{len(missing)} utterances are not prepared (first: '{missing[0]}')")
            pack(items, place)
        store = open_store(place)
        if store.digest != digest_of(items):
            raise TrainingError(f"{place}: holds other speech than is given now; choose a new folder")
        return store

    def held_out(self, store: SpeechStore) -> set[str]:
        """The speakers that are set aside to measure on."""
        return task_of(self.settings, store).aside

    def train(self, store: SpeechStore, *, resume: bool = False) -> Iterator[loop.TrainingStep]:
        """Train; yields after every step and writes one line of the log at each measurement."""
        task = task_of(self.settings, store)
        if self.start is not None:
            earlier = checkpoints.load(self.start / checkpoints.LAST, fingerprint=None)
            own = {name: tensor for name, tensor in task.tensors.items() if self._taken_over(name, earlier.tensors)}
            checkpoints.fill(own, earlier.tensors, where=str(self.start))
        write_text(self.folder / SETTINGS, json.dumps(dataclasses.asdict(self.settings), indent=1) + "\n")
        total: dict[str, float] = {}
        steps, begun_s = 0, time.process_time()
        for row in loop.train(task, self.settings.plan, self.folder, fingerprint=task.digest, resume=resume):
            steps += 1
            for name, value in task.parts.items():
                total[name] = total.get(name, 0.0) + value
            if row.held_out is not None:
                means = {name: value / steps for name, value in total.items()}
                found = {"step": row.step, "loss": row.loss, "rate": row.rate, "held_out": row.held_out}
                self._log({**found, "cpu_s": time.process_time() - begun_s, "parts": means, **task.measured})
                total, steps = {}, 0
            yield row

    def _taken_over(self, name: str, earlier: Mapping[str, Any]) -> bool:
        """All of the network but the second stage's new decoder, and the Laplace block where that is new."""
        new_decoder = getattr(self.settings, "stage", 1) == 2 and name.startswith(f"{_NETWORK}decoder.")
        new_noise = ".noise." in name and name not in earlier
        return name.startswith(_NETWORK) and not new_decoder and not new_noise

    def _log(self, line: dict[str, Any]) -> None:
        with (self.folder / LOG).open("a", encoding="utf-8") as stream:
            stream.write(json.dumps(line) + "\n")


def read_log(folder: Path) -> list[dict[str, Any]]:
    """Read the log of a training; of lines for the same step the last counts."""
    lines = (folder / LOG).read_text(encoding="utf-8").splitlines()
    by_step = {row["step"]: row for row in map(json.loads, lines)}
    return [by_step[step] for step in sorted(by_step)]


def export_small(checkpoint: Path, out: Path, *, front: str, voices: dict[str, Floats], card: dict[str, Any]) -> str:
    """Write a checkpoint of the small codec as files for use; gives its fingerprint."""
    moment = checkpoints.load(checkpoint, fingerprint=None)
    tensors = {
        name.removeprefix(_NETWORK): np.asarray(tensor.numpy())
        for name, tensor in moment.tensors.items()
        if name.startswith(_NETWORK)
    }
    if not bool(tensors.get("acoustic.started", False)):
        raise TrainingError(f"{checkpoint}: the levels C1-C5 have not begun to quantize yet; train longer")
    return export.write_codec(
        out, tensors, sounds=grid.SOUNDS, voices=voices, card={**card, "front": front, "steps": moment.step}
    )


def mixed_voices(store: SpeechStore, count: int, *, rng: np.random.Generator) -> dict[str, Floats]:
    """Voices for C0 that are nobody's: the means of groups of speakers with similar vectors (k-means), of length 1."""
    rows: dict[str, list[int]] = {}
    for row, utterance in enumerate(store.utterances):
        if utterance.speaker:
            rows.setdefault(utterance.speaker, []).append(row)
    means = unit_rows(np.stack([store.vectors[own].mean(axis=0) for _, own in sorted(rows.items())]))
    if len(means) < count * _FEWEST_IN_A_VOICE:
        raise TrainingError(f"{count} voices need at least {count * _FEWEST_IN_A_VOICE} speakers, not {len(means)}")
    own = kmeans_labels(means, count, rng=rng)
    centres = unit_rows(np.stack([means[own == k].sum(axis=0) for k in range(count)]))
    large = [k for k in range(count) if int((own == k).sum()) >= _FEWEST_IN_A_VOICE]
    return {f"voice-{place + 1}": centres[k].astype(np.float32) for place, k in enumerate(large)}


def sounds_of(
    codec: Codec, utterances: Mapping[str, Audio], *, rng: np.random.Generator
) -> dict[str, dict[str, Audio]]:
    """Code held-out utterances and decode them with C0, with the first residual level, and with all."""
    found: dict[str, dict[str, Audio]] = {}
    for name, audio in utterances.items():
        tokens = codec.encode(audio)
        versions = {"original": audio}
        for levels in sorted({1, min(2, tokens.levels), tokens.levels}):
            label = "C0" if levels == 1 else f"C0:{levels - 1}"
            versions[label] = codec.decode(tokens.kept(levels), rng=rng)
        found[name] = versions
    return found
