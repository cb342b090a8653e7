"""Making the corpus of invented speakers: any order, any number of jobs, any interruption, the same bits in the end."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from personare.core.audio import Audio, probe, write
from personare.core.errors import AudioError, ConfigError, OutputError, WeightsError
from personare.core.tables import Corpus
from personare.core.weights import home
from personare.corpora.voices.plan import PlannedUtterance
from personare.corpora.voices.synthesizer import synthesize
from personare.engine import ProcessPool, Result, Serial
from personare.pipeline.jobs import voices as study
from personare.pipeline.jobs.voices import SpokenUtterance, VoicesSummary, Wanted, make_voices

SMALL = Wanted(speakers=3, utterances=2, seed=4, rate_hz=16_000)


def tone(utterance: PlannedUtterance, *, rate_hz: int) -> Audio:
    """Stand in for the network where only the orchestration is tested: a hum that depends on what is said."""
    pitch_hz = 100 + sum(utterance.phonemes.encode()) % 200
    return Audio((0.1 * np.sin(2 * np.pi * pitch_hz * np.arange(rate_hz // 10) / rate_hz)).astype(np.float32), rate_hz)


@pytest.fixture
def spoken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Speak by ``tone``, in a fresh cache folder; gives the names of the utterances spoken, in order."""
    names: list[str] = []

    def speak(utterance: PlannedUtterance, *, rate_hz: int) -> Audio:
        names.append(utterance.name)
        return tone(utterance, rate_hz=rate_hz)

    monkeypatch.setenv("PERSONARE_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(study, "synthesize", speak)
    monkeypatch.setattr(study, "files_of", lambda name: {})
    return names


@pytest.fixture
def fresh_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cache folder that has the models and no clips."""
    models = home() / "models"
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "models").symlink_to(models)
    monkeypatch.setenv("PERSONARE_HOME", str(tmp_path / "home"))


def make(target: Path, wanted: Wanted = SMALL) -> VoicesSummary:
    return make_voices(target, wanted, engine=Serial())


def content(folder: Path) -> dict[str, bytes]:
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def test_the_corpus_says_who_speaks_and_what(spoken: list[str], tmp_path: Path) -> None:
    summary = make(tmp_path / "out")
    corpus = Corpus.load(tmp_path / "out" / "manifest.parquet")
    assert corpus.frame["utterance"].to_list() == ["v001-01", "v001-02", "v002-01", "v002-02", "v003-01", "v003-02"]
    assert corpus.frame["gender"].to_list() == ["f", "f", "m", "m", "f", "f"]
    assert corpus.frame["text"].null_count() == 0 and set(corpus.frame["accent"]) <= {"american", "british"}
    assert all(probe(Path(a)).rate_hz == 16_000 for a in corpus.frame["audio"])
    assert (summary.speakers, summary.done, summary.kept, summary.failed) == (3, 6, 0, 0)
    assert summary.speech_s == pytest.approx(0.6) == pytest.approx(corpus.frame["duration_s"].sum())
    assert not (tmp_path / "out" / "failures.tsv").exists()


def test_what_is_there_is_never_spoken_again(spoken: list[str], tmp_path: Path) -> None:
    make(tmp_path / "a")
    first = len(spoken)
    again, elsewhere = make(tmp_path / "a"), make(tmp_path / "b")
    assert len(spoken) == first == 6 and (again.kept, elsewhere.kept, again.made_s) == (6, 6, 0)
    assert np.isnan(again.real_time_factor) and content(tmp_path / "a") == content(tmp_path / "b")
    make(tmp_path / "c", Wanted(4, 2, seed=4, rate_hz=16_000))
    assert spoken[first:] == ["v004-01", "v004-02"], "a larger corpus of the same seed reuses the smaller one"


def test_an_interrupted_run_ends_with_the_same_bits(spoken: list[str], tmp_path: Path) -> None:
    make(tmp_path / "whole")

    def stop_after_three(result: Result[PlannedUtterance, SpokenUtterance]) -> None:
        if result.index == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        make_voices(tmp_path / "torn", SMALL, engine=Serial(), watch=stop_after_three)
    assert not (tmp_path / "torn" / "manifest.parquet").exists()
    (tmp_path / "torn" / "v001" / ".v001-02-0badcafe.part.flac").write_bytes(b"left by a killed run")
    (tmp_path / "torn" / "v001" / "v001-01.flac").write_bytes(b"no longer audio")
    make(tmp_path / "torn")
    assert content(tmp_path / "torn") == content(tmp_path / "whole")


def test_a_failure_is_a_row_and_is_tried_again(
    spoken: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def hoarse(utterance: PlannedUtterance, *, rate_hz: int) -> Audio:
        if utterance.name == "v002-01":
            raise AudioError("lost the voice")
        return tone(utterance, rate_hz=rate_hz)

    with monkeypatch.context() as patch:
        patch.setattr(study, "synthesize", hoarse)
        summary = make(tmp_path / "out")
    assert summary.failures == (("v002-01", "lost the voice"),) and (summary.done, summary.failed) == (5, 1)
    listed = pl.read_csv(tmp_path / "out" / "failures.tsv", separator="\t")
    assert listed.rows() == [("v002-01", "lost the voice")]
    assert "v002-01" not in Corpus.load(tmp_path / "out" / "manifest.parquet").frame["utterance"]
    assert make(tmp_path / "out").failed == 0 and spoken == ["v002-01"]
    assert not (tmp_path / "out" / "failures.tsv").exists()


def test_a_foreign_target_is_refused_untouched(spoken: list[str], tmp_path: Path) -> None:
    foreign = tmp_path / "mine"
    foreign.mkdir()
    (foreign / "thesis.txt").write_text("years of work")
    with pytest.raises(OutputError, match="is not empty and was not made by personare voices; name a new folder"):
        make(foreign)
    assert content(foreign) == {"thesis.txt": b"years of work"}
    with pytest.raises(OutputError, match="is a file; name a folder"):
        make(foreign / "thesis.txt")


def test_other_settings_need_another_folder(spoken: list[str], tmp_path: Path) -> None:
    make(tmp_path / "out")
    before = content(tmp_path / "out")
    for other in (Wanted(3, 2, 5, 16_000), Wanted(3, 3, 4, 16_000), Wanted(3, 2, 4, 8_000)):
        with pytest.raises(OutputError, match=r"holds voices made with other settings \(see voices.json\)"):
            make(tmp_path / "out", other)
    assert content(tmp_path / "out") == before
    assert json.loads(before["voices.json"])["seed"] == 4


def test_an_absurd_rate_is_one_line() -> None:
    with pytest.raises(ConfigError, match="rate must be 8000 to 48000 Hz, not 400"):
        Wanted(1, 1, 1, 400)


def test_a_missing_model_is_said_once_before_the_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PERSONARE_HOME", str(tmp_path / "empty"))
    with pytest.raises(WeightsError, match="fetch it with: personare models fetch kokoro"):
        make(tmp_path / "out")


@pytest.mark.slow
@pytest.mark.models
def test_the_same_seed_gives_the_same_bits_here_and_in_a_pool(
    fresh_home: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = Wanted(speakers=2, utterances=1, seed=9, rate_hz=16_000)
    make_voices(tmp_path / "here", wanted, engine=Serial())
    items = wanted.plan()
    for item in reversed(items):  # once more, in another order and with nothing kept
        write(tmp_path / "again" / f"{item.name}.flac", synthesize(item, rate_hz=16_000))
        clip = f"{item.speaker.name}/{item.name}.flac"
        assert (tmp_path / "again" / f"{item.name}.flac").read_bytes() == (tmp_path / "here" / clip).read_bytes()
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "models").symlink_to((tmp_path / "home" / "models").resolve())
    monkeypatch.setenv("PERSONARE_HOME", str(tmp_path / "other"))
    pooled = make_voices(tmp_path / "pool", wanted, engine=ProcessPool(2))
    assert pooled.kept == 0 and content(tmp_path / "pool") == content(tmp_path / "here")


def test_another_source_is_another_corpus(spoken: list[str], tmp_path: Path) -> None:
    many = Wanted(speakers=3, utterances=2, seed=4, rate_hz=16_000, source="piper")
    make(tmp_path / "many", many)
    assert spoken == ["p001-01", "p001-02", "p002-01", "p002-02", "p003-01", "p003-02"]
    assert json.loads((tmp_path / "many" / "voices.json").read_text(encoding="utf-8"))["source"] == "piper"
    assert many.models == ("piper", "cmudict") and SMALL.models == ("kokoro",)
    with pytest.raises(OutputError, match="made with other settings"):
        make(tmp_path / "many", SMALL)
    make(tmp_path / "kokoro")
    assert "source" not in json.loads((tmp_path / "kokoro" / "voices.json").read_text(encoding="utf-8"))


def test_a_gender_may_first_be_known_after_hundreds_of_utterances(spoken: list[str], tmp_path: Path) -> None:
    """Pitch tells the gender of some of Piper's voices only: the first known one may come late."""
    many = Wanted(speakers=13, utterances=20, seed=3, rate_hz=8_000, source="piper")
    make(tmp_path / "many", many)
    genders = Corpus.load(tmp_path / "many" / "manifest.parquet").frame["gender"]
    first = int(genders.is_not_null().arg_true()[0])
    assert first >= 100, "too early for this test: ask for other speakers"
    assert genders.null_count() >= 100
