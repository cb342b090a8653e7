"""Fits and measures the emotion judges: weights trained on EmoDB, measured on speakers and corpora they never heard.

    python benchmarks/emotion.py [CORPUS] [--train NAME] [--write FOLDER]

CORPUS has a column 'emotion' and a column 'corpus'. The weights are trained on the corpus NAME (emodb-de) alone: one
set on all its speakers and one without each of them. What is printed, and written into the card with --write:

    speakers apart   each speaker judged by the weights of the others of the same corpus (leave one speaker out)
    corpora apart    all speakers of one corpus judged by weights of another (leave one corpus out)

with the recall of each class and 95 % intervals over speakers. Corpora other than NAME are only measured.
"""

from __future__ import annotations

import argparse
import itertools
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from personare.core.audio import read_mono
from personare.core.errors import AudioError
from personare.corpora import read_corpus
from personare.listeners.discriminants import Discriminant
from personare.listeners.emotion import (
    AROUSAL,
    CLASS_OF,
    EMOTIONS,
    SAME_AS,
    SCALES,
    Emotion,
    EmotionJudge,
    EmotionSpectrum,
    emodb_speaker,
    plain_emotion,
)
from personare.listeners.emotion_weights import ALL, save_weights
from personare.listeners.linear import fit_values
from personare.metrics.utility.recall import class_recall_estimate, uar_estimate

BESIDE = Path(__file__).resolve().parents[2] / "shared" / "corpus-world"
JUDGES: tuple[EmotionJudge, ...] = (Emotion(), EmotionSpectrum())
RIDGE = 0.1
VALUES = {  # arousal and valence of acted emotions, as signs: -1, 0 or 1
    "anger": (1, -1),
    "happiness": (1, 1),
    "fear": (1, -1),
    "neutral": (-1, 0),
    "sadness": (-1, -1),
    "boredom": (-1, -1),
}
SOURCE = (
    "EmoDB: F. Burkhardt et al., A database of German emotional speech, Interspeech 2005; ten actors, ten sentences. "
    "CC BY 4.0 by the catalogue of one of its authors; the repository it came from states no licence"
)


def labels_of(frame: pl.DataFrame) -> dict[str, np.ndarray]:
    """Give the class of every utterance by task; empty where a task has none."""
    named = [plain_emotion(name) for name in frame["emotion"].to_list()]
    tasks = {task: np.array([CLASS_OF[task].get(name, "") for name in named]) for task in CLASS_OF}
    return {**tasks, "named": np.array(named)}


def trained(judge: EmotionJudge, task: str, rows: np.ndarray, labels: dict[str, np.ndarray]) -> Discriminant:
    """Fit one task of one judge."""
    if task != "scales":
        known = labels[task] != ""
        return judge.fitting()(rows[known], labels[task][known].tolist())
    known = np.isin(labels["named"], list(VALUES))
    truth = [VALUES[name] for name in labels["named"][known]]
    line = fit_values(rows[known], truth, inputs=judge.INPUTS, outputs=SCALES, trained_on="", penalty=RIDGE)
    numbers = (np.array(part) for part in (line.mean, line.scale, line.weights, line.bias))
    return Discriminant(SCALES, *numbers)


def results(truth: np.ndarray, heard: np.ndarray, speakers: np.ndarray) -> dict[str, Any]:
    """Give UAR and the recall of each class in percent, with intervals over speakers."""
    every = uar_estimate(truth, heard, speakers=speakers)
    classes = {
        str(name): class_recall_estimate(truth, heard, of=str(name), speakers=speakers) for name in np.unique(truth)
    }
    return {
        "speakers": len(np.unique(speakers)),
        "utterances": len(truth),
        "uar": [round(100 * number, 1) for number in (every.value, every.low, every.high)],
        "recall": {name: [round(100 * n, 1) for n in (e.value, e.low, e.high)] for name, e in classes.items()},
    }


def printed(title: str, found: dict[str, Any]) -> None:
    """Print one row."""
    recalls = "  ".join(f"{name} {value:.0f}" for name, (value, *_) in found["recall"].items())
    value, low, high = found["uar"]
    print(f"{title:70} UAR {value:5.1f} % [{low:.1f}, {high:.1f}]  {recalls}")


def main() -> None:
    """Fit, measure, print, and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path, nargs="?", default=BESIDE)
    parser.add_argument("--train", default="emodb-de")
    parser.add_argument("--write", type=Path)
    words = parser.parse_args()
    if not words.corpus.exists():
        print(f"skipped: no emotional speech at {words.corpus}; name a corpus with a column 'emotion'")
        return
    frame = read_corpus(words.corpus).corpus.frame.filter(pl.col("emotion").fill_null("") != "")
    models, measured = {}, []
    for judge in JUDGES:
        rows, kept = [], []
        for place, path in enumerate(frame["audio"]):
            try:
                rows.append(judge.numbers([read_mono(Path(path))])[0])
                kept.append(place)
            except AudioError as error:
                print(f"left out {frame['utterance'][place]}: {error}")
        own, x = frame[kept], np.stack(rows)
        labels, corpus, speakers = labels_of(own), own["corpus"].to_numpy(), own["speaker"].to_numpy()
        for task, name in itertools.product(("emotion", "arousal"), np.unique(corpus)):
            chosen = (corpus == name) & (labels[task] != "")
            heard = np.empty(len(x), dtype=object)
            for who in np.unique(speakers[chosen]):
                rest = chosen & (speakers != who)
                part = {key: value[rest] for key, value in labels.items()}
                heard[speakers == who] = trained(judge, task, x[rest], part)(x[speakers == who])
            found = results(labels[task][chosen], heard[chosen].astype(str), speakers[chosen])
            measured.append(
                {"judge": judge.JUDGE, "task": task, "judged": name, "trained on": f"{name}, others"} | found
            )
            printed(f"{judge.JUDGE}, {task}: {name}, speakers apart", found)
            for other in np.unique(corpus):
                if other == name:
                    continue
                rest = (corpus == other) & (labels[task] != "")
                model = trained(judge, task, x[rest], {key: value[rest] for key, value in labels.items()})
                found = results(labels[task][chosen], np.array(model(x[chosen])), speakers[chosen])
                measured.append({"judge": judge.JUDGE, "task": task, "judged": name, "trained on": other} | found)
                printed(f"{judge.JUDGE}, {task}: {name}, trained on {other}", found)
        train = corpus == words.train
        folds = np.array([emodb_speaker(u) for u in own["utterance"]])
        for task, fold in itertools.product(("emotion", "arousal", "scales"), [ALL, *np.unique(folds[train])]):
            rest = train & (folds != fold) if fold else train
            part = {key: value[rest] for key, value in labels.items()}
            models[judge.JUDGE, task, str(fold)] = trained(judge, task, x[rest], part)
    if words.write is not None:
        card = {
            "trained on": SOURCE,
            "speakers": sorted(frame.filter(pl.col("corpus") == words.train)["speaker"].unique().to_list()),
            "never trained on": "any other corpus; the others below were only measured",
            "classes": {"emotion": EMOTIONS, "arousal": AROUSAL, "same as": SAME_AS},
            "scales": {"values by emotion": VALUES, "order": SCALES},
            "shared with the method expressive": (
                "the corpus EmoDB, which is the only emotional speech that may train shipped weights; not the numbers, "
                "not the classifier. Judges trained on other speakers of the judged corpus share nothing"
            ),
            "results (percent, [value, low, high])": measured,
        }
        save_weights(models, card, words.write)


if __name__ == "__main__":
    main()
