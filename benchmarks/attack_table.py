"""How far attackers get against every anonymizer: all methods, all attackers, one and three utterances, as tables.

    python benchmarks/attack_table.py [CORPUS] [--train CORPUS] [--speakers N] [--utterances M] [--only NAME;NAME]
                                      [--embedders NAME,NAME] [--each] [--adapted] [--words] [--words-only]
                                      [--enroll-draws D] [--train-draws D] [--train-utterances T] [--lengths L,L]
                                      [--apart] [--corpora NAME,NAME] [--listeners NAME,NAME] [--out RUN] [--jobs J]
                                      [--json]

The same pipeline as ``personare study run``. People of the part 'eval' are attacked; what attackers learn from is the
part 'train' (and --train); of a corpus without parts everybody is attacked. Attackers: those who know nothing, who know
the method, the plain informed one (one embedder, PLDA, one draw), the strongest of ``personare evaluate``, also without
folds, and where a method's secret numbers can be estimated, who undoes them. ``--each`` plays the informed attacker
with every embedder by itself, too; ``--embedders`` leaves some out, e.g. the slow ones. ``--adapted`` adds the informed
attacker who fine-tunes ECAPA's last layer, and ``--words`` the two who only read: by rare words (no training), and by
style (trained). They read what the first recognizer of ``--listeners`` hears, else the texts of the corpus.
``--words-only`` plays nobody else, on the texts of the corpus alone: no sound is anonymized, and it takes seconds.
The column 'linked' is the attack by voice that held-out training speakers chose, without looking at its success: the
column after it names the attack. 'linked by words' is the strongest of those who read, by its risk above chance.
``--apart`` attacks every corpus of the speech (column 'corpus') by itself: people who were recorded alike
are harder to tell apart, and 'in folds' needs 16 of them. ``--corpora`` attacks everybody in these corpora of the
column, one corpus at a time, whatever their part; the attackers train on --train and on the other corpora.
``--listeners`` adds what is left of the speech, e.g.
moonshine,whisper,dnsmos,pitch-swift. A further table says which embedder told training speakers apart (0.5: none): the
channel that leaks. Below the table stands what must hold: no informed attack is weaker than one that
knows less by more than chance (the intervals over speakers do not overlap).
Run again with the same --out, what is done is not done again.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

import personare as pn
from methods import BESIDE, METHODS, ended_by_mistakes, markdown_table, picked
from methods import GIVEN_BY as GIVEN_BY_METHODS
from personare.anonymizers import anonymizer
from personare.attackers.folds import FOLDS
from personare.attackers.inversion import secret_names_of
from personare.core.errors import TableError
from personare.core.tables import Corpus
from personare.corpora import read_corpus
from personare.pipeline.attack_choices import CHOICES
from personare.pipeline.attack_sets import EMBEDDERS, FEWEST_CHOOSING, PLAIN, VOICE, word_set
from personare.pipeline.study import AttackerChoice, CorpusChoice, ListenerChoice, Study
from personare.reports.run import read_run
from personare.reports.sections.choosing import of_risk, strongest_attack

GIVEN_BY = {**GIVEN_BY_METHODS, "whisper": ("wer",)}
KNOWS_LESS = ("ignorant", "lazy-informed")
STRONGEST = "informed, fusion in folds"


def attackers_of(words: argparse.Namespace) -> dict[str, AttackerChoice]:
    """Give the attackers that a command line asks for."""
    draws: dict[str, Any] = {"enroll_draws": words.enroll_draws}
    learnt: dict[str, Any] = {**draws, "scorer": "chosen", "train_draws": words.train_draws}
    names = words.embedders.split(",")
    voices = [name for name in names if name in (PLAIN, VOICE, "ge2e")][:2] or names[:1]
    plain, several, everything = voices[0], "+".join(voices), "+".join(names)
    chosen = {
        "ignorant": AttackerChoice("ignorant", plain, **draws),
        "lazy-informed": AttackerChoice("lazy-informed", plain, **draws),
        "informed, plain": AttackerChoice("informed", plain, **draws),
        "informed, fusion": AttackerChoice("informed", everything, **learnt),
        STRONGEST: AttackerChoice("informed", everything, **learnt, folds=FOLDS),
    }
    if any(invertible(METHODS[name]) for name in methods_of(words)):
        chosen["inverting"] = AttackerChoice("inverting", several, scorer="chosen")
    if len(voices) > 1:
        chosen |= {
            f"{level}, {several}": AttackerChoice(level, several, **draws) for level in ("ignorant", "lazy-informed")
        }
    if words.each:
        chosen |= {f"informed, {name}": AttackerChoice("informed", name, **learnt) for name in names}
    if words.adapted:
        chosen["informed, adapted"] = AttackerChoice("informed", "ecapa-pooled", **{**learnt, "scorer": "adapted"})
    reading = word_set(learnt_from=FEWEST_CHOOSING).attackers
    return dict(reading) if words.words_only else chosen | (dict(reading) if words.words else {})


def methods_of(words: argparse.Namespace) -> list[str]:
    """Name the methods that a command line asks for."""
    if words.words_only:
        return []
    return list(picked(words.only, METHODS) if words.only else METHODS)


def invertible(settings: Mapping[str, Any]) -> bool:
    """Whether a method has secret numbers that can be estimated and undone."""
    parameters = {name: value for name, value in settings.items() if name != "method"}
    return bool(secret_names_of(anonymizer(settings["method"], **parameters)))


def study_of(words: argparse.Namespace, folder: Path) -> Study:
    """Make the study that a command line asks for."""
    listeners = {name: ListenerChoice(name) for name in words.listeners.split(",") if name}
    utility = dict.fromkeys(metric for name in listeners for metric in GIVEN_BY.get(name, ()))
    return Study(
        title="How far attackers get",
        corpora=corpora_of(words, folder),
        anonymizers={"original": {}, **{name: METHODS[name] for name in methods_of(words)}},
        attackers=attackers_of(words),
        listeners=listeners,
        utterances_per_trial=tuple(int(length) for length in words.lengths.split(",")),
        metrics=("eer", "linkability", *utility),
        skip_impossible=True,
        clips=0,
    )


def corpora_of(words: argparse.Namespace, folder: Path) -> dict[str, CorpusChoice]:
    """List the attacked speech, as one corpus or as several, and everything that is learnt from, beside the run."""
    spoken = read_corpus(words.corpus).corpus.frame
    if words.corpora:
        attacked, trained_on = spoken.filter(pl.col("corpus").is_in(words.corpora.split(","))), spoken.clear()
    elif "part" in spoken.columns:
        attacked, trained_on = spoken.filter(pl.col("part") == "eval"), spoken.filter(pl.col("part") == "train")
    else:
        attacked, trained_on = spoken, spoken.clear()
    if words.train is not None:
        more = read_corpus(words.train).corpus.frame
        if "part" in more.columns:
            more = more.filter(pl.col("part") == "train")
        new = more.filter(~pl.col("utterance").is_in(trained_on["utterance"].to_list()))
        trained_on = pl.concat([trained_on, new], how="diagonal_relaxed")
    parts = {"speech": attacked}
    if words.apart or words.corpora:
        parts = {str(name): own for (name,), own in attacked.group_by("corpus", maintain_order=True)}
    choices = {}
    for name, rows in sorted(parts.items()):
        others = attacked.filter(pl.col("corpus") != name) if words.corpora else attacked.clear()
        train = pl.concat([trained_on, others], how="diagonal_relaxed")
        if train.is_empty():
            raise TableError(f"{words.corpus}: no speech of other people to train on; name a corpus with --train")
        train = train.sort("utterance").filter(pl.int_range(pl.len()).over("speaker") < words.train_utterances)
        Corpus(train.drop("part", strict=False)).save(folder / f"{name}-train" / "manifest.parquet")
        Corpus(rows.drop("part", strict=False)).save(folder / name / "manifest.parquet")
        choices[name] = CorpusChoice(
            path=folder / name / "manifest.parquet",
            train_path=folder / f"{name}-train" / "manifest.parquet",
            speakers=words.speakers,
            utterances=words.utterances,
            one_sided="drop",
        )
    return choices


def rows_of(
    findings: Sequence[pn.Finding], strongest: dict[tuple[str, str], str], *, corpus: str, length: int
) -> Iterator[dict[str, str]]:
    """Give one row per method: the EER of every attacker, then linkability and EER of the strongest."""
    own = [f for f in overall(findings, corpus) if f.conditions.get("L") == length]
    for method in dict.fromkeys(str(f.conditions["anonymizer"]) for f in own):
        here = [f for f in own if f.conditions["anonymizer"] == method]
        row = {"method": method}
        row |= {str(f.conditions["attacker"]): f.text for f in here if f.metric.name == "eer"}
        links = [f for f in here if f.metric.name == "linkability"]
        most = max((int(f.conditions["N"]) for f in links), default=0)
        best = strongest.get((corpus, method), "")
        linked = [f.text for f in links if f.conditions["N"] == most and f.conditions["attacker"] == best]
        row[f"linked among {most}"] = linked[0] if linked else "-"
        row["chosen on training speakers"] = best or "-"
        read = strongest_attack(of_risk(links, "words"))
        if read is not None:
            row[f"linked by words among {most}"] = f"{read.text} ({read.conditions['attacker']})"
        yield row


def left_of_the_speech(findings: Sequence[pn.Finding], *, corpus: str) -> Iterator[dict[str, str]]:
    """Give one row per method: words wrong by every recognizer, and whatever else was listened for."""
    own = [f for f in overall(findings, corpus) if "listener" in f.conditions]
    for method in dict.fromkeys(str(f.conditions["anonymizer"]) for f in own):
        here = [f for f in own if f.conditions["anonymizer"] == method]
        yield {"method": method} | {f"{f.metric.name}, {f.conditions['listener']}": f.text for f in here}


def overall(findings: Sequence[pn.Finding], corpus: str) -> list[pn.Finding]:
    """Give what was found on all people of a corpus."""
    return [f for f in findings if "gender" not in f.conditions and f.conditions.get("corpus") == corpus]


def strongest_of(folder: Path) -> dict[tuple[str, str], str]:
    """Name for every corpus and method the attack by voice that told held-out training speakers apart best."""
    areas: dict[tuple[str, str], dict[str, float]] = {}
    for artefact in read_run(folder).of_kind(CHOICES):
        if artefact.conditions.get("risk") == "words":
            continue
        corpus, method, who = (str(artefact.conditions[name]) for name in ("corpus", "anonymizer", "attacker"))
        areas.setdefault((corpus, method), {})[who] = float(artefact.conditions["area"])
    return {where: max(found, key=found.__getitem__) for where, found in areas.items()}


def heard_with(folder: Path, *, corpus: str) -> list[dict[str, str]]:
    """Give one row per method: how well each embedder told held-out training speakers apart (area under the ROC)."""
    rows: dict[str, dict[str, str]] = {}
    for artefact in read_run(folder).of_kind(CHOICES):
        if (artefact.conditions["corpus"], artefact.conditions["attacker"]) == (corpus, STRONGEST):
            areas = pl.read_parquet(artefact.path).group_by("embedder", maintain_order=True).agg(pl.col("area").mean())
            method = str(artefact.conditions["anonymizer"])
            rows[method] = {"method": method} | {name: f"{area:.2f}" for name, area in areas.iter_rows()}
    return list(rows.values())


def weaker_than_expected(findings: Sequence[pn.Finding]) -> Iterator[str]:
    """Name every informed fusion that errs more than an attacker who knows less, by more than chance."""
    eers = [f for f in findings if f.metric.name == "eer" and "gender" not in f.conditions]
    for strong in (f for f in eers if f.conditions["attacker"] == STRONGEST):
        same = ("corpus", "anonymizer", "L")
        for weak in eers:
            alike = all(weak.conditions.get(name) == strong.conditions.get(name) for name in same)
            knows_less = weak.conditions["knowledge"] in KNOWS_LESS
            if alike and knows_less and strong.estimate.low > weak.estimate.high:
                where = ", ".join(str(strong.conditions[name]) for name in same)
                yield f"{where}: {STRONGEST} {strong.text}, but {weak.conditions['attacker']} {weak.text}"


def main() -> None:
    """Run the study and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path, nargs="?", default=BESIDE)
    parser.add_argument("--train", type=Path)
    parser.add_argument("--speakers", type=int, default=24, help="of each part, at most")
    parser.add_argument("--utterances", type=int, default=6, help="of each speaker, at most")
    parser.add_argument("--only", default="", help="methods, with semicolons between them")
    parser.add_argument("--embedders", default=",".join(EMBEDDERS), help="names, with commas between them")
    parser.add_argument("--each", action="store_true")
    parser.add_argument("--adapted", action="store_true")
    parser.add_argument("--words", action="store_true")
    parser.add_argument("--words-only", action="store_true")
    parser.add_argument("--enroll-draws", type=int, default=5)
    parser.add_argument("--train-draws", type=int, default=2)
    parser.add_argument("--train-utterances", type=int, default=24, help="of each speaker who is learnt from, at most")
    parser.add_argument("--lengths", default="1,3")
    parser.add_argument("--apart", action="store_true")
    parser.add_argument("--corpora", default="", help="of the column 'corpus', with commas between them")
    parser.add_argument("--listeners", default="", help="names, with commas between them")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--json", action="store_true")
    words = parser.parse_args()
    if not words.corpus.exists():
        print(f"skipped: no corpus of real speech at {words.corpus}; name one")
        return
    with tempfile.TemporaryDirectory(prefix="personare-") as folder:
        out = words.out or Path(folder) / "run"
        study = study_of(words, out.with_name(f"{out.name}-lists"))
        result = pn.run_study(study, out, resume=out.exists(), jobs=words.jobs)
        findings, strongest = list(result), strongest_of(out)
        heard = {corpus: heard_with(out, corpus=corpus) for corpus in study.corpora}
    tables: dict[str, list[dict[str, str]]] = {}
    for corpus in study.corpora:
        for length in map(int, words.lengths.split(",")):
            tables[f"{corpus}: EER, L = {length}"] = list(rows_of(findings, strongest, corpus=corpus, length=length))
        if heard[corpus]:
            tables[f"{corpus}: area under the ROC of training speakers, by embedder"] = heard[corpus]
        if words.listeners:
            tables[f"{corpus}: what is left"] = list(left_of_the_speech(findings, corpus=corpus))
    if words.json:
        print(json.dumps(tables))
        return
    for title, rows in tables.items():
        head = list(dict.fromkeys(name for row in rows for name in row))
        print(f"{title}\n\n{markdown_table(head, rows)}\n")
    wrong = list(weaker_than_expected(findings))
    print("\n".join(wrong) if wrong else "no informed fusion is weaker than an attacker who knows less")
    for note in result.notes:
        print(f"note: {note}")


if __name__ == "__main__":
    ended_by_mistakes(main)
