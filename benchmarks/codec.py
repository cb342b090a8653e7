"""What the universal speech codec keeps and hides, level by level, on held-out speakers; checks what it must reach.

    python benchmarks/codec.py [CORPUS] [--weights FOLDER] [--voice NAME] [--words N] [--speakers N] [--utterances M]
                               [--jobs N] [--recognizer moonshine|whisper]

Words, mel distance and ESTOI: up to N utterances of every LibriSpeech speaker of the part 'eval', for C0, C0:1, C0:2
and all levels. Privacy: M utterances each of N speakers of the part 'eval', ECAPA, original and coded. ``lazy``:
enrolment and trial are both coded; ``ignorant``: enrolment original. EER over pairs of single utterances of one gender;
rank p50 and p1 as in table 2 of turavecino2025usc (100 tests). Times are processor time of one process, models loaded.
Must: all levels WER <= 15 %, C0 <= 40 %; mel distance and ESTOI better with each of C0, C0:1, C0:2; lazy EER of C0 at
least 15 points above that of all levels, its linking rank p50 at least 3 times; 20 times real time or faster.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # one core each, before numpy wakes up

import argparse
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from personare.attackers import embedder
from personare.codecs.tokens import bit_rate
from personare.codecs.usc import features
from personare.codecs.usc.codec import Usc
from personare.core.audio import Audio, read_mono, resample
from personare.core.seeding import Key, rng_for
from personare.corpora import read_corpus
from personare.engine import engine_for
from personare.listeners import listener
from personare.listeners.normalize import WhisperEnglish
from personare.listeners.stoi import Estoi
from personare.listeners.words import Recognizer
from personare.metrics.privacy.eer import rocch_eer
from personare.metrics.privacy.ranks import rank_test
from personare.metrics.utility.wer import wer, word_errors
from personare.training.usc import grid

BESIDE = Path(__file__).resolve().parents[2] / "shared" / "corpus"
KEY = Key.from_seed("codec benchmark")
ALL = 6
FIDELITY = (1, 2, 3, ALL)
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Fidelity:
    """Code one utterance and listen to it at several numbers of levels; runs in any process."""

    codec: Usc
    recognizer: str

    def __call__(self, row: dict[str, str]) -> dict[str, Any]:
        """Measure one utterance."""
        original = resample(read_mono(Path(row["audio"])), grid.RATE_HZ)
        start = time.process_time()
        tokens = self.codec.encode(original)
        spent_s = time.process_time() - start
        found: dict[str, Any] = {"text": {0: _text(original, self.recognizer)}, "mel": {}, "estoi": {}}
        for levels in FIDELITY:
            start = time.process_time()
            made = decoded(self.codec, tokens, levels, row["utterance"])
            spent_s += time.process_time() - start if levels == ALL else 0.0
            found["text"][levels] = _text(made, self.recognizer)
            found["mel"][levels] = mel_distance(original, made)
            found["estoi"][levels] = Estoi()([(original, made)])[0]
        return found | {"rate": spent_s / original.duration_s}


@dataclass(frozen=True)
class Privacy:
    """Embed one utterance as it is, from C0 and from all levels; runs in any process."""

    codec: Usc

    def __call__(self, row: dict[str, str]) -> Any:
        """Give speaker vectors [3, size]."""
        original = read_mono(Path(row["audio"]))
        tokens = self.codec.encode(original)
        made = [decoded(self.codec, tokens, levels, row["utterance"]) for levels in (1, ALL)]
        return embedder("ecapa")([original, *made])


def decoded(codec: Usc, tokens: Any, levels: int, name: str) -> Audio:
    """Decode the first levels; chance comes from the utterance's name."""
    return codec.decode(tokens.kept(levels), rng=rng_for(KEY, name, str(levels)))


def _text(audio: Audio, recognizer: str) -> str:
    heard = listener(recognizer)
    assert isinstance(heard, Recognizer)
    return heard([audio])[0]


