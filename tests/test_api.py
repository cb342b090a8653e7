"""The library as a researcher types it: light to import, arrays and paths of any kind in, results that print."""

from __future__ import annotations

import gc
import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import soundfile
import yaml

import personare as pn
from conftest import hum
from listener_plugins import Likeness
from personare.core.audio import Audio, quantize, read_mono, write
from personare.core.errors import AudioError, ConfigError, StudyError, UnknownNameError
from personare.listeners import LISTENERS
from pipeline.blends import write_blends
from pipeline.tiny import write_embedder

HEAVY = (
    "numpy",
    "polars",
    "scipy",
    "soundfile",
    "soxr",
    "onnxruntime",
    "onnx",
    "torch",
    "jinja2",
    "yaml",
)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("api")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PERSONARE_HOME", str(folder / "home"))
        write_embedder(folder / "net.onnx")
        write_blends(folder / "corpus", attacked=4, enrolment=2, trial=2, train=0)
        yield folder


@pytest.fixture(scope="module")
def result(place: Path) -> pn.Results:
    """Python's own way: a corpus in memory, anonymized, evaluated; the run folder is a temporary one."""
    corpus = pn.read_corpus(str(place / "corpus"))
    how_hidden = {"method": "mcadams", "parameters": {"alpha": [0.6, 0.9]}}
    done = pn.anonymize_corpus(corpus, str(place / "anonymized"), **how_hidden)  # type: ignore[arg-type]
    assert (done.done, done.failed, done.method) == (16, 0, "mcadams") and len(done.corpus.frame) == 16
    how = {"embedder": f"trained:{place / 'net.onnx'}", "utterances_per_trial": (1,)}
    return pn.evaluate(corpus, done, attackers=["original", "ignorant", "lazy-informed"], **how)  # type: ignore[arg-type]


