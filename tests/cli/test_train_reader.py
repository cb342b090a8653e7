"""personare train reader at the door: a voice that reads what is said, from a small corpus; mistakes are one line."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from conftest import Command
from personare.anonymizers import anonymizer
from personare.anonymizers.neural.xvector.weights import READER_NETWORKS, READING_NETWORK, open_weights, shipped_folder
from personare.core.audio import Audio, resample, write
from personare.core.files import file_digest
from personare.corpora.voices.reading_aloud import LONGEST, READERS
from personare.voices.piper import Piper
from personare.voices.spelling import ENGLISH_SYMBOL_COUNT

pytestmark = pytest.mark.models
TINY = """
plan: {steps: 4, validate_every: 2, patience: 0, warm_up: 1}
width: 8
text_blocks: 1
speech_blocks: 1
states: 4
batch: 2
alike: 4
processes: 2
held_out: 2
"""
TINY_VOICE = """
shape: {width: 16, blocks: 1, voice_width: 8}
plan: {steps: 2, validate_every: 1, patience: 0, warm_up: 1}
batch: 2
frames: 40
discriminator_crops: 2
discriminator_frames: 32
processes: 1
held_out: 1
"""
SAID = (
    *("One cat.", "Good morning.", "Thank you.", "Come in.", "Close the door.", "Who is there?", "It is late."),
    *("Time to eat.", "Cold water.", "Green grass."),
)
TEXT = "He usually walks home through the orchard."


@cache
def spoken(text: str, voice: int = 3, rate: float = 1.0) -> Audio:
    return resample(Piper()(text, voice=voice, rate=rate, rng=np.random.default_rng(1)), 16_000)


def corpus_of(folder: Path, texts: tuple[str, ...], *, broken: int = 0) -> Path:
    """A corpus that says these texts; the last ones of its files are no sound."""
    folder.mkdir()
    rows = []
    for number, text in enumerate(texts):
        path = folder / f"{number}.wav"
        write(path, spoken(text))
        if number >= len(texts) - broken:
            path.write_bytes(path.read_bytes()[:20])
        rows.append((f"u{number}", f"p{number % 4}", path.name, "said by Piper", "train"))
    frame = pl.DataFrame(rows, schema=["utterance", "speaker", "audio", "corpus", "part"], orient="row")
    frame.write_csv(folder / "manifest.tsv", separator="\t")
    return folder


def one_line(printed: str) -> str:
    assert "Traceback" not in printed
    return " ".join(printed.split())


@pytest.mark.slow
def test_it_trains_a_reader_that_reads_what_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, personare: Command
) -> None:
    pytest.importorskip("torch", reason="needs torch: pip install '.[neural]'")
    monkeypatch.setattr("personare.training.reader.run._MIN_SENTENCES", 4)
    (tmp_path / "tiny.yaml").write_text(TINY, encoding="utf-8")
    corpus, out = corpus_of(tmp_path / "speech", SAID, broken=1), tmp_path / "voice"
    words: list[str | Path] = ["--corpus", corpus, "--part", "train", "--out", out, "--jobs", "1"]
    words += ["--config", tmp_path / "tiny.yaml"]
    first = personare("train", "reader", *words)
    assert first.code == 0, first.stderr
    assert "trained on " in first.stdout
    assert "failed: u9" in one_line(first.stderr)
    assert pl.read_csv(out / "log.tsv", separator="\t")["step"].to_list() == [0, 2, 4]

    readings = {path: path.stat().st_mtime_ns for path in (out / "readings").glob("*.npz")}
    texts = {str(np.load(path)["text"]) for path in readings}
    assert {"Good morning.", "Thank you."} <= texts
    assert len(texts - set(SAID)) >= 2, "rows of words from the dictionary"
    card = json.loads((out / "voice.json").read_text(encoding="utf-8"))
    assert card["reader"]["readers"] == list(READERS)
    assert card["reader"]["symbols"] == ENGLISH_SYMBOL_COUNT
    sources = card["reader"]["data"]["sources"]
    assert sources[1:] == ["words recognized in said by Piper"]
    assert "Kokoro" in sources[0]
    assert card["reader"]["data"]["held_out_sentences"] == 2
    assert card["reader"]["data"]["sentences"] == len(readings) - 2 >= 8
    assert card["reader"]["settings"]["width"] == 8
    assert set(READER_NETWORKS) < set(card["sha256"])
    shipped = json.loads((shipped_folder() / "voice.json").read_text(encoding="utf-8"))
    assert card["sha256"].items() >= {k: v for k, v in shipped["sha256"].items() if k not in READER_NETWORKS}.items()
    assert open_weights(out).reader.readers == len(READERS)

    networks = [file_digest(out / name) for name in READER_NETWORKS]
    again = personare("train", "reader", *words)
    assert again.code == 2
    assert "holds a training already; go on with --resume" in one_line(again.stderr)
    resumed = personare("train", "reader", *words, "--resume", "--json")
    printed = json.loads(resumed.stdout)
    assert resumed.code == 0
    assert (printed["sentences"], printed["failed"], printed["voice"]) == (len(readings) - 2, 1, str(out))
    assert printed["content_distance"] == card["reader"]["measured"]["content_distance"]
    assert printed["graph_difference"] < 1e-2 < 1 < printed["duration_factor"]
    assert [file_digest(out / name) for name in READER_NETWORKS] == networks
    assert {path: path.stat().st_mtime_ns for path in (out / "readings").glob("*.npz")} == readings, "read once"
    _speaks_nothing_but_words(out)
    _gets_a_network_that_speaks_what_is_read(out, corpus, personare)


def _gets_a_network_that_speaks_what_is_read(reader: Path, corpus: Path, personare: Command) -> None:
    """It joins the voice, whose other networks stay; words are spoken by it, sounds are not."""
    spoken_by, config = reader.parent / "spoken", reader.parent / "voice.yaml"
    config.write_text(TINY_VOICE, encoding="utf-8")
    words = ("--corpus", corpus, "--out", spoken_by, "--config", config, "--for-reading", "--jobs", "1")
    unnamed = personare("train", "synthesizer", *words)
    assert unnamed.code == 2 and "--for-reading joins the voice of --readings DIR; name it" in one_line(unnamed.stderr)
    nothing = personare("train", "synthesizer", *words, "--readings", shipped_folder())
    assert nothing.code == 2 and "has no readings; name a folder made by personare train reader" in nothing.stderr
    trained = personare("train", "synthesizer", *words, "--readings", reader)
    assert trained.code == 0, trained.stderr
    before, after = (json.loads((one / "voice.json").read_text(encoding="utf-8")) for one in (reader, spoken_by))
    assert {k: v for k, v in after["sha256"].items() if k != READING_NETWORK} == {
        k: v for k, v in before["sha256"].items() if k != READING_NETWORK
    }
    assert after["sha256"][READING_NETWORK] != before["sha256"].get(READING_NETWORK)
    assert after["reading_voice"]["data"]["utterances"] > 8 and after["voices"] == before["voices"]
    for name, alike in (("cascade", False), ("xvector", True)):
        methods = [anonymizer(name, weights=str(one)) for one in (reader, spoken_by)]
        first, second = (method(spoken(TEXT), rng=np.random.default_rng(1)).samples for method in methods)
        assert (len(first) == len(second) and np.array_equal(first, second)) == alike


def _speaks_nothing_but_words(voice: Path) -> None:
    method = anonymizer("cascade", weights=str(voice))
    audio = spoken(TEXT)
    sound, other = (method(audio, rng=np.random.default_rng(seed)).samples for seed in (1, 2))
    assert np.square(sound).mean() > 1e-6
    assert np.isfinite(sound).all()
    assert len(other) != len(sound) or not np.array_equal(other, sound)
    faint_and_slow = Audio(0.2 * spoken(TEXT, rate=0.6).samples, 16_000)
    assert len(faint_and_slow.samples) > 1.1 * len(audio.samples)
    np.testing.assert_array_equal(method(faint_and_slow, rng=np.random.default_rng(1)).samples, sound)


def test_sentences_are_dealt_among_readers_by_what_they_say(tmp_path: Path) -> None:
    from personare.pipeline.jobs.train_reader import planned

    texts = [*(f"Number {number} is {number * number}." for number in range(200)), "Good morning."]
    dealt = planned([*texts, "Good morning.", "...", "", "two " * LONGEST], tmp_path, seed=1)
    assert [one.text for one in dealt] == texts
    assert planned(texts[::-1], tmp_path, seed=1) == dealt[::-1]
    assert len({one.path for one in dealt}) == len(dealt)
    counts = np.bincount([one.reader for one in dealt], minlength=len(READERS))
    assert len(counts) == len(READERS)
    assert counts.min() >= 1
    assert 0.2 < counts[0] / len(dealt) < 0.4
    assert [one.reader for one in planned(texts, tmp_path, seed=2)] != [one.reader for one in dealt]


@pytest.mark.parametrize(
    ("config", "printed"),
    [
        ("width: 0", "width must be at least 1, not 0"),
        ("wdith: 8", "wrong.yaml has no key 'wdith'; did you mean 'width'"),
        ("batch: many", "wrong.yaml"),
        ("batch: 80", "alike must be at least the batch of 80, not 64"),
    ],
)
def test_a_wrong_configuration_is_one_line(config: str, printed: str, tmp_path: Path, personare: Command) -> None:
    pytest.importorskip("torch", reason="needs torch: pip install '.[neural]'")
    (tmp_path / "wrong.yaml").write_text(config, encoding="utf-8")
    ended = personare(
        *("train", "reader", "--corpus", tmp_path, "--out", tmp_path / "voice", "--config", tmp_path / "wrong.yaml")
    )
    assert ended.code == 2
    assert printed in one_line(ended.stderr)
    assert not (tmp_path / "voice").exists()


def test_too_few_sentences_are_one_line(tmp_path: Path, personare: Command) -> None:
    pytest.importorskip("torch", reason="needs torch: pip install '.[neural]'")
    corpus = corpus_of(tmp_path / "speech", SAID[:1])
    ended = personare("train", "reader", "--corpus", corpus, "--out", tmp_path / "voice", "--jobs", "1")
    assert ended.code == 2
    assert "1 sentences were read; the reader needs at least 80 to be trained" in one_line(ended.stderr)
    assert not (tmp_path / "voice" / "voice.json").exists()
