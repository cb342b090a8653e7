"""How every method sounds: a page with players, four utterances of synthetic voices through every anonymizer.

    python benchmarks/sounds.py [docs/reference/anonymizers] [--only NAME;NAME] [--utterances N]

Writes sounds.md and the folder audio/ into the folder named. The voices are synthetic (Kokoro), so that nobody's voice
is given away by a page that shows what became of it. Key, voices and sentences are fixed: run again, and the page is
the same. Each method's file is its output at 16 kHz as mp3.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import Any

import personare as pn
from methods import METHODS, ended_by_mistakes, picked
from personare.engine import engine_for
from personare.pipeline.jobs.voices import Wanted, make_voices

HERE = Path(__file__).resolve()
PAGE, SOUNDS = "sounds.md", "audio"
KEY = "a page of sounds"
RATE_HZ = 16_000
SHOWN = (
    "mcadams alpha 0.8..0.9",
    "world",
    "formants (I1)",
    "cascade, voice neural",
    "xvector, pronunciation kept",
    "xvector, prosody kept",
    "usc (C0)",
    "cascade, voice piper",
)
INTRODUCTION = """# How they sound

Four synthetic speakers (Kokoro), one utterance each, through every method with one public key. Listen for three things:
is it another person, are the words there, would you like to listen for an hour? What a method hides is no matter of
how different it sounds: the [tables](index.md#the-strongest-attackers) say it. Voices that a synthesizer has made
are cleaner than people's.

`python benchmarks/sounds.py` makes this page.
"""


def player(file: str, label: str) -> str:
    """Give the player of one file, with a name that a screen reader can say."""
    return f'<audio controls preload="none" src="{file}" aria-label="{label}"></audio>'


def rows_of(originals: pn.Corpus, methods: dict[str, dict[str, Any]], folder: Path) -> list[list[str]]:
    """Write every file; give the rows of the table: a method, then a player for each utterance."""
    utterances = list(originals)
    rows = []
    for name, settings in {"original": {}, **methods}.items():
        row = [name]
        for number, utterance in enumerate(utterances, start=1):
            audio = pn.read_audio(utterance.audio)
            if settings:
                audio = pn.anonymize(audio, key=KEY, speaker=utterance.speaker, **settings)
            file = f"{''.join(c if c.isalnum() else '-' for c in name)}-{number}.mp3"
            pn.write_audio(folder / file, audio)
            row.append(player(f"{SOUNDS}/{file}", f"{name}, utterance {number}"))
        rows.append(row)
    return rows


def page(rows: list[list[str]], originals: pn.Corpus) -> str:
    """Write the page."""
    texts = [f"{number}. {utterance.text}" for number, utterance in enumerate(originals, start=1)]
    count = len(rows[0]) - 1
    head = "| method | " + " | ".join(str(number) for number in range(1, count + 1)) + " |"
    lines = [head, "|---" * (count + 1) + "|", *("| " + " | ".join(row) + " |" for row in rows)]
    return INTRODUCTION + "\nWhat they say:\n\n" + "\n".join(texts) + "\n\n" + "\n".join(lines) + "\n"


def main() -> None:
    """Make the voices, send them through every method, write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    default = HERE.parents[1] / "docs" / "reference" / "anonymizers"
    parser.add_argument("folder", type=Path, nargs="?", default=default)
    parser.add_argument("--only", default=";".join(SHOWN), help="methods, with semicolons between them")
    parser.add_argument("--utterances", type=int, default=4)
    words = parser.parse_args()
    known = METHODS
    methods = picked(words.only, known)
    (words.folder / SOUNDS).mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="personare-") as temporary:
        made = make_voices(Path(temporary), Wanted(words.utterances, 1, seed=4, rate_hz=RATE_HZ), engine=engine_for(1))
        originals = pn.read_corpus(temporary)
        rows = rows_of(originals, methods, words.folder / SOUNDS)
    (words.folder / PAGE).write_text(page(rows, originals), encoding="utf-8")
    print(f"{len(rows)} rows of {made.done} utterances: {words.folder / PAGE}")


if __name__ == "__main__":
    ended_by_mistakes(main)
