"""Every command of the German tutorial runs, one after the other."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from conftest import Command
from docs.pages import DOCS, Page
from docs.test_first_hour import home, type_in
from personare.core.weights import missing

pytestmark = [pytest.mark.models, pytest.mark.slow]
assert home  # a fixture


def test_every_command_of_the_page_runs(home: Path, personare: Command) -> None:
    if missing("kokoro", "kokoro-languages", "whisper-small", "whisper-base", "ecapa"):
        pytest.skip("models are not fetched")
    blocks = Page(DOCS / "tutorial" / "german-recordings.md").blocks("")
    lines = [line for block in blocks for line in block.splitlines() if line.strip()]
    done = {line: type_in(line, home, personare) for line in lines}
    assert len(done) >= 7
    fetched = next(ended for line, ended in done.items() if "models fetch" in line)
    assert fetched.stdout.count("to download: nothing") == 2
    assert "German (de) 8" in next(ended for line, ended in done.items() if "corpus info" in line).stdout
    listed = pl.read_parquet(home / "anonym" / "manifest.parquet")
    assert listed["language"].unique().to_list() == ["de"] and len(listed) == 8
    heard = next(ended for line, ended in done.items() if line.startswith("personare listen")).stdout
    assert "Word error rate" in heard and "Character error rate" in heard
