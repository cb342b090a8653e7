"""The Python on the pages runs: every page's blocks, one after the other, in a folder with a small corpus."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import personare.codecs.usc
from conftest import hum
from docs.pages import Page, pages
from personare.core.audio import write
from pipeline.tiny import write_corpus
from tiny_codec import write_tiny_codec

NOT_RUN = {
    "docs/reference/listeners/ctc.md": "trains a network for hours",
    "CONTRIBUTING.md": "parts of classes; examples/own_metric.py is the whole, and has a test of its own",
}
SLOW = ("README.md",)
CODEC = "docs/how-to/train-a-speech-model-on-tokens.md"
SHIPPED = Path(personare.codecs.usc.__file__).parent / "shipped"
TINY_SHIPPED = """
from pathlib import Path
from personare.codecs.usc import trained
trained.resources = type("Resources", (), {"files": staticmethod(lambda _: Path("package"))})
"""
RUN = [page for page in pages() if page.blocks("python") and page.name not in NOT_RUN]


@pytest.fixture(scope="module")
def speech(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the pages take for granted: a recording, a corpus with a part to learn from, a pool of vectors."""
    folder = tmp_path_factory.mktemp("pages")
    write(folder / "speech.wav", hum(1, duration_s=1.5))
    write_corpus(folder / "recordings")
    rng = np.random.default_rng(1)
    speakers = np.repeat([f"p{i:03d}" for i in range(60)], 2)
    genders = np.repeat(["f", "m"] * 30, 2)
    np.savez(folder / "pool.npz", vectors=rng.standard_normal((120, 24)), speakers=speakers, genders=genders)
    return folder


def test_the_python_page_and_some_how_tos_are_run() -> None:
    names = {page.name for page in RUN}
    assert {"docs/reference/api.md", "docs/tutorial/in-python.md", "docs/how-to/use-your-own-method.md"} <= names
    assert CODEC in names
    assert set(NOT_RUN) <= {page.name for page in pages() if page.blocks("python")}


@pytest.mark.models
@pytest.mark.parametrize(
    "page",
    [pytest.param(page, marks=pytest.mark.slow if page.name in SLOW else (), id=page.name) for page in RUN],
)
def test_examples_run(page: Page, speech: Path, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    shutil.copytree(speech, folder)
    _move_manifest(folder)
    program = "\n".join(page.blocks("python"))
    if page.name == CODEC and not SHIPPED.is_dir():  # a copy without the codec's weights: one with random ones
        write_tiny_codec(folder / "package" / "shipped")
        program = TINY_SHIPPED + program
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"


def _move_manifest(folder: Path) -> None:
    """Let the copied manifest name the copied files."""
    import polars as pl

    path = folder / "recordings" / "manifest.parquet"
    frame = pl.read_parquet(path)
    audio = [str(folder / "recordings" / Path(one).parent.name / Path(one).name) for one in frame["audio"]]
    frame.with_columns(pl.Series("audio", audio)).write_parquet(path)
