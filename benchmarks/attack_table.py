"""How far attackers get against every anonymizer: all methods, all attackers, one and three utterances, as tables.

    python benchmarks/attack_table.py [CORPUS] [--train CORPUS] [--speakers N] [--utterances M] [--only NAME;NAME]
                                      [--embedders NAME,NAME] [--each] [--enroll-draws D] [--train-draws D]
                                      [--lengths L,L] [--out RUN] [--jobs J] [--json]

The same pipeline as ``personare study run``. People of the part 'eval' are attacked; what attackers learn from is the
part 'train' (and --train). Attackers: those who know nothing, who know the method, the plain informed one (one
embedder, PLDA, one draw), the strongest of ``personare evaluate``, also without folds, and where a method's secret
numbers can be estimated, who undoes them. ``--each`` plays the informed attacker with every embedder by itself, too;
``--embedders`` leaves some out, e.g. the slow ones.
The last column is the attack that held-out training speakers found strongest: it is chosen without looking at its
success. Below the table stands what must hold: no informed attack is weaker than one that knows less by more than
chance (the intervals over speakers do not overlap).
Run again with the same --out, what is done is not done again.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import polars as pl

import personare as pn
from personare.attackers.folds import FOLDS
from personare.core.tables import Corpus
from personare.corpora import read_corpus
from personare.pipeline.attack_choices import CHOICES
from personare.pipeline.attack_sets import EMBEDDERS, VOICES
from personare.pipeline.study import AttackerChoice, CorpusChoice, Study
from personare.reports.run import read_run


def _methods() -> Any:
    """Give the benchmark beside this one: which methods there are, and how a table is written."""
    spec = importlib.util.spec_from_file_location("methods_benchmark", Path(__file__).with_name("methods.py"))
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


BENCH = _methods()
METHODS: dict[str, dict[str, Any]] = BENCH.METHODS
KNOWS_LESS = ("ignorant", "lazy-informed")
STRONGEST = "informed, fusion in folds"


def attackers_of(words: argparse.Namespace) -> dict[str, AttackerChoice]:
    """Give the attackers that a command line asks for."""
    draws: dict[str, Any] = {"enroll_draws": words.enroll_draws}
    learnt: dict[str, Any] = {**draws, "scorer": "chosen", "train_draws": words.train_draws}
    names = words.embedders.split(",")
    voices = [name for name in names if name in (*VOICES, "ge2e")][:2] or names[:1]
    plain, several, everything = voices[0], "+".join(voices), "+".join(names)
    chosen = {
        "ignorant": AttackerChoice("ignorant", plain, **draws),
        "lazy-informed": AttackerChoice("lazy-informed", plain, **draws),
        "informed, plain": AttackerChoice("informed", plain, **draws),
        "informed, fusion": AttackerChoice("informed", everything, **learnt),
        STRONGEST: AttackerChoice("informed", everything, **learnt, folds=FOLDS),
        "inverting": AttackerChoice("inverting", several, scorer="chosen"),  # where the method can be undone
    }
    if len(voices) > 1:
        chosen |= {
            f"{level}, {several}": AttackerChoice(level, several, **draws) for level in ("ignorant", "lazy-informed")
        }
    if words.each:
        chosen |= {f"informed, {name}": AttackerChoice("informed", name, **learnt) for name in names}
    return chosen


def study_of(words: argparse.Namespace, folder: Path) -> Study:
    """Make the study that a command line asks for."""
    names = words.only.split(";") if words.only else list(METHODS)
    return Study(
        title="How far attackers get",
        corpora={
            "speech": CorpusChoice(
                path=words.corpus.resolve(),
                train_path=None if words.train is None else everything_to_learn_from(words, folder),
                speakers=words.speakers,
                utterances=words.utterances,
                one_sided="drop",
            )
        },
        anonymizers={"original": {}, **{name: METHODS[name] for name in names}},
        attackers=attackers_of(words),
        utterances_per_trial=tuple(int(length) for length in words.lengths.split(",")),
        metrics=("eer", "linkability"),
        skip_impossible=True,
        clips=0,
    )


def everything_to_learn_from(words: argparse.Namespace, folder: Path) -> Path:
    """List the corpus' own train part and the other corpus together; an utterance that is in both is there once."""
    own = read_corpus(words.corpus).corpus.of_part("train").frame
    more = read_corpus(words.train).corpus.frame
    both = pl.concat([own, more.filter(~pl.col("utterance").is_in(own["utterance"].to_list()))], how="diagonal_relaxed")
    place = folder / "train" / "manifest.parquet"
    Corpus(both).save(place)
    return place


