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
        # alpha below 0.7 is beyond a recognizer that never heard such voices, here as in the published system
        if "0.5..0.9" not in row["method"]:
            assert row["wer"] < original["wer"] + 0.3, row
