"""The Python on the pages runs: every page's blocks, one after the other, in a folder with a small corpus."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import personare.codecs.usc
from docs.pages import Page, pages
from personare.core.audio import read_mono, write
from pipeline.tiny import write_corpus
from tiny_codec import write_tiny_codec

NOT_RUN = {
    "docs/reference/listeners/ctc.md": "trains a network for hours",
    "CONTRIBUTING.md": "parts of classes; examples/own_metric.py is the whole, and has a test of its own",
}
SLOW = ("README.md",)
CODEC = "docs/how-to/train-a-speech-model-on-tokens.md"
SPEECH = Path(__file__).parents[1] / "pipeline" / "former" / "speech" / "voice3" / "0.opus"  # synthetic English
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
    write(folder / "speech.wav", read_mono(SPEECH))
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


# runs pages in one process, each as if it alone were typed: libraries are loaded once, and names of a page end with it
PROGRAM = """
import contextlib, io, json, os, sys, traceback

def run(pages, main, telling):
    names, path = set(main), list(sys.path)
    for page, folder, program in pages:
        os.chdir(folder)
        told = None
        with contextlib.redirect_stdout(io.StringIO()):
            try:
                exec(compile(program, page, "exec"), main)
            except BaseException:
                told = traceback.format_exc()
        telling.write(json.dumps([page, told]) + "\\n")
        sys.path[:] = path
        for name in set(main) - names:
            del main[name]

run(json.load(sys.stdin), sys.modules["__main__"].__dict__, sys.stdout)
"""


@pytest.fixture(scope="module")
def told(speech: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[Page], str | None]:
    """What went wrong on each page; those that take minutes run when they are asked for."""
    quick = [page for page in RUN if page.name not in SLOW]
    ran: dict[str, str | None] = {}

    def of(page: Page) -> str | None:
        if page.name not in ran:
            ran.update(_run(quick if page in quick else [page], speech, tmp_path_factory.mktemp("run")))
        return ran[page.name]

    return of


def _run(run: list[Page], speech: Path, place: Path) -> dict[str, str | None]:
    given = []
    for number, page in enumerate(run):
        folder = place / str(number)
        shutil.copytree(speech, folder)
        _move_manifest(folder)
        program = "\n".join(page.blocks("python"))
        if page.name == CODEC and not SHIPPED.is_dir():  # a copy without the codec's weights: one with random ones
            write_tiny_codec(folder / "package" / "shipped")
            program = TINY_SHIPPED + program
        given.append((page.name, str(folder), program))
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        input=json.dumps(given),
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    told = dict(json.loads(line) for line in done.stdout.splitlines())
    return {page.name: told.get(page.name, f"did not end: {done.stderr}") for page in run}


@pytest.mark.models
@pytest.mark.parametrize(
    "page",
    [pytest.param(page, marks=pytest.mark.slow if page.name in SLOW else (), id=page.name) for page in RUN],
)
def test_examples_run(page: Page, told: Callable[[Page], str | None]) -> None:
    assert told(page) is None, told(page)


def _move_manifest(folder: Path) -> None:
    """Let the copied manifest name the copied files."""
    import polars as pl

    path = folder / "recordings" / "manifest.parquet"
    frame = pl.read_parquet(path)
    audio = [str(folder / "recordings" / Path(one).parent.name / Path(one).name) for one in frame["audio"]]
    frame.with_columns(pl.Series("audio", audio)).write_parquet(path)
