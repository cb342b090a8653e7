"""The effect on real speech: voices are less like themselves, words are still there."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "benchmarks" / "effect.py"


@pytest.mark.slow
@pytest.mark.shared
@pytest.mark.models
def test_voices_change_and_words_stay(shared_folder: Path) -> None:
    call = [
        sys.executable,
        str(SCRIPT),
        str(shared_folder / "corpus"),
        "--speakers",
        "6",
        "--utterances",
        "2",
        "--json",
    ]
    done = subprocess.run(call, capture_output=True, text=True, check=True)
    original, *hidden = json.loads(done.stdout)
    assert original["similarity"] > 0.5
    for row in hidden:
        assert row["similarity"] < 0.65 * original["similarity"], row
        worst = 0.9 if "0.5..0.9" in row["method"] else 0.6
        assert row["wer"] < worst, row
