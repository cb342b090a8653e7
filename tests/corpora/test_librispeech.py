from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from personare.core.errors import CorpusError
from personare.corpora import read_corpus

Sound = Callable[..., Path]
Text = Callable[[str, str], Path]
PEOPLE = (
    ";ID  |SEX| SUBSET           |MINUTES| NAME\n"
    "14   | F | dev-clean        | 25.03 | A Name\n"
    "16   | M | dev-clean        | 25.11 | Another | Name\n"
    "17   | M | dev-clean        | 25.04 | Not Here\n"
    "19   | F | train-clean-100  | 25.19 | Of Another Subset\n"
)


@pytest.fixture
def libri(sound: Sound, text: Text, tmp_path: Path) -> Path:
    for name in ("14/208/14-208-0000", "14/208/14-208-0001", "16/7/16-7-0000"):
        sound(f"LibriSpeech/dev-clean/{name}.flac")
    text("LibriSpeech/dev-clean/14/208/14-208.trans.txt", "14-208-0000 ONE TWO\n14-208-0001 THREE\n")
    text("LibriSpeech/dev-clean/16/7/16-7.trans.txt", "16-7-0000 FOUR\n")
    text("LibriSpeech/SPEAKERS.TXT", PEOPLE)
    return tmp_path / "LibriSpeech"


@pytest.mark.parametrize("below", [".", "dev-clean", ".."])
def test_the_whole_a_subset_or_the_folder_above(libri: Path, below: str) -> None:
    reading = read_corpus(libri / below)
    assert reading.layout == "librispeech"
    assert reading.evidence.endswith("14/208/14-208.trans.txt")
    assert reading.corpus.frame.drop("audio").rows() == [
        ("14-208-0000", "14", "ONE TWO", "dev-clean", "f"),
        ("14-208-0001", "14", "THREE", "dev-clean", "f"),
        ("16-7-0000", "16", "FOUR", "dev-clean", "m"),
    ]
    assert reading.corpus.frame["audio"][0] == str(libri / "dev-clean/14/208/14-208-0000.flac")
    assert [(p.kind, p.names) for p in reading.problems] == [("idle-speaker", ("17",))]


def test_orphans_on_both_sides(libri: Path, sound: Sound, text: Text) -> None:
    sound("LibriSpeech/dev-clean/14/208/14-208-0009.flac")
    text("LibriSpeech/dev-clean/16/7/16-7.trans.txt", "16-7-0000 FOUR\n16-7-0001 GONE\n")
    kinds = {p.kind: p.names for p in read_corpus(libri).problems}
    assert kinds["orphan-audio"] == ("dev-clean/14/208/14-208-0009.flac",)
    assert kinds["orphan-entry"] == ("16-7-0001",)


def test_without_the_list_of_speakers(libri: Path) -> None:
    (libri / "SPEAKERS.TXT").unlink()
    reading = read_corpus(libri)
    assert "gender" not in reading.corpus.frame.columns
    assert "genders are unknown" in reading.notes[0]


def test_asked_for_but_not_there(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match=r"layout 'librispeech' needs speaker/chapter"):
        read_corpus(tmp_path, layout="librispeech")
