"""What the universal speech codec keeps and hides, level by level, on held-out speakers; checks what it must reach.

    python benchmarks/codec.py [CORPUS] [--weights FOLDER] [--voice NAME] [--words N] [--speakers N] [--utterances M]
                               [--out FOLDER] [--jobs J] [--recognizer moonshine|whisper]

Two studies through the one pipeline. Words and ESTOI: up to N utterances of every LibriSpeech speaker of the part
'eval', with C0, C0:1, C0:2 and all levels. Privacy: M utterances each of N speakers of the part 'eval', original, C0,
C0 in drawn voices and all levels, against the attacker who knows nothing and the lazy-informed one (enrolment is coded
too): EER, and the rank of the right speaker as in table 2 of turavecino2025usc. Mel distance and speed (processor time
of one core, models loaded) are measured beside them on the same utterances. Run again with the same --out, what is done
is not done again.
Must: all levels WER <= 15 %, C0 <= 40 %; mel distance and ESTOI better with each of C0, C0:1, C0:2; lazy-informed EER
of C0 at least 15 points above that of all levels, its linking rank p50 at least 3 times; 20 times real time or faster.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # one core each, before numpy wakes up

import argparse
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import personare as pn
from personare.codecs.tokens import bit_rate
from personare.codecs.usc import features
from personare.codecs.usc.codec import Usc
from personare.core.audio import Audio, resample
from personare.core.errors import PersonareError
from personare.core.seeding import Key, rng_for
from personare.core.tables import Corpus
from personare.corpora import read_corpus
from personare.pipeline.study import AttackerChoice, CorpusChoice, ListenerChoice, Study
from personare.training.usc import grid

BESIDE = Path(__file__).resolve().parents[2] / "shared" / "corpus"
KEY = Key.from_seed("codec benchmark")
ALL = 6
FIDELITY = (1, 2, 3, ALL)
LAZY, IGNORANT = "lazy-informed", "ignorant"
RANKS = ("rank_link_p50", "rank_link_p1", "rank_single_p50", "rank_single_p1")
Systems = Mapping[str, Mapping[str, Any]]


def label(levels: int) -> str:
    """Name a number of levels."""
    return "C0" if levels == 1 else f"C0-{levels - 1}"


@dataclass(frozen=True)
class CodecChoice:
    """The codec that is measured: its weights, and the voice it speaks C0 with."""

    weights: str = "shipped"
    voice: str = "none"

    def system(self, levels: int) -> dict[str, Any]:
        """The round trip with so many levels, as a study names it."""
        own = {} if self.weights == "shipped" else {"weights": str(Path(self.weights).resolve())}
        return {"method": "codec", "codec": "usc", "levels": levels, "parameters": {"voice": self.voice}, **own}

    @property
    def drawn(self) -> dict[str, Any]:
        """The anonymizer, which draws a voice for each speaker."""
        own = {} if self.weights == "shipped" else {"weights": str(Path(self.weights).resolve())}
        return {"method": "usc", **own}


def chosen(corpus: Path, folder: Path, *, speakers: int, utterances: int, only: str = "") -> Corpus:
    """Write a corpus of the first utterances of evenly chosen speakers of the part 'eval' into ``folder``."""
    frame = read_corpus(corpus).corpus.frame
    if "part" in frame.columns:
        frame = frame.filter(pl.col("part") == "eval").drop("part")
    if only and "corpus" in frame.columns:
        frame = frame.filter(pl.col("corpus").str.starts_with(only))
    names = sorted(frame["speaker"].unique().to_list())
    names = [names[i] for i in np.unique(np.linspace(0, len(names) - 1, speakers).astype(int))]
    picked = frame.filter(pl.col("speaker").is_in(names)).sort("speaker", "utterance")
    found = Corpus(picked.group_by("speaker", maintain_order=True).head(utterances))
    folder.mkdir(parents=True, exist_ok=True)
    found.save(folder / "manifest.parquet")
    return found


def words_study(folder: Path, systems: Systems, recognizer: str) -> Study:
    """Words and ESTOI of some systems; nobody is enrolled."""
    return Study(
        title="What the codec keeps",
        corpora={"words": CorpusChoice(path=folder.resolve(), split="trial")},
        anonymizers={"original": {}, **systems},
        listeners={"words": ListenerChoice(recognizer), "estoi": ListenerChoice("estoi")},
        metrics=("wer", "estoi"),
        clips=0,
    )


def privacy_study(folder: Path, systems: Systems) -> Study:
    """EER and ranks of some systems, against who knows nothing and who codes the enrolment too."""
    return Study(
        title="What the codec hides",
        corpora={"privacy": CorpusChoice(path=folder.resolve(), one_sided="drop")},
        anonymizers={"original": {}, **systems},
        attackers={LAZY: AttackerChoice(LAZY, enroll_draws=1), IGNORANT: AttackerChoice(IGNORANT)},
        metrics=("eer", "ranks", "sim"),
        clips=0,
    )


def found(result: pn.Results, metric: str, system: str, attacker: str = "") -> pn.Finding | None:
    """One finding of a study; None where it was not measured."""
    for finding in result:
        conditions = finding.conditions
        if finding.metric.name != metric or conditions["anonymizer"] != system or "gender" in conditions:
            continue
        if not attacker or conditions.get("attacker") == attacker:
            return finding
    return None


def value(result: pn.Results, metric: str, system: str, attacker: str = "") -> float:
    """One number of a study; NaN where it was not measured."""
    finding = found(result, metric, system, attacker)
    return float("nan") if finding is None else finding.estimate.value


def text(result: pn.Results, metric: str, system: str, attacker: str = "") -> str:
    """One number of a study with its interval; a dash where it was not measured."""
    finding = found(result, metric, system, attacker)
    return "-" if finding is None else finding.text


def sound(codec: Usc, corpus: Corpus) -> tuple[dict[int, float], float]:
    """Mean mel distance for each number of levels, and how many times faster than real time all levels are."""
    mels: dict[int, list[float]] = {levels: [] for levels in FIDELITY}
    rates = []
    for utterance in corpus:
        original = resample(utterance.read(), grid.RATE_HZ)
        start = time.process_time()
        tokens = codec.encode(original)
        spent_s = time.process_time() - start
        for levels in FIDELITY:
            start = time.process_time()
            made = codec.decode(tokens.kept(levels), rng=rng_for(KEY, utterance.utterance, str(levels)))
            spent_s += time.process_time() - start if levels == ALL else 0.0
            mels[levels].append(mel_distance(original, made))
        rates.append(original.duration_s / max(spent_s, 1e-9))
    return {levels: float(np.mean(found)) for levels, found in mels.items()}, float(np.median(rates))


def mel_distance(a: Audio, b: Audio) -> float:
    """Mean distance of log-mel spectra in nepers, both at the coding level."""
    logs = [features.log_mels(x.samples * np.float32(features.level_gain(x.samples))) for x in (a, b)]
    return float(features.MEL_SPREAD * np.abs(logs[0] - logs[1]).mean())


def fidelity_table(codec: Usc, result: pn.Results, mels: Mapping[int, float]) -> None:
    """Print words, ESTOI and mel distance for each number of levels."""
    print("| levels | kbit/s | WER [95 %] | mel distance, nepers | ESTOI [95 %] |\n|---|--:|--:|--:|--:|")
    print(f"| original | - | {text(result, 'wer', 'original')} | 0 | 1 |")
    for levels in FIDELITY:
        rate = bit_rate(codec.code_counts[:levels], codec.frame_rate_hz) / 1000
        name = label(levels)
        cells = [name.replace("C0-", "C0:"), f"{rate:.2f}", text(result, "wer", name)]
        print("| " + " | ".join([*cells, f"{mels[levels]:.3f}", text(result, "estoi", name)]) + " |")


def privacy_table(result: pn.Results, systems: Sequence[str]) -> None:
    """Print similarity, EER and ranks of the original speech and of some systems."""
    head = ["system", "SIM", "EER ignorant [95 %]", "EER lazy-informed [95 %]"]
    head += ["linkability p50", "linkability p1", "singling out p50", "singling out p1"]
    print("| " + " | ".join(head) + " |\n|---" + "|--:" * (len(head) - 1) + "|")
    for name in ("original", *systems):
        cells = [name.replace("C0-", "C0:"), text(result, "sim", name)]
        cells += [text(result, "eer", name, who) if name != "original" else "-" for who in (IGNORANT, LAZY)]
        if name == "original":
            cells[2:] = [text(result, "eer", name)] * 2
        print("| " + " | ".join([*cells, *(text(result, rank, name) for rank in RANKS)]) + " |")


def musts(words: pn.Results, privacy: pn.Results, mels: Mapping[int, float], speed: float) -> list[tuple[str, bool]]:
    """What the codec must reach, and whether it does."""
    wer = {levels: value(words, "wer", label(levels)) for levels in FIDELITY}
    estoi = {levels: value(words, "estoi", label(levels)) for levels in FIDELITY}
    c0, full = label(1), label(ALL)
    ahead = 100 * (value(privacy, "eer", c0, LAZY) - value(privacy, "eer", full, LAZY))
    times = value(privacy, "rank_link_p50", c0) / value(privacy, "rank_link_p50", full)
    return [
        (f"all levels: WER {100 * wer[ALL]:.1f} %, at most 15", wer[ALL] <= 0.15),
        (f"C0: WER {100 * wer[1]:.1f} %, at most 40", wer[1] <= 0.40),
        ("mel distance falls from C0 to C0:1 to C0:2", mels[1] > mels[2] > mels[3]),
        ("ESTOI rises from C0 to C0:1 to C0:2", estoi[1] < estoi[2] < estoi[3]),
        (f"lazy-informed EER of C0 {ahead:.1f} points above all levels, at least 15", ahead >= 15),
        (f"linking rank p50 of C0 {times:.1f} times that of all levels, at least 3", times >= 3),
        (f"encoding and decoding {speed:.0f} times real time on one core, at least 20", speed >= 20),
    ]


def main() -> None:
    """Print the tables; the exit code is 1 when something that must hold does not."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path, nargs="?", default=BESIDE)
    parser.add_argument("--weights", default="shipped")
    parser.add_argument("--voice", default="none")
    parser.add_argument("--words", type=int, default=12)
    parser.add_argument("--speakers", type=int, default=86)
    parser.add_argument("--utterances", type=int, default=6)
    parser.add_argument("--recognizer", default="moonshine")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    choice = CodecChoice(options.weights, options.voice)
    codec = Usc(weights=options.weights, voice=options.voice)
    try:
        codec.fingerprint  # noqa: B018 - opens the files
    except PersonareError as error:
        print(f"skipped: {error}")
        return
    if not options.corpus.is_dir():
        print(f"skipped: no corpus of real speech at {options.corpus}; name one")
        return
    with tempfile.TemporaryDirectory(prefix="personare-") as folder:
        measured = measure(choice, codec, options, options.out or Path(folder))
    sys.exit(0 if all(holds for _, holds in measured) else 1)


