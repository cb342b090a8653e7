"""What every anonymizer hides and what it leaves: one study over all methods on real speech, as one table.

    python benchmarks/methods.py [CORPUS] [--speakers N] [--utterances M] [--out RUN] [--jobs J]
                                 [--only NAME,NAME] [--alphas | --generators] [--listeners NAME,NAME] [--json]

The same pipeline as ``personare study run``: people of the part 'eval' are attacked, people of the part 'train' are
learnt from. EER is that of the attacker who knows nothing, who knows the method, and who has learnt from other people's
anonymized speech, within one gender, from one utterance; linkability is that of the strongest of them among everybody
enrolled. Words are called usable when the recognizer, which never heard such voices, gets more than half of them right.
``--alphas`` shows one fixed coefficient of mcadams after the other, ``--generators`` every generator of pseudo-speakers
through xvector, with de-identification and gain of voice distinctiveness. Run again with the same --out, what is done
is not done again.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import personare as pn
from personare.pipeline.study import AttackerChoice, CorpusChoice, ListenerChoice, Study
from personare.pseudospeakers import PSEUDOSPEAKERS

METHODS: dict[str, dict[str, Any]] = {
    "mcadams (B2)": {"method": "mcadams"},
    "mcadams alpha 0.7..0.9": {"method": "mcadams", "alpha": [0.7, 0.9]},
    "mcadams alpha 0.5..0.9": {"method": "mcadams", "alpha": [0.5, 0.9]},
    "mcadams radius 0.975 (D1)": {"method": "mcadams", "radius": 0.975},
    "formants (I1)": {"method": "formants"},
    "world": {"method": "world"},
    "world, then mcadams": {
        "method": "chain",
        "steps": [{"name": "world"}, {"name": "mcadams", "parameters": {"alpha": 0.9}}],
    },
    "xvector": {"method": "xvector"},
}
ALPHAS = (0.9, 0.8, 0.7, 0.6, 0.5)
USABLE_WER = 0.5
LEVELS = ("ignorant", "lazy-informed", "informed")
BESIDE = Path(__file__).resolve().parents[2] / "shared" / "corpus"


def study_of(words: argparse.Namespace) -> Study:
    """Make the study that a command line asks for."""
    methods: dict[str, dict[str, Any]] = METHODS
    metrics = ("eer", "linkability", "similarity") if words.generators else ("eer", "linkability")
    if words.alphas:
        methods = {f"mcadams alpha {alpha}": {"method": "mcadams", "alpha": alpha} for alpha in ALPHAS}
    if words.generators:
        methods = {name: {"method": "xvector", "generator": name} for name in PSEUDOSPEAKERS.names() if name != "copy"}
    if words.only:
        methods = {name: methods[name] for name in words.only.split(",")}
    listeners = {name: ListenerChoice(name) for name in words.listeners.split(",") if name}
    return Study(
        title="What every anonymizer hides and what it leaves",
        corpora={
            "speech": CorpusChoice(
                path=words.corpus.resolve(),
                speakers=words.speakers,
                utterances=words.utterances,
                one_sided="drop",
            )
        },
        anonymizers={"original": {}, **methods},
        attackers={level: AttackerChoice(level) for level in LEVELS},
        listeners=listeners,
        metrics=metrics,
        skip_impossible=True,
        clips=0,
    )


def rows_of(result: pn.Results) -> list[dict[str, Any]]:
    """Give one row per method: the numbers with their intervals."""
    rows = []
    methods = list(dict.fromkeys(str(f.conditions["anonymizer"]) for f in result))
    for method in methods:
        own = [f for f in result if f.conditions["anonymizer"] == method and "gender" not in f.conditions]
        row: dict[str, Any] = {"method": method}
        for level in LEVELS:
            row[f"EER, {level}"] = _one(own, "eer", attacker=level)
        links = [f for f in own if f.metric.name == "linkability"]
        most = max((int(f.conditions["N"]) for f in links), default=0)
        row[f"linked among {most}"] = _best([f for f in links if f.conditions["N"] == most])
        for name in ("wer", "f0_spearman", "dnsmos", "deid", "g_vd"):
            found = [f for f in own if f.metric.name == name]
            if found:
                row[found[0].metric.title] = found[0].text
            if name == "wer" and found:
                row["words"] = "usable" if found[0].estimate.value < USABLE_WER else "research only"
        rows.append(row)
    return rows


def _one(findings: list[pn.Finding], metric: str, **conditions: str) -> str:
    fitting = [f for f in findings if f.metric.name == metric]
    kept = [f for f in fitting if all(f.conditions.get(k) == v for k, v in conditions.items())]
    return kept[0].text if kept else "-"


def _best(findings: list[pn.Finding]) -> str:
    return max(findings, key=lambda f: f.estimate.value).text if findings else "-"


def table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Write the rows as a Markdown table."""
    head = list(dict.fromkeys(name for row in rows for name in row))
    lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    return "\n".join([*lines, *("| " + " | ".join(str(row.get(name, "-")) for name in head) + " |" for row in rows)])


def main() -> None:
    """Run the study and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path, nargs="?", default=BESIDE)
    parser.add_argument("--speakers", type=int, default=30)
    parser.add_argument("--utterances", type=int, default=6)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", default="")
    parser.add_argument("--listeners", default="moonshine,pitch-swift,dnsmos")
    parser.add_argument("--alphas", action="store_true")
    parser.add_argument("--generators", action="store_true")
    parser.add_argument("--json", action="store_true")
    words = parser.parse_args()
    if not words.corpus.exists():
        print(f"skipped: no corpus of real speech at {words.corpus}; name one")
        return
    with tempfile.TemporaryDirectory(prefix="personare-") as folder:
        out = words.out or Path(folder) / "run"
        result = pn.run_study(study_of(words), out, resume=out.exists(), jobs=words.jobs)
        rows = rows_of(result)
    print(json.dumps(rows) if words.json else table(rows))
    for note in result.notes:
        print(f"note: {note}")


if __name__ == "__main__":
    main()
