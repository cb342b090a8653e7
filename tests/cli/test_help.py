"""Help that answers at once: every page of it reads, and nothing heavy is loaded for it or by an import."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from conftest import Command

HEAVY = (
    "torch",
    "onnxruntime",
    "onnx",
    "personare.reports.drawing",
    "sklearn",
    "scipy.stats",
    "polars",
    "pyworld",
    "ray",
)


def commands() -> list[list[str]]:
    """Every command and subcommand, found in the application itself."""
    from typer.main import get_command

    from personare.cli import app

    found: list[list[str]] = [[]]
    root = get_command(app)
    for name, command in root.commands.items():  # type: ignore[attr-defined]
        found.append([name])
        found += [[name, inner] for inner in getattr(command, "commands", {})]
    return found


@pytest.mark.parametrize("words", commands(), ids=" ".join)
def test_every_help_page_reads_in_80_columns(
    words: list[str], personare: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    done = personare(*words, "--help")
    assert done.code == 0 and "Usage" in done.stdout
    assert not done.stderr
    assert "…" not in done.stdout, "a word is cut"
    assert max(map(len, done.stdout.splitlines())) <= 80


def test_examples_end_a_help_page_and_each_is_a_command_line() -> None:
    """Anything else there, such as code that slipped into a docstring, is a fault."""
    from typer.main import get_command

    from personare.cli import app

    root = get_command(app)
    pages = [root, *root.commands.values()]  # type: ignore[attr-defined]
    pages += [inner for page in pages[1:] for inner in getattr(page, "commands", {}).values()]
    examples = [
        line
        for page in pages
        for part in re.split(r"^Examples?:$", page.help or "", flags=re.MULTILINE)[1:]
        for line in filter(None, part.splitlines())
    ]
    assert len(examples) > len(pages)
    assert not [line for line in examples if not re.match(r"  (personare |[a-z]\w* .*\| personare )", line)]


def test_help_loads_nothing_heavy() -> None:
    """The reason why help answers at once; a timed assertion would measure the machine's mood."""
    program = (
        "import sys\nsys.argv = ['personare', '--help']\nfrom personare.cli import main\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        f"print('LOADED', [m for m in {HEAVY!r} if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.rstrip().endswith("LOADED []")


def test_importing_every_room_loads_nothing_heavy() -> None:
    program = (
        "import sys, personare, personare.core, personare.corpora, personare.anonymizers, personare.attackers\n"
        "import personare.listeners, personare.metrics, personare.engine, personare.reports, personare.pipeline\n"
        f"print([m for m in {HEAVY!r} if m in sys.modules and m != 'polars'])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
