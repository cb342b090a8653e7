"""Pseudo-speakers of Kokoro: how well each is understood in several languages, how it sounds, how distinct they are.

    python benchmarks/kokoro_voices.py SENTENCES TABLE [--candidates N] [--keep N]

SENTENCES is a JSON file, language code -> list of [text, phonemes in Kokoro's symbols]. Every candidate speaks all of
them. The best of each gender by character error rate
(CER, Whisper base) go to TABLE, which ships as voices/kokoro_voices.tsv. Distinctness is the EER of WeSpeaker between
single utterances of pseudo-speakers of one gender; all utterances of one speaker are compared, across languages.
"""

from __future__ import annotations

import argparse
import json
import re
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from personare.core.audio import Audio, resample
from personare.encoders.published import WeSpeaker
from personare.encoders.recognition import recognize
from personare.encoders.swift import RATE_HZ, VOICED_FROM, swift_track
from personare.listeners.dnsmos import Dnsmos
from personare.metrics.privacy.eer import rocch_eer
from personare.voices.kokoro import Kokoro, mixture

PITCH_RANGE_HZ = (60.0, 400.0)
Sentences = dict[str, list[tuple[str, str]]]


@dataclass(frozen=True)
class MeasuredSpeaker:
    """What was measured of one pseudo-speaker: CER by language in percent, embeddings [utterances, 256]."""

    number: int
    f0_hz: float
    dnsmos: float
    cer: dict[str, float]
    embeddings: np.ndarray[tuple[int, int], np.dtype[np.float32]]
    spoken_s: float
    processor_s: float

    @property
    def mean_cer(self) -> float:
        """Mean over languages."""
        return float(np.mean(list(self.cer.values())))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sentences", nargs="?", type=Path)
    parser.add_argument("table", nargs="?", type=Path)
    parser.add_argument("--candidates", type=int, default=28)
    parser.add_argument("--keep", type=int, default=20)
    words = parser.parse_args()
    if words.table is None:
        print("skipped: name a file of sentences and the file of the table")
        return
    sentences: Sentences = json.loads(words.sentences.read_text(encoding="utf-8"))
    measured = []
    for number in range(words.candidates):
        measured.append(measure(number, sentences))
        print(number, *mixture(number).voices, f"CER {measured[-1].mean_cer:.1f} %", flush=True)
    kept = best(measured, words.keep)
    write_table(words.table, kept)
    print(summary("all", measured), summary("kept", kept), sep="\n")


def measure(number: int, sentences: Sentences) -> MeasuredSpeaker:
    audio: list[Audio] = []
    cer: dict[str, list[float]] = {}
    processor_s = 0.0
    for language, rows in sentences.items():
        for text, phonemes in rows:
            began = time.process_time()
            wave = Kokoro().speak_phonemes(phonemes, voice=number, rate=1.0, rng=np.random.default_rng(1))
            processor_s += time.process_time() - began
            audio.append(resample(wave, RATE_HZ))
            heard = recognize(audio[-1].samples, model="whisper-base", language=language)
            cer.setdefault(language, []).append(character_errors(text, " ".join(word.text for word in heard)))
    joined = np.concatenate([one.samples for one in audio])
    f0_hz, confidence = swift_track(joined, lowest_hz=PITCH_RANGE_HZ[0], highest_hz=PITCH_RANGE_HZ[1])
    return MeasuredSpeaker(
        number,
        float(np.median(f0_hz[confidence >= VOICED_FROM])),
        float(np.mean([opinion.overall for opinion in Dnsmos()(audio)])),
        {language: float(np.mean(values)) for language, values in cer.items()},
        WeSpeaker()(audio),
        sum(one.duration_s for one in audio),
        processor_s,
    )


def character_errors(text: str, heard: str) -> float:
    """Character error rate in percent, without case, marks and double spaces."""
    import jiwer

    return 100 * float(jiwer.cer(plain(text), plain(heard) or " "))


def plain(text: str) -> str:
    return " ".join(re.sub(r"[^\w\s]", " ", text.lower().replace("ß", "ss")).split())


def best(measured: list[MeasuredSpeaker], keep: int) -> list[MeasuredSpeaker]:
    """Keep the best by CER, as many of each gender."""
    kept: list[MeasuredSpeaker] = []
    for gender in ("f", "m"):
        own = [one for one in measured if mixture(one.number).gender == gender]
        kept += sorted(own, key=lambda one: one.mean_cer)[: keep // 2]
    return sorted(kept, key=lambda one: one.number)


def write_table(table: Path, kept: list[MeasuredSpeaker]) -> None:
    languages = list(kept[0].cer)
    lines = ["\t".join(("number", "f0_hz", "dnsmos", *(f"cer_{language}" for language in languages)))]
    for one in kept:
        errors = (f"{one.cer[language]:.1f}" for language in languages)
        lines.append("\t".join((str(one.number), f"{one.f0_hz:.1f}", f"{one.dnsmos:.2f}", *errors)))
    table.write_text("\n".join(lines) + "\n", encoding="utf-8")


def summary(name: str, measured: list[MeasuredSpeaker]) -> str:
    """One line: CER by language, DNSMOS, same-gender EER, cosines, processor seconds per second of speech."""
    vectors = np.concatenate([one.embeddings for one in measured]).astype(np.float64)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    speakers = np.repeat([one.number for one in measured], [len(one.embeddings) for one in measured])
    genders = np.array([mixture(int(number)).gender for number in speakers])
    first, second = np.triu_indices(len(vectors), 1)
    scores, same = (vectors @ vectors.T)[first, second], speakers[first] == speakers[second]
    other = ~same & (genders[first] == genders[second])
    errors = {language: np.mean([one.cer[language] for one in measured]) for language in measured[0].cer}
    speed = sum(one.processor_s for one in measured) / sum(one.spoken_s for one in measured)
    return (
        f"{name}: {len(measured)} pseudo-speakers, "
        + "CER % "
        + ", ".join(f"{language} {value:.1f}" for language, value in errors.items())
        + f"; DNSMOS {np.mean([one.dnsmos for one in measured]):.2f}"
        + f"; same-gender EER {100 * rocch_eer(scores[same], scores[other]):.1f} % ({same.sum()} target, "
        + f"{other.sum()} non-target trials), cosine {scores[same].mean():.2f} / {scores[other].mean():.2f}"
        + f"; {speed:.2f} processor s per s"
    )


if __name__ == "__main__":
    main()