def rows_of(findings: Sequence[pn.Finding], strongest: dict[str, str], length: int) -> Iterator[dict[str, str]]:
    """Give one row per method: the EER of every attacker, then linkability and EER of the strongest."""
    own = [f for f in findings if "gender" not in f.conditions and f.conditions.get("L") == length]
    for method in dict.fromkeys(str(f.conditions["anonymizer"]) for f in own):
        here = [f for f in own if f.conditions["anonymizer"] == method]
        row = {"method": method}
        row |= {str(f.conditions["attacker"]): f.text for f in here if f.metric.name == "eer"}
        links = [f for f in here if f.metric.name == "linkability"]
        most = max((int(f.conditions["N"]) for f in links), default=0)
        best = strongest.get(method, "")
        linked = [f.text for f in links if f.conditions["N"] == most and f.conditions["attacker"] == best]
        row[f"linked among {most}"] = linked[0] if linked else "-"
        row["strongest on training speakers"] = best or "-"
        yield row


def strongest_of(folder: Path) -> dict[str, str]:
    """Name for every method the attack that told held-out training speakers apart best."""
    areas: dict[str, dict[str, float]] = {}
    for artefact in read_run(folder).of_kind(CHOICES):
        method, who = (str(artefact.conditions[name]) for name in ("anonymizer", "attacker"))
        areas.setdefault(method, {})[who] = float(artefact.conditions["area"])
    return {method: max(found, key=found.__getitem__) for method, found in areas.items()}


def weaker_than_expected(findings: Sequence[pn.Finding]) -> Iterator[str]:
    """Name every informed fusion that errs more than an attacker who knows less, by more than chance."""
    eers = [f for f in findings if f.metric.name == "eer" and "gender" not in f.conditions]
    for strong in (f for f in eers if f.conditions["attacker"] == STRONGEST):
        same = ("anonymizer", "L")
        for weak in eers:
            alike = all(weak.conditions.get(name) == strong.conditions.get(name) for name in same)
            knows_less = weak.conditions["knowledge"] in KNOWS_LESS
            if alike and knows_less and strong.estimate.low > weak.estimate.high:
                where = f"{strong.conditions['anonymizer']}, L = {strong.conditions['L']}"
                yield f"{where}: {STRONGEST} {strong.text}, but {weak.conditions['attacker']} {weak.text}"


def main() -> None:
    """Run the study and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path, nargs="?", default=BENCH.BESIDE)
    parser.add_argument("--train", type=Path)
    parser.add_argument("--speakers", type=int, default=24, help="of each part, at most")
    parser.add_argument("--utterances", type=int, default=6, help="of each speaker, at most")
    parser.add_argument("--only", default="", help="methods, with semicolons between them")
    parser.add_argument("--embedders", default=",".join(EMBEDDERS), help="names, with commas between them")
    parser.add_argument("--each", action="store_true")
    parser.add_argument("--enroll-draws", type=int, default=5)
    parser.add_argument("--train-draws", type=int, default=2)
    parser.add_argument("--lengths", default="1,3")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--json", action="store_true")
    words = parser.parse_args()
    if not words.corpus.exists():
        print(f"skipped: no corpus of real speech at {words.corpus}; name one")
        return
    with tempfile.TemporaryDirectory(prefix="personare-") as folder:
        out = words.out or Path(folder) / "run"
        result = pn.run_study(study_of(words, Path(folder)), out, resume=out.exists(), jobs=words.jobs)
        findings, strongest = list(result), strongest_of(out)
    tables = {int(length): list(rows_of(findings, strongest, int(length))) for length in words.lengths.split(",")}
    if words.json:
        print(json.dumps(tables))
        return
    for length, rows in tables.items():
        head = list(dict.fromkeys(name for row in rows for name in row))
        print(f"EER, L = {length}\n\n{BENCH.markdown_table(head, rows)}\n")
    wrong = list(weaker_than_expected(findings))
    print("\n".join(wrong) if wrong else "no informed fusion is weaker than an attacker who knows less")
    for note in result.notes:
        print(f"note: {note}")


if __name__ == "__main__":
    main()
