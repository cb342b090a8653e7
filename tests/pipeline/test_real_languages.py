"""Real speech: other languages are spoken as what they are, or rejected by an English voice; never as English."""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Literal

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray

import personare as pn
from conftest import SHARED, Command
from personare.anonymizers.neural.cascade.anonymizer import Cascade
from personare.anonymizers.neural.words.transcript import (
    Recognizing,
    Segment,
    passages,
    segments_of,
    transcribe,
)
from personare.core.audio import Audio, read_mono, resample, write
from personare.core.errors import RejectedSpeechError
from personare.core.spoken import NOTHING_KNOWN, SpeechNotes
from personare.encoders.recognition import RecognizedWord, recognize
from personare.encoders.segmentation import Segmentation
from personare.pipeline.jobs.anonymize import private_folder

pytestmark = [pytest.mark.models, pytest.mark.shared, pytest.mark.usefixtures("shared_folder")]
RATE_HZ = 16_000
FOREIGN = {"emodb-de": "German", "drt-de": "German", "drt-fr": "French", "drt-es": "Spanish"}
METHODS = {"neural": Cascade(), "piper": Cascade(voice="piper")}
ENGLISH_ONLY = Cascade(voice="piper")


@cache
def speech(corpus: str, number: int) -> Audio:
    """One of the longer recordings of a corpus, each of another speaker where there are enough."""
    folder = SHARED / ("corpus" if corpus in ("librispeech-mini", "speechocean762") else "corpus-world")
    table = pl.read_csv(folder / "manifest.tsv", separator="\t", quote_char=None).filter(corpus=corpus)
    table = table.filter(pl.col("seconds") < 12).sort("seconds", "utterance", descending=True)
    rows = table.group_by("speaker", maintain_order=True).head(3).sort("utterance")
    return resample(read_mono(folder / rows["audio"][number % len(rows)]), RATE_HZ)


def level(samples: NDArray[np.float32]) -> NDArray[np.float32]:
    return np.asarray(samples * np.float32(0.05 / np.sqrt(np.mean(samples**2))), np.float32)


@pytest.mark.parametrize("corpus", FOREIGN)
def test_a_voice_of_english_rejects_other_languages_in_one_line(corpus: str) -> None:
    for number in (0, 3):
        with pytest.raises(RejectedSpeechError, match=r"sounds like|no words were recognized") as refused:
            pn.anonymize(speech(corpus, number), method="cascade", voice="piper", key="secret")
        line = str(refused.value)
        assert refused.value.kind == "rejected" and "\n" not in line and "--strength fast" in line
    if corpus == "emodb-de":
        assert "German (de)" in line, "whole sentences are named"


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("corpus", ["ravdess-en", "librispeech-mini"])
def test_english_speech_is_spoken(corpus: str, method: str) -> None:
    made = METHODS[method].speak(speech(corpus, 1), rng=np.random.default_rng(1), speaker=NOTHING_KNOWN)
    assert made.notes is not None
    assert made.notes.language == "en" and made.notes.words >= 4 and made.notes.omitted_s == 0
    assert made.notes.language_confidence > 0.5 and made.notes.word_confidence > 0.4
    assert len(recognize(resample(made.audio, RATE_HZ).samples[: 28 * RATE_HZ], model="moonshine")) >= 3


def mixed(pause_s: float) -> tuple[Audio, float, float]:
    """English, two German sentences, English; and where German begins and ends."""
    pause = np.zeros(round(pause_s * RATE_HZ), np.float32)
    first, last = (level(speech("librispeech-mini", n).samples) for n in (0, 4))
    german = np.concatenate([level(speech("emodb-de", 0).samples), pause, level(speech("emodb-de", 3).samples)])
    whole = np.concatenate([first, pause, german, pause, last])
    begin = len(first) + len(pause)
    return Audio(whole, RATE_HZ), begin / RATE_HZ, (begin + len(german)) / RATE_HZ