def mel_distance(a: Audio, b: Audio) -> float:
    """Mean distance of log-mel spectra in nepers, both at the coding level."""
    logs = [features.log_mels(x.samples * np.float32(features.level_gain(x.samples))) for x in (a, b)]
    return float(features.MEL_SPREAD * np.abs(logs[0] - logs[1]).mean())


def chosen(corpus: Path, *, speakers: int, utterances: int, only: str = "") -> list[dict[str, str]]:
    """Take the first utterances of evenly chosen speakers of the part 'eval'."""
    frame = read_corpus(corpus).corpus.frame
    if "part" in frame.columns:
        frame = frame.filter(pl.col("part") == "eval")
    if only and "corpus" in frame.columns:
        frame = frame.filter(pl.col("corpus").str.starts_with(only))
    names = sorted(frame["speaker"].unique().to_list())
    names = [names[i] for i in np.unique(np.linspace(0, len(names) - 1, speakers).astype(int))]
    picked = frame.filter(pl.col("speaker").is_in(names)).sort("speaker", "utterance")
    return picked.group_by("speaker", maintain_order=True).head(utterances).to_dicts()


def run(work: Any, rows: Sequence[dict[str, str]], jobs: int) -> list[Any]:
    """Run the work over all utterances; any failure ends the benchmark."""
    results = list(engine_for(jobs).map(work, rows))
    failed = [result for result in results if not result.ok]
    if failed:
        sys.exit(f"{len(failed)} utterances failed; the first: {failed[0].item['utterance']}: {failed[0].error}")
    return [result.value for result in results]


