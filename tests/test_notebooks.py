"""The notebooks run from top to bottom, as a newcomer would run them: on a small corpus, and on synthetic voices."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from pipeline.blends import write_blends
from pipeline.tiny import write_embedder

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
NOTEBOOKS = sorted(path.name for path in EXAMPLES.glob("*.ipynb"))


def cells(name: str) -> list[dict[str, Any]]:
    document = json.loads((EXAMPLES / name).read_text(encoding="utf-8"))
    assert document["nbformat"] == 4 and document["nbformat_minor"] >= 5
    found: list[dict[str, Any]] = document["cells"]
    return found


def run(name: str, folder: Path, **variables: object) -> str:
    """Run all code cells in one program that has no file, as a kernel has none; the output of all of them."""
    code = "\n\n".join("".join(cell["source"]) for cell in cells(name) if cell["cell_type"] == "code")
    environment = {**os.environ, **{key: str(value) for key, value in variables.items()}}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_no_output_is_kept_and_every_cell_has_a_name(name: str) -> None:
    for cell in cells(name):
        assert cell["id"] and not cell.get("outputs") and cell.get("execution_count") is None
    assert cells(name)[0]["cell_type"] == "markdown" and "".join(cells(name)[0]["source"]).startswith("# ")


def test_there_is_one_for_each_of_them() -> None:
    assert NOTEBOOKS == ["is-it-anonymous.ipynb", "new-anonymizer.ipynb"]


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    """Parameters of the first cell: blended hums and an embedder of a few additions."""
    folder = tmp_path_factory.mktemp("notebooks")
    write_blends(folder / "recordings", attacked=6, enrolment=2, trial=4, train=0, parts=False)
    write_blends(folder / "others", attacked=6, enrolment=0, trial=0, train=4)
    return {
        "EXAMPLE_RECORDINGS": folder / "recordings",
        "EXAMPLE_OTHERS": folder / "others",
        "EXAMPLE_EMBEDDER": f"trained:{write_embedder(folder / 'net.onnx')}",
        "PERSONARE_HOME": folder / "home",
    }


def test_a_researcher_with_a_new_anonymizer(small: dict[str, object], tmp_path: Path) -> None:
    printed = run("new-anonymizer.ipynb", tmp_path, EXAMPLE_RESULTS=tmp_path / "results", **small)
    assert "6 speakers, 36 utterances" in printed and "frequency-warp ->" in printed
    for name in ("b2", "warp"):
        assert f"{name}: " in printed and " links " in printed
    assert (tmp_path / "results" / "run" / "report" / "report.html").is_file()
    assert (tmp_path / "results" / "anonymous-private" / "key").is_file()


def test_an_officer_with_two_folders(small: dict[str, object], tmp_path: Path) -> None:
    printed = run("is-it-anonymous.ipynb", tmp_path, EXAMPLE_RESULTS=tmp_path / "results", **small)
    lines = {line.split("  ")[0].strip(): line for line in printed.splitlines()}
    for question in ("linking", "singling out", "inferring"):
        assert any(line.startswith(question) for line in printed.splitlines()), (question, lines)
        assert not any(line.startswith(question) and "not measured" in line for line in printed.splitlines())
    assert "gender: I succeed in" in printed
    assert (tmp_path / "results" / "run" / "report" / "report.html").is_file()


@pytest.mark.slow
@pytest.mark.models
@pytest.mark.parametrize("name", NOTEBOOKS)
def test_on_synthetic_voices_as_it_stands(name: str, tmp_path: Path) -> None:
    """Nothing is set: the voices are made, the published embedder listens; no network is used."""
    assert "guessing" in run(name, tmp_path)
