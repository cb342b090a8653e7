"""The built wheel in an empty environment without extras: the first commands a user types work from there."""

from __future__ import annotations

import json
import tomllib
import zipfile
from pathlib import Path

import pytest

from pipeline.tiny import write_corpus, write_ear, write_study
from wheel_environment import ROOT, Installed, installed

LAZY = ("torch", "onnxruntime", "polars", "matplotlib", "scipy", "soundfile")
EXTRAS = ("torch", "onnx", "jiwer", "faster_whisper", "pesq", "pystoi", "pyworld", "ray", "starlette")
# each is a program of its own, run in the empty environment; what the Python API promises belongs here too
PROGRAMS = {
    "import loads nothing heavy": f"import sys, personare; sys.exit([m for m in {LAZY} if m in sys.modules] or 0)",
    "no extra came along": f"import sys, importlib.util as u; sys.exit([m for m in {EXTRAS} if u.find_spec(m)] or 0)",
    "typed": "import importlib.resources as r, sys; sys.exit(not (r.files('personare') / 'py.typed').is_file())",
    "settings are inside": (
        "from personare.training.embedder.settings import shipped; shipped('ecapa'); shipped('xvector')\n"
        "from personare.training.recognizer.settings import recognizer_settings; recognizer_settings()"
    ),
    "the neural voice is inside": (
        "from personare.anonymizers.xvector.weights import SHIPPED, open_weights; open_weights(SHIPPED)"
    ),
}


@pytest.fixture(scope="session")
def wheel(pytestconfig: pytest.Config) -> Installed:
    """The environment, kept in pytest's cache."""
    assert pytestconfig.cache is not None
    return installed(pytestconfig.cache.mkdir("wheel"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny corpus, and an embedder that needs no model."""
    folder = tmp_path_factory.mktemp("first-steps")
    write_corpus(folder / "corpus", speakers=4, utterances=4, train=0)
    write_ear(folder / "embedder.onnx")
    return folder


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS.keys())
def test_programs_run_in_it(wheel: Installed, tmp_path: Path, program: str) -> None:
    done = wheel.run("python", "-c", program, cwd=tmp_path)
    assert done.returncode == 0, done.stderr


def test_a_signal_method_loads_neither_networks_nor_figures(wheel: Installed, folder: Path) -> None:
    program = (
        "import sys; sys.argv[1:] = ['anonymize', 'corpus', 'light', '--method', 'mcadams']\n"
        "from personare.cli import main\n"
        "try: main()\n"
        "except SystemExit as ended: code = ended.code\n"
        "sys.exit(code or [m for m in ('onnxruntime', 'matplotlib', 'torch') if m in sys.modules] or 0)"
    )
    done = wheel.run("python", "-c", program, cwd=folder)
    assert done.returncode == 0, done.stderr


def test_it_says_its_version_and_helps(wheel: Installed, tmp_path: Path) -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    assert wheel.run("personare", "--version", cwd=tmp_path).stdout == f"personare {version}\n"
    done = wheel.run("personare", "--help", cwd=tmp_path)
    assert done.returncode == 0 and all(word in done.stdout for word in ("anonymize", "evaluate", "report"))


def test_anonymize_and_evaluate(wheel: Installed, folder: Path) -> None:
    done = wheel.run("personare", "anonymize", "corpus", "anonymous", "--method", "mcadams", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert len(list((folder / "anonymous").rglob("*.flac"))) == 16
    words = ("--embedder", "trained:embedder.onnx", "--lengths", "1", "--out", "report")
    done = wheel.run("personare", "evaluate", "corpus", "anonymous", *words, cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "EER" in done.stdout
    page = next((folder / "report").glob("*.html")).read_text(encoding="utf-8")
    assert "<svg" in page, "figures are drawn"
    assert json.loads((folder / "report" / "findings.json").read_text(encoding="utf-8"))


def test_a_study_and_its_report(wheel: Installed, tmp_path: Path) -> None:
    write_study(tmp_path, listeners=[], metrics=["eer", "linkability"], clips=0)
    done = wheel.run("personare", "study", "run", "study.yaml", "--out", "run", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    done = wheel.run("personare", "report", "run", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert list((tmp_path / "run" / "report").glob("*.html"))


def test_what_needs_an_extra_says_so_in_one_line(wheel: Installed, folder: Path) -> None:
    done = wheel.run("personare", "train", "embedder", "--corpus", "corpus", "--out", "model", cwd=folder)
    assert done.returncode == 2
    assert done.stderr == (
        "personare: personare train needs the extra 'neural'; install it with: pip install 'personare[neural]'\n"
    )


def test_the_wheel_holds_the_package_and_nothing_else(wheel: Installed, pytestconfig: pytest.Config) -> None:
    assert wheel.commands.is_dir() and pytestconfig.cache is not None
    (built,) = (pytestconfig.cache.mkdir("wheel") / "wheel").glob("*.whl")
    names = zipfile.ZipFile(built).namelist()
    assert {name.split("/")[0].split("-")[0] for name in names} == {"personare"}
    assert not [name for name in names if "__pycache__" in name or name.endswith(".pyc")]