def fidelity_table(codec: Usc, rows: Sequence[dict[str, str]], values: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Print words, mel distance and ESTOI per number of levels; gives them."""
    plain = WhisperEnglish()
    references = [plain(row["text"]) for row in rows]
    rates = {
        levels: wer(word_errors(references, [plain(value["text"][levels]) for value in values]))
        for levels in (0, *FIDELITY)
    }
    means = {
        name: {levels: float(np.mean([value[name][levels] for value in values])) for levels in FIDELITY}
        for name in ("mel", "estoi")
    }
    words = sum(len(text.split()) for text in references)
    print(f"{len(rows)} utterances, {words} words, {len({row['speaker'] for row in rows})} speakers\n")
    print("| levels | kbit/s | WER, % | mel distance, nepers | ESTOI |\n|---|--:|--:|--:|--:|")
    print(f"| original | | {100 * rates[0]:.1f} | 0 | 1 |")
    for levels in FIDELITY:
        name = "C0" if levels == 1 else f"C0:{levels - 1}"
        rate = bit_rate(codec.code_counts[:levels], codec.frame_rate_hz) / 1000
        mel, estoi = means["mel"][levels], means["estoi"][levels]
        print(f"| {name} | {rate:.2f} | {100 * rates[levels]:.1f} | {mel:.3f} | {estoi:.3f} |")
    return {"wer": rates, **means, "rate": float(np.median([value["rate"] for value in values]))}


def same_gender_eer(scores: Floats, rows: Sequence[dict[str, str]]) -> float:
    """EER over pairs of different utterances of one gender."""
    speakers, genders, names = (np.array([row[c] or "" for row in rows]) for c in ("speaker", "gender", "utterance"))
    same, gender = speakers[:, None] == speakers[None], genders[:, None] == genders[None]
    return rocch_eer(scores[same & (names[:, None] != names[None])], scores[~same & gender])


def privacy_table(rows: Sequence[dict[str, str]], vectors: Floats) -> dict[str, Any]:
    """Print EER and ranks of the original speech, C0 and all levels; gives them."""
    vectors = vectors / np.linalg.norm(vectors, axis=2, keepdims=True)
    speakers = np.array([row["speaker"] for row in rows])
    place = np.array([int(np.sum(speakers[:i] == speakers[i])) for i in range(len(rows))])
    test, reference = place % 2 == 1, place % 2 == 0
    found: dict[str, Any] = {}
    people = len(np.unique(speakers))
    print(f"\n{len(rows)} utterances, {people} speakers; a guesser's rank p50 is {(people + 1) / 2:.1f}\n")
    print("| system | cosine to source | EER ignorant, % | EER lazy, % | link p50 | link p1 | single p50 | single p1 |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|")
    for side, name in enumerate(("original", "C0", "C0:5")):
        coded = vectors[:, side]
        link = rank_test(
            coded[test], speakers[test], coded[reference], speakers[reference], variant="linkability",
            rng=rng_for(KEY, "link"),
        )  # fmt: skip
        single = rank_test(
            vectors[test, 0], speakers[test], coded[reference], speakers[reference], variant="singling_out",
            rng=rng_for(KEY, "single"),
        )  # fmt: skip
        ignorant, lazy = (same_gender_eer(a @ coded.T, rows) for a in (vectors[:, 0], coded))
        cosine = float((vectors[:, 0] * coded).sum(axis=1).mean())
        ranks = [link.p50.value, link.p1.value, single.p50.value, single.p1.value]
        shown = " | ".join(f"{rank:.1f}" for rank in ranks)
        print(f"| {name} | {cosine:.2f} | {100 * ignorant:.1f} | {100 * lazy:.1f} | {shown} |")
        found[name] = {"lazy": lazy, "link": link.p50.value}
    return found


def musts(fidelity: dict[str, Any], privacy: dict[str, Any]) -> list[tuple[str, bool]]:
    """What the codec must reach, and whether it does."""
    rates, mel, estoi = fidelity["wer"], fidelity["mel"], fidelity["estoi"]
    c0, full = privacy["C0"], privacy["C0:5"]
    ahead = 100 * (c0["lazy"] - full["lazy"])
    return [
        (f"all levels: WER {100 * rates[ALL]:.1f} %, at most 15", rates[ALL] <= 0.15),
        (f"C0: WER {100 * rates[1]:.1f} %, at most 40", rates[1] <= 0.40),
        ("mel distance falls from C0 to C0:1 to C0:2", mel[1] > mel[2] > mel[3]),
        ("ESTOI rises from C0 to C0:1 to C0:2", estoi[1] < estoi[2] < estoi[3]),
        (f"lazy-informed EER of C0 {ahead:.1f} points above all levels, at least 15", ahead >= 15),
        (f"linking rank p50 of C0 {c0['link'] / full['link']:.1f} times, at least 3", c0["link"] >= 3 * full["link"]),
        (f"encoding and decoding {1 / fidelity['rate']:.0f} times real time, at least 20", fidelity["rate"] <= 0.05),
    ]


def main() -> None:
    """Print the tables; the exit code is 1 when something that must hold does not."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path, nargs="?", default=BESIDE)
    parser.add_argument("--weights", default="shipped")
    parser.add_argument("--voice", default="")
    parser.add_argument("--words", type=int, default=12)
    parser.add_argument("--speakers", type=int, default=86)
    parser.add_argument("--utterances", type=int, default=6)
    parser.add_argument("--recognizer", default="moonshine")
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    if not options.corpus.is_dir():
        print(f"{options.corpus}: no such corpus; nothing measured")
        return
    codec = Usc(weights=options.weights, **({"voice": options.voice} if options.voice else {}))
    rows = chosen(options.corpus, speakers=options.speakers, utterances=options.words, only="librispeech")
    fidelity = fidelity_table(codec, rows, run(Fidelity(codec, options.recognizer), rows, options.jobs))
    rows = chosen(options.corpus, speakers=options.speakers, utterances=options.utterances)
    vectors = np.stack(run(Privacy(codec), rows, options.jobs)).astype(np.float64)
    lines = musts(fidelity, privacy_table(rows, vectors))
    print()
    for text, holds in lines:
        print(f"{'holds' if holds else 'FAILS'}: {text}")
    sys.exit(0 if all(holds for _, holds in lines) else 1)


if __name__ == "__main__":
    main()
