"""personare express at the door: a recording becomes symbols, symbols become speech; mistakes are one line."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from conftest import Command
from personare.core.audio import read_mono, resample, write
from personare.voices.piper import Piper

HEAD = '{"format": "personare-expression", "version": 1}\n{"recording": "a.wav", "speaker": "a", "gender": "f"}\n'


def test_a_mistake_is_one_line(personare: Command, tmp_path: Path) -> None:
    symbols, full = tmp_path / "symbols.jsonl", tmp_path / "full"
    symbols.write_text(HEAD + '{"words": "Yes.", "label": "joy"}\n')
    full.mkdir()
    (full / "file").touch()
    for words, reason in {
        ("speak", symbols, tmp_path / "out"): "line 3: no label 'joy'",
        ("speak", tmp_path / "gone", tmp_path / "out"): "cannot be read",
        ("encode", symbols, symbols): "exists already",
        ("encode", tmp_path, tmp_path / "new", "--keep", "everything"): "'everything' is not allowed",
    }.items():
        ended = personare("express", *map(str, words))
        assert ended.code == 2 and reason in ended.stderr and ended.stderr.count("\n") == 1
    symbols.write_text(HEAD + '{"words": "Yes."}\n')
    ended = personare("express", "speak", str(symbols), str(full))
    assert ended.code == 2 and "name a new folder" in ended.stderr


@pytest.mark.models
def test_a_recording_becomes_symbols_and_symbols_speech(personare: Command, tmp_path: Path) -> None:
    audio = Piper()("Kids are talking by the door.", voice=3, rate=1.0, rng=np.random.default_rng(1))
    write(tmp_path / "one.wav", resample(audio, 16_000))
    symbols = tmp_path / "one.jsonl"
    ended = personare("express", "encode", str(tmp_path / "one.wav"), str(symbols), "--language", "en", "--json")
    assert ended.code == 0
    told = json.loads(ended.stdout)
    assert told["recordings"] == 1 and 0 < told["bits_per_sentence"] <= 11.7
    spoken: list[NDArray[np.float32]] = []
    for label in ("sadness", "anger", "anger"):
        rows = [json.loads(line) for line in symbols.read_text(encoding="utf-8").splitlines()]
        rows[2]["label"] = label
        edited = tmp_path / "edited.jsonl"
        edited.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
        folder = tmp_path / f"out{len(spoken)}"
        ended = personare("express", "speak", str(edited), str(folder), "--key", str(tmp_path / "key"))
        assert ended.code == 0, ended.stderr
        spoken.append(read_mono(folder / "one.wav").samples)
    assert len(spoken[0]) > len(spoken[1])
    assert np.array_equal(spoken[1], spoken[2])
