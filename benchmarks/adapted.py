"""Whether an attacker who adapts ECAPA's last layer gets further than one who keeps it: both on the same speech.

    python benchmarks/adapted.py [CORPUS] [--method NAME] [--speakers N] [--train-speakers N] [--utterances M]
                                 [--enroll-draws D] [--train-draws D] [--out RUN] [--jobs J]

People of the part 'eval' are attacked, people of the part 'train' are learnt from, both anonymized by one method. Both
attackers hear the same 6144 statistics of ECAPA. One compares them after the published last layer, by what training
speakers find best (cosine, WCCN, PLDA); the other may first train an adapter of that layer. Printed: EER at L = 1 and
3 (where there are so many trial utterances), and what held-out training speakers chose.
"""

from __future__ import annotations

import argparse
import tempfile
from dataclasses import dataclass
from pathlib import Path

import polars as pl

import personare as pn
from personare.attackers import SCORERS
from personare.attackers.adapted import AdaptedScorer
from personare.core.tables import Corpus
from personare.corpora import read_corpus
from personare.pipeline.attack_choices import CHOICES
from personare.pipeline.study import AttackerChoice, CorpusChoice, Study
from personare.reports.run import read_run

BESIDE = Path(__file__).resolve().parents[2] / "shared" / "corpus"
PUBLISHED = "as-published"


@dataclass(frozen=True)
class AsPublished(AdaptedScorer):
    """The published last layer, never adapted."""

    steps: tuple[int, ...] = (0,)


def some_of(frame: pl.DataFrame, part: str, speakers: int, utterances: int, target: Path) -> Path:
    """Write a corpus of some people of a part, evenly spread over all."""
    own = frame.filter(pl.col("part") == part)
    names = own["speaker"].unique(maintain_order=True).to_list()
    chosen = names[:: max(1, len(names) // speakers)][:speakers]
    few = own.filter(pl.col("speaker").is_in(chosen)).group_by("speaker", maintain_order=True).head(utterances)
    Corpus(few.select(frame.columns).drop("part")).save(target)
    return target


def main() -> None:
    """Run the study and print what came of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path, nargs="?", default=BESIDE)
    parser.add_argument("--method", default="cascade")
    parser.add_argument("--speakers", type=int, default=24)
    parser.add_argument("--train-speakers", type=int, default=60)
    parser.add_argument("--utterances", type=int, default=6)
    parser.add_argument("--enroll-draws", type=int, default=5)
    parser.add_argument("--train-draws", type=int, default=2)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--jobs", type=int, default=1)
    words = parser.parse_args()
    if not words.corpus.exists():
        print(f"skipped: no corpus of real speech at {words.corpus}; name one")
        return
    SCORERS.register(PUBLISHED, AsPublished)
    draws = {"enroll_draws": words.enroll_draws, "train_draws": words.train_draws}
    with tempfile.TemporaryDirectory(prefix="personare-") as name:
        frame = read_corpus(words.corpus).corpus.frame
        folder, out = Path(name), words.out or Path(name) / "run"
        study = Study(
            title="A last layer of one's own",
            corpora={
                "speech": CorpusChoice(
                    path=some_of(frame, "eval", words.speakers, words.utterances, folder / "eval" / "manifest.parquet"),
                    train_path=some_of(
                        frame, "train", words.train_speakers, words.utterances, folder / "train" / "manifest.parquet"
                    ),
                    one_sided="drop",
                )
            },
            anonymizers={words.method: {"method": words.method}},
            attackers={
                scorer: AttackerChoice("informed", "ecapa-pooled", scorer=scorer, **draws)
                for scorer in (PUBLISHED, "adapted")
            },
            utterances_per_trial=(1, 3),
            metrics=("eer",),
            skip_impossible=True,
            clips=0,
        )
        findings = pn.run_study(study, out, resume=out.exists(), jobs=words.jobs)
        for finding in findings:
            if "gender" not in finding.conditions:
                where = f"{finding.conditions['attacker']}, L = {finding.conditions['L']}"
                print(f"{where}: EER {finding.text}, {finding.estimate.n} speakers")
        for artefact in read_run(out).of_kind(CHOICES):
            (row, *_) = pl.read_parquet(artefact.path).rows(named=True)
            print(f"{artefact.conditions['attacker']}: {row['comparison']}, held-out area {row['area']:.3f}")


if __name__ == "__main__":
    main()
