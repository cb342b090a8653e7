"""personare listen: identical audio scores best, failures are counted, a missing library is named, JSON is whole."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import personare as pn
from conftest import hum
from personare.cli import app
from personare.core.audio import Audio, read_mono, resample, write
from personare.core.errors import ConfigError, MissingExtraError
from personare.core.findings import Finding
from personare.core.tables import Corpus
from personare.listeners.affect import fit_affect, fit_affect_classes
from personare.listeners.moonshine import Moonshine
from personare.listeners.stoi import Stoi
from personare.pipeline.builtin import listener_choices
from personare.pipeline.gate import row_of
from personare.pipeline.observe import ObserveWork, UtterancePair, in_batches
from personare.pipeline.study_listener import StudyListener

for library in ("pyworld", "pesq", "pystoi"):
    pytest.importorskip(library, reason="needs the extras 'asr', 'pitch' and 'quality'")


@pytest.fixture(autouse=True)
def own_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What tests observe is not remembered in the user's folder."""
    monkeypatch.setattr("personare.listeners.cache.root", lambda folder: (folder or tmp_path) / "observations")


@dataclass(frozen=True, eq=False)
class Pairs:
    """Originals with their anonymized audio (column ``anonymized``), and utterances that have none."""

    frame: pl.DataFrame
    missing: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Heard:
    """What the command's own function gave, in the order of the listeners."""

    findings: tuple[Finding, ...]
    failures: tuple[tuple[str, str], ...]
    notes: tuple[str, ...]


def listen(
    pairs: Pairs, *names: str, seed: int = 1, parameters: dict[str, dict[str, object]] | None = None, **more: Any
) -> Heard:
    """Listen to pairs as ``personare listen`` does; findings about the anonymized side."""
    with tempfile.TemporaryDirectory() as name:
        absent = [{**pairs.frame.row(0, named=True), "utterance": u} for u in pairs.missing]
        originals = pl.concat([pairs.frame, *([pl.DataFrame(absent, schema=pairs.frame.schema)] if absent else [])])
        Corpus(originals.drop("anonymized")).save(Path(name) / "original.parquet")
        cut = [column for column in ("audio", "start_s", "end_s") if column in pairs.frame.columns]
        anonymized = pairs.frame.drop(cut).rename({"anonymized": "audio"})
        Corpus(anonymized).save(Path(name) / "anonymized.parquet")
        result = pn.listen(
            Path(name) / "original.parquet",
            Path(name) / "anonymized.parquet",
            listeners=names,
            parameters=parameters,
            seed=seed,
            **more,
        )
    failures = tuple(dict.fromkeys((item, why) for _, item, why in result.failures))
    return Heard(tuple(result), failures, result.notes)


def make_listeners(names: Sequence[str], parameters: dict[str, dict[str, object]] | None = None) -> None:
    """Make and check listeners as ``personare listen`` does before it listens."""
    for label, choice in listener_choices(names, parameters or {}).items():
        StudyListener(label, choice).made().check()


def pairs_of(folder: Path, *, anonymized: str = "audio", missing: tuple[str, ...] = ()) -> Pairs:
    frame = Corpus.load(folder / "manifest.parquet").frame
    return Pairs(frame.with_columns(pl.col(anonymized).alias("anonymized")), missing)


def named(findings: tuple[Finding, ...], name: str) -> Finding:
    return next(f for f in findings if f.metric.name == name)


def test_identical_audio_scores_best(small_corpus: Path) -> None:
    found = listen(pairs_of(small_corpus), "pitch", "pesq", "stoi", "estoi")
    best = {"f0_spearman": 1, "pitch_correlation": 1, "voicing_error": 0, "pesq": 4.644, "stoi": 1, "estoi": 1}
    for name, value in best.items():
        assert named(found.findings, name).estimate.value == pytest.approx(value, abs=1e-3)
        assert named(found.findings, name).estimate.n == 4
    assert not found.failures


def test_failures_are_counted_and_named(small_corpus: Path) -> None:
    pairs = pairs_of(small_corpus, missing=("gone-1",))
    silent = small_corpus / "silent.wav"
    write(silent, Audio(np.zeros(12_800, np.float32), 16_000))
    (small_corpus / "text.wav").write_text("not audio")
    audio = [str(silent), str(small_corpus / "text.wav"), *pairs.frame["anonymized"].to_list()[2:]]
    broken = Pairs(pairs.frame.with_columns(pl.Series("anonymized", audio)), pairs.missing)
    found = listen(broken, "stoi", "pitch")
    assert named(found.findings, "stoi").failed == 3
    assert named(found.findings, "f0_spearman").failed == 3
    assert named(found.findings, "voicing_error").failed == 2
    reasons = dict(found.failures)
    assert "no anonymized counterpart" in reasons["gone-1"]
    assert "not audio" in reasons["anna-1"]
    assert any(u == "anna-0" and "the anonymized is silent" in reason for u, reason in found.failures)


