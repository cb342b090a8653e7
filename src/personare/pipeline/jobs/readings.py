"""Sentences that synthetic readers read aloud, kept by ``personare train reader``, as speech to train the voice on."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from personare.anonymizers.neural.xvector.weights import READER_NETWORKS, open_weights
from personare.core.errors import TrainingError
from personare.core.files import file_digest
from personare.engine import Engine
from personare.training.synthesizer import features
from personare.training.synthesizer.features import FeatureSources
from personare.training.synthesizer.run import SynthesizerUtterance

READINGS = "readings"


@dataclass(frozen=True)
class ExtractReading:
    """Extract the features of a sentence read aloud for ``personare train reader``; safe to run in any process."""

    voice: Path
    sources: FeatureSources

    def __call__(self, item: SynthesizerUtterance) -> str:
        """Extract them, unless they are there; gives the name of the sentence."""
        if not item.features.exists():
            with np.load(item.audio, allow_pickle=False) as given:
                reading = {name: given[name] for name in ("numbers", "durations", "content", "audio", "reader")}
            durations, numbers = reading["durations"].astype(np.float64), reading["numbers"].tolist()
            read = open_weights(self.voice).reader.in_time(
                numbers, durations, reader=int(reading["reader"]), count=len(reading["content"])
            )
            samples = (reading["audio"] / np.float32(32767)).astype(np.float32)
            features.save(features.of_reading(samples, reading["content"], read, self.sources), item.features)
        return item.name


def prepared_readings(
    voice: Path, folder: Path, sources: FeatureSources, engine: Engine, *, most: int
) -> tuple[list[SynthesizerUtterance], list[tuple[str, str]]]:
    """Extract into ``folder`` the features of sentences that were read for the reader of ``voice``; and failures."""
    readers, reader_print = open_weights(voice).card["reader"]["readers"], file_digest(voice / READER_NETWORKS[1])
    items = []
    for path in sorted((voice / READINGS).glob("*.npz"))[:most]:
        with np.load(path, allow_pickle=False) as given:
            who = readers[int(given["reader"])]
        kept = folder / f"{path.stem}-{reader_print[:8]}-v{features.VERSION}.npz"
        items.append(SynthesizerUtterance(path.stem, who, path, kept, is_read=True))
    if not items:
        raise TrainingError(f"{voice}: has no {READINGS}; name a folder made by personare train reader")
    results = list(engine.map(ExtractReading(voice, sources), items))
    failures = [(result.item.name, result.error or "failed") for result in results if not result.ok]
    return [result.item for result in results if result.ok], failures