@pytest.mark.parametrize("pause_s", [0.5, 0.1])
def test_no_german_second_of_a_mixed_recording_is_spoken(pause_s: float) -> None:
    sound, begin_s, end_s = mixed(pause_s)
    made = transcribe(sound.samples, how=ENGLISH_ONLY._recognizing, speaker=NOTHING_KNOWN, method="cascade")
    spoken = [(one.phrase.start / RATE_HZ, one.phrase.end / RATE_HZ) for one in made.spoken if one.words]
    german_spoken_s = sum(max(0.0, min(end, end_s) - max(start, begin_s)) for start, end in spoken)
    margin_s = 0.35  # phrases keep so much of the sound around them, which is pause here
    assert german_spoken_s <= margin_s, (spoken, begin_s, end_s)
    assert spoken[0][1] <= begin_s + margin_s and spoken[-1][0] >= end_s - margin_s, "English on both sides"
    assert made.notes.language == "en"
    heard = Segmentation().speech(sound.samples)[round(begin_s * RATE_HZ) : round(end_s * RATE_HZ)]
    assert made.notes.omitted_s == pytest.approx(heard.sum() / RATE_HZ, rel=0.1), "every German second is counted"


@pytest.mark.parametrize("voice", ["neural", "kokoro"])
def test_german_is_spoken_as_german(voice: Literal["neural", "kokoro"]) -> None:
    method = Cascade(voice=voice)
    source = speech("emodb-de", 0)
    made = method.speak(source, rng=np.random.default_rng(1), speaker=NOTHING_KNOWN)
    assert made.notes is not None and made.notes.language == "de" and made.notes.words >= 5
    assert made.notes.language_confidence > 0.8
    before, after = (
        {word.text.strip(",.!?").lower() for word in recognize(sound, model="whisper-base", language="de")}
        for sound in (source.samples, resample(made.audio, RATE_HZ).samples)
    )
    assert len(before & after) >= 0.6 * len(before), (before, after)
    again = method.speak(source, rng=np.random.default_rng(1), speaker=NOTHING_KNOWN)
    assert np.array_equal(made.audio.samples, again.audio.samples)


def test_the_voice_kokoro_switches_languages_within_a_recording() -> None:
    sound, begin_s, end_s = mixed(0.5)
    how = Recognizing("moonshine-base", spoken=Cascade(voice="kokoro").spoken)
    made = transcribe(sound.samples, how=how, speaker=NOTHING_KNOWN, method="cascade")
    for one in made.spoken:
        middle_s = (one.phrase.start + one.phrase.end) / 2 / RATE_HZ
        expected = "de" if begin_s < middle_s < end_s else "en"
        assert {word.language for word in one.words} <= {expected}, (one, begin_s, end_s)
    spoken = [segment for text in passages(made.spoken) for segment in segments(text) if segment.kind == "words"]
    languages = [segment.language for segment in spoken]
    assert [code for code, _ in itertools.groupby(languages)] == ["en", "de", "en"]


def segments(words: Sequence[RecognizedWord]) -> list[Segment]:
    return segments_of(words, unsure="speak", sure_from=0.0, redact=())


def short_sentences(corpus: str, part: str, *, skip: int, count: int) -> list[NDArray[np.float32]]:
    """The first four recordings of each speaker in turn, one level; ``count`` of them after ``skip``."""
    folder = SHARED / ("corpus" if corpus == "librispeech-mini" else "corpus-world")
    table = pl.read_csv(folder / "manifest.tsv", separator="\t", quote_char=None).filter(corpus=corpus, part=part)
    paths = table.group_by("speaker", maintain_order=True).head(4)["audio"].to_list()
    return [level(resample(read_mono(folder / path), RATE_HZ).samples) for path in paths[skip : skip + count]]


@pytest.mark.parametrize("number", [4, 14])
def test_short_german_sentences_between_english_ones_without_any_pause_are_not_spoken(number: int) -> None:
    english = [short_sentences("librispeech-mini", "eval", skip=(2 * number + k) % 24, count=1)[0] for k in (0, 1)]
    german = [short_sentences("emodb-de", "train", skip=(4 * number + k) % 40, count=1)[0] for k in range(4)]
    begin, size = len(english[0]), sum(map(len, german))
    sound = np.concatenate([english[0], *german, english[1]])
    made = transcribe(sound, how=ENGLISH_ONLY._recognizing, speaker=NOTHING_KNOWN, method="cascade")
    spoken = [(one.phrase.start, one.phrase.end) for one in made.spoken if one.words]
    german_s = sum(max(0, min(end, begin + size) - max(start, begin)) for start, end in spoken) / RATE_HZ
    english_s = sum(end - start for start, end in spoken) / RATE_HZ - german_s
    assert german_s <= 0.35, spoken
    assert english_s > 0.85 * sum(map(len, english)) / RATE_HZ, "English on both sides stays"


