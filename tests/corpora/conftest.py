from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from personare.core.audio import Audio, write

MakeSound = Callable[..., Path]


@pytest.fixture
def sound(tmp_path: Path) -> MakeSound:
    """Write a tiny real recording at a path below tmp_path and give its full path."""

    def make(relative: str, *, rate_hz: int = 16_000, duration_s: float = 0.05, channels: int = 1) -> Path:
        path = tmp_path / relative
        path.parent.mkdir(parents=True, exist_ok=True)
        time_s = np.arange(round(rate_hz * duration_s)) / rate_hz
        one = Audio((0.1 * np.sin(2 * np.pi * 200 * time_s)).astype(np.float32), rate_hz)
        encoding = "vorbis" if path.suffix == ".ogg" else "pcm16"
        write(path, [one] * channels, encoding=encoding)  # type: ignore[arg-type]
        return path

    return make


@pytest.fixture
def text(tmp_path: Path) -> Callable[[str, str], Path]:
    """Write a text file below tmp_path."""

    def make(relative: str, content: str) -> Path:
        path = tmp_path / relative
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
        return path

    return make
