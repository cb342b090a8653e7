"""What ranges of mcadams' alpha do to words: word error rate against the original's, each part of a corpus apart.

    python benchmarks/mcadams_range.py [CORPUS] [--speakers N] [--utterances M] [--ranges LOW:HIGH,LOW:HIGH]
                                       [--seeds S,S] [--out RUN] [--jobs J]

The default of mcadams must keep words usable: at most 1.6 times the original's word error rate, on every kind of
speech. Parts are the values of the manifest's column ``corpus``; nobody is attacked, so that people of all parts listen
in. An alpha is drawn for every speaker: with few speakers the draw matters, and each seed is a draw of its own.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import personare as pn
from personare.core.tables import Corpus
from personare.corpora import read_corpus
from personare.pipeline.study import CorpusChoice, ListenerChoice, Study

BESIDE = Path(__file__).resolve().parents[2] / "shared" / "corpus"
BOUND = 1.6


def corpora_of(words: argparse.Namespace, folder: Path) -> dict[str, CorpusChoice]:
    """List every part of the corpus by itself."""
    frame = read_corpus(words.corpus).corpus.frame
    names = sorted(frame["corpus"].unique()) if "corpus" in frame.columns else ["speech"]
    choices = {}
    for name in names:
        own = frame.filter(frame["corpus"] == name) if "corpus" in frame.columns else frame
        place = folder / name / "manifest.parquet"
        Corpus(own.drop("part") if "part" in own.columns else own).save(place)
        choices[name] = CorpusChoice(
            path=place, speakers=words.speakers, utterances=words.utterances, split="trial", one_sided="keep"
        )
    return choices


def study_of(words: argparse.Namespace, folder: Path, seed: int) -> Study:
    """Make the study: the original and every range, words only."""
    ranges = [[float(end) for end in text.split(":")] for text in words.ranges.split(",")]
    return Study(
        title="What ranges of alpha do to words",
        corpora=corpora_of(words, folder),
        anonymizers={"original": {}, **{f"{a:g}..{b:g}": {"method": "mcadams", "alpha": [a, b]} for a, b in ranges}},
        listeners={"moonshine": ListenerChoice("moonshine")},
        metrics=("wer",),
        seed=seed,
        clips=0,
    )


def main() -> None:
    """Run the study for every seed and print one table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path, nargs="?", default=BESIDE)
    parser.add_argument("--speakers", type=int, default=24)
    parser.add_argument("--utterances", type=int, default=3)
    parser.add_argument("--ranges", default="0.7:0.9,0.75:0.9")
    parser.add_argument("--seeds", default="1,2")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--jobs", type=int, default=1)
    words = parser.parse_args()
    if not words.corpus.exists():
        print(f"skipped: no corpus of real speech at {words.corpus}; name one")
        return
    print("| corpus | alpha | seed | WER | times the original's | within 1.6 |\n|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory(prefix="personare-") as name:
        folder = words.out or Path(name)
        for seed in (int(text) for text in words.seeds.split(",")):
            out = folder / f"seed{seed}"
            result = pn.run_study(study_of(words, folder, seed), out, resume=out.exists(), jobs=words.jobs)
            found = [f for f in result if f.metric.name == "wer" and "gender" not in f.conditions]
            before = {
                f.conditions["corpus"]: f.estimate.value for f in found if f.conditions["anonymizer"] == "original"
            }
            for f in found:
                ratio = f.estimate.value / before[f.conditions["corpus"]]
                row = (f.conditions["corpus"], f.conditions["anonymizer"], seed, f.text, f"{ratio:.2f}", ratio <= BOUND)
                print("| " + " | ".join(str(cell) for cell in row) + " |", flush=True)


if __name__ == "__main__":
    main()
