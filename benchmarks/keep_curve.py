"""The keep curve: how much expression each method keeps, and who can still be recognized; as table, JSON and figure.

    python benchmarks/keep_curve.py [CORPUS] [--train CORPUS] [--speakers N] [--utterances M] [--train-utterances T]
                                    [--emotional CORPUS] [--actors-of NAME] [--actors N] [--only NAME;NAME]
                                    [--add NAME=YAML] [--skip-attacks] [--out RUN] [--jobs J]
                                    [--json FILE] [--figure FILE.svg]

Two studies through the same pipeline as ``personare study run``:

attacks     on read speech (CORPUS): people of the part 'eval' are attacked, attackers are trained on the part 'train'
            (and --train), anonymized by the method. By voice (speaker embedders), by prosody (energy, rhythm, F0,
            phrases, durations given the words, symbols) and by words. EER from L = 1 and L = 3 utterances, within one
            gender. Word errors (Moonshine) and DNSMOS of the same speech.
expression  on emotional speech (--emotional; the corpus NAME of its column 'corpus'): of every actor the last recording
            of each sentence in each of four emotions. Emotion and arousal by two unrelated judges that do not know the
            voice, each once with the shipped weights (EmoDB) and once trained on the other actors' original speech, all
            of their recordings. The table gives the mean of the four judgements, the lowest recall of one emotion in
            that mean, and F0 shape with its zero line.

Methods that this version does not have are named and skipped. --add measures another one, e.g.
--add 'mine={method: mcadams, alpha: 0.7}'. The figure shows the EER of the strongest attacker by voice or prosody from
one utterance against the recall by the judge 'emotion' trained on other actors.
Run again with the same --out, what is done is not done again.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl
import yaml

import personare as pn
from attack_table import corpora_of
from methods import BESIDE, ended_by_mistakes, markdown_table, picked
from personare.anonymizers import ANONYMIZERS
from personare.core.errors import ConfigError, TableError
from personare.core.files import write_text
from personare.core.tables import Corpus
from personare.corpora import read_corpus
from personare.listeners.emotion import CLASS_OF, CORPUS, plain_emotion
from personare.pipeline.attack_sets import FEWEST_CHOOSING, PROSODY, VOICE, word_set
from personare.pipeline.study import AttackerChoice, CorpusChoice, ListenerChoice, Study
from personare.reports.drawing.svg import file_svg
from personare.reports.scatter import Point, scatter_figure

EMOTIONAL = BESIDE.with_name("corpus-world")
METHODS: dict[str, dict[str, Any]] = {  # from everything kept to words alone
    "mcadams": {"method": "mcadams"},
    "xvector (B1)": {"method": "xvector"},
    "xvector, predicted energy": {"method": "xvector", "energy": "predicted"},
    "expressive, fine": {"method": "expressive", "keep": "fine"},
    "expressive, intonation": {"method": "expressive", "keep": "intonation"},
    "expressive, label": {"method": "expressive", "keep": "label"},
    "cascade": {"method": "cascade"},
}
LENGTHS = (1, 3)
BY_VOICE, BY_PROSODY = "voice", "prosody"
JUDGES = ("emotion", "emotion-spectrum")


def methods_of(words: argparse.Namespace) -> tuple[dict[str, dict[str, Any]], list[str]]:
    """Give the methods that a command line asks for, and the names of those that are not there."""
    chosen = dict(picked(words.only, METHODS) if words.only else METHODS)
    for one in words.add:
        name, equals, text = one.partition("=")
        settings = yaml.safe_load(text) if equals else None
        if not isinstance(settings, dict) or "method" not in settings:
            raise ConfigError(f"--add '{one}': write NAME={{method: ..., parameter: value}}")
        chosen[name] = settings
    absent = [name for name, settings in chosen.items() if settings["method"] not in ANONYMIZERS.names()]
    return {name: settings for name, settings in chosen.items() if name not in absent}, absent


def attack_study(words: argparse.Namespace, methods: Mapping[str, Any], folder: Path) -> Study:
    """Make the study of attackers, words and quality on read speech."""
    learnt: dict[str, Any] = {"scorer": "chosen", "enroll_draws": words.enroll_draws, "train_draws": words.train_draws}
    attackers = {
        BY_VOICE: AttackerChoice("informed", f"{VOICE}+ge2e+spectrum", **learnt),
        BY_PROSODY: AttackerChoice("informed", "+".join(PROSODY), **learnt),
        **word_set(learnt_from=FEWEST_CHOOSING).attackers,
    }
    return Study(
        title="The keep curve: attackers",
        corpora=corpora_of(words, folder),
        anonymizers={"original": {}, **methods},
        attackers=attackers,
        listeners={name: ListenerChoice(name) for name in ("moonshine", "dnsmos")},
        utterances_per_trial=LENGTHS,
        metrics=("eer", "wer", "dnsmos"),
        skip_impossible=True,
        clips=0,
    )


def expression_study(words: argparse.Namespace, methods: Mapping[str, Any], folder: Path) -> Study:
    """Make the study of expression on emotional speech; judges train on everything of the same corpus."""
    frame = read_corpus(words.emotional).corpus.frame
    if "emotion" not in frame.columns:
        raise TableError(f"{words.emotional}: has no column 'emotion'; name emotional speech with --emotional")
    if words.actors_of:
        frame = frame.filter(pl.col("corpus") == words.actors_of)
    named = [plain_emotion(name or "") for name in frame["emotion"].to_list()]
    four = frame.filter(pl.Series([name in CLASS_OF["emotion"] for name in frame["emotion"].to_list()])).sort(
        "utterance"
    )
    if four.is_empty():
        raise TableError(f"{words.emotional}: no speech of '{words.actors_of}' in {', '.join(CLASS_OF['emotion'])}")
    people = four["speaker"].unique().sort().to_list()
    four = four.filter(pl.col("speaker").is_in(people[: words.actors or None]))
    last = four.group_by(["speaker", "emotion", "text"], maintain_order=True).tail(1)
    Corpus(frame.with_columns(pl.Series("emotion", named)).drop("part", strict=False)).save(folder / "all.parquet")
    Corpus(last.drop("part", strict=False)).save(folder / "judged" / "manifest.parquet")
    trained = {"training": str((folder / "all.parquet").resolve())}
    listeners = {name: ListenerChoice(name, parameters=trained) for name in JUDGES}
    return Study(
        title="The keep curve: expression",
        corpora={"actors": CorpusChoice(path=(folder / "judged" / "manifest.parquet").resolve(), split="trial")},
        anonymizers={"original": {}, **methods},
        listeners={**listeners, "expression": ListenerChoice("expression")},
        metrics=("uar", "recall", "ccc", "f0_shape", "energy_shape"),
        skip_impossible=True,
        clips=0,
    )


def rows_of(findings: Sequence[pn.Finding], methods: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Give one row of plain numbers per method; what was not measured is left out."""
    for method in ("original", *methods):
        own = [f for f in findings if f.conditions.get("anonymizer") == method and "gender" not in f.conditions]
        row: dict[str, Any] = {"method": method}
        for length in LENGTHS:
            here = [f for f in own if f.metric.name == "eer" and f.conditions.get("L") == length]
            row[f"EER voice, L={length}"] = _number(one for one in here if one.conditions["attacker"] == BY_VOICE)
            row[f"EER prosody, L={length}"] = _number(one for one in here if one.conditions["attacker"] == BY_PROSODY)
            read = [f for f in here if f.conditions.get("risk") == "words"]
            row[f"EER words, L={length}"] = _number(sorted(read, key=lambda f: f.estimate.value))
        row["WER"] = _number(f for f in own if f.metric.name == "wer")
        row["DNSMOS"] = _number(f for f in own if f.metric.name == "dnsmos")
        for task in CLASS_OF:
            row[f"UAR {task}"] = _mean(f for f in own if f.metric.name == "uar" and f.conditions["of"] == task)
        recalls: dict[str, list[float]] = {}
        for f in own:
            if f.metric.name == "recall" and f.conditions["of"] == "emotion":
                recalls.setdefault(str(f.conditions["class"]), []).append(f.estimate.value)
        means = {name: statistics.fmean(values) for name, values in recalls.items()}
        least = min(means, key=means.__getitem__, default="")
        row["least recall"] = {"value": means[least], "text": f"{least} {100 * means[least]:.0f} %"} if least else None
        for judge in JUDGES:
            mine = [f for f in own if f.metric.name == "uar" and f.conditions["listener"] == judge]
            for f in mine:
                if f.conditions["of"] == "emotion":
                    row[f"UAR {judge} ({f.conditions['trained on']})"] = _number([f])
        for f in own:
            if f.metric.name in ("f0_shape", "energy_shape") and f.chance is not None:
                above = f.estimate.value - f.chance
                text = f"{f.estimate.value:.2f} - {f.chance:.2f} = {above:.2f}"
                row[f"{f.metric.name} above zero line"] = {"value": above, "text": text}
            if f.metric.name == "ccc":
                row[f"CCC {f.conditions['of']}, {f.conditions['listener']}"] = _number([f])
        yield {name: value for name, value in row.items() if value is not None}


