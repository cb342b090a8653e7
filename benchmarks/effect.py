"""What each anonymizer does to real speech: how much of the voice is left, and how many of the words.

    python benchmarks/effect.py [CORPUS] [--speakers N] [--utterances M] [--json]

Speakers of the part 'eval' are taken where the corpus has parts. One new voice per speaker, another key for the
enrolment side of the lazy-informed attacker. Similarity is the mean cosine of ECAPA vectors between an anonymized
utterance and another, original utterance of the same speaker. EER is ROCCH-EER of all pairs of different utterances;
50 % is chance.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from personare.anonymizers import anonymizer
from personare.attackers import embedder
from personare.core.audio import Audio, read_mono
from personare.core.protocols import Anonymizer
from personare.core.seeding import Key, rng_for
from personare.corpora import read_corpus
from personare.listeners import listener
from personare.listeners.normalize import Normalizer
from personare.metrics.privacy.eer import rocch_eer
from personare.metrics.utility.wer import wer, word_errors

METHODS: dict[str, tuple[str, dict[str, object]]] = {
    "mcadams (B2)": ("mcadams", {}),
    "mcadams alpha 0.7..0.9": ("mcadams", {"alpha": (0.7, 0.9)}),
    "mcadams alpha 0.5..0.9": ("mcadams", {"alpha": (0.5, 0.9)}),
    "mcadams radius 0.975 (D1)": ("mcadams", {"radius": 0.975}),
    "formants (I1)": ("formants", {}),
    "world": ("world", {}),
    "world, then mcadams": ("chain", {"steps": [{"name": "world"}, {"name": "mcadams", "parameters": {"alpha": 0.9}}]}),
}
BESIDE = Path(__file__).resolve().parents[2] / "shared" / "corpus"


@dataclass(frozen=True)
class Row:
    """One line of the table."""

    method: str
    similarity: float
    eer_ignorant: float
    eer_lazy: float
    wer: float


@dataclass(frozen=True, eq=False)
class Speech:
    """Utterances with their speakers and words."""

    speakers: list[str]
    sounds: list[Audio]
    texts: list[str]


def chosen(corpus: Path, *, speakers: int, utterances: int) -> Speech:
    """Take the first utterances of evenly chosen speakers."""
    frame = read_corpus(corpus).corpus.frame
    if "part" in frame.columns:
        frame = frame.filter(pl.col("part") == "eval")
    names = sorted(frame["speaker"].unique().to_list())
    names = [names[i] for i in np.unique(np.linspace(0, len(names) - 1, speakers).astype(int))]
    rows = [
        r for n in names for r in frame.filter(pl.col("speaker") == n).sort("utterance").head(utterances).to_dicts()
    ]
    return Speech([r["speaker"] for r in rows], [read_mono(Path(r["audio"])) for r in rows], [r["text"] for r in rows])


def eer(scores: NDArray[np.float64], speakers: Sequence[str]) -> float:
    """Give the ROCCH-EER over pairs of different utterances, scores [enrolled, tested]."""
    same = np.array(speakers)[:, None] == np.array(speakers)[None]
    other = ~np.eye(len(speakers), dtype=bool)
    return rocch_eer(scores[same & other], scores[~same])


def unit(vectors: NDArray[np.float32]) -> NDArray[np.float64]:
    """Scale vectors to length one."""
    scaled: NDArray[np.float64] = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return scaled


def measured(name: str, speech: Speech, hide: Callable[[Audio, str, str], Audio]) -> Row:
    """Measure one way of hiding: ``hide(audio, speaker, side)``."""
    ear, hear, plain = embedder("ecapa"), listener("moonshine"), Normalizer()
    original = unit(ear(speech.sounds))
    pairs = list(zip(speech.sounds, speech.speakers, strict=True))
    tested_sounds = [hide(audio, who, "tested") for audio, who in pairs]
    tested = unit(ear(tested_sounds))
    enrolled = unit(ear([hide(audio, who, "enrolled") for audio, who in pairs]))
    same = (np.array(speech.speakers)[:, None] == np.array(speech.speakers)[None]) & ~np.eye(len(pairs), dtype=bool)
    ignorant = original @ tested.T
    heard = [plain(text) for text in hear(tested_sounds)]
    words = wer(word_errors([plain(text) for text in speech.texts], heard))
    lazy = eer(enrolled @ tested.T, speech.speakers)
    return Row(name, float(ignorant[same].mean()), eer(ignorant, speech.speakers), lazy, words)


def hidden_by(method: Anonymizer) -> Callable[[Audio, str, str], Audio]:
    """Give one new voice per speaker and side."""
    return lambda audio, who, side: method(audio, rng=rng_for(Key.from_seed(1).child(side), who))


def table(rows: Sequence[Row]) -> str:
    """Write the rows as a Markdown table."""
    lines = ["| method | similarity | EER, ignorant | EER, lazy-informed | WER |", "|---|--:|--:|--:|--:|"]
    for r in rows:
        rates = (f"{100 * rate:.1f} %" for rate in (r.eer_ignorant, r.eer_lazy, r.wer))
        lines.append(f"| {r.method} | {r.similarity:.2f} | {' | '.join(rates)} |")
    return "\n".join(lines)


def main() -> None:
    """Measure all methods and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path, nargs="?", default=BESIDE)
    parser.add_argument("--speakers", type=int, default=16)
    parser.add_argument("--utterances", type=int, default=4)
    parser.add_argument("--json", action="store_true")
    words = parser.parse_args()
    if not words.corpus.exists():
        print(f"skipped: no corpus of real speech at {words.corpus}; name one")
        return
    speech = chosen(words.corpus, speakers=words.speakers, utterances=words.utterances)
    print(f"{len(set(speech.speakers))} speakers, {len(speech.sounds)} utterances", file=sys.stderr)
    rows = [measured("original", speech, lambda audio, _who, _side: audio)]
    for title, (name, parameters) in METHODS.items():
        rows.append(measured(title, speech, hidden_by(anonymizer(name, **parameters))))
        print(rows[-1], file=sys.stderr)
    print(json.dumps([vars(row) for row in rows]) if words.json else table(rows))


if __name__ == "__main__":
    main()
