"""Folders that were anonymized when methods had other names: they are verified, looked up and evaluated as before.

``former/`` was made by personare 0.2.0, when ``xvector`` (version 8) transcribed the speech and ``cascade`` (version 4)
spoke with Piper; the speech is Piper's.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

import personare as pn
from personare.anonymizers.former_names import present_names
from personare.core.protocols import keeps_timing
from personare.pipeline.jobs.lookup import look_up, originals_of
from personare.pipeline.jobs.target import JOB
from personare.pipeline.jobs.verify import verify
from personare.pipeline.system import System, read_system

FORMER = Path(__file__).parent / "former"
PRESENT = {"xvector": ("cascade", {}), "cascade": ("cascade", {"voice": "piper"})}


@pytest.fixture(params=sorted(PRESENT))
def former(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """An anonymized folder of then; its private folder and its originals lie beside it."""
    for name in ("speech", request.param, f"{request.param}-private"):
        shutil.copytree(FORMER / name, tmp_path / name)
    private = tmp_path / f"{request.param}-private"
    private.chmod(0o700)
    (private / "key").chmod(0o600)
    job = json.loads((private / JOB).read_text(encoding="utf-8"))
    (private / JOB).write_text(json.dumps({**job, "source": str(tmp_path / "speech")}), encoding="utf-8")
    return tmp_path / str(request.param)


def test_it_is_verified(former: Path) -> None:
    checked = verify(former)
    assert (checked.files, checked.utterances, checked.problems) == (6, 6, ())


def test_it_is_looked_up(former: Path) -> None:
    name = next((former / "audio").rglob("*.opus")).stem
    originals = originals_of(former, key_file=None, level=None, layout=None, speaker_from=None)
    (match,) = look_up(name, originals)
    assert Path(match.audio).is_file() and match.speaker.startswith("voice")


def test_its_card_is_read_in_present_names(former: Path) -> None:
    system = read_system(former)
    assert system is not None
    method, settings = PRESENT[former.name]
    assert system.method == method and {name: system.parameters[name] for name in settings} == settings
    assert not keeps_timing(system.build()), "as then: no metric compares it moment by moment"
    assert system.version_note == "another version than the one here"


@pytest.mark.models
def test_it_is_evaluated(former: Path, tmp_path: Path) -> None:
    result = pn.evaluate(former.parent / "speech", former, out=tmp_path / "run", quick=True, only_possible=True)
    assert {str(f.conditions["anonymizer"]) for f in result.findings} >= {"cascade"}
    assert any("another version" in note for note in result.notes), "who would anonymize as the owner is left out"


def test_encoded_content_keeps_the_settings_it_had() -> None:
    method, parameters = present_names("xvector", {"content": "moonshine", "timing": "moved"})
    assert (method, parameters["timing"], parameters["f0"], parameters["generator"]) == (
        *("xvector", "moved", "predicted", "o1"),
    )
    assert not keeps_timing(System(method, parameters).build())


def test_steps_of_a_chain_are_translated() -> None:
    steps = [{"name": "xvector"}, {"name": "cascade", "parameters": {"gender": "m"}}, {"name": "mcadams"}]
    _, parameters = present_names("chain", {"steps": steps})
    assert [step["name"] for step in parameters["steps"]] == ["cascade", "cascade", "mcadams"]
    assert parameters["steps"][1]["parameters"] == {"voice": "piper", "recognizer": "moonshine-base", "gender": "m"}
    assert len(System("chain", parameters).build().methods) == 3  # type: ignore[attr-defined]
