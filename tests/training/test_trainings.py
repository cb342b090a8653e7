"""Every file in ``trainings/`` is read by the command that its first lines name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from personare.core.config import load_yaml
from personare.training.embedder.settings import embedder_settings
from personare.training.prosody.settings import ProsodySettings
from personare.training.reader.settings import ReaderSettings
from personare.training.recognizer.settings import recognizer_settings
from personare.training.synthesizer.settings import SynthesizerSettings
from personare.training.usc.configurations import settings_of

ROOT = Path(__file__).resolve().parents[2]
TRAININGS = sorted((ROOT / "trainings").glob("*.yaml"))
READ: dict[str, Callable[[Path], Any]] = {
    "embedder": lambda path: embedder_settings("ecapa", None, path),
    "prosody": lambda path: load_yaml(ProsodySettings, path),
    "reader": lambda path: load_yaml(ReaderSettings, path),
    "recognizer": recognizer_settings,
    "usc": lambda path: settings_of(str(path)),
    "voice": lambda path: load_yaml(SynthesizerSettings, path),
}


@pytest.mark.parametrize("path", TRAININGS, ids=lambda path: path.stem)
def test_every_training_is_read_by_its_command(path: Path) -> None:
    kind = path.stem.partition("-")[0]
    if kind == "usc":
        pytest.importorskip("torch", reason="needs torch: pip install '.[neural]'")
    settings = READ[kind](path)
    assert settings.plan.steps > 0
