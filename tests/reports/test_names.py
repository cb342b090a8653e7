"""A report can be shown to others: no name, id, path, original sound or transcript is in it unless its maker asks."""

from __future__ import annotations

import base64
import io
import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import soundfile

from personare.core.audio import read_mono
from personare.reports.report import page_of_run, write_run_report
from personare.reports.run import read_run
from personare.reports.sections.redaction import redacted, speaker_numbers, without_paths
from reports.runs import SPEAKERS, write_evaluation, write_run

NAMES = ("anna", "/data", "speech_1", "voice.onnx")
TRANSCRIPT = ("A & B", "A &amp; B", "A \\& B")


@pytest.fixture(scope="module", params=[write_run, write_evaluation], ids=["study", "evaluation"])
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    written: Path = request.param(tmp_path_factory.mktemp("run"))
    return written


def texts(paths: list[Path]) -> dict[str, str]:
    return {path.name: path.read_text(encoding="utf-8") for path in paths if path.suffix != ".pdf"}


def sounds_in(page: str) -> list[np.ndarray[tuple[int], np.dtype[np.int16]]]:
    """Every sound of a page, decoded."""
    found = re.findall(r'src="data:audio/flac;base64,([^"]+)"', page)
    return [soundfile.read(io.BytesIO(base64.b64decode(text)), dtype="int16")[0] for text in found]


def clips_of(folder: Path, *, original: bool) -> list[np.ndarray[tuple[int], np.dtype[np.int16]]]:
    """The clips of a run, as the page encodes them."""
    clips = [a for a in read_run(folder).of_kind("clip") if (a.conditions["anonymizer"] == "original") == original]
    return [(read_mono(clip.path).samples * 32768).round().astype(np.int16) for clip in clips]


def same(one: np.ndarray[tuple[int], np.dtype[np.int16]], two: np.ndarray[tuple[int], np.dtype[np.int16]]) -> bool:
    return len(one) == len(two) and bool(np.abs(one.astype(int) - two.astype(int)).max() <= 1)


def test_nobody_is_named_in_any_format(folder: Path, tmp_path: Path) -> None:
    written = texts(write_run_report(folder, out=tmp_path))
    assert {"report.html", "report.md", "tables.tex", "findings.csv", "findings.json"} <= set(written)
    for name, text in written.items():
        for word in (*NAMES, *TRANSCRIPT):
            assert word not in text, f"{name}: {text[text.index(word) - 80 :][:160]}"
    assert "speaker 01" in written["report.html"] and "speaker 01" in "".join(
        text for name, text in written.items() if name.startswith("exposed-")
    )


def test_failures_and_notes_keep_their_sense(tmp_path: Path) -> None:
    page = texts(write_run_report(write_run(tmp_path / "run"), formats=("html",)))["report.html"]
    assert "too short" in page and "…: broken &lt;file&gt;" in page and "1 speaker is left out" in page


def test_the_page_holds_no_original_speech_and_no_transcript_unless_asked(folder: Path, tmp_path: Path) -> None:
    page = texts(write_run_report(folder, out=tmp_path / "default", formats=("html",)))["report.html"]
    heard = sounds_in(page)
    assert heard and not any(same(sound, clip) for sound in heard for clip in clips_of(folder, original=True))
    assert all(any(same(sound, clip) for clip in clips_of(folder, original=False)) for sound in heard)
    assert "the words that are spoken are the speakers' own" in page.replace("&#39;", "'")
    asked = texts(write_run_report(folder, out=tmp_path / "asked", formats=("html",), sounds="original"))["report.html"]
    originals = clips_of(folder, original=True)
    assert sum(any(same(sound, clip) for clip in originals) for sound in sounds_in(asked)) == len(originals) == 2
    assert "“A &amp; B &lt;c&gt;”" in asked and "This page holds original speech" in asked and "anna" not in asked
    silent = texts(write_run_report(folder, out=tmp_path / "none", formats=("html",), sounds="none"))["report.html"]
    assert "<audio" not in silent and "sounds (this report was made without them)" in silent


def test_the_holder_of_the_run_sees_who_is_who(folder: Path) -> None:
    run = read_run(folder)
    page = page_of_run(run, names=True)
    numbers = speaker_numbers(run)
    exposed = next(t for t in page.tables if t.name == "exposed")
    assert {row[0] for row in exposed.rows} == {f"{name} ({numbers['demo', name]})" for name in SPEAKERS}
    if run.failures:
        failed = next(t for t in page.tables if t.name == "failed-items")
        assert any(row[1].startswith("anna-07") for row in failed.rows)
    assert "speech_1" in next(t for t in page.tables if t.name == "speech").rows[0][1]
    unnamed = next(t for t in page_of_run(run).tables if t.name == "exposed")
    method = exposed.rows[-1][1]
    shares = {numbers["demo", re.sub(r" \(.*", "", row[0])]: row[5] for row in exposed.rows if row[1] == method}
    assert {row[0]: row[5] for row in unnamed.rows if row[1] == method} == shares, "the same number is the same person"


def test_numbers_follow_exposure_not_names(folder: Path) -> None:
    numbers = speaker_numbers(read_run(folder))
    assert sorted(numbers.values()) == [f"speaker {i:02d}" for i in range(1, len(SPEAKERS) + 1)]
    assert sorted(numbers, key=lambda who: numbers[who]) != sorted(numbers), "the order of names does not come through"


def test_findings_about_one_person_or_with_a_path_are_numbered_too(tmp_path: Path) -> None:
    run = write_evaluation(tmp_path / "run")
    frame = pl.read_parquet(run / "findings.parquet")
    about = pl.when(pl.int_range(pl.len()) == 0).then(pl.lit(SPEAKERS[3])).otherwise(pl.col("speaker"))
    frame.with_columns(speaker=about, embedder=pl.lit("trained:/data/anna b/voice.onnx")).write_parquet(
        run / "findings.parquet"
    )
    written = texts(write_run_report(run, out=tmp_path / "report"))
    for name, text in written.items():
        assert not any(word in text for word in NAMES), name
    assert "speaker " in written["findings.csv"] and "trained:…" in written["findings.csv"]


@pytest.mark.parametrize(
    ("message", "left"),
    [
        ("C:\\Users\\Anna B\\u1.wav: cannot be read", "…: cannot be read"),
        ("audio/anna u1.wav; left out", "…; left out"),
        ("no text for 'anna u1'; the speaker's words are unknown", "no text for …; the speaker's words are unknown"),
        ("anna-smith has 1 utterance, 3 of 4 are left", "… has 1 utterance, 3 of 4 are left"),
        ("16 of 20 utterances at L = 3", "16 of 20 utterances at L = 3"),
    ],
)
def test_messages_keep_their_sense_and_lose_names(message: str, left: str) -> None:
    assert redacted(message, ["anna-smith", "16"]) == left


@pytest.mark.parametrize(
    ("setting", "left"),
    [
        ("ctc:/home data/me", "ctc:…"),
        ("~/speech", "…"),
        ("speech/anna", "…"),
        ("..\\speech", "…"),
        ("WORLD, IEICE 2016", "WORLD, IEICE 2016"),
        ("mcadams-0f3a", "mcadams-0f3a"),
        ([0.5, {"pool": "/data/pool.npz"}], [0.5, {"pool": "…"}]),
    ],
)
def test_settings_keep_everything_but_paths(setting: object, left: object) -> None:
    assert without_paths(setting) == left