def _number(findings: Any) -> dict[str, Any] | None:
    """Give the first finding as plain numbers."""
    f = next(iter(findings), None)
    if f is None:
        return None
    e = f.estimate
    return {"value": e.value, "low": e.low, "high": e.high, "speakers": e.n, "failed": f.failed, "text": f.text}


def _mean(findings: Any) -> dict[str, Any] | None:
    """Give the mean over judges, with the values it is of."""
    values = [f.estimate.value for f in findings]
    if not values:
        return None
    mean = statistics.fmean(values)
    return {"value": mean, "judges": values, "text": f"{100 * mean:.1f} % ({min(values):.0%} to {max(values):.0%})"}


def points_of(findings: Sequence[pn.Finding], methods: Sequence[str]) -> Iterator[Point]:
    """Give one point per method: the strongest attacker by voice or prosody, and what a judge recognizes."""
    for number, method in enumerate(("original", *methods)):
        own = [f for f in findings if f.conditions.get("anonymizer") == method and "gender" not in f.conditions]
        attacks = [
            f
            for f in own
            if f.metric.name == "eer"
            and f.conditions.get("L") == LENGTHS[0]
            and f.conditions["attacker"] in (BY_VOICE, BY_PROSODY)
        ]
        judged = [
            f
            for f in own
            if f.metric.name == "uar"
            and (f.conditions["of"], f.conditions["listener"], f.conditions["trained on"])
            == ("emotion", JUDGES[0], CORPUS)
        ]
        if attacks and judged:
            strongest = min(attacks, key=lambda f: f.estimate.value)
            yield Point(method, strongest, judged[0], None if method == "original" else number - 1)


