"""A corpus of several languages is measured language by language, and English recognizers refuse the others."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import personare as pn
from personare.core.audio import write
from personare.core.errors import StudyError
from personare.pipeline.builtin import recognizer_for
from personare.pipeline.check import check_study
from personare.pipeline.per_language import per_language
from personare.pipeline.study import AttackerChoice, Bound, CorpusChoice, Study
from pipeline.test_speaker_survey import sound


def corpus(folder: Path, languages: dict[str, str | None]) -> Path:
    """Two utterances of each speaker, in the language that is stated for them."""
    rows = []
    for number, (speaker, language) in enumerate(languages.items()):
        for take in (1, 2):
            name = f"{speaker}{take}"
            write(folder / f"{name}.wav", sound(0.3 + 0.05 * number, duration_s=1.0))
            row = {"utterance": name, "speaker": speaker, "audio": f"{name}.wav", "text": "eins", "language": language}
            rows.append(row)
    pl.DataFrame(rows, schema_overrides={"language": pl.String}).write_parquet(folder / "manifest.parquet")
    return folder


def study(path: Path, **more: object) -> Study:
    attackers = {"ignorant": AttackerChoice("ignorant", embedder="energy")}
    known = {"corpora": {"calls": CorpusChoice(path=path)}, "attackers": attackers, **more}
    return Study("languages", anonymizers={"mcadams": {"method": "mcadams"}}, **known)  # type: ignore[arg-type]


def test_every_language_is_a_corpus_of_its_own(tmp_path: Path) -> None:
    speakers = {"a": "de", "b": "de", "c": "fr", "d": "fr", "e": "es", "f": None}
    path = corpus(tmp_path, speakers)
    split = per_language(study(path, bounds=(Bound("eer", at_least=0.3, corpus="calls"),)), stages=tmp_path)
    assert {label: choice.spoken for label, choice in split.corpora.items()} == {"calls (de)": "de", "calls (fr)": "fr"}
    assert [bound.corpus for bound in split.bounds] == ["calls (de)", "calls (fr)"]
    assert "German (de) 4, French (fr) 4, Spanish (es) 2" in split.notes
    assert "Spanish (es) has 1 speaker and is not attacked" in split.notes
    assert "2 utterances whose language is not given are left out" in split.notes
    assert per_language(split, stages=tmp_path) == split


def test_one_language_changes_nothing(tmp_path: Path) -> None:
    same = study(corpus(tmp_path, {"a": "de", "b": "de", "c": None}))
    assert per_language(same, stages=tmp_path) is same
    stated = study(tmp_path, corpora={"calls": CorpusChoice(path=tmp_path, language="German")})
    assert stated.corpora["calls"].language == "de"


def test_findings_name_their_language_and_no_number_pools(tmp_path: Path) -> None:
    path = corpus(tmp_path / "in", {"a": "de", "b": "de", "c": "fr", "d": "fr"})
    result = pn.run_study(study(path, metrics=("eer",), skip_impossible=True), tmp_path / "run")
    assert {finding.conditions["corpus"] for finding in result.findings} == {"calls (de)", "calls (fr)"}


def test_an_english_recognizer_refuses_other_languages(tmp_path: Path) -> None:
    path = corpus(tmp_path / "in", {"a": "de", "b": "de", "c": "en", "d": "en"})
    checked = check_study(study(path, listeners=("moonshine",)), tmp_path / "stages", home=tmp_path)
    refused = [line for line in checked.problems if "moonshine" in line]
    assert len(refused) == 1 and refused[0].startswith("corpora: calls (de): listener 'moonshine' recognizes English")
    assert "German (de) 2; use the listener whisper-base or whisper-small" in refused[0]
    with pytest.raises(StudyError, match="recognizes English"):
        pn.run_study(study(path, listeners=("moonshine",)), tmp_path / "run")


def test_the_usual_recognizer_follows_the_language() -> None:
    assert [recognizer_for(one) for one in ((), ("en",), ("de",), ("de", "en"))] == [
        *("moonshine", "moonshine"),
        *("whisper-base", "whisper-base"),
    ]
