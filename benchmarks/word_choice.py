"""How far attackers get who only read what people say: EER and linkability by words, of a corpus with texts.

    python benchmarks/word_choice.py [CORPUS] [--speakers N] [--utterances M] [--lengths L,L] [--everybody]

No sound is heard: all of them read the text of the corpus, which no anonymizer of voices changes. Attackers: by style
without training (embedder words, cosine), by style trained on the part 'train' (scorer chosen), and by rare words and
topics (embedder vocabulary, scorer idf), with and without the texts of the part 'train'. Where people read given
sentences the answer must be chance, unless a reader stays with one book. Every corpus named in the column ``corpus`` is
measured by itself; --everybody attacks the speakers of all parts, and nobody is left to train on.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import polars as pl

import personare as pn
from personare.core.tables import Corpus
from personare.corpora import read_corpus
from personare.pipeline.study import AttackerChoice, CorpusChoice, Study

BESIDE = Path(__file__).resolve().parents[2] / "shared" / "corpus"


def measured(frame: pl.DataFrame, lengths: tuple[int, ...], folder: Path) -> list[str]:
    """Run the study of one corpus; give the lines that are printed."""
    place = folder / "manifest.parquet"
    Corpus(frame).save(place)
    attackers = {
        "style": AttackerChoice("original", "words"),
        "rare words": AttackerChoice("original", "vocabulary", scorer="idf"),
    }
    if "part" in frame.columns and (frame["part"] == "train").any():
        attackers["style, trained"] = AttackerChoice("original", "words", scorer="chosen")
    study = Study(
        title="What people say",
        corpora={"speech": CorpusChoice(path=place, one_sided="drop")},
        anonymizers={"original": {}},
        attackers=attackers,
        utterances_per_trial=lengths,
        metrics=("eer", "linkability"),
        skip_impossible=True,
        clips=0,
    )
    findings = [f for f in pn.run_study(study, folder / "run") if "gender" not in f.conditions]
    return [
        f"  {f.conditions['attacker']}, L = {f.conditions['L']}: {f.metric.name} {f.text}, {f.estimate.n} speakers"
        for f in findings
        if f.conditions.get("N") in (None, f.estimate.n)
    ]


def main() -> None:
    """Measure every corpus there is and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path, nargs="?", default=BESIDE)
    parser.add_argument("--speakers", type=int, default=60, help="of each part, at most")
    parser.add_argument("--utterances", type=int, default=24, help="of each speaker, at most")
    parser.add_argument("--lengths", default="1,3")
    parser.add_argument("--everybody", action="store_true", help="attack the speakers of all parts")
    words = parser.parse_args()
    if not words.corpus.exists():
        print(f"skipped: no corpus with texts at {words.corpus}; name one")
        return
    frame = read_corpus(words.corpus).corpus.frame
    names = frame["corpus"].unique(maintain_order=True).to_list() if "corpus" in frame.columns else [None]
    for name in names:
        own = frame if name is None else frame.filter(pl.col("corpus") == name)
        own = own.drop("part", strict=False) if words.everybody else own
        groups = ["part", "speaker"] if "part" in own.columns else ["speaker"]
        few = own.select(groups).unique(maintain_order=True)
        few = few.group_by(groups[:-1], maintain_order=True).head(words.speakers) if groups[:-1] else few
        kept = own.join(few, on=groups, how="semi").group_by("speaker", maintain_order=True).head(words.utterances)
        with tempfile.TemporaryDirectory(prefix="personare-") as folder:
            print(name or words.corpus)
            lengths = tuple(int(length) for length in words.lengths.split(","))
            print("\n".join(measured(kept.select(own.columns), lengths, Path(folder))))


if __name__ == "__main__":
    main()