def test_importing_loads_nothing_heavy_and_starts_nothing() -> None:
    code = f"""
import sys, threading
import personare, personare.metrics
assert threading.active_count() == 1
print(*[name for name in {HEAVY!r} if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


def test_every_name_resolves_and_others_do_not() -> None:
    assert sorted(pn.__all__) == dir(pn)
    for name in pn.__all__:
        assert getattr(pn, name) is not None, name
    assert callable(pn.evaluate) and issubclass(pn.Results, pn.Findings)
    with pytest.raises(AttributeError, match="no attribute 'evalute'"):
        pn.evalute  # noqa: B018


# -- recordings


def test_a_recording_is_a_path_an_audio_or_an_array(tmp_path: Path) -> None:
    sound = hum(1)
    write(tmp_path / "a.wav", sound)
    from_path = pn.read_audio(tmp_path / "a.wav")
    assert np.array_equal(pn.read_audio(str(tmp_path / "a.wav")).samples, from_path.samples)
    assert pn.read_audio(sound) is sound
    for kind in (np.float64, np.float32, np.float16):
        read = pn.read_audio((sound.samples.astype(kind), 16_000))
        assert read.samples.dtype == np.float32 and read.rate_hz == 16_000
        np.testing.assert_allclose(read.samples, sound.samples, atol=1e-3 if kind is np.float16 else 0)
    assert pn.read_audio(([0.0, 0.5], 8_000)).duration_s == 2 / 8_000


@pytest.mark.parametrize("kind", ["int16", "int32", "uint8"])
def test_integers_mean_what_they_mean_in_a_file(tmp_path: Path, kind: str) -> None:
    codes = np.iinfo(kind)
    samples = np.linspace(codes.min, codes.max, 257).astype(kind)
    subtype = {"int16": "PCM_16", "int32": "PCM_32", "uint8": "PCM_U8"}[kind]
    stored = samples.astype(np.int16) - 128 << 8 if kind == "uint8" else samples  # soundfile takes no bytes
    soundfile.write(tmp_path / "a.wav", stored.astype(np.int16 if kind == "uint8" else kind), 16_000, subtype=subtype)
    np.testing.assert_array_equal(pn.read_audio((samples, 16_000)).samples, read_mono(tmp_path / "a.wav").samples)


def test_several_channels_become_one_whichever_way_they_lie(tmp_path: Path) -> None:
    both = [hum(1), hum(2)]
    write(tmp_path / "stereo.wav", both)
    frames = np.stack([one.samples for one in both], axis=1)
    mean = frames.mean(axis=1)
    for array in (frames, frames.T, frames.astype(np.float64)):
        np.testing.assert_allclose(pn.read_audio((array, 16_000)).samples, mean, atol=1e-6)
    np.testing.assert_allclose(pn.read_audio(tmp_path / "stereo.wav").samples, mean, atol=1e-4)


def test_what_is_no_recording_is_one_line() -> None:
    wrong = {
        "a recording is a path, an Audio, or (samples, rate_hz), not ndarray": np.zeros(3),
        "samples of int64 have no full scale": (np.array([1, 2]), 16_000),
        "samples of bool have no full scale": (np.array([True]), 16_000),
        "samples hold NaN": (np.array([np.nan]), 16_000),
        "sample rate 16 Hz is outside": (np.zeros(3), 16),
        "samples must be float32 [frames]": (np.zeros((2, 3, 4)), 16_000),
    }
    for line, source in wrong.items():
        with pytest.raises(AudioError) as caught:
            pn.read_audio(source)  # type: ignore[arg-type]
        assert line in str(caught.value) and "\n" not in str(caught.value)


def test_written_and_read_again_it_is_the_same(tmp_path: Path) -> None:
    for name in ("a.wav", "b.flac", "c.ogg"):
        path = pn.write_audio(str(tmp_path / name), (hum(1).samples, 16_000))
        again = pn.read_audio(path)
        assert path == tmp_path / name and len(again.samples) == len(hum(1).samples)
        if name != "c.ogg":
            np.testing.assert_allclose(again.samples, hum(1).samples, atol=1e-4)


# -- anonymizing


def test_the_same_key_and_speaker_give_the_same_voice() -> None:
    sound = (hum(1).samples.astype(np.float64), 16_000)
    how = {"method": "mcadams", "alpha": (0.5, 0.9)}
    first, again = (pn.anonymize(sound, key="secret", **how).samples for _ in range(2))  # type: ignore[arg-type]
    np.testing.assert_array_equal(first, again)
    for other in ({"key": "other"}, {"key": "secret", "speaker": "bela"}, {}, {"key": pn.Key.new()}):
        assert not np.array_equal(pn.anonymize(sound, **other, **how).samples, first)  # type: ignore[arg-type]
    assert not np.array_equal(first, hum(1).samples)
    with pytest.raises(ConfigError, match="did you mean 'alpha'"):
        pn.anonymize(sound, method="mcadams", alhpa=0.8)


def test_one_recording_and_a_corpus_get_the_same_voice(place: Path, tmp_path: Path) -> None:
    """The key file and the speaker's name are what counts; a file adds the rounding to 16 bits."""
    how = {"method": "mcadams", "parameters": {"alpha": [0.6, 0.9]}, "names": "keep", "key": tmp_path / "key"}
    alike = {"key": tmp_path / "key", "method": "mcadams", "alpha": (0.6, 0.9)}
    done = pn.anonymize_corpus(place / "corpus", tmp_path / "kept", **how)  # type: ignore[arg-type]
    files = dict(done.corpus.frame.select("utterance", "audio").iter_rows())
    for row in pn.read_corpus(place / "corpus").frame.head(3).iter_rows(named=True):
        alone = pn.anonymize(row["audio"], speaker=row["speaker"], **alike)  # type: ignore[arg-type]
        stored = pn.read_audio(files[row["utterance"]])
        np.testing.assert_array_equal(stored.samples * 32_768, quantize(alone.samples, bits=16))
    assert "done" in str(done) and done.to_dict()["done"] == 16 and done.private == tmp_path / "kept-private"


