"""Where the neural anonymizer leaks the speaker: one channel after the other replaced, under the informed attacker.

    python benchmarks/leaks.py [CORPUS] [--speakers N] [--utterances M] [--train-utterances T] [--enroll-draws D]
                               [--embedders NAME,NAME] [--listeners NAME,NAME] [--only NAME;NAME] [--one-voice]
                               [--weights DIR] [--out RUN] [--jobs J] [--json]

The speakers of the part 'eval' are attacked, each corpus they come from apart (column 'corpus'); the attacker has
anonymized the speech of the part 'train' by the very same variant, a new voice for every utterance, and learns from it,
and enrols the mean of several draws. EER is within one gender, from one utterance and from three (L = 1, 3), of the
fusion of two voice embedders and statistics of energy, rhythm and spectrum, back-ends chosen on training speakers;
--embedders names others, several with commas, of which the table states the strongest.
``--one-voice`` gives everybody of a gender the same voice in every variant: the pseudo-speaker no longer disturbs the
attacker, so that differences between channels stand out. No user should.
``--weights`` measures a voice that was trained by ``personare train prosody`` instead of the shipped one.
Run again with the same --out, what is done is not done again.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

import personare as pn
from methods import ended_by_mistakes, picked
from personare.anonymizers.neural.xvector.weights import SHIPPED, open_weights
from personare.corpora import read_corpus
from personare.pipeline.study import AttackerChoice, CorpusChoice, ListenerChoice, Study
from personare.pseudospeakers.pool import SpeakerPool, write_pool

KEPT = {"method": "xvector", "generator": "o1", "pitch": "move", "f0": "keep", "energy": "keep", "timing": "keep"}
PREDICTED = {**KEPT, "f0": "predicted", "energy": "predicted"}
CHANNELS: dict[str, dict[str, Any]] = {
    "everything kept": KEPT,
    "F0 flat": {**KEPT, "f0": "flat"},
    "F0 predicted": {**KEPT, "f0": "predicted"},
    "energy predicted": {**KEPT, "energy": "predicted"},
    "energy and F0 predicted": PREDICTED,
    "energy and F0 predicted, tempo moved": {**PREDICTED, "timing": "moved"},
    "energy, F0 and timing replaced": {**PREDICTED, "timing": "even"},
    "words alone (cascade)": {"method": "cascade"},
}
LENGTHS = (1, 3)
FUSION = "wespeaker+wakehubert+energy+rhythm+spectrum"
LISTENERS = {"moonshine": ("wer",), "whisper": ("wer",), "dnsmos": ("dnsmos",), "pitch-swift": ("f0_spearman",)}
TITLES = {"wer": "WER", "dnsmos": "DNSMOS", "f0_spearman": "F0 correlation"}
BESIDE = Path(__file__).resolve().parents[2] / "shared" / "corpus"


def corpora_of(words: argparse.Namespace, folder: Path) -> dict[str, CorpusChoice]:
    """Write one list of speech per corpus of the attacked speakers, and one of the speech that is learnt from."""
    frame = read_corpus(words.corpus).corpus.frame.sort("utterance")
    if "corpus" not in frame.columns:
        frame = frame.with_columns(pl.lit(words.corpus.resolve().name).alias("corpus"))
    train = frame.filter(pl.col("part") == "train")
    train = train.filter(pl.int_range(pl.len()).over("speaker") < words.train_utterances)
    attacked = frame.filter(pl.col("part") == "eval")
    lists = {"train": train, **{str(name): own for (name,), own in attacked.group_by("corpus", maintain_order=True)}}
    for name, rows in lists.items():
        (folder / name).mkdir(parents=True, exist_ok=True)
        rows.drop("part").write_csv(folder / name / "manifest.tsv", separator="\t")
    return {
        name: CorpusChoice(
            path=folder / name,
            speakers=words.speakers,
            utterances=words.utterances,
            train_path=folder / "train",
            one_sided="drop",
        )
        for name in sorted(lists.keys() - {"train"})
    }


def one_voice_pool(path: Path, weights: str) -> dict[str, Any]:
    """Write a pool with one voice of each gender, and give the settings that hand it out."""
    bank = open_weights(weights).bank
    rows = [bank.genders.index(gender) for gender in ("f", "f", "m", "m")]
    write_pool(SpeakerPool(bank.vectors[rows], ("f", "f", "m", "m"), ("f1", "f2", "m1", "m2")), path)
    return {"generator": "random", "parameters": {"mix": 1}, "pool": str(path)}


def study_of(words: argparse.Namespace, folder: Path) -> Study:
    """Make the study that a command line asks for."""
    channels = picked(words.only, CHANNELS) if words.only else CHANNELS
    also: dict[str, Any] = {} if words.weights is None else {"weights": str(words.weights.resolve())}
    if words.one_voice:
        also |= one_voice_pool(folder / "one-voice.npz", also.get("weights", SHIPPED))
    methods = {name: {**channel, **also} for name, channel in channels.items()}
    listeners = [name for name in words.listeners.split(",") if name]
    utility = dict.fromkeys(metric for name in listeners for metric in LISTENERS.get(name, ()))
    embedders = words.embedders.split(",")
    return Study(
        title="Where the neural anonymizer leaks the speaker",
        corpora=corpora_of(words, folder / "speech"),
        anonymizers={"original": {}, **methods} if listeners else methods,
        attackers={
            name: AttackerChoice("informed", embedder=name, scorer="chosen", enroll_draws=words.enroll_draws)
            for name in embedders
        },
        listeners={name: ListenerChoice(name) for name in listeners},
        metrics=("eer", *utility),
        utterances_per_trial=LENGTHS,
        skip_impossible=True,
        clips=0,
    )


def rows_of(findings: Sequence[pn.Finding]) -> list[dict[str, str]]:
    """Give one row per variant: the strongest attacker's EER for each corpus and L, then what is left of the speech."""
    rows = []
    overall = [f for f in findings if "gender" not in f.conditions]
    for variant in dict.fromkeys(str(f.conditions["anonymizer"]) for f in overall):
        row = {"channel": variant}
        for corpus in dict.fromkeys(str(f.conditions["corpus"]) for f in overall):
            own = [f for f in overall if (f.conditions["anonymizer"], f.conditions["corpus"]) == (variant, corpus)]
            for length in LENGTHS:
                eers = [f for f in own if f.metric.name == "eer" and int(f.conditions["L"]) == length]
                row[f"{corpus}, EER, L = {length}"] = _strongest(eers)
            for finding in (f for f in own if f.metric.name in TITLES):
                by = f", {finding.conditions['listener']}" if finding.metric.name == "wer" else ""
                row[f"{corpus}, {TITLES[finding.metric.name]}{by}"] = finding.text
        rows.append(row)
    return rows


