"""The neural voice in every language it reads, beside Kokoro's: word errors, quality, speed, and distinctness.

    python benchmarks/neural_languages.py SENTENCES [--part second] [--weights DIR] [--recognizer whisper-small]

SENTENCES is a table with the columns language, set and text, e.g. src/personare/languages/sentences.tsv; its set
``second`` was not trained on. English has our own sentences. Every sentence is spoken by one of six pseudo-speakers,
and by one of six of Kokoro's. WER and CER are pooled over the sentences of a language. Processor seconds are those of
speaking alone. Distinctness: WeSpeaker compares the pseudo-speakers of one gender, each speaking several languages.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from personare.anonymizers.neural.xvector.prosody_choice import ProsodyChoice, chosen_prosody
from personare.anonymizers.neural.xvector.synthesis import fixed_level, synthesize
from personare.anonymizers.neural.xvector.weights import SHIPPED, SynthesizerModel, open_weights
from personare.core.audio import Audio, resample
from personare.corpora.voices.further_text import read_sentences
from personare.corpora.voices.reading_aloud import MIXTURES
from personare.corpora.voices.text import sentences as english_sentences
from personare.encoders.grid import CONTENT_STEP, RATE_HZ, STEP, frame_count, on_frames
from personare.encoders.published import WeSpeaker
from personare.encoders.recognition import recognize
from personare.languages import language
from personare.listeners.dnsmos import Dnsmos
from personare.metrics.privacy.eer import rocch_eer
from personare.voices.kokoro import Kokoro
from personare.voices.pronunciation import pronounce
from personare.voices.spelling import spell, symbol_numbers

TEMPO = 1.15
SPEAKERS = 6  # pseudo-speakers, women and men in turn
DISTINCT_EACH = 2  # sentences per pseudo-speaker and language
Speak = Callable[[str, str, int], Audio]


@dataclass(frozen=True)
class Spoken:
    """Sentences of one language as spoken by one voice."""

    code: str
    texts: Sequence[str]
    audio: Sequence[Audio]
    processor_s: float

    @property
    def duration_s(self) -> float:
        """Of all sentences."""
        return sum(one.duration_s for one in self.audio)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sentences", nargs="?", type=Path)
    parser.add_argument("--part", default="second")
    parser.add_argument("--weights", default=SHIPPED)
    parser.add_argument("--recognizer", default="whisper-small")
    parser.add_argument("--most", type=int, default=20, help="sentences per language")
    parser.add_argument("--language", action="append", help="only this one; repeatable")
    parser.add_argument("--only", choices=("neural", "kokoro"))
    words = parser.parse_args()
    if words.sentences is None:
        print("skipped: name a table of sentences")
        return
    model = open_weights(words.weights)
    codes = words.language or list(model.languages)
    texts = {code: _texts(code, words.sentences, words.part)[: words.most] for code in codes}
    voices: dict[str, Speak] = {"neural": neural(model), "kokoro": kokoro}
    print(f"| voice | language | sentences | WER | CER | DNSMOS | processor s per s | ({words.recognizer})")
    for name, speak in voices.items():
        if words.only in (None, name):
            for code, given in texts.items():
                print(row(name, spoken(speak, code, given), recognizer=words.recognizer), flush=True)
    if words.only in (None, "neural"):
        print(distinctness(model, texts))


def _texts(code: str, table: Path, part: str) -> list[str]:
    if code == "en":
        return [sentence.text for sentence in english_sentences()][::-1]
    return list(read_sentences([table], [code], part=part)[code])


def neural(model: SynthesizerModel) -> Speak:
    """Speak as a pseudo-speaker of the neural voice; the number chooses one."""
    numbers = {gender: [n for n, one in enumerate(model.bank.genders) if one == gender] for gender in "fm"}

    def speak(code: str, text: str, number: int) -> Audio:
        own = numbers["fm"[number % 2]]
        vector = model.bank.vectors[own[7 * number % len(own)]]
        spelled = spell(pronounce(text)) if code == "en" else language(code).pronounce(text)
        read = model.read(symbol_numbers(spelled), language=code, number=number, tempo=TEMPO)
        content = on_frames(read, frame_count(len(read) * CONTENT_STEP))
        choice = ProsodyChoice(f0="predicted", energy="predicted", timing="even")
        predicted = model.predict_prosody(content, vector, language=code)
        track = chosen_prosody(choice, None, predicted, source=None, target=model.bank.f0_of(vector))
        rng, length = np.random.default_rng(number), len(content) * STEP
        sound = synthesize(model, content, track, vector, length=length, rng=rng, is_read=True, language=code)
        return Audio(fixed_level(sound), RATE_HZ)

    return speak


def kokoro(code: str, text: str, number: int) -> Audio:
    """Speak as one of Kokoro's pseudo-speakers."""
    mixture = MIXTURES[(number % 2) * (len(MIXTURES) // 2) + number // 2 % (len(MIXTURES) // 2)]
    spelled = spell(pronounce(text)) if code == "en" else language(code).pronounce(text)
    return Kokoro().speak_phonemes(spelled, voice=mixture, rate=1.0, rng=np.random.default_rng(1))


def spoken(speak: Speak, code: str, texts: Sequence[str]) -> Spoken:
    speak(code, texts[0], 0)  # networks are opened outside the measured time
    began = time.process_time()
    audio = [speak(code, text, place % SPEAKERS) for place, text in enumerate(texts)]
    processor_s = time.process_time() - began
    return Spoken(code, texts, [resample(one, RATE_HZ) for one in audio], processor_s)


def row(name: str, said: Spoken, *, recognizer: str) -> str:
    import jiwer

    heard = [recognize(one.samples, model=recognizer, language=said.code) for one in said.audio]
    normalize = language(said.code).normalize
    expected = [normalize(text) for text in said.texts]
    written = [normalize(" ".join(word.text for word in one)) for one in heard]
    wer, cer = 100 * jiwer.wer(expected, written), 100 * jiwer.cer(expected, written)
    quality = np.mean([opinion.overall for opinion in Dnsmos()(said.audio)])
    speed = said.processor_s / said.duration_s
    return f"| {name} | {said.code} | {len(said.texts)} | {wer:.1f} % | {cer:.1f} % | {quality:.2f} | {speed:.3f} |"


def distinctness(model: SynthesizerModel, texts: dict[str, list[str]]) -> str:
    """Compare pseudo-speakers across languages: cosines and the EER between those of one gender."""
    speak, audio, speakers, codes = neural(model), [], [], []
    for code, given in texts.items():
        for number in range(SPEAKERS):
            for place in range(DISTINCT_EACH):
                audio.append(speak(code, given[(DISTINCT_EACH * number + place) % len(given)], number))
                speakers.append(number)
                codes.append(code)
    vectors = WeSpeaker()(audio).astype(np.float64)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    first, second = np.triu_indices(len(vectors), 1)
    who, where, scores = np.array(speakers), np.array(codes), (vectors @ vectors.T)[first, second]
    same, across = who[first] == who[second], where[first] != where[second]
    other = ~same & (who[first] % 2 == who[second] % 2)
    return (
        f"{SPEAKERS} pseudo-speakers in {len(texts)} languages: cosine {scores[same & ~across].mean():.2f} within a "
        f"language, {scores[same & across].mean():.2f} across languages, {scores[other].mean():.2f} to another one of "
        f"the same gender; EER across languages {100 * rocch_eer(scores[same & across], scores[other & across]):.1f} % "
        f"({(same & across).sum()} target, {(other & across).sum()} non-target trials)"
    )


if __name__ == "__main__":
    main()
