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