def test_a_corpus_that_cannot_be_used_as_a_whole_is_warned_about(place: Path, tmp_path: Path) -> None:
    frame = pn.read_corpus(place / "corpus").frame
    gone = frame.with_columns(
        pl.when(pl.col("utterance") == "s00-0").then(pl.lit("gone.wav")).otherwise("audio").alias("audio")
    )
    pn.Corpus(gone).save(tmp_path / "manifest.parquet")
    with pytest.warns(pn.CorpusWarning, match=r"gone\.wav"):
        pn.read_corpus(tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(pn.read_corpus(place / "corpus").speakers) == 4


# -- results


def test_results_print_as_short_tables(result: pn.Results) -> None:
    lines = str(result).splitlines()
    assert len(lines) < 30 and all(len(line) <= 120 for line in lines)
    assert "EER" in str(result) and "ignorant" in str(result) and "lazy-informed" in str(result)
    assert repr(result) == f"Results({len(result)} findings)"
    table = result._repr_html_()
    assert table.startswith("<table") and table.count("<tr>") >= 4
    assert result.title and result.verdict.endswith(".")


def test_results_are_findings_by_metric_and_condition(result: pn.Results) -> None:
    link = result["linkability"]
    assert {f.metric.name for f in link} == {"linkability"} and len(result["eer"]) + len(link) == len(result)
    with pytest.raises(UnknownNameError, match="'linkabilty' was not measured; did you mean 'linkability'"):
        result["linkabilty"]
    (overall,) = link.where(attacker="ignorant", gender=None)
    assert isinstance(overall, pn.Finding) and overall.conditions["N"] == 4
    assert result[0] == next(iter(result)) and list(result[:2]) == list(result)[:2]
    assert {f.conditions["gender"] for f in link if "gender" in f.conditions} == {"f", "m"}
    assert result.strongest().conditions["anonymizer"]


def test_results_become_tables_and_plain_values(result: pn.Results) -> None:
    frame, rows = result.to_polars(), result.to_dict()
    assert len(frame) == len(rows) == len(result)
    assert frame["value"].to_list() == [row["value"] for row in rows] == [f.estimate.value for f in result]
    assert frame["chance"].to_list() == [f.chance_level for f in result]
    assert {row["conditions"]["knowledge"] for row in rows} == {"original", "ignorant", "lazy-informed"}


def test_a_result_writes_its_report(result: pn.Results, tmp_path: Path) -> None:
    page = result.report(tmp_path / "report")
    assert page.is_relative_to(tmp_path / "report") and "<html" in page.read_text(encoding="utf-8")
    assert {who for who, _ in result.exposed()["ignorant"]} == {"s00", "s01", "s02", "s03"}


def test_a_temporary_run_folder_lives_as_long_as_its_result(place: Path) -> None:
    how = {"embedder": f"trained:{place / 'net.onnx'}", "attackers": ["original"], "utterances_per_trial": [1]}
    own = pn.evaluate(place / "corpus", place / "corpus", **how)  # type: ignore[arg-type]
    folder = own.folder
    assert (folder / "findings.parquet").is_file()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        del own
        gc.collect()
    assert not folder.exists()
    kept = pn.evaluate(place / "corpus", place / "corpus", out=place / "kept-run", **how)  # type: ignore[arg-type]
    del kept
    gc.collect()
    assert (place / "kept-run" / "findings.parquet").is_file()


def test_embeddings_of_a_corpus(place: Path, tmp_path: Path) -> None:
    tested = f"trained:{place / 'net.onnx'}"
    vectors, failures = pn.embed(str(place / "corpus"), embedder=tested, part="trial")
    assert vectors.vectors.shape == (8, 159) and set(vectors.speakers) == {"s00", "s01", "s02", "s03"}
    assert not failures
    frame = pn.read_corpus(place / "corpus").frame
    (tmp_path / "bad.wav").write_bytes(b"nothing")
    broken = frame.with_columns(
        pl.when(pl.col("utterance") == "s00-0")
        .then(pl.lit(str(tmp_path / "bad.wav")))
        .otherwise("audio")
        .alias("audio")
    )
    some, failures = pn.embed(pn.Corpus(broken), embedder=tested)
    assert len(some.ids) == 15 and [name for name, _ in failures] == ["s00-0"]
    with pytest.raises(UnknownNameError, match="did you mean 'ecapa'"):
        pn.embed(place / "corpus", embedder="ecappa")


# -- studies


def test_every_problem_of_a_study_is_told_at_once(place: Path) -> None:
    wrong = {
        "title": "all wrong",
        "corpora": {"speech": {"path": "corpus"}},
        "anonymizers": {"original": {}, "b2": {"method": "mcadms"}},
        "attackers": {"a": {"knowledge": "ignorrant"}, "b": {"knowledge": "original", "embedder": "trained:no.onnx"}},
        "metrics": ["eer", "linkabilty"],
        "utterances_per_trial": [30],
    }
    (place / "wrong.yaml").write_text(yaml.safe_dump(wrong), encoding="utf-8")
    with pytest.raises(StudyError) as caught:
        pn.run_study(place / "wrong.yaml")
    problems = caught.value.problems
    for line in ("'mcadams'", "'ignorant'", "no.onnx", "'linkability'", "L = 30 is impossible"):
        assert any(line in problem for problem in problems), (line, problems)
    assert all("\n" not in problem for problem in problems)
    (place / "misspelt.yaml").write_text(yaml.safe_dump({**wrong, "tilte": "x"}), encoding="utf-8")
    with pytest.raises(StudyError, match="did you mean 'title'"):
        pn.run_study(place / "misspelt.yaml")


def test_a_study_runs_into_its_folder_and_goes_on(place: Path) -> None:
    choices = {
        "title": "small",
        "corpora": {"speech": {"path": "corpus"}},
        "anonymizers": {"original": {}},
        "attackers": {"a": {"knowledge": "original", "embedder": "trained:net.onnx"}},
        "metrics": ["linkability"],
        "bounds": [{"metric": "linkability", "anonymizer": "original", "at_most": 0.01}],
        "clips": 0,
    }
    (place / "small.yaml").write_text(yaml.safe_dump(choices), encoding="utf-8")
    first = pn.run_study(place / "small.yaml", place / "small")
    assert first.executed == first.stages > 0 and [v.held for v in first.verdicts] == [False] * len(first.verdicts)
    with pytest.raises(ConfigError, match="choose from another corpus"):
        pn.run_study(place / "small.yaml", place / "other", speakers=3)
    again = pn.run_study(place / "small.yaml", place / "small", resume=True)
    assert again.executed == 0 and again.to_dict() == first.to_dict()


def test_a_registered_listener_is_used_by_studies(place: Path) -> None:
    pn.register_listener("likeness", Likeness)
    try:
        choices = {
            "title": "likeness",
            "corpora": {"speech": {"path": "corpus"}},
            "anonymizers": {"b2": {"method": "mcadams", "alpha": [0.6, 0.9]}},
            "listeners": ["likeness"],
            "metrics": [],
            "clips": 0,
        }
        (place / "heard.yaml").write_text(yaml.safe_dump(choices), encoding="utf-8")
        result = pn.run_study(place / "heard.yaml", jobs=2)
        assert not result.failures and {f.metric.name for f in result} == {"stoi"}
        assert {f.conditions["listener"] for f in result} == {"likeness"}
    finally:
        LISTENERS.forget("likeness")


def test_audio_is_what_everything_takes(tmp_path: Path) -> None:
    hidden = pn.anonymize(Audio(hum(1).samples, 16_000), key="k", method="mcadams", alpha=0.8)
    assert isinstance(hidden, pn.Audio) and hidden.rate_hz == 16_000
    assert pn.write_audio(tmp_path / "x.flac", hidden).is_file()
