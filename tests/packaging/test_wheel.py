"""The built wheel in an empty environment without extras: the first commands a user types work from there."""

from __future__ import annotations

import json
import re
import zipfile
from pathlib import Path

import pytest

from pipeline.tiny import write_corpus, write_embedder
from wheel_environment import ROOT, Installed, installed

LAZY = ("torch", "onnxruntime", "polars", "scipy", "soundfile")
EXTRAS = ("torch", "onnx", "faster_whisper", "pesq", "pystoi", "pyworld", "ray", "starlette")
# each is a program of its own, run in the empty environment
PROGRAMS = {
    "import loads nothing heavy": f"import sys, personare; sys.exit([m for m in {LAZY} if m in sys.modules] or 0)",
    "no extra came along": f"import sys, importlib.util as u; sys.exit([m for m in {EXTRAS} if u.find_spec(m)] or 0)",
    "typed": "import importlib.resources as r, sys; sys.exit(not (r.files('personare') / 'py.typed').is_file())",
    "settings are inside": (
        "from personare.training.embedder.settings import shipped; shipped('ecapa'); shipped('xvector')\n"
        "from personare.training.recognizer.settings import recognizer_settings; recognizer_settings()"
    ),
    "the neural voice is inside": (
        "from personare.anonymizers.neural.xvector.weights import open_weights; open_weights()"
    ),
    "a sound is hidden from Python": (
        "import numpy as np, personare as pn\n"
        "sound = pn.anonymize((0.1 * np.sin(np.arange(16_000) / 20), 16_000), strength='fast', key='secret')\n"
        "assert sound.rate_hz == 16_000 and np.isfinite(sound.samples).all() and len(sound.samples) == 16_000"
    ),
    "scores are measured from Python": (
        "import personare as pn; assert pn.metrics.eer([2.0, 3.0, 4.0], [1.0, 0.0, -1.0], rng=1).value == 0"
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
    write_embedder(folder / "net.onnx")
    return folder


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS.keys())
def test_programs_run_in_it(wheel: Installed, tmp_path: Path, program: str) -> None:
    done = wheel.run("python", "-c", program, cwd=tmp_path)
    assert done.returncode == 0, done.stderr


def test_a_signal_method_loads_neither_networks_nor_figures(wheel: Installed, folder: Path) -> None:
    program = (
        "import os, sys; os.environ['PERSONARE_HOME'] = 'no-models'  # nothing is checked for several speakers\n"
        "sys.argv[1:] = ['anonymize', 'corpus', 'light', '--method', 'mcadams']\n"
        "from personare.cli import main\n"
        "try: main()\n"
        "except SystemExit as ended: code = ended.code\n"
        "sys.exit(code or [m for m in ('onnxruntime', 'personare.reports.drawing', 'torch') if m in sys.modules] or 0)"
    )
    done = wheel.run("python", "-c", program, cwd=folder)
    assert done.returncode == 0, done.stderr


def test_it_says_its_version_and_helps(wheel: Installed, tmp_path: Path) -> None:
    program = "from importlib import metadata; print('personare', metadata.version('personare'))"
    installed_as = wheel.run("python", "-c", program, cwd=tmp_path).stdout
    assert wheel.run("personare", "--version", cwd=tmp_path).stdout == installed_as != ""
    done = wheel.run("personare", "--help", cwd=tmp_path)
    assert done.returncode == 0 and all(word in done.stdout for word in ("anonymize", "evaluate", "report"))


def test_anonymize_evaluate_and_report(wheel: Installed, folder: Path) -> None:
    done = wheel.run("personare", "anonymize", "corpus", "anonymous", "--method", "mcadams", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert len(list((folder / "anonymous").rglob("*.flac"))) == 16
    words = ("--embedder", "trained:net.onnx", "--lengths", "1", "--out", "run")
    done = wheel.run("personare", "evaluate", "corpus", "anonymous", *words, cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "EER" in done.stdout
    assert json.loads((folder / "run" / "findings.json").read_text(encoding="utf-8"))
    done = wheel.run("personare", "report", "run", "--out", "page", cwd=folder)
    assert done.returncode == 0, done.stderr
    page = next((folder / "page").glob("*.html")).read_text(encoding="utf-8")
    assert "<svg" in page, "figures are drawn"


def test_what_needs_an_extra_says_so_in_one_line(wheel: Installed, folder: Path) -> None:
    done = wheel.run("personare", "train", "embedder", "--corpus", "corpus", "--out", "model", cwd=folder)
    assert done.returncode == 2
    assert done.stderr == (
        "personare: personare train needs the extra 'neural'; "
        "install it with: pip install '.[neural]' (in the source folder of personare)\n"
    )


KINDS = {".py", ".typed", ".onnx", ".npz", ".json", ".tsv", ".yaml", ".j2", ".js", ".css", ".html", ".svg"}
ABOUT = {"METADATA", "WHEEL", "RECORD", "entry_points.txt", "licenses/LICENSE"}
WEIGHTS = {  # least size in kilobytes: a pointer to a file of somebody else's store would be smaller
    **{f"anonymizers/neural/xvector/shipped/{name}.onnx": 50 for name in ("mask", "prosody", "voice", "voice_reading")},
    **{f"anonymizers/neural/xvector/shipped/{name}.onnx": 50 for name in ("reader_speech", "reader_text")},
    **{f"anonymizers/neural/xvector/shipped/languages_{n}.onnx": 50 for n in ("prosody", "speech", "text", "voice")},
    **{f"anonymizers/neural/xvector/shipped/{name}.npz": 10 for name in ("treble", "voices")},
    **{f"codecs/usc/shipped/{name}.onnx": 50 for name in ("acoustic", "decoder", "semantic")},
    "codecs/usc/shipped/tables.npz": 10,
    "encoders/expression/shipped/labels.npz": 10,
    "listeners/fitted/emotion.npz": 10,
}
MACHINE = re.compile(rb"/(?:home|root|work|Users)/[a-z]")


@pytest.fixture(scope="session")
def content(wheel: Installed, pytestconfig: pytest.Config) -> dict[str, bytes]:
    """Every file of the built wheel."""
    assert wheel.commands.is_dir() and pytestconfig.cache is not None
    (built,) = (pytestconfig.cache.mkdir("wheel") / "wheel").glob("*.whl")
    with zipfile.ZipFile(built) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_the_wheel_holds_the_package_and_nothing_else(content: dict[str, bytes]) -> None:
    """No tests, no recordings, no caches: every file is one of the sources, with the same bytes."""
    ours = {name: data for name, data in content.items() if name.startswith("personare/")}
    about = {name.partition("/")[2] for name in content.keys() - ours.keys()}
    assert about == ABOUT
    assert {Path(name).suffix for name in ours} == KINDS
    sources = {p.relative_to(ROOT / "src").as_posix() for p in (ROOT / "src").rglob("*") if p.is_file()}
    assert set(ours) == {name for name in sources if "__pycache__" not in name}
    assert all(data == (ROOT / "src" / name).read_bytes() for name, data in ours.items())


def test_the_wheel_holds_its_weights_and_its_licence(content: dict[str, bytes]) -> None:
    sizes = {name.removeprefix("personare/"): len(data) for name, data in content.items()}
    weights = {name for name in sizes if name.endswith((".onnx", ".npz"))}
    assert weights == set(WEIGHTS)
    assert [name for name in weights if sizes[name] < 1000 * WEIGHTS[name]] == []
    (licence,) = (data for name, data in content.items() if name.endswith("/licenses/LICENSE"))
    assert licence == (ROOT / "LICENSE").read_bytes() and b"Apache License" in licence


def test_the_wheel_tells_nothing_of_the_machine_it_was_built_on(content: dict[str, bytes]) -> None:
    assert [name for name, data in content.items() if MACHINE.search(data) and not name.endswith(".npz")] == []


def test_versions_that_were_reviewed_are_bounded_and_no_others(content: dict[str, bytes]) -> None:
    (about,) = (data.decode() for name, data in content.items() if name.endswith("/METADATA"))
    needs = {line.split()[1].rstrip(";") for line in about.splitlines() if line.startswith("Requires-Dist:")}
    assert "onnxruntime<1.32,>=1.25" in needs, "usage data of a new release is looked at before it is allowed"
    assert {"polars<3,>=1.20", "typer<1,>=0.15"} <= needs, "a bound that saves megabytes would keep fixes out"