def test_a_tone_stands_in_the_place_of_german() -> None:
    sound, begin_s, end_s = mixed(0.5)
    made = Cascade(voice="piper", timing="phrases").speak(sound, rng=np.random.default_rng(1), speaker=NOTHING_KNOWN)
    inside = made.audio.samples[round((begin_s + 0.3) * RATE_HZ) : round((end_s - 0.5) * RATE_HZ)]
    strip = np.abs(inside) > 1e-4
    assert strip.any() and np.abs(inside).max() < 0.1, "soft"
    power = np.square(np.abs(np.fft.rfft(inside)))
    hz = np.fft.rfftfreq(len(inside), 1 / RATE_HZ)
    assert power[(hz > 300) & (hz < 360)].sum() > 0.95 * power.sum(), "nothing but the tone"
    assert made.audio.samples[: round(begin_s * RATE_HZ)].any() and made.audio.samples[round(end_s * RATE_HZ) :].any()


def test_noise_music_and_silence_are_silent() -> None:
    seconds = np.arange(6 * RATE_HZ) / RATE_HZ
    chords = [(262, 330, 392), (220, 262, 330), (175, 220, 262), (196, 247, 294)]
    parts = [np.sum([np.sin(2 * np.pi * hz * seconds) for hz in chord], axis=0) for chord in chords]
    music = np.concatenate([part[: 3 * RATE_HZ // 2] for part in parts]) * 0.1
    noise = np.random.default_rng(1).normal(0, 0.05, 6 * RATE_HZ)
    for samples in (noise, music, np.zeros(RATE_HZ)):
        for method in METHODS.values():
            sound = Audio(samples.astype(np.float32), RATE_HZ)
            made = method.speak(sound, rng=np.random.default_rng(1), speaker=NOTHING_KNOWN)
            assert made.notes == SpeechNotes() and not made.audio.samples.any()


def test_a_job_with_an_english_voice_rejects_german(tmp_path: Path, personare: Command) -> None:
    for number in (0, 3):
        write(tmp_path / "in" / "german" / f"{number}.wav", speech("emodb-de", number))
        write(tmp_path / "in" / "english" / f"{number}.wav", speech("ravdess-en", number))
    done = personare(
        "anonymize", tmp_path / "in", tmp_path / "out", "--method", "cascade", "--set", "voice=piper", "--json"
    )
    assert done.code == 1, done.stderr
    summary = json.loads(done.stdout)
    assert (summary["done"], summary["failed"], summary["ledger"]["rejected"]) == (2, 2, 2)
    assert summary["speech"]["languages"] == {"en": 2}
    rows = (private_folder(tmp_path / "out") / "failures.tsv").read_text().splitlines()[1:]
    assert [row.split("\t")[:2] for row in rows] == [["german/0", "rejected"], ["german/3", "rejected"]]
    assert len(list((tmp_path / "out").rglob("*.flac"))) == 2, "no audio of a rejected recording"


def test_a_language_that_is_given_is_believed() -> None:
    """German that is called English is not rejected for its language, only where its words are not recognized."""
    with pytest.raises(RejectedSpeechError, match="sounds like German"):
        ENGLISH_ONLY.speak(speech("emodb-de", 0), rng=np.random.default_rng(1), speaker=NOTHING_KNOWN)
    believing = Cascade(language="en", refuse_below=0.0)
    made = believing.speak(speech("emodb-de", 0), rng=np.random.default_rng(1), speaker=NOTHING_KNOWN)
    assert made.notes is not None and (made.notes.language, made.notes.language_confidence) == ("en", 1.0)
