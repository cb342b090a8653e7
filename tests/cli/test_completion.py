"""Shell completion: each shell gets a script, and the words that can follow."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

PROGRAM = "import sys; sys.argv = ['personare']; from personare.cli import main; main()"


def completed(**variables: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True, env={**os.environ, **variables}
    )
    assert not done.stderr
    return done.stdout


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_shell_gets_a_script_that_asks_personare(shell: str) -> None:
    script = completed(_PERSONARE_COMPLETE=f"source_{shell}")
    assert f"_PERSONARE_COMPLETE=complete_{shell}" in script and "personare" in script


def test_commands_and_options_are_completed() -> None:
    words = completed(_PERSONARE_COMPLETE="complete_bash", COMP_WORDS="personare eva", COMP_CWORD="1")
    assert words.split() == ["evaluate"]
    options = completed(_PERSONARE_COMPLETE="complete_zsh", _TYPER_COMPLETE_ARGS="personare evaluate --guess")
    assert "--guess-gender" in options
    inner = completed(
        _PERSONARE_COMPLETE="complete_fish",
        _TYPER_COMPLETE_ARGS="personare study pl",
        _TYPER_COMPLETE_FISH_ACTION="get-args",
    )
    assert inner.startswith("plan")