def measure(choice: CodecChoice, codec: Usc, options: argparse.Namespace, out: Path) -> list[tuple[str, bool]]:
    """Run both studies, print the tables and what must hold."""
    spoken = chosen(
        options.corpus, out / "words", speakers=options.speakers, utterances=options.words, only="librispeech"
    )
    mels, speed = sound(codec, spoken)
    systems = {label(levels): choice.system(levels) for levels in FIDELITY}
    study = words_study(out / "words", systems, options.recognizer)
    words = pn.run_study(study, out / "words-run", resume=(out / "words-run").exists(), jobs=options.jobs)
    print(f"{len(spoken)} utterances of {len(spoken.speakers)} speakers\n")
    fidelity_table(codec, words, mels)
    heard = chosen(options.corpus, out / "privacy", speakers=options.speakers, utterances=options.utterances)
    systems = {label(1): choice.system(1), "usc": choice.drawn, label(ALL): choice.system(ALL)}
    study = privacy_study(out / "privacy", systems)
    privacy = pn.run_study(study, out / "privacy-run", resume=(out / "privacy-run").exists(), jobs=options.jobs)
    people = len(heard.speakers)
    print(f"\n{len(heard)} utterances of {people} speakers; a guesser's rank p50 is {(people + 1) / 2:.1f}\n")
    privacy_table(privacy, list(systems))
    lines = musts(words, privacy, mels, speed)
    print()
    for line, holds in lines:
        print(f"{'holds' if holds else 'FAILS'}: {line}")
    return lines


if __name__ == "__main__":
    main()