def _strongest(eers: Sequence[pn.Finding]) -> str:
    if not eers:
        return "-"
    best = min(eers, key=lambda f: f.estimate.value)
    others = len({f.conditions["attacker"] for f in eers}) > 1
    return best.text + (f" ({best.conditions['attacker']})" if others else "")


def table(rows: Sequence[Mapping[str, str]]) -> str:
    """Write the rows as a Markdown table."""
    head = list(dict.fromkeys(name for row in rows for name in row))
    lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    return "\n".join([*lines, *("| " + " | ".join(row.get(name, "-") for name in head) + " |" for row in rows)])


def main() -> None:
    """Run the study and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path, nargs="?", default=BESIDE)
    parser.add_argument("--speakers", type=int, default=30, help="attacked speakers of each corpus, at most")
    parser.add_argument("--utterances", type=int, default=8, help="of each, half enrolled, half tested")
    parser.add_argument("--train-utterances", type=int, default=4, help="of each speaker who is learnt from")
    parser.add_argument("--enroll-draws", type=int, default=3)
    parser.add_argument("--embedders", default=FUSION, help="names, with commas between attackers, + within a fusion")
    parser.add_argument("--listeners", default="", help="names, with commas: moonshine, whisper, dnsmos, pitch-swift")
    parser.add_argument("--only", default="", help="variants, with semicolons between them")
    parser.add_argument("--one-voice", action="store_true")
    parser.add_argument("--weights", type=Path, help="a trained voice instead of the shipped one")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--json", action="store_true")
    words = parser.parse_args()
    if not words.corpus.exists():
        print(f"skipped: no corpus of real speech at {words.corpus}; name one")
        return
    with tempfile.TemporaryDirectory(prefix="personare-") as temporary:
        out = words.out or Path(temporary) / "run"
        lists = out.with_name(f"{out.name}-lists")
        study = study_of(words, lists)
        result = pn.run_study(study, out, resume=out.exists(), jobs=words.jobs)
        rows = rows_of(list(result))
    print(json.dumps(rows) if words.json else table(rows))
    for note in result.notes:
        print(f"note: {note}")


if __name__ == "__main__":
    ended_by_mistakes(main)