def test_the_same_seed_gives_the_same_intervals(small_corpus: Path) -> None:
    noisy = pairs_of(small_corpus)
    for i, path in enumerate(noisy.frame["anonymized"]):
        sound = read_mono(Path(path))
        noise = 0.02 * np.random.default_rng(i).standard_normal(len(sound.samples))
        write(Path(path).with_suffix(".n.wav"), Audio((sound.samples + noise).astype(np.float32), 16_000))
    changed = noisy.frame.with_columns(pl.col("audio").str.replace(".wav", ".n.wav", literal=True).alias("anonymized"))
    found = [listen(Pairs(changed, ()), "stoi", seed=seed).findings[0].estimate for seed in (1, 1, 2)]
    assert found[0] == found[1]
    assert found[0].value == found[2].value
    assert found[0].low < found[0].value < found[0].high


@pytest.mark.models
@pytest.mark.shared
def test_words_with_and_without_written_text(shared_folder: Path) -> None:
    manifest = pl.read_csv(shared_folder / "corpus" / "manifest.tsv", separator="\t", quote_char=None)
    rows = manifest.filter((pl.col("corpus") == "librispeech-mini") & (pl.col("seconds") < 5)).head(2)
    audio = [str(shared_folder / "corpus" / a) for a in rows["audio"]]
    frame = rows.select("utterance", "speaker", "text").with_columns(
        pl.Series("audio", audio), pl.Series("anonymized", audio)
    )
    written = listen(Pairs(frame, ()), "moonshine").findings
    assert [f.conditions["anonymizer"] for f in written] == ["original", "anonymized"]
    assert written[0].estimate.value == written[1].estimate.value < 0.3
    assert written[0].conditions["reference"] == "written"
    (heard,) = listen(Pairs(frame.drop("text"), ()), "moonshine").findings
    assert heard.estimate.value == 0
    assert heard.conditions["reference"] == "heard in the original"


def test_unknown_names_are_one_line() -> None:
    with pytest.raises(ConfigError, match="no listener 'wisper'; did you mean 'whisper'"):
        make_listeners(["wisper"])
    with pytest.raises(ConfigError, match="listener 'pesq' takes nothing after a colon, not 'x'; write pesq"):
        make_listeners(["pesq:x"])
    with pytest.raises(ConfigError, match="no listener is named; name one"):
        make_listeners([])
    with pytest.raises(ConfigError, match="set for 'pich', which does not listen; did you mean 'pitch'"):
        make_listeners(["pitch"], {"pich": {"method": "harvest"}})
    with pytest.raises(ConfigError, match="pitch has no parameter 'metod'; did you mean 'method'"):
        make_listeners(["pitch"], {"pitch": {"metod": "harvest"}})


def test_a_missing_extra_is_named_before_listening(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name == "pesq" else object())
    with pytest.raises(MissingExtraError, match=r"the listener 'pesq' needs the extra 'quality'"):
        make_listeners(["pitch", "pesq"])


