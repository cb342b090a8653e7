"""Every language of the table, and the one that CONTRIBUTING adds, meets the requirements for a row."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from conftest import Command
from languages.contract import check_pronunciation, check_row
from personare.core.carriers import WEIGHTS
from personare.core.weights import missing
from personare.languages import LANGUAGES, Language
from personare.listeners.normalize import ByLanguage
from personare.voices.kokoro import Kokoro

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "reference" / "languages.md"


@pytest.mark.parametrize("row", LANGUAGES.values(), ids=lambda row: row.code)
def test_a_row_keeps_what_rows_promise(row: Language) -> None:
    check_row(row)


@pytest.mark.models
def test_english_is_pronounced_by_the_dictionary() -> None:
    if missing("cmudict"):
        pytest.skip("the model cmudict is not fetched")
    check_pronunciation(LANGUAGES["en"])


@pytest.mark.parametrize("row", LANGUAGES.values(), ids=lambda row: row.code)
def test_a_row_has_its_section(row: Language) -> None:
    assert f"## {row.name} ({row.code})" in PAGE.read_text(encoding="utf-8")


@pytest.fixture
def finnish(monkeypatch: pytest.MonkeyPatch) -> Language:
    """Do what the worked example says: run its code, and add its row."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    match = re.search(r"## Worked example: a language\n.*?```python\n(.*?)```", text, re.DOTALL)
    assert match is not None
    names: dict[str, Any] = {}
    exec(match[1], names)  # noqa: S102 - our own page
    row: Language = names["ROW"]
    monkeypatch.setitem(LANGUAGES, row.code, row)
    return row


def test_the_worked_example_meets_the_requirements(finnish: Language) -> None:
    check_row(finnish)
    assert finnish.normalize("Se maksaa 21 €!") == "se maksaa kaksikymmentäyksi euroa"
    assert finnish.pronounce("kengät") == "kˈeŋŋæt"


def test_the_new_row_is_used_everywhere(finnish: Language, personare: Command) -> None:
    assert ByLanguage().of_language("fi")("5 %") == "viisi prosenttia"
    listed = json.loads(personare("languages", "--json").stdout)["languages"]
    assert {one["code"]: one["status"] for one in listed}["fi"] == "experimental"


@pytest.mark.models
def test_the_new_language_is_spoken(finnish: Language) -> None:
    if missing(*Kokoro.MODELS):
        pytest.skip("the models of Kokoro are not fetched")
    import numpy as np

    phonemes = finnish.pronounce("Hyvää huomenta.")
    audio = Kokoro().speak_phonemes(phonemes, voice=1, rate=1.0, rng=np.random.default_rng(1))
    assert 0.5 < audio.duration_s < 5 and np.abs(audio.samples).max() > 0.05


def test_languages_are_listed_with_models_and_figures(personare: Command) -> None:
    done = personare("languages")
    assert done.code == 0 and all(row.name in done.stdout for row in LANGUAGES.values())
    one = json.loads(personare("languages", "de", "--json").stdout)["languages"][0]
    assert one["code"] == "de" and one["strengths"] == ["balanced", "strong"]
    assert one["recognizer"] in one["models"]
    assert set(one["spoken_by"]) == {"balanced", "strong"}
    assert ("kokoro" in one["models"]) == ("kokoro" in one["spoken_by"].values())
    assert one["download_mb"] == sum(WEIGHTS[name].size_mb for name in one["models"])
    wrong = personare("languages", "germn")
    assert wrong.code == 2 and wrong.stderr.count("\n") == 1


def test_models_of_a_language_are_listed_and_their_size_is_stated(personare: Command) -> None:
    needed = json.loads(personare("languages", "fr", "--json").stdout)["languages"][0]["models"]
    listed = json.loads(personare("models", "list", "--language", "fr", "--json").stdout)
    assert [one["model"] for one in listed["models"]] == [name for name in WEIGHTS if name in needed]
    assert "moonshine" in needed, "the English recognizer is a second opinion in language identification"
    refused = personare("models", "fetch", "--language", "nl")
    assert refused.code == 2 and "no strength speaks Dutch (nl)" in refused.stderr
    both = personare("models", "fetch", "ecapa", "--language", "de")
    assert both.code == 2 and both.stderr.count("\n") == 1
