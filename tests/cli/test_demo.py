"""personare demo: the whole path on a few synthetic voices, with every real model; again; with one more method."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from personare.cli import main
from personare.core.weights import missing

STRENGTHS = ["unprotected", "fast", "balanced", "strong"]
OWN = """
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from personare.core.audio import Audio


@dataclass(frozen=True)
class Backwards:
    \"\"\"The sound from its end, a little quieter.\"\"\"

    VERSION: ClassVar[int] = 1

    def __call__(self, audio, *, rng):
        return Audio(np.ascontiguousarray(audio.samples[::-1]) * np.float32(rng.uniform(0.8, 1.0)), audio.rate_hz)
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One folder for all runs: what one has done, the next does not do again."""
    return tmp_path_factory.mktemp("demo") / "demo"


def _demo(folder: Path, monkeypatch: pytest.MonkeyPatch, *more: str) -> int:
    words = ["demo", str(folder), "--speakers", "4", "--utterances", "4", "--jobs", "1", *more]
    monkeypatch.setattr(sys, "argv", ["personare", *words])
    with pytest.raises(SystemExit) as end:
        main()
    return int(end.value.code or 0)


def _names(table: str, *known: str) -> list[str]:
    rows = [line.split() for line in table.splitlines()]
    return [row[0] for row in rows if row and row[0] in known]


@pytest.mark.slow
def test_it_ends_with_a_row_per_strength_and_a_report_and_a_second_run_shows_the_same(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _demo(folder, monkeypatch) == 0
    printed = capsys.readouterr().out
    first = printed[printed.index("3 methods") :]
    assert _names(first, *STRENGTHS) == STRENGTHS, "one row each, what to compare with first"
    assert f"report: {folder / 'run' / 'report' / 'report.html'}" in first
    assert "on your own recordings: personare anonymize" in first
    page = (folder / "run" / "report" / "report.html").read_bytes()

    assert _demo(folder, monkeypatch) == 0
    again = capsys.readouterr().out
    assert again[again.index("3 methods") :] == first, "what is done is not done again, and says the same"
    assert (folder / "run" / "report" / "report.html").read_bytes() == page


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "labels"),
    [
        (("--method", "usc"), ["usc"]),
        (
            ("--method", "mcadams", "--set", "mcadams.alpha=0.9", "--method", "own:Backwards"),
            ["mcadams", "own:Backwards"],
        ),
    ],
    ids=["usc", "parameters and an own class"],
)
def test_one_more_method_is_hidden_attacked_and_listened_to_beside_the_strengths(
    folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: tuple[str, ...],
    labels: list[str],
) -> None:
    if "usc" in labels and missing("moonshine", "swift-f0"):
        pytest.skip("needs models: personare models fetch moonshine swift-f0")
    (tmp_path / "own.py").write_text(OWN)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)  # and takes it out again
    assert _demo(folder, monkeypatch, *words) == 0
    printed = capsys.readouterr().out
    table = printed[printed.index(f"{3 + len(labels)} methods") : printed.index("not ")]
    assert _names(table, *STRENGTHS, *labels) == [*STRENGTHS, *labels]
    page = (folder / "run" / "report" / "report.html").read_text(encoding="utf-8")
    for label in labels:
        assert f"{label}: " in printed, "a verdict of its own"
        assert label in page


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (("--method", "uscc"), "no anonymizer 'uscc'; did you mean 'usc'?"),
        (("--method", "chain"), "chain needs the parameter 'steps'"),
        (("--method", "nowhere:Nothing"), "module 'nowhere' cannot be imported"),
        (("--method", "mcadams", "--set", "mcadams.alhpa=1"), "did you mean 'alpha'?"),
        (("--method", "mcadams", "--set", "mcadam.alpha=1"), "did you mean 'mcadams'?"),
        (("--method", "mcadams", "--set", "alpha=1"), "write method.parameter=value"),
        (("--set", "mcadams.alpha=1"), "add --method mcadams"),
    ],
)
def test_a_mistake_about_a_method_is_one_line_before_any_voice_is_made(
    tmp_path: Path, personare: Any, words: tuple[str, ...], line: str
) -> None:
    ended = personare("demo", tmp_path / "demo", *words)
    assert ended.code == 2 and line in ended.stderr and ended.stderr.count("\n") == 1, ended.stderr
    assert not (tmp_path / "demo").exists()


def test_a_method_whose_models_are_not_there_says_so_before_any_voice_is_made(
    tmp_path: Path, personare: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PERSONARE_HOME", str(tmp_path / "empty"))
    ended = personare("demo", tmp_path / "demo", "--method", "usc")
    assert ended.code == 2 and "personare models fetch moonshine swift-f0" in ended.stderr
    assert not (tmp_path / "demo").exists()
