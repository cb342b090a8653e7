"""What the 904 offline voices of Piper sound like, and how well their words are recognized.

    python benchmarks/piper_voices.py TABLE [--voices N]      the table that ships as voices/piper_voices.tsv
    python benchmarks/piper_voices.py --words N               N of our sentences, each by another voice: the WER

The table: median F0 by SwiftF0, the gender guessed from it (empty between 150 and 180 Hz, where F0 does not tell), and
DNSMOS, of one sentence that every voice speaks. Run again with the same TABLE, what is done is not done again.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from personare.core.audio import Audio, resample
from personare.core.seeding import Key, rng_for
from personare.corpora.voices.text import sentences
from personare.encoders.swift import RATE_HZ, VOICED_FROM, swift_track
from personare.listeners.dnsmos import Dnsmos
from personare.listeners.moonshine import Moonshine
from personare.listeners.normalize import normalizer
from personare.metrics.utility.wer import word_errors
from personare.voices.piper import VOICES, Piper

HEAD = ("voice", "f0_hz", "gender", "dnsmos")
MALE_BELOW_HZ, FEMALE_ABOVE_HZ = 150.0, 180.0
PITCH_RANGE_HZ = (60.0, 400.0)
KEY = Key.from_seed(1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", nargs="?", type=Path)
    parser.add_argument("--voices", type=int, default=VOICES)
    parser.add_argument("--words", type=int, default=0)
    words = parser.parse_args()
    if words.words:
        print(words_line(words.words))
    elif words.table is None:
        parser.error("name the file of the table, or --words N")
    else:
        fill(words.table, words.voices)


def fill(table: Path, voices: int) -> None:
    """Measure the voices that the table does not have yet."""
    if not table.is_file():
        table.write_text("\t".join(HEAD) + "\n", encoding="utf-8")
    done = len(table.read_text(encoding="utf-8").splitlines()) - 1
    with table.open("a", encoding="utf-8") as out:
        for voice in range(done, voices):
            out.write("\t".join(row_of(voice)) + "\n")
            out.flush()


def row_of(voice: int) -> tuple[str, ...]:
    audio = resample(spoken(sentences()[0].text, voice), RATE_HZ)
    f0_hz, confidence = swift_track(audio.samples, lowest_hz=PITCH_RANGE_HZ[0], highest_hz=PITCH_RANGE_HZ[1])
    median = float(np.median(f0_hz[confidence >= VOICED_FROM])) if (confidence >= VOICED_FROM).any() else 0.0
    gender = "m" if 0 < median < MALE_BELOW_HZ else "f" if median > FEMALE_ABOVE_HZ else ""
    (opinion,) = Dnsmos()([audio])
    return str(voice), f"{median:.1f}", gender, f"{opinion.overall:.2f}"


def words_line(count: int) -> str:
    """Let ``count`` voices speak a sentence each, and count the words that are recognized wrongly."""
    chosen = sentences()[-count:]
    voices = [37 * number % VOICES for number in range(count)]
    audio = [spoken(sentence.text, voice) for sentence, voice in zip(chosen, voices, strict=True)]
    wrong = share_wrong([sentence.text for sentence in chosen], Moonshine()(audio))
    scores = [opinion.overall for opinion in Dnsmos()(audio)]
    return f"{count} sentences, {count} voices: WER {100 * wrong:.2f} % (Moonshine tiny), DNSMOS {np.mean(scores):.2f}"


def spoken(text: str, voice: int) -> Audio:
    return Piper()(text, voice=voice, rate=1.0, rng=rng_for(KEY, "voice", str(voice)))


def share_wrong(texts: list[str], heard: list[str]) -> float:
    normalize = normalizer("whisper-english")
    errors = word_errors([normalize(text) for text in texts], [normalize(text) for text in heard])
    wrong = int(errors.substitutions.sum() + errors.deletions.sum() + errors.insertions.sum())
    return wrong / int(errors.words.sum())


if __name__ == "__main__":
    main()
