"""What methods that re-synthesize words do to words, quality and time, in any supported language.

    python benchmarks/cascade.py [CORPUS] [--method NAME] [--set PARAMETER=VALUE] [--corpus-part NAME] [--language CODE]
                                 [--recognizers NAME,NAME] [--utterances N] [--least-s S] [--any-part]

Prints the speed (seconds of speech per second of one processor core, without loading models), rejected recordings,
DNSMOS, and word and character error rates by recognizers: moonshine, moonshine-base (English), whisper-base and
whisper-small. Judge by a recognizer that the method does not use for that language. 'faithfulness' compares the words
that a recognizer finds in the original with those it finds in the result, without any given text: 100 % minus WER.
Utterances are those of the part 'eval' (--any-part: all) whose column ``corpus`` begins with NAME (librispeech if not
given), the shortest of every speaker in turn. benchmarks/prompts.py makes a corpus of real Italian, French and Spanish.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import time
from collections.abc import Sequence
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")  # one core, before numpy is imported
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
import polars as pl

from personare.anonymizers import anonymizer
from personare.core.audio import Audio, read_mono, resample
from personare.core.errors import PersonareError
from personare.core.findings import Estimate
from personare.core.seeding import Key, rng_for
from personare.encoders.recognition import RATE_HZ, recognize
from personare.languages import language
from personare.listeners.dnsmos import Dnsmos
from personare.listeners.windows import windows_at_quiet_points
from personare.metrics.utility.wer import character_errors, wer_estimate, word_errors

BESIDE = Path(__file__).resolve().parents[2] / "shared" / "corpus"
KEY = Key.from_seed(1)
WINDOW_S = 24.0
ENGLISH_JUDGES, JUDGES = "moonshine,whisper-base", "whisper-base,whisper-small"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path, nargs="?", default=BESIDE)
    parser.add_argument("--method", default="cascade")
    parser.add_argument("--set", action="append", default=[], metavar="PARAMETER=VALUE")
    parser.add_argument("--corpus-part", default="librispeech")
    parser.add_argument("--language", default="en")
    parser.add_argument("--recognizers", default="")
    parser.add_argument("--utterances", type=int, default=40)
    parser.add_argument("--least-s", type=float, default=3.0, help="shorter recordings are left out")
    parser.add_argument("--any-part", action="store_true")
    words = parser.parse_args()
    if not words.corpus.exists():
        print(f"skipped: no corpus of real speech at {words.corpus}; name one")
        return
    code = language(words.language).code
    rows = chosen(words)
    method = anonymizer(words.method, **dict(one.split("=", 1) for one in words.set))
    for row in rows[:2]:  # loading models is not counted
        with contextlib.suppress(PersonareError):
            method(read_mono(words.corpus / row["audio"]), rng=np.random.default_rng(1))
    originals, results, kept, spent_s = [], [], [], 0.0
    for row in rows:
        audio = read_mono(words.corpus / row["audio"])
        began = time.process_time()
        try:
            result = method(audio, rng=rng_for(KEY, "voice", row["speaker"]))
        except PersonareError as error:
            print(f"rejected: {row['utterance']}: {error}")
            continue
        spent_s += time.process_time() - began
        originals.append(audio)
        results.append(result)
        kept.append(row)
    sound_s, rejected = sum(audio.duration_s for audio in originals), len(rows) - len(kept)
    speakers = len({row["speaker"] for row in rows})
    print(
        f"{words.corpus_part} ({code}): {len(rows)} utterances of {speakers} speakers, {rejected} rejected; "
        f"{sound_s:.0f} s spoken, {sound_s / max(spent_s, 1e-9):.1f} x real time (one core)"
    )
    sides = {"original": originals, words.method: results}
    for side, sounds in sides.items():
        scores = [opinion.overall for opinion in Dnsmos()(sounds)]
        print(f"DNSMOS, {side}: {np.mean(scores):.2f} (sd {np.std(scores):.2f})")
    for judge in (words.recognizers or (ENGLISH_JUDGES if code == "en" else JUDGES)).split(","):
        texts = {side: [transcript(sound, judge, code) for sound in sounds] for side, sounds in sides.items()}
        given = [row["text"] for row in kept]
        rates = {side: error_rates(given, heard, kept, code) for side, heard in texts.items()}
        for side, (wer, cer) in rates.items():
            print(f"{judge}, {side}: WER {percent(wer)}, CER {percent(cer)}")
        ratio = rates[words.method][0].value / max(rates["original"][0].value, 1e-9)
        faithful, _ = error_rates(texts["original"], texts[words.method], kept, code)
        print(f"{judge}: WER {ratio:.2f} x the original's; faithfulness {100 * (1 - faithful.value):.1f} %")


def chosen(words: argparse.Namespace) -> list[dict[str, str]]:
    """Choose utterances: the shortest of every speaker in turn."""
    table = pl.read_csv(words.corpus / "manifest.tsv", separator="\t", infer_schema=False, quote_char=None)
    fitting = table.filter(pl.col("corpus").str.to_lowercase().str.starts_with(words.corpus_part))
    if not words.any_part:
        fitting = fitting.filter(pl.col("part") == "eval")
    fitting = fitting.with_columns(pl.col("seconds").cast(pl.Float64)).filter(pl.col("seconds") >= words.least_s)
    ranked = fitting.with_columns(pl.col("seconds").rank("ordinal").over("speaker").alias("turn"))
    rows: list[dict[str, str]] = ranked.sort("turn", "speaker").head(words.utterances).to_dicts()
    return rows


def transcript(sound: Audio, judge: str, code: str) -> str:
    """Write down what a recognizer hears."""
    windows = windows_at_quiet_points(resample(sound, RATE_HZ), longest_s=WINDOW_S)
    return " ".join(word.text for one in windows for word in recognize(one.samples, model=judge, language=code))


def error_rates(
    given: Sequence[str], heard: Sequence[str], rows: Sequence[dict[str, str]], code: str
) -> tuple[Estimate, Estimate]:
    """Give word and character error rates with intervals over speakers."""
    normalize = language(code).normalize
    pairs = [(normalize(one), normalize(other)) for one, other in zip(given, heard, strict=True)]
    speakers = [row["speaker"] for row in rows]
    wer = wer_estimate(word_errors([one for one, _ in pairs], [other for _, other in pairs]), speakers=speakers)
    cer = wer_estimate(character_errors([one for one, _ in pairs], [other for _, other in pairs]), speakers=speakers)
    return wer, cer


def percent(estimate: Estimate) -> str:
    """Write an estimate with its interval."""
    return f"{100 * estimate.value:.1f} % [{100 * estimate.low:.1f}, {100 * estimate.high:.1f}]"


if __name__ == "__main__":
    main()
