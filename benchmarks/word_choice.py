"""How far an attacker gets who only reads what people say: EER by word choice, of a corpus with texts.

    python benchmarks/word_choice.py [CORPUS] [--speakers N] [--utterances M] [--lengths L,L]

No sound is heard: the embedder ``words`` reads the text of the corpus, which no anonymizer of voices changes.
Attackers: one who learns nothing (cosine), and one who learns from the part 'train' (scorer chosen). Where people read
given sentences the answer must be chance, unless a reader stays with one book. Every corpus named in the column
``corpus`` is measured by itself.
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
    attackers = {"plain": AttackerChoice("original", "words")}
    if "part" in frame.columns and (frame["part"] == "train").any():
        attackers["learnt"] = AttackerChoice("original", "words", scorer="chosen")
    study = Study(
        title="What people say",
        corpora={"speech": CorpusChoice(path=place, one_sided="drop")},
        anonymizers={"original": {}},
        attackers=attackers,
        utterances_per_trial=lengths,
        metrics=("eer",),
        skip_impossible=True,
        clips=0,
    )
    findings = [f for f in pn.run_study(study, folder / "run") if "gender" not in f.conditions]
    return [
        f"  {f.conditions['attacker']}, L = {f.conditions['L']}: EER {f.text}, {f.estimate.n} speakers"
        for f in findings
    ]


def main() -> None:
    """Measure every corpus there is and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path, nargs="?", default=BESIDE)
    parser.add_argument("--speakers", type=int, default=60, help="of each part, at most")
    parser.add_argument("--utterances", type=int, default=24, help="of each speaker, at most")
    parser.add_argument("--lengths", default="1,3")
    words = parser.parse_args()
    if not words.corpus.exists():
        print(f"skipped: no corpus with texts at {words.corpus}; name one")
        return
    frame = read_corpus(words.corpus).corpus.frame
    names = frame["corpus"].unique(maintain_order=True).to_list() if "corpus" in frame.columns else [None]
    for name in names:
        own = frame if name is None else frame.filter(pl.col("corpus") == name)
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