@pytest.mark.models
def test_each_listener_asks_for_its_own_library_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without pyworld: DIO and numbers of how it is said are refused in one line, the neural tracker is not."""
    fit_affect([hum(1), hum(2)], [[0.0], [1.0]], outputs=["x"], trained_on="hums").save(tmp_path / "x.json")
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name == "pyworld" else object())
    with pytest.raises(MissingExtraError, match=r"'pitch' needs the extra 'pitch'; .*pip install '\.\[pitch\]'"):
        make_listeners(["pitch"])
    with pytest.raises(MissingExtraError, match=r"model of affect needs the extra 'pitch'"):
        make_listeners([f"affect:{tmp_path / 'x.json'}"])
    make_listeners(["pitch-swift"])
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name == "faster_whisper" else object())
    with pytest.raises(MissingExtraError, match=r"the listener 'whisper' needs the extra 'asr'"):
        make_listeners(["moonshine", "whisper"])


def test_an_anonymized_file_at_another_rate_is_compared_all_the_same(small_corpus: Path, tmp_path: Path) -> None:
    """The same sounds at 44.1 kHz: resampled by every measure, so that nearly nothing seems to have changed."""
    pairs = pairs_of(small_corpus)
    places = []
    for row in pairs.frame.iter_rows(named=True):
        places.append(str(tmp_path / f"{row['utterance']}.wav"))
        write(Path(places[-1]), resample(read_mono(Path(row["audio"])), 44_100))
    other = Pairs(pairs.frame.with_columns(pl.Series("anonymized", places)), ())
    found = listen(other, "pitch", "pesq", "stoi", "estoi")
    assert not found.failures
    values = {finding.metric.name: finding.estimate.value for finding in found.findings}
    assert values["pesq"] > 4.5 and values["stoi"] > 0.99 and values["estoi"] > 0.99
    assert values["voicing_error"] < 0.1  # the hums keep one pitch: ranks of it would be chance


def test_the_command_prints_a_table_and_json(small_corpus: Path, tmp_path: Path) -> None:
    arguments = ["listen", str(small_corpus), str(small_corpus), "--listeners", "stoi,pitch"]
    plain = CliRunner().invoke(app, arguments)
    assert plain.exit_code == 0, plain.output
    assert "STOI" in plain.stdout
    machine = CliRunner().invoke(app, [*arguments, "--json"])
    found = json.loads(machine.stdout)
    assert {row["metric"] for row in found["findings"]} == {
        "stoi",
        "f0_spearman",
        "pitch_correlation",
        "voicing_error",
    }
    assert all(row["n"] == 4 and row["failed"] == 0 for row in found["findings"])


def test_one_speaker_has_no_interval(small_corpus: Path) -> None:
    pairs = pairs_of(small_corpus)
    alone = Pairs(pairs.frame.filter(pl.col("speaker") == "anna"), ())
    found = listen(alone, "stoi")
    assert found.findings[0].text.endswith(" [-]")
    assert row_of(found.findings[0])["low"] is None


def test_affect_of_identical_audio_agrees_and_needs_a_model(small_corpus: Path, tmp_path: Path) -> None:
    pairs = pairs_of(small_corpus)
    batch = [read_mono(Path(path)) for path in pairs.frame["audio"]]
    model = tmp_path / "model.json"
    ratings = [[float(i)] for i in range(len(batch))]
    fit_affect(batch, ratings, outputs=["arousal"], trained_on="hums").save(model)
    found = listen(pairs, f"affect:{model}").findings
    assert found[0].metric.name == "ccc"
    assert found[0].estimate.value == pytest.approx(1)
    assert found[0].conditions["of"] == "arousal"
    with pytest.raises(ConfigError, match="listener 'affect' needs a model of your own; write affect:MODEL"):
        make_listeners(["affect"])
    words = ["listen", str(small_corpus), str(small_corpus), "--json", "--listeners"]
    printed = CliRunner().invoke(app, [*words, f"affect:{model}"])
    assert json.loads(printed.stdout)["findings"][0]["title"] == "Concordance correlation CCC"
    assert isinstance(CliRunner().invoke(app, [*words, "affect:model.pt"]).exception, ConfigError)
    set_by_hand = CliRunner().invoke(app, [*words, "affect", "--set", f"affect.model={model}"])
    by_hand, by_name = (json.loads(one.stdout)["findings"][0] for one in (set_by_hand, printed))
    assert by_hand["value"] == by_name["value"] and by_hand["conditions"]["of"] == "arousal"


def test_categories_are_counted_by_average_recall(small_corpus: Path, tmp_path: Path) -> None:
    """With labels: original and anonymized against them. Without: against what was heard in the original."""
    pairs = pairs_of(small_corpus)
    moods = ["calm" if speaker in ("anna", "bela") else "excited" for speaker in pairs.frame["speaker"]]
    batch = [read_mono(Path(path)) for path in pairs.frame["audio"]]
    model = tmp_path / "model.json"
    fit_affect_classes(batch, moods, trained_on="hums").save(model)
    name = f"affect:{model}"
    (alone,) = listen(pairs, name).findings
    assert (alone.metric.name, alone.estimate.value, alone.chance) == ("uar", 1.0, 0.5)
    assert alone.conditions["reference"] == "heard in the original"
    noted = Pairs(pairs.frame.with_columns(pl.Series("emotion", moods)), ())
    before, after = listen(noted, name).findings
    assert (before.conditions["reference"], before.conditions["classes"]) == ("noted", 2)
    assert (before.conditions["anonymizer"], after.conditions["anonymizer"]) == ("original", "anonymized")
    assert before.estimate.value == after.estimate.value == 1.0
    swapped = noted.frame.with_columns(pl.col("anonymized").reverse())
    assert listen(Pairs(swapped, ()), name).findings[1].estimate.value == 0.0
    assert "100.0 %" in after.text


def test_batches_are_of_about_equal_length_and_hold_everything(tmp_path: Path) -> None:
    pairs = []
    for i, size in enumerate([5, 1, 9, 3, 7, 2, 8, 4, 6, 0]):
        path = tmp_path / f"{i}.wav"
        path.write_bytes(b"x" * size)
        pairs.append(UtterancePair(str(i), path, path))
    first, last = in_batches(pairs, Moonshine)
    assert len(first) == 8
    assert in_batches(pairs, Stoi) == [(pair,) for pair in pairs]
    assert [p.original.stat().st_size for p in (*first, *last)] == sorted(range(10))


def test_one_broken_pair_does_not_fail_its_neighbours(small_corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = sorted(small_corpus.glob("anna/*.wav"))
    pairs = [UtterancePair(path.stem, path, path) for path in (*paths[:2], small_corpus / "absent.wav")]
    rows = ObserveWork(Stoi())(pairs)
    assert isinstance(rows[2], str)
    assert "absent.wav" in rows[2]
    assert not isinstance(rows[0], str)
    assert rows[0].sides["both"].values["stoi"] == pytest.approx(1)

    def broken(self: Stoi, *_: object) -> None:
        raise RuntimeError("a bug")

    monkeypatch.setattr(Stoi, "_one", broken)
    assert ObserveWork(Stoi(), remember=False)(pairs)[0] == "RuntimeError: a bug"
