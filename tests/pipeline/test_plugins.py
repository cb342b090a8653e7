"""Methods of one's own: by module:Class or registered, in this process and in workers, on every command; errors."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from personare.anonymizers import ANONYMIZERS, anonymizer
from personare.core.audio import quantize
from personare.core.catalog import Catalog
from personare.core.errors import ConfigError, UnknownNameError
from personare.corpora import read_corpus
from personare.engine import ProcessPool, Serial
from personare.pipeline.given_choice import GivenSpeechChoice
from personare.pipeline.jobs.anonymize import anonymize
from personare.pipeline.system import System

CODE = '''"""Methods of a user's own."""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from personare.core.audio import Audio


@dataclass(frozen=True)
class Quieter:
    """Turns the sound down by a drawn factor."""

    factor: float = 0.5

    def __call__(self, audio: Audio, *, rng: np.random.Generator) -> Audio:
        return Audio((audio.samples * self.factor * rng.uniform(0.5, 1.0)).astype(np.float32), audio.rate_hz)

    def stream(self, blocks, *, rate_hz, rng):
        yield from (block * np.float32(self.factor) for block in blocks)

    def latency_samples(self, rate_hz):
        return 0


@dataclass
class Mute:
    """Cannot be called."""


class Plain:
    def __call__(self, audio, *, rng):
        return audio


