"""Every command: results as JSON where asked, 80 columns without a cut word where not, examples that can be typed."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.main import get_command

from cli.command_lines import LACKING, LINES, NOT_RUN, as_object, commands, link_models, make_folder
from conftest import Command
from personare.cli import app

EVERY = commands(get_command(app))
NO_JSON = {
    "stream": "standard output carries the sound",
    "panel serve": "it serves until it is stopped",
    "app": "so does it",
}
EXPECTED = {"audit": 1}  # what mcadams made can be tied to its originals, and the audit says so
NUMBERS = itertools.count(1)
BOXES = re.compile(r"[\u2500-\u257f█\s]+")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, tiny_codec: Path) -> Iterator[Path]:
    place = tmp_path_factory.mktemp("commands")
    link_models(place / "home")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        patch.setenv("PERSONARE_HOME", str(place / "home"))
        patch.delenv("COLUMNS", raising=False)
        yield make_folder(place, tiny_codec)


def test_every_command_is_here() -> None:
    assert set(LINES) | set(NOT_RUN) == set(EVERY) and not set(LINES) & set(NOT_RUN)


def test_every_command_that_prints_results_prints_json_too() -> None:
    assert {name for name, options in EVERY.items() if "--json" not in options} == set(NO_JSON)


NO_MODELS = pytest.mark.skipif(bool(LACKING), reason=f"needs the models {', '.join(LACKING)}")
CASES = [
    pytest.param(name, line, id=f"{name} {' '.join(line)}", marks=NO_MODELS if name.startswith("codec") else ())
    for name, lines in LINES.items()
    for line in lines
]


def typed(name: str, line: tuple[str, ...]) -> list[str]:
    """The words to type; what must be new is new."""
    return [*name.split(), *(word.replace("{n}", str(next(NUMBERS))) for word in line)]


@pytest.mark.parametrize(("name", "line"), CASES)
def test_json_is_one_object_and_nothing_else(
    name: str, line: tuple[str, ...], folder: Path, personare: Command
) -> None:
    done = personare(*typed(name, line), "--json")
    assert done.code == EXPECTED.get(name, 0), done.stderr
    assert as_object(done.stdout)


@pytest.mark.parametrize(("name", "line"), CASES)
def test_80_columns_hold_everything_without_a_cut_word(
    name: str, line: tuple[str, ...], folder: Path, personare: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "400")
    wide = personare(*typed(name, line))
    if name == "forget":  # the first one had something to forget
        wide = personare(*typed(name, line))
    monkeypatch.setenv("COLUMNS", "80")
    narrow = personare(*typed(name, line))
    assert wide.code == narrow.code == EXPECTED.get(name, 0), narrow.stderr
    for printed in narrow.stdout.splitlines():
        paths = max((len(word) for word in printed.split() if "/" in word), default=0)
        assert len(printed.rstrip()) - paths <= 80, printed
    assert "…" not in narrow.stdout
    digits = re.compile(r"\d+")  # times and the numbers of new files differ from run to run
    held = {digits.sub("0", word) for word in BOXES.split(narrow.stdout)}
    lost = {digits.sub("0", word) for word in BOXES.split(wide.stdout)} - held
    assert lost <= {"method"}, narrow.stdout  # methods become headings over their rows, without a head of their own


def examples() -> Iterator[str]:
    """Every line of a help page that can be typed."""

    def inner(command: object) -> Iterator[str]:
        for one in getattr(command, "commands", {}).values():
            yield from inner(one)
        for text in (getattr(command, "help", None) or "").splitlines():
            if "personare " in text and text.startswith((" ", "personare", "cat ", "arecord")):
                yield text.strip()

    yield from inner(get_command(app))


def test_every_example_of_a_help_page_can_be_typed() -> None:
    lines = list(examples())
    assert len(lines) > 60
    for line in lines:
        words = line.partition("personare ")[2].split("|")[0].split(">")[0].split()
        name = next((" ".join(words[:n]) for n in (2, 1) if " ".join(words[:n]) in EVERY), None)
        name = "report make" if words[0] == "report" and name is None else name
        assert name is not None, line
        flags = {word.partition("=")[0] for word in words if re.match(r"--?[a-z]", word)}
        assert flags <= EVERY[name] | {"--help"}, line
        assert len(line) <= 77, "it fits a screen of 80 columns, set in by three"


def test_every_command_has_an_example() -> None:
    shown = " ".join(examples())
    without = {name for name in EVERY if f"personare {name} " not in f"{shown} " and name != "report make"}
    assert not without
