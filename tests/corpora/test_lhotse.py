from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from personare.core.errors import CorpusError
from personare.corpora import read_corpus

Sound = Callable[..., Path]
Row = dict[str, Any]


def recording(name: str, source: str, *, kind: str = "file", duration_s: float = 1.0) -> Row:
    sources = [{"type": kind, "channels": [0], "source": source}]
    rate_hz = 16_000
    return {
        "id": name,
        "sources": sources,
        "sampling_rate": rate_hz,
        "num_samples": round(rate_hz * duration_s),
        "duration": duration_s,
        "channel_ids": [0],
    }


def supervision(name: str, source: str, start_s: float, duration_s: float, **more: Any) -> Row:
    return {"id": name, "recording_id": source, "start": start_s, "duration": duration_s, "channel": 0, **more}


def write_rows(path: Path, rows: list[Row]) -> None:
    text = "".join(json.dumps(row) + "\n" for row in rows)
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(text.encode()))
    else:
        path.write_text(text, encoding="utf-8")


@pytest.mark.parametrize("suffix", ["jsonl", "jsonl.gz"])
def test_recordings_with_supervisions(tmp_path: Path, sound: Sound, suffix: str) -> None:
    sound("r1.wav", duration_s=1.0)
    sound("r2.wav", duration_s=1.0)
    write_rows(
        tmp_path / f"mini_recordings_dev.{suffix}",
        [recording("r1", "r1.wav"), recording("r2", str(tmp_path / "r2.wav")), recording("r3", "r3.wav")],
    )
    write_rows(
        tmp_path / f"mini_supervisions_dev.{suffix}",
        [
            supervision("s1", "r1", 0.0, 1.0, speaker="a", gender="female", text="WHOLE"),
            supervision("s2", "r2", 0.25, 0.5, speaker="b", gender="male", text="PART"),
            supervision("s3", "r9", 0.0, 1.0, speaker="b"),
        ],
    )
    reading = read_corpus(tmp_path)
    assert reading.layout == "lhotse"
    assert reading.evidence == f"mini_recordings_dev.{suffix} and mini_supervisions_dev.{suffix}"
    assert reading.corpus.frame.drop("audio").rows() == [
        ("s1", "a", None, None, 1.0, "f", "WHOLE"),
        ("s2", "b", 0.25, 0.75, 0.5, "m", "PART"),
    ]
    assert {p.kind: p.names for p in reading.problems} == {"orphan-entry": ("s3",), "orphan-audio": ("r3",)}


def test_cuts(tmp_path: Path, sound: Sound) -> None:
    sound("r1.wav", duration_s=1.0)
    whole = recording("r1", "r1.wav")
    spoken = [supervision("s1", "r1", 0.1, 0.2, speaker="a"), supervision("s2", "r1", 0.3, 0.1, speaker="b")]
    cuts: list[Row] = [
        {"id": "c1", "start": 0.5, "duration": 0.5, "channel": 0, "supervisions": spoken, "recording": whole},
        {"id": "c2", "start": 0.0, "duration": 0.5, "channel": 0, "supervisions": [], "recording": whole},
        {"id": "c3", "type": "MixedCut", "tracks": []},
    ]
    write_rows(tmp_path / "cuts.jsonl.gz", cuts)
    for path in (tmp_path, tmp_path / "cuts.jsonl.gz"):
        reading = read_corpus(path)
        assert reading.corpus.frame.select("utterance", "speaker", "start_s", "end_s").rows() == [
            ("s1", "a", 0.6, 0.8),
            ("s2", "b", 0.8, 0.9),
        ]
        assert {p.kind: p.names for p in reading.problems} == {"bad-line": ("c3",), "no-speaker": ("c2",)}


def test_cuts_beside_recordings_are_named_as_not_read(tmp_path: Path, sound: Sound) -> None:
    sound("r1.wav", duration_s=1.0)
    write_rows(tmp_path / "recordings.jsonl", [recording("r1", "r1.wav")])
    write_rows(tmp_path / "supervisions.jsonl", [supervision("s1", "r1", 0.0, 1.0, speaker="a")])
    write_rows(tmp_path / "cuts.jsonl", [])
    assert read_corpus(tmp_path).notes == ("not read: cuts.jsonl (name a file of cuts itself to read it)",)


@pytest.mark.parametrize("kind", ["command", "url"])
def test_only_files_are_read(tmp_path: Path, kind: str) -> None:
    write_rows(tmp_path / "recordings.jsonl", [recording("r1", "touch owned", kind=kind)])
    write_rows(tmp_path / "supervisions.jsonl", [supervision("s1", "r1", 0.0, 1.0, speaker="a")])
    with pytest.raises(CorpusError, match=f"recording 'r1' is a {kind}, not a file"):
        read_corpus(tmp_path)
    assert not (tmp_path / "owned").exists()


def test_other_json_is_refused_in_one_line(tmp_path: Path) -> None:
    write_rows(tmp_path / "recordings.jsonl", [{"name": "x"}])
    write_rows(tmp_path / "supervisions.jsonl", [{"name": "x"}])
    with pytest.raises(CorpusError, match="not as lhotse writes it"):
        read_corpus(tmp_path)


def test_a_broken_archive(tmp_path: Path) -> None:
    (tmp_path / "cuts.jsonl.gz").write_bytes(b"not gzip")
    with pytest.raises(CorpusError, match="cannot be read as UTF-8 text"):
        read_corpus(tmp_path)