NUMBER = 3
'''
METHOD = "my_methods_for_tests:Quieter"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with a module of the user's own, on the path of this process."""
    (tmp_path / "my_methods_for_tests.py").write_text(CODE)
    (tmp_path / "broken_for_tests.py").write_text("import numpy\nnumpy.no_such_thing\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    for name in ("my_methods_for_tests", "broken_for_tests"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    yield tmp_path
    ANONYMIZERS.forget("quieter")


def personare(folder: Path, *words: str, given: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    """Run the command as an installed one is: the folder it is started in is not on the path by itself."""
    call = [sys.executable, "-P", "-c", "from personare.cli import main; main()", *words]
    return subprocess.run(call, input=given, capture_output=True, check=False, cwd=folder)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("nowhere_for_tests:Quieter", r"module 'nowhere_for_tests' cannot be imported \(No module named"),
        ("broken_for_tests:Quieter", r"module 'broken_for_tests' cannot be imported \(module 'numpy' has no"),
        ("my_methods_for_tests:Quiter", r"has no class 'Quiter'; did you mean 'Quieter'\?"),
        ("my_methods_for_tests:Plain", r"is not a dataclass; write @dataclass\(frozen=True\) before a class"),
        ("my_methods_for_tests:NUMBER", "is not a dataclass"),
        ("my_methods_for_tests:Mute", r"has no __call__; give it __call__\(self, audio, \*, rng\)"),
        (":", "cannot be imported"),
    ],
)
def test_what_is_no_method_is_one_clear_line(here: Path, name: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message) as caught:
        anonymizer(name)
    assert "\n" not in str(caught.value)
    assert f"anonymizer '{name}'" in str(caught.value)


def test_a_method_by_module_and_class_takes_its_parameters(here: Path) -> None:
    assert anonymizer(METHOD, factor=1).factor == 1.0  # type: ignore[attr-defined]
    with pytest.raises(ConfigError, match="has no parameter 'facter'; did you mean 'factor'"):
        anonymizer(METHOD, facter=1)
    chain = System("chain", {"steps": [{"name": METHOD}, {"name": "mcadams"}]})
    assert chain.fingerprint != System("chain", {"steps": [{"name": "mcadams"}]}).fingerprint
    assert System(METHOD).fingerprint == System(METHOD, {"factor": 0.5}).fingerprint


def test_a_registered_name_is_as_good_as_a_built_in_one(here: Path) -> None:
    from my_methods_for_tests import Mute, Plain, Quieter  # type: ignore[import-not-found]

    with pytest.raises(UnknownNameError, match="no anonymizer 'quieter'"):
        anonymizer("quieter")
    ANONYMIZERS.register("quieter", Quieter)
    assert "quieter" in ANONYMIZERS.names()
    assert isinstance(anonymizer("quieter"), Quieter)
    assert ANONYMIZERS.name_of(Quieter) == "quieter"
    assert System("quieter").fingerprint == System(METHOD).fingerprint, "one class, two names, one system"
    for name, cls, message in (
        ("mcadams", Quieter, "'mcadams' is built in; register it under another name"),
        ("a:b", Quieter, "'a:b' cannot be a name"),
        ("mute", Mute, "'mute' has no __call__"),
        ("plain", Plain, "'plain' is not a dataclass"),
    ):
        with pytest.raises(ConfigError, match=message):
            ANONYMIZERS.register(name, cls)


@pytest.mark.parametrize("method", [METHOD, "quieter", "chain"])
def test_workers_know_the_methods_of_this_program(here: Path, small_corpus: Path, tmp_path: Path, method: str) -> None:
    from my_methods_for_tests import Quieter

    ANONYMIZERS.register("quieter", Quieter)
    parameters = {"steps": [{"name": "quieter", "parameters": {"factor": 0.4}}]} if method == "chain" else {}
    system, corpus = System(method, parameters), read_corpus(small_corpus).corpus
    for name, engine in (("one", Serial()), ("two", ProcessPool(2))):
        done = anonymize(corpus, tmp_path / name, system, engine=engine, key_file=tmp_path / "key")
        assert (done.done, done.failures) == (16, ())
    one, two = (
        {p.name: p.read_bytes() for p in (tmp_path / name / "audio").rglob("*.flac")} for name in ("one", "two")
    )
    assert one == two


SCRIPT = """
from dataclasses import dataclass
from pathlib import Path

from personare.anonymizers import ANONYMIZERS
from personare.corpora import read_corpus
from personare.engine import ProcessPool
from personare.pipeline.jobs.anonymize import anonymize
from personare.pipeline.system import System


@dataclass(frozen=True)
class Mine:
    VERSION = 1

    def __call__(self, audio, *, rng):
        return audio


def main():
    ANONYMIZERS.register("mine", Mine)
    done = anonymize(read_corpus(Path("original")).corpus, Path("out"), System("mine"), engine=ProcessPool(2))
    there = [result.value for result in ProcessPool(2).map(identity, [System("mine")])]
    print(done.done, done.failures, there == [System("mine").fingerprint])


def identity(system):
    return system.fingerprint


if __name__ == "__main__":
    main()
"""


def test_workers_know_the_classes_of_a_script(small_corpus: Path, tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(SCRIPT)
    done = subprocess.run([sys.executable, "script.py"], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.stdout == "16 () True\n", done.stderr


def test_a_class_typed_at_a_prompt_cannot_go_to_workers_and_says_what_to_do(small_corpus: Path, tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=False, cwd=tmp_path)
    last = done.stderr.splitlines()[-1]
    assert "'Mine' was typed at a prompt or in a notebook, where worker processes cannot find it" in last
    assert "put it into a file and import it from there, or work in one process" in last
    alone = SCRIPT.replace("ProcessPool(2)", "Serial()").replace("ProcessPool", "Serial")
    done = subprocess.run([sys.executable, "-c", alone], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.stdout == "16 () True\n", done.stderr


def test_every_command_takes_a_module_of_the_folder_it_is_started_in(here: Path, small_corpus: Path) -> None:
    words = ["anonymize", "original", "out", "--method", METHOD, "--set", "factor=0.4", "--jobs", "2"]
    done = personare(here, *words)
    assert done.returncode == 0, done.stderr
    assert b"16" in done.stdout
    unnamed = personare(here, "evaluate", "original", "out")  # the folder's word is not enough to run a file
    assert unnamed.returncode == 2
    assert f"name it yourself, with --method {METHOD}".encode() in unnamed.stderr
    named = GivenSpeechChoice(here / "original", here / "out", method=METHOD)
    assert named.settings["factor"] == 0.4, "as the folder was made"
    assert "factor" not in replace(named, method="mcadams").settings
    shown = personare(here, "methods", METHOD)
    assert shown.returncode == 0
    assert b"Turns the sound down by a drawn factor." in shown.stdout
    assert b"factor" in shown.stdout
    samples = np.linspace(-0.5, 0.5, 800, dtype=np.float32)
    raw = quantize(samples, bits=16).astype("<i2").tobytes()
    live = personare(here, "stream", "--rate", "8000", "--method", METHOD, "--set", "factor=0.5", given=raw)
    assert live.returncode == 0, live.stderr
    halved = np.frombuffer(live.stdout, "<i2")
    assert np.abs(halved * 2 - np.frombuffer(raw, "<i2")).max() <= 2
    wrong = personare(here, "methods", "my_methods_for_tests:Mute")
    assert wrong.returncode == 2
    assert len(wrong.stderr.decode().splitlines()) == 1


def test_an_attackers_and_a_layouts_family_take_classes_too() -> None:
    with pytest.raises(ConfigError, match="thing 'os:getcwd' is not a dataclass"):
        Catalog("thing", {}).load("os:getcwd")