def main() -> None:
    """Run both studies, print the table, and write JSON and figure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path, nargs="?", default=BESIDE)
    parser.add_argument("--train", type=Path)
    parser.add_argument("--speakers", type=int, default=24, help="of each part, at most")
    parser.add_argument("--utterances", type=int, default=8, help="of each speaker, at most")
    parser.add_argument("--train-utterances", type=int, default=8, help="of each speaker attackers train on, at most")
    parser.add_argument("--enroll-draws", type=int, default=2)
    parser.add_argument("--train-draws", type=int, default=1)
    parser.add_argument("--corpora", default="", help="of the column 'corpus', with commas between them")
    parser.add_argument("--emotional", type=Path, default=EMOTIONAL)
    parser.add_argument("--actors-of", default="ravdess-en", help="of the column 'corpus'; empty for everybody")
    parser.add_argument("--actors", type=int, default=0, help="at most; 0 for all")
    parser.add_argument("--only", default="", help="methods, with semicolons between them")
    parser.add_argument("--add", action="append", default=[], metavar="NAME=YAML", help="a further method")
    parser.add_argument("--skip-attacks", action="store_true", help="measure expression only")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--json", type=Path, metavar="FILE")
    parser.add_argument("--figure", type=Path, metavar="FILE")
    words = parser.parse_args()
    words.apart = bool(words.corpora)
    for place in (words.corpus, words.emotional):
        if not place.exists():
            print(f"skipped: no speech at {place}; name read speech, and emotional speech with --emotional")
            return
    methods, absent = methods_of(words)
    findings: list[pn.Finding] = []
    notes = [f"not in this version: {', '.join(absent)}"] if absent else []
    with tempfile.TemporaryDirectory(prefix="personare-") as folder:
        out = words.out or Path(folder) / "run"
        studies = {"expression": expression_study(words, methods, out / "lists")}
        if not words.skip_attacks:
            studies["attacks"] = attack_study(words, methods, out / "lists")
        for name, study in studies.items():
            place = out / name
            result = pn.run_study(study, place, resume=place.exists(), jobs=words.jobs)
            findings += list(result)
            notes += result.notes
    rows = list(rows_of(findings, list(methods)))
    head = list(dict.fromkeys(name for row in rows for name in row))
    table = [{name: value if isinstance(value, str) else value["text"] for name, value in row.items()} for row in rows]
    print(markdown_table(head, table))
    for note in dict.fromkeys(notes):
        print(f"note: {note}")
    if words.json is not None:
        write_text(words.json, json.dumps({"rows": rows, "notes": notes}, indent=1) + "\n")
    points = list(points_of(findings, list(methods)))
    if words.figure is not None and points:
        drawn = scatter_figure(points, name="keep-curve", title="What is kept, and who is recognized")
        write_text(words.figure, file_svg(drawn.scene, alt=drawn.alt))


if __name__ == "__main__":
    ended_by_mistakes(main)
