"""What every anonymizer hides and what it leaves: one study over all methods on real speech, as two tables.

    python benchmarks/methods.py [CORPUS] [--speakers N] [--utterances M] [--enroll-draws D] [--out RUN] [--jobs J]
                                 [--only NAME;NAME] [--strengths | --alphas | --generators]
                                 [--listeners NAME,NAME] [--json]

The same pipeline as ``personare study run``: people of the part 'eval' are attacked, people of the part 'train' are
learnt from. EER is that of the attacker who knows nothing, who knows the method, and who has learnt from other people's
anonymized speech, within one gender, from one utterance; linkability is that of the strongest of them among everybody
enrolled. Words are called usable when the recognizer, which never heard such voices, gets right more than half of the
words that it gets right in the original speech.
``--strengths`` measures the presets of ``personare anonymize --strength``, whose figures are in anonymizers/presets.py.
``--alphas`` shows one fixed coefficient of mcadams after the other, ``--generators`` every generator of pseudo-speakers
through xvector: neither plays the attacker who learns, and their enrolment is anonymized once, as in the challenge.
Run again with the same --out, what is done is not done again.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import personare as pn
from personare.anonymizers.presets import PRESETS
from personare.core.errors import PersonareError, UnknownNameError, did_you_mean
from personare.core.findings import without_breakdowns
from personare.pipeline.study import AttackerChoice, CorpusChoice, ListenerChoice, Study
from personare.pseudospeakers import PSEUDOSPEAKERS

ENCODED: dict[str, Any] = {  # content by the encoder, prosody predicted
    **{"method": "xvector", "generator": "o1", "pitch": "move"},
    **{"f0": "predicted", "energy": "predicted", "timing": "even"},
}
PIPER: dict[str, Any] = {"method": "cascade", "voice": "piper", "recognizer": "moonshine-base", "gender": "any"}
METHODS: dict[str, dict[str, Any]] = {
    "mcadams (B2)": {"method": "mcadams", "alpha": 0.8},
    "mcadams alpha 0.8..0.9": {"method": "mcadams", "alpha": [0.8, 0.9]},
    "mcadams alpha 0.7..0.9": {"method": "mcadams", "alpha": [0.7, 0.9]},
    "mcadams alpha 0.5..0.9": {"method": "mcadams", "alpha": [0.5, 0.9]},
    "mcadams radius 0.975 (D1)": {"method": "mcadams", "alpha": 0.8, "radius": 0.975},
    "formants (I1)": {"method": "formants"},
    "cascade, voice neural": {"method": "cascade"},
    "cascade, voice neural, any gender": {"method": "cascade", "gender": "any"},
    "cascade, voice kokoro": {"method": "cascade", "voice": "kokoro", "gender": "any"},
    "cascade, voice piper": PIPER,
    "cascade, voice piper, coarse prosody": {**PIPER, "prosody": "coarse"},
    "usc (C0)": {"method": "usc"},
    "world": {"method": "world"},
    "world, then mcadams": {
        "method": "chain",
        "steps": [{"name": "world"}, {"name": "mcadams", "parameters": {"alpha": 0.9}}],
    },
    "xvector (B1)": {"method": "xvector"},
    "xvector, pronunciation kept": ENCODED,
    "xvector, timing moved": {**ENCODED, "timing": "moved"},
    "xvector, timing kept": {**ENCODED, "timing": "keep"},
    "xvector, prosody kept": {**ENCODED, "f0": "keep", "energy": "keep", "timing": "keep"},
    "xvector, masked content (M1c1)": {**ENCODED, "timing": "moved", "mask": True},
    "xvector, copy-synthesis (M1c2)": {**ENCODED, "timing": "moved", "generator": "copy"},
}
ALPHAS = (0.9, 0.8, 0.7, 0.6, 0.5)
USABLE_SHARE = 0.5
LEVELS = ("ignorant", "lazy-informed", "informed")
SIMILARITY = ("deid", "g_vd")
GIVEN_BY = {"moonshine": ("wer",), "pitch-swift": ("f0_spearman",), "dnsmos": ("dnsmos",)}
BESIDE = Path(__file__).resolve().parents[2] / "shared" / "corpus"
if not (Path(pn.__file__).parent / "codecs" / "usc" / "shipped").is_dir():
    del METHODS["usc (C0)"]  # a copy of the package without the codec's weights


def study_of(words: argparse.Namespace) -> Study:
    """Make the study that a command line asks for."""
    methods: dict[str, dict[str, Any]] = METHODS
    if words.alphas:
        methods = {f"mcadams alpha {alpha}": {"method": "mcadams", "alpha": alpha} for alpha in ALPHAS}
    if words.strengths:
        methods = {name: {"method": one.method, **one.parameters} for name, one in PRESETS.items()}
    if words.generators:
        moved = {**ENCODED, "timing": "moved"}
        methods = {f"xvector, {name}": {**moved, "generator": name} for name in PSEUDOSPEAKERS.names()}
    if words.only:
        methods = picked(words.only, methods)
    short = words.alphas or words.generators
    draws = words.enroll_draws or (1 if short else AttackerChoice("ignorant").enroll_draws)
    listeners = {name: ListenerChoice(name) for name in words.listeners.split(",") if name}
    utility = dict.fromkeys(metric for name in listeners for metric in GIVEN_BY.get(name, ()))
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
        attackers={level: AttackerChoice(level, enroll_draws=draws) for level in (LEVELS[:2] if short else LEVELS)},
        listeners=listeners,
        metrics=("eer", "linkability", *SIMILARITY, *utility),
        skip_impossible=True,
        clips=0,
    )


def rows_of(result: pn.Results) -> list[dict[str, str]]:
    """Give one row per method: the numbers with their intervals, what is hidden first."""
    rows = []
    overall = without_breakdowns(result)
    for method in dict.fromkeys(str(f.conditions["anonymizer"]) for f in overall):
        own = [f for f in overall if f.conditions["anonymizer"] == method]
        row = {"method": method}
        for level in dict.fromkeys(str(f.conditions["attacker"]) for f in overall if f.metric.name == "eer"):
            row[f"EER, {level}"] = _one(own, "eer", attacker=level)
        links = [f for f in own if f.metric.name == "linkability"]
        most = max((int(f.conditions["N"]) for f in links), default=0)
        row[f"linked among {most}"] = _best([f for f in links if f.conditions["N"] == most])
        row |= {"DeID": _one(own, "deid"), "G_VD": _one(own, "g_vd")}
        for name, title in (("wer", "WER"), ("f0_spearman", "F0 correlation"), ("dnsmos", "DNSMOS")):
            found = [f for f in own if f.metric.name == name]
            if found:
                row[title] = found[0].text
            if name == "wer" and found:
                row["words"] = "usable" if kept_words(found[0], overall) > USABLE_SHARE else "research only"
        rows.append(row)
    return rows


def kept_words(finding: pn.Finding, findings: Sequence[pn.Finding]) -> float:
    """Give the share of the words right in the original speech that is still right."""
    before = next(f for f in findings if f.metric.name == "wer" and f.conditions["anonymizer"] == "original")
    return (1 - finding.estimate.value) / (1 - before.estimate.value)


def _one(findings: Sequence[pn.Finding], metric: str, **conditions: str) -> str:
    fitting = [f for f in findings if f.metric.name == metric]
    kept = [f for f in fitting if all(f.conditions.get(k) == v for k, v in conditions.items())]
    own = {str(f.conditions.get("gender", "")): f.text for f in kept}
    return "; ".join(f"{gender} {text}".strip() for gender, text in own.items()) or "-"


def _best(findings: Sequence[pn.Finding]) -> str:
    return max(findings, key=lambda f: f.estimate.value).text if findings else "-"


def tables(rows: Sequence[Mapping[str, str]]) -> str:
    """Write the rows as Markdown tables: what is hidden, and what is left."""
    head = list(dict.fromkeys(name for row in rows for name in row))
    cut = head.index("G_VD") + 1
    parts = [head[:cut], *([["method", *head[cut:]]] if head[cut:] else [])]
    return "\n\n".join(markdown_table(part, rows) for part in parts)


def markdown_table(head: Sequence[str], rows: Sequence[Mapping[str, str]]) -> str:
    """Write rows as one Markdown table with these columns."""
    lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    return "\n".join([*lines, *("| " + " | ".join(row.get(name, "-") for name in head) + " |" for row in rows)])


def main() -> None:
    """Run the study and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path, nargs="?", default=BESIDE)
    parser.add_argument("--speakers", type=int, default=16)
    parser.add_argument("--utterances", type=int, default=4)
    parser.add_argument("--enroll-draws", type=int, default=0)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", default="", help="methods, with semicolons between them")
    parser.add_argument("--listeners", help="names, with commas; none with --generators")
    parser.add_argument("--strengths", action="store_true")
    parser.add_argument("--alphas", action="store_true")
    parser.add_argument("--generators", action="store_true")
    parser.add_argument("--json", action="store_true")
    words = parser.parse_args()
    if words.listeners is None:
        words.listeners = "" if words.generators else "moonshine" if words.alphas else ",".join(GIVEN_BY)
    if not words.corpus.exists():
        print(f"skipped: no corpus of real speech at {words.corpus}; name one")
        return
    with tempfile.TemporaryDirectory(prefix="personare-") as folder:
        out = words.out or Path(folder) / "run"
        result = pn.run_study(study_of(words), out, resume=out.exists(), jobs=words.jobs)
        rows = rows_of(result)
    print(json.dumps(rows) if words.json else tables(rows))
    for note in result.notes:
        print(f"note: {note}")


def picked(names: str, known: Mapping[str, Any]) -> dict[str, Any]:
    """Pick what ``--only`` names, with semicolons between names."""
    for name in names.split(";"):
        if name not in known:
            raise UnknownNameError(f"--only: no '{name}'; {did_you_mean(name, known)}")
    return {name: known[name] for name in names.split(";")}


def ended_by_mistakes(main: Callable[[], None]) -> None:
    """Run a benchmark; what it refuses is one line."""
    try:
        main()
    except PersonareError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    ended_by_mistakes(main)
