"""What each anonymizer does to real speech: how much of the voice is left, and how many of the words.

    python benchmarks/effect.py [CORPUS] [--speakers N] [--utterances M] [--alphas] [--json]

Speakers of the part 'eval' are taken where the corpus has parts. One new voice per speaker, another key for the
enrolment side of the lazy-informed attacker. Similarity is the mean cosine of ECAPA vectors between an anonymized
utterance and another, original utterance of the same speaker. EER is ROCCH-EER of all pairs of different utterances;
50 % is chance. Words are called usable when the recognizer, which never heard such voices, gets more than half of them
right (WER below 50 %); a method that loses more is labelled "research only". ``--alphas`` shows instead where mcadams
leaves the usable range: similarity and WER for one fixed alpha after the other.
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
from personare.listeners.moonshine import Moonshine
from personare.listeners.normalize import WhisperEnglish
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
RESEARCH_ONLY = frozenset({"mcadams alpha 0.5..0.9"})  # what we say; the slow test holds it against what is measured
USABLE_WER = 0.5
ALPHAS = (0.9, 0.8, 0.7, 0.6, 0.5)
BESIDE = Path(__file__).resolve().parents[2] / "shared" / "corpus"


@dataclass(frozen=True)
class Row:
    """One line of the table."""

    method: str
    similarity: float
    eer_ignorant: float
    eer_lazy: float
    wer: float

    @property
    def words(self) -> str:
        """What is left of the words, as we say it."""
        return "research only" if self.method in RESEARCH_ONLY else "usable"


@dataclass(frozen=True, eq=False)
class Speech:
    """Utterances with their speakers and words, and their vectors [utterances, size] of length one."""

    speakers: list[str]
    sounds: list[Audio]
    texts: list[str]
    vectors: NDArray[np.float64]


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
    sounds = [read_mono(Path(r["audio"])) for r in rows]
    return Speech([r["speaker"] for r in rows], sounds, [r["text"] for r in rows], embedded(sounds))


def eer(scores: NDArray[np.float64], speakers: Sequence[str]) -> float:
    """Give the ROCCH-EER over pairs of different utterances, scores [enrolled, tested]."""
    same = np.array(speakers)[:, None] == np.array(speakers)[None]
    other = ~np.eye(len(speakers), dtype=bool)
    return rocch_eer(scores[same & other], scores[~same])


def embedded(sounds: Sequence[Audio]) -> NDArray[np.float64]:
    """Give one vector of length one per sound."""
    vectors = embedder("ecapa")(sounds)
    scaled: NDArray[np.float64] = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return scaled


def similarity(speech: Speech, tested: NDArray[np.float64]) -> float:
    """Give the mean cosine between tested vectors and other, original utterances of the same speakers."""
    speakers = np.array(speech.speakers)
    same = (speakers[:, None] == speakers[None]) & ~np.eye(len(speakers), dtype=bool)
    return float((speech.vectors @ tested.T)[same].mean())


def word_error_rate(speech: Speech, sounds: Sequence[Audio]) -> float:
    """Give the share of words that a recognizer gets wrong."""
    plain = WhisperEnglish()
    heard = [plain(text) for text in Moonshine()(sounds)]
    return wer(word_errors([plain(text) for text in speech.texts], heard))


Hide = Callable[[Audio, str, str], Audio]


def hidden(speech: Speech, hide: Hide, side: str) -> list[Audio]:
    """Hide every utterance: ``hide(audio, speaker, side)``."""
    return [hide(audio, who, side) for audio, who in zip(speech.sounds, speech.speakers, strict=True)]


def measured(name: str, speech: Speech, hide: Hide) -> Row:
    """Measure one way of hiding."""
    tested_sounds = hidden(speech, hide, "tested")
    tested, enrolled = embedded(tested_sounds), embedded(hidden(speech, hide, "enrolled"))
    ignorant = eer(speech.vectors @ tested.T, speech.speakers)
    lazy = eer(enrolled @ tested.T, speech.speakers)
    return Row(name, similarity(speech, tested), ignorant, lazy, word_error_rate(speech, tested_sounds))


def by_alpha(speech: Speech) -> str:
    """Show similarity and WER of mcadams for one alpha after the other, as a Markdown table."""
    lines = ["| alpha | similarity | WER |", "|--:|--:|--:|"]
    for alpha in ALPHAS:
        sounds = hidden(speech, hidden_by(anonymizer("mcadams", alpha=alpha)), "tested")
        shown, errors = similarity(speech, embedded(sounds)), word_error_rate(speech, sounds)
        lines.append(f"| {alpha} | {shown:.2f} | {100 * errors:.1f} % |")
        print(lines[-1], file=sys.stderr)
    return "\n".join(lines)


def hidden_by(method: Anonymizer) -> Hide:
    """Give one new voice per speaker and side."""
    return lambda audio, who, side: method(audio, rng=rng_for(Key.from_seed(1).child(side), who))


def table(rows: Sequence[Row]) -> str:
    """Write the rows as a Markdown table."""
    lines = ["| method | similarity | EER, ignorant | EER, lazy-informed | WER | words |", "|---|--:|--:|--:|--:|---|"]
    for r in rows:
        rates = (f"{100 * rate:.1f} %" for rate in (r.eer_ignorant, r.eer_lazy, r.wer))
        lines.append(f"| {r.method} | {r.similarity:.2f} | {' | '.join(rates)} | {r.words} |")
    return "\n".join(lines)


def main() -> None:
    """Measure all methods and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path, nargs="?", default=BESIDE)
    parser.add_argument("--speakers", type=int, default=16)
    parser.add_argument("--utterances", type=int, default=4)
    parser.add_argument("--alphas", action="store_true")
    parser.add_argument("--json", action="store_true")
    words = parser.parse_args()
    if not words.corpus.exists():
        print(f"skipped: no corpus of real speech at {words.corpus}; name one")
        return
    speech = chosen(words.corpus, speakers=words.speakers, utterances=words.utterances)
    print(f"{len(set(speech.speakers))} speakers, {len(speech.sounds)} utterances", file=sys.stderr)
    if words.alphas:
        print(by_alpha(speech))
        return
    rows = [measured("original", speech, lambda audio, _who, _side: audio)]
    for title, (name, parameters) in METHODS.items():
        rows.append(measured(title, speech, hidden_by(anonymizer(name, **parameters))))
        print(rows[-1], file=sys.stderr)
    print(json.dumps([vars(row) | {"words": row.words} for row in rows]) if words.json else table(rows))


if __name__ == "__main__":
    main()
