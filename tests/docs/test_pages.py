"""What the documentation names exists: links, pages, commands, options, study keys, files, versions."""

from __future__ import annotations

import dataclasses
import re
from typing import Any

import pytest
import yaml
from typer.main import get_command

import personare
from docs.pages import DOCS, ROOT, Page, pages
from personare import metrics
from personare.cli import app
from personare.core.config import load_yaml
from personare.pipeline import study as study_file
from personare.pipeline.resolve import GENERATOR, GIVEN, METHOD

PAGES = pages()
BY_NAME = {page.name: page for page in PAGES}
OTHERS_WORDS = ("docs/reference/metrics.md", "CHANGELOG.md")  # made of the cards; names what was renamed
FOLDERS = ("tests", "benchmarks", "recipes", "trainings", "examples", "src", "docs")
PACKAGES = tuple(path.name for path in (ROOT / "src" / "personare").iterdir() if path.is_dir())
METAPHORS = {
    *("ear", "ears", "friendly", "hostile", "throat", "mouth", "melody", "stranger", "strangers", "crowd", "crowds"),
    *("teacher", "teachers", "taught", "lesson", "lessons", "wish", "wishes", "disguise", "disguises", "disguised"),
    *("invented", "invents", "feeling", "feelings", "foe", "foes"),
}


def options(command: Any, words: tuple[str, ...] = ()) -> dict[tuple[str, ...], set[str]]:
    """Every command by its words, with the options it takes."""
    given = {flag for one in command.params for flag in (*one.opts, *one.secondary_opts) if flag.startswith("-")}
    found = {words: given | {"--help", "-h"}}
    for name, inner in getattr(command, "commands", {}).items():
        found |= options(inner, (*words, name))
    return found


OPTIONS = options(get_command(app))
OPTIONS[("report",)] |= OPTIONS[("report", "make")]  # personare report RUN is short for it
EVERY = set().union(*OPTIONS.values())


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Page) -> None:
    for link in page.links:
        assert not link.startswith(("http:", "https:", "/")), f"{link}: pages link to pages only"
        file, _, anchor = link.partition("#")
        target = (page.path.parent / file).resolve() if file else page.path
        assert target.is_file(), link
        if anchor:
            assert anchor in Page(target).anchors, link


def test_every_page_is_in_the_navigation_once() -> None:
    site = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))

    def leaves(part: Any) -> list[str]:
        if isinstance(part, str):
            return [part]
        return [leaf for one in (part.values() if isinstance(part, dict) else part) for leaf in leaves(one)]

    named = leaves(site["nav"])
    assert sorted(named) == sorted(path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md"))
    assert site["theme"]["font"] is False, "nothing is fetched from elsewhere"


def commands_in(page: Page) -> list[str]:
    """Every command line of a page: in blocks of no language or a console's, and in backticks."""
    blocks = "\n".join(page.blocks("", "console", "bash", "sh")).replace("\\\n", " ")
    lines = re.split(r"[\n|;]", blocks.replace("target|nontarget", ""))
    return [line.partition("#")[0] for line in (*lines, *page.inline)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_and_options_exist(page: Page) -> None:
    if page.name == "CHANGELOG.md":
        pytest.skip("it names what was renamed and what 0.1.0 had")
    for line in commands_in(page):
        words = line.replace("$ ", "").replace("[", "").replace("]", "").split()
        if words[:1] == ["time"]:
            words = words[1:]
        if words[:1] == ["personare"] and words[1:]:
            typed = tuple(word.rstrip(",") for word in words[1:])
            command = next((typed[:n] for n in (2, 1, 0) if typed[:n] in OPTIONS), ())
            assert command or typed[0].startswith("-") or typed[0] in ("...", "X"), line
            flags = [word.partition("=")[0] for word in typed if re.match(r"--?[a-z]", word)]
            unknown = [flag for flag in flags if flag not in OPTIONS[command]]
            assert not unknown, f"{line}: {unknown}"
        elif words and words[0].startswith("--"):
            assert words[0].partition("=")[0] in EVERY, line


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_files_that_are_named_exist(page: Page) -> None:
    if page.name == "CHANGELOG.md":
        pytest.skip("it names files of 0.1.0")
    words = [word for text in (*page.inline, *page.blocks("")) for word in re.findall(r"[\w./-]+\.(?:py|yaml)\b", text)]
    for word in words:
        top = word.partition("/")[0]
        if "/" in word and top in FOLDERS and "NAME" not in word:
            assert (ROOT / word).is_file(), word
        elif "/" in word and top in PACKAGES:
            assert (ROOT / "src" / "personare" / word).is_file(), word


def keys(heading: str | None = None) -> set[str]:
    """The keys that a table of the study file's page explains: what stands in backticks in its first column."""
    rows = BY_NAME["docs/reference/study-file.md"].table(heading)
    return {key for row in rows for key in re.findall(r"`(\w+)`", row[0])}


def fields(cls: type) -> set[str]:
    return {field.name for field in dataclasses.fields(cls)}


def test_every_study_key_is_explained_and_every_explained_key_exists() -> None:
    assert keys() == fields(study_file.Study)
    assert keys("corpora") == fields(study_file.CorpusChoice)
    assert keys("parts") == fields(study_file.Parts)
    assert keys("anonymizers") == {METHOD, GENERATOR, GIVEN, "level", "key"}
    assert keys("attackers") == fields(study_file.AttackerChoice)
    assert keys("listeners") == fields(study_file.ListenerChoice)
    assert keys("bounds") == fields(study_file.Bound)


def test_studies_on_the_pages_can_be_read(tmp_path: Any) -> None:
    read = 0
    for page in PAGES:
        for block in page.blocks("yaml"):
            if "title:" in block:
                path = tmp_path / "study.yaml"
                path.write_text(block, encoding="utf-8")
                load_yaml(study_file.Study, path)
                read += 1
    assert read


@pytest.mark.parametrize("page", [p for p in PAGES if p.name not in OTHERS_WORDS], ids=lambda page: page.name)
def test_no_metaphors(page: Page) -> None:
    words = re.findall(r"[a-z]+", page.text.lower())
    assert not sorted(METAPHORS.intersection(words))


def test_every_public_name_is_on_the_python_page_and_nothing_else() -> None:
    shown = re.findall(r"^::: personare\.([\w.]+)$", BY_NAME["docs/reference/api.md"].text, re.MULTILINE)
    calls = {f"metrics.{name}" for name in (*metrics.FUNCTIONS, "card", "cards")}
    assert sorted(shown) == sorted({*personare.__all__, *calls} - {"__version__", "metrics"})


def test_the_version_is_the_same_everywhere() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))["version"]
    notes = re.findall(r"^## (\d+\.\d+\.\d+)", BY_NAME["CHANGELOG.md"].text, re.MULTILINE)
    assert citation == personare.__version__ == notes[0]
