"""Nothing leaves this machine: no command and no library behind it opens a connection or leaves files elsewhere."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from personare.core import telemetry
from personare.engine import ray as ray_engine
from personare.engine.local import ProcessPool
from pipeline.tiny import write_corpus, write_embedder
from security.watching import TESTS, Watched, can_isolate, watch

PERSONARE = ("-m", "personare")
NET = ("--embedder", "trained:net.onnx")
needs_namespace = pytest.mark.skipif(not can_isolate(), reason="the kernel permits no network namespace here")


@pytest.fixture
def box(tmp_path: Path) -> Path:
    """A folder with a tiny corpus and an embedder that onnxruntime opens."""
    write_corpus(tmp_path / "work" / "corpus")
    write_embedder(tmp_path / "work" / "net.onnx")
    return tmp_path


def nothing_left(done: Watched, *, loopback: bool = False) -> None:
    assert done.code == 0, done.output
    others = {one for one in done.addresses if not (loopback and "127.0.0.1" in one)}
    assert not others, f"connections: {others}"
    assert not done.packets, f"{done.packets} packets of native code found no way out"
    assert not done.files and not done.left, f"files elsewhere: {sorted(done.files)} {done.left}"


def test_anonymize_evaluate_and_embed_reach_nobody_and_leave_no_file_elsewhere(box: Path) -> None:
    hidden = ("anonymize", "corpus", "hidden", "--strength", "fast", "--jobs", "2")
    nothing_left(watch(box, *PERSONARE, *hidden))
    nothing_left(watch(box, *PERSONARE, "evaluate", "corpus", "hidden", *NET, "--lengths", "1", "--out", "run"))
    nothing_left(watch(box, *PERSONARE, "embed", "hidden", "vectors.npz", *NET, "--jobs", "2"))
    made = {path.name for path in (box / "work").iterdir()}
    assert made == {"corpus", "net.onnx", "hidden", "hidden-private", "run", "vectors.npz"}


@pytest.mark.models
def test_the_models_of_the_default_reach_nobody(box: Path) -> None:
    shutil.copy(TESTS / "pipeline" / "former" / "speech" / "voice3" / "0.opus", box / "work" / "speech.opus")
    nothing_left(watch(box, *PERSONARE, "anonymize", "speech.opus", "hidden.wav"))
    nothing_left(watch(box, *PERSONARE, "embed", "corpus", "vectors.npz", "--part", "train"))


@pytest.mark.models
def test_the_app_talks_to_loopback_only(box: Path) -> None:
    pytest.importorskip("starlette", reason="needs the extra 'web'")
    script = TESTS / "security" / "through_the_app.py"
    done = watch(box, script, box / "work" / "corpus", box / "work" / "jobs")
    nothing_left(done, loopback=True)
    assert any("127.0.0.1" in one for one in done.addresses), "the watcher has seen the page's own connection"
    assert list((box / "work" / "jobs").glob("*/report/*.html"))


def test_the_watcher_sees_connections_and_files_of_python_code(tmp_path: Path) -> None:
    code = "import pathlib, socket; pathlib.Path.home().joinpath('x').write_text(''); open('../y', 'w').close()\n"
    code += "try: socket.create_connection(('192.0.2.1', 80), timeout=0.01)\nexcept OSError: pass"
    done = watch(tmp_path, "-c", code, isolated=False)
    assert any("192.0.2.1" in one for one in done.addresses)
    assert {Path(one).name for one in done.files} == {"x", "y"} and done.left == ["home/x"]


@needs_namespace
@pytest.mark.parametrize("address", ["192.0.2.1", "2001:db8::1", "127.0.0.1"])
def test_the_watcher_sees_datagrams_of_native_code(tmp_path: Path, address: str) -> None:
    """A datagram such as a question for a name, sent without any of Python's functions for it."""
    family = "AF_INET6" if ":" in address else "AF_INET"
    code = f"""
import ctypes, os, socket, struct
libc, to = ctypes.CDLL(None), socket.inet_pton(socket.{family}, "{address}")
if socket.{family} == socket.AF_INET6:
    place = struct.pack("=HHI16sI", socket.AF_INET6, socket.htons(53), 0, to, 0)
else:
    place = struct.pack("=HH4s8x", socket.AF_INET, socket.htons(53), to)
one = libc.socket(socket.{family}, socket.SOCK_DGRAM, 0)
libc.connect(one, place, len(place))
libc.send(one, b"x", 1, 0)
"""
    done = watch(tmp_path, "-c", code)
    assert done.code == 0, done.output
    assert not done.addresses and done.packets == 1


def test_importing_personare_switches_telemetry_off_whatever_was_set() -> None:
    code = "import os, personare; print([os.environ[n] for n in personare.core.telemetry.VARIABLES])"
    for before in ({}, dict.fromkeys(telemetry.VARIABLES, "0"), {"RAY_USAGE_STATS_ENABLED": "1"}):
        clean = {name: value for name, value in os.environ.items() if name not in telemetry.VARIABLES}
        told = subprocess.run([sys.executable, "-c", code], env=clean | before, capture_output=True, text=True).stdout
        assert told.strip() == str([*telemetry.VARIABLES.values()])


def test_workers_of_a_pool_have_telemetry_off() -> None:
    told = [result.value for result in ProcessPool(1).map(os.getenv, list(telemetry.VARIABLES))]
    assert told == [*telemetry.VARIABLES.values()]


def test_workers_of_ray_are_started_with_telemetry_off() -> None:
    class Cluster:
        started: dict[str, Any] | None = None

        def is_initialized(self) -> bool:
            return self.started is not None

        def init(self, **options: Any) -> None:
            self.started = options

    cluster = Cluster()
    ray_engine._join(cluster, 2, None)
    assert cluster.started is not None
    variables = cluster.started["runtime_env"]["env_vars"]
    assert {name: variables[name] for name in telemetry.VARIABLES} == telemetry.VARIABLES


@pytest.mark.parametrize(("variable", "is_refused"), [("", True), ("0", True), ("1", False), ("TRUE", False)])
def test_an_onnxruntime_that_was_imported_with_telemetry_is_not_used(
    tmp_path: Path, variable: str, is_refused: bool
) -> None:
    code = """
import sys, types
sys.modules["onnxruntime"] = types.ModuleType("onnxruntime")  # as if imported; the real one would write its files
from pathlib import Path
import personare
from personare.core.sessions import open_session
open_session(Path("net.onnx"))
"""
    given = {**os.environ, "ORT_DISABLE_TELEMETRY": variable}
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=given, capture_output=True, text=True)
    last = done.stderr.splitlines()[-1]
    refusal = "personare.core.errors.ConfigError: onnxruntime was imported before personare, with its telemetry on"
    assert last.startswith(refusal) is is_refused, last
    assert ("start Python again and import personare first" in last) is is_refused
