from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from personare.core.errors import CorpusError, UnknownNameError
from personare.corpora import LAYOUTS, detect, layout_named, read_corpus

Sound = Callable[..., Path]
Text = Callable[[str, str], Path]


def test_nothing_found_lists_what_was_looked_for(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match="no known layout") as caught:
        detect(tmp_path)
    for name in LAYOUTS.names():
        assert f"{name}: {layout_named(name).looks_for}" in str(caught.value)


def test_a_path_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match="no such file or folder"):
        read_corpus(tmp_path / "gone")


def test_a_mistyped_layout_is_suggested(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match="no layout 'folder'; did you mean 'folders'"):
        read_corpus(tmp_path, layout="folder")


def test_an_empty_file_is_no_corpus(text: Text) -> None:
    with pytest.raises(CorpusError, match="no known layout"):
        read_corpus(text("notes.txt", ""))


def test_several_layouts_are_named_and_none_is_guessed(tmp_path: Path, sound: Sound, text: Text) -> None:
    sound("anna/u1.wav")
    text("wav.scp", "u1 anna/u1.wav\n")
    text("utt2spk", "u1 anna\n")
    text("manifest.tsv", "utterance\tspeaker\taudio\nu1\tanna\tanna/u1.wav\n")
    with pytest.raises(CorpusError) as caught:
        read_corpus(tmp_path)
    assert str(caught.value) == (
        f"{tmp_path}: could be 'kaldi' (wav.scp and utt2spk) and 'manifest' (manifest.tsv with the columns utterance, "
        "speaker, audio); choose with --layout kaldi or --layout manifest"
    )
    for name in ("kaldi", "manifest", "folders"):
        assert read_corpus(tmp_path, layout=name).layout == name


@pytest.mark.parametrize("name", [name for name in LAYOUTS.names() if name not in ("manifest", "folders", "kaldi")])
def test_a_layout_that_is_asked_for_must_be_there(tmp_path: Path, name: str) -> None:
    with pytest.raises(CorpusError, match=f"layout '{name}' needs"):
        read_corpus(tmp_path, layout=name)


@pytest.mark.parametrize("name", LAYOUTS.names())
def test_detection_survives_anything(tmp_path: Path, name: str) -> None:
    layout = layout_named(name)
    odd = tmp_path / "odd"
    odd.mkdir()
    for file in ("manifest.tsv", "manifest.parquet", "metadata.csv", "metadata.jsonl", "metadata.parquet", "x.tsv"):
        (odd / file).write_bytes(b"\xff\xfe\x00\n\x00")
    (odd / "clips").mkdir()
    assert layout.detects(tmp_path / "gone") is None
    for path in (odd, *odd.iterdir()):
        try:
            assert layout.detects(path) is None
        except CorpusError as error:  # our own manifest is recognized, and said to be damaged
            assert name == "manifest" and "damaged" in str(error)


def test_a_folder_of_corpora_is_not_read_as_speakers(tmp_path: Path, sound: Sound, text: Text) -> None:
    sound("mine/anna/u1.wav")
    text("mine/manifest.tsv", "utterance\tspeaker\taudio\nu1\tanna\tanna/u1.wav\n")
    with pytest.raises(CorpusError, match=r"is no corpus itself, but .*mine is \('manifest': .*name that folder"):
        read_corpus(tmp_path)
    assert read_corpus(tmp_path, layout="folders").corpus.speakers == ["mine"]
