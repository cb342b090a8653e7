"""Fits and measures the guesses of gender and age group: trained on speakers of the part 'train', measured on 'eval'.

    python benchmarks/attributes.py [CORPUS [FOLDER to write gender.json and age_group.json to]]

CORPUS holds manifest.tsv (part, gender, corpus) and speakers.tsv (age_group where known; audiobook readers are adults).
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import polars as pl

from personare.core.audio import read_mono
from personare.core.errors import AudioError
from personare.core.tables import Corpus, read_frame
from personare.listeners.linear import Line, fit_classes
from personare.listeners.paralinguistics import NAMES, Paralinguistics
from personare.metrics.utility.recall import uar

BESIDE = Path(__file__).resolve().parents[2] / "shared" / "corpus"
UTTERANCES = 6
TRAINED_ON = (
    "train speakers of speechocean762 (CC BY 4.0, OpenSLR SLR101; J. Zhang et al., Interspeech 2021) and LibriSpeech "
    "train-clean-5 (CC BY 4.0, OpenSLR SLR31; V. Panayotov et al., ICASSP 2015), 6 utterances each"
)


def examples(corpus: Path) -> tuple[np.ndarray, pl.DataFrame]:
    groups = read_frame(corpus / "speakers.tsv").select("speaker", "age_group")
    frame = Corpus.load(corpus / "manifest.tsv").frame.join(groups, on="speaker")
    adult = pl.when(pl.col("corpus") == "librispeech-mini").then(pl.lit("adult")).otherwise(pl.col("age_group"))
    frame = frame.with_columns(adult.alias("age_group")).sort("utterance")
    frame = frame.group_by("speaker", maintain_order=True).head(UTTERANCES)
    rows, kept, measure = [], [], Paralinguistics()
    for i, path in enumerate(frame["audio"]):
        try:
            rows.append(measure([read_mono(Path(path))])[0])
            kept.append(i)
        except AudioError as error:
            print(f"left out {frame['utterance'][i]}: {error}")
    return np.stack(rows), frame[kept]


def measured(line: Line, rows: np.ndarray, truth: np.ndarray, speakers: np.ndarray) -> tuple[float, float]:
    """Give the average recall by utterance, and by speaker."""
    names, shares = np.array(line.outputs), line(rows)
    who = np.unique(speakers)
    means = np.stack([np.log(shares[speakers == s]).mean(axis=0) for s in who])
    true = np.array([truth[speakers == s][0] for s in who])
    return uar(truth, names[shares.argmax(1)]), uar(true, names[means.argmax(1)])


def main(corpus: Path, target: Path | None) -> None:
    rows, frame = examples(corpus)
    part, speakers = frame["part"].to_numpy(), frame["speaker"].to_numpy()
    adult = (frame["age_group"] == "adult").to_numpy()
    for kind, penalty, fitted_on in (("gender", 0.01, adult), ("age_group", 0.1, np.ones(len(adult), bool))):
        truth = frame[kind].to_numpy().astype(str)
        train, test = (part == "train") & fitted_on, part == "eval"
        line = fit_classes(rows[train], list(truth[train]), inputs=NAMES, trained_on=TRAINED_ON, penalty=penalty)
        for name, chosen in (("all", test), ("adults", test & adult), ("children", test & ~adult)):
            if kind == "gender" or name == "all":
                by_utterance, by_speaker = measured(line, rows[chosen], truth[chosen], speakers[chosen])
                n = len(np.unique(speakers[chosen]))
                print(f"{kind:10} {name:9} {n:3} speakers  UAR {by_utterance:.3f} / {by_speaker:.3f} (each, pooled)")
        if target is not None:
            line.save(target / f"{kind}.json")


if __name__ == "__main__":
    place = Path(sys.argv[1]) if sys.argv[1:] else BESIDE
    if place.is_dir():
        main(place, Path(sys.argv[2]) if sys.argv[2:] else None)
    else:
        print(f"skipped: no real speech at {place}; name a corpus")
