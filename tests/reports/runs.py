"""A small run folder made by code: invented findings, scores, matrices, ranks and clips, as a study leaves them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from conftest import hum
from personare.core.audio import write
from personare.core.findings import Estimate, Finding
from personare.core.tables import write_frame
from personare.metrics import card
from personare.pipeline.folder import findings_frame
from personare.pipeline.gate import row_of

PEOPLE = 12
SPEAKERS = [f"anna-{i:02d}" for i in range(PEOPLE)]  # names that must not get out
# method -> attacker -> how well voices can still be distinguished (0: not at all)
LEFT = {
    "original": {"ignorant": 4.0, "lazy": 4.0},
    "b1 <x>": {"ignorant": 0.0, "lazy": 0.6},
    "b2": {"ignorant": 0.8, "lazy": 2.0},
}
KNOWS = {"ignorant": "ignorant", "lazy": "lazy-informed"}


def write_run(folder: Path, *, title: str = "Two methods & <two> attackers", seed: int = 1) -> Path:
    """Write a run in which everything was measured."""
    rng = np.random.default_rng(seed)
    findings, artefacts = attacks(folder, rng)
    more, maps = voices(folder, rng)
    findings, artefacts = findings + more + utility(), artefacts + maps + clips(folder, list(LEFT))
    notes = ["demo: 1 speaker is left out (first: 'anna-99')"]
    _write(folder, title, findings, artefacts, notes=notes, gate=gate(findings), study=STUDY, failures=FAILURES)
    return folder


def write_small_run(folder: Path, *, title: str = "One number") -> Path:
    """Write a run with one error rate and nothing else."""
    _write(folder, title, [_eer("b2", "lazy", 1, 0.2)], [])
    return folder


def write_evaluation(folder: Path, *, seed: int = 1, left: dict[str, float] | None = None) -> Path:
    """Write what an evaluation of one anonymized corpus leaves: three attackers, L = 1 and 3, EER and linkability.

    ``left`` says how well the attackers still tell voices apart (0: not at all).
    """
    rng = np.random.default_rng(seed)
    findings: list[Finding] = []
    artefacts: list[dict[str, Any]] = []
    strengths = {"original": 4.0, "ignorant": 0.1, "lazy-informed": 1.2} | (left or {})
    for attacker, known in strengths.items():
        method = "original" if attacker == "original" else "mcadams"
        for length in (1, 3):
            where: dict[str, Any] = {"anonymizer": method, "attacker": attacker, "knowledge": attacker, "L": length}
            where |= {"embedder": "ecapa", "scorer": "cosine"}
            strength = float(1 - np.exp(-0.6 * known * length))
            findings.append(_finding("eer", 0.46 * (1 - strength), 0.06, where, chance=0.46))
            linked = 1 / PEOPLE + (1 - 1 / PEOPLE) * strength
            at = {**where, "N": PEOPLE}
            artefacts.append(_table(folder, "scores", _scores(rng, known), where, len(artefacts)))
            share = np.clip(strength + rng.normal(0, 0.1, PEOPLE), 0, 1)
            always = {"always_linked": int((share >= 1).sum()), "always_guessed": 1.0}
            findings.append(_finding("linkability", linked, 0.1, at | always, chance=1 / PEOPLE))
            frame = {"speaker": SPEAKERS, "share": share, "trials": [6] * PEOPLE}
            artefacts.append(_table(folder, "exposed", frame, at, len(artefacts)))
    artefacts += clips(folder, ["original", "mcadams"])
    study = {
        "corpora": {"demo": {"path": "/data/anna/speech_1", "split": "halves"}},
        "anonymizers": {"original": {}, "mcadams": {"method": "mcadams", "alpha": [0.7, 0.9]}},
        "attackers": {name: {"knowledge": name, "embedder": "ecapa"} for name in strengths},
        "conversations": [1, 3],
    }
    title = "How well are these voices hidden?"
    notes = ["1 original utterance has no anonymized counterpart (first: anna-99)."]
    _write(folder, title, findings, artefacts, notes=notes, study=study)
    (folder / "log.txt").write_text(LOG, encoding="utf-8")
    return folder


def _write(
    folder: Path,
    title: str,
    findings: list[Finding],
    artefacts: list[dict[str, Any]],
    *,
    notes: Sequence[str] = (),
    gate: Sequence[dict[str, Any]] = (),
    study: dict[str, Any] | None = None,
    failures: str = "",
) -> None:
    write_frame(findings_frame(findings), folder / "findings.parquet")
    _json(folder / "findings.json", {"study": title, "findings": [row_of(f) for f in findings], "notes": list(notes)})
    _json(folder / "artefacts.json", artefacts)
    _json(folder / "gate.json", list(gate))
    _json(folder / "environment.json", ENVIRONMENT)
    if study is not None:
        _json(folder / "study.json", study)
    (folder / "failures.tsv").write_text(f"stage\titem\twhy\n{failures}", encoding="utf-8")


LOG = """\
2026-03-01T09:00:00+00:00 command: personare evaluate ./speech_1 './hidden anna' --method anna-03 --key … --jobs 2
2026-03-01T09:00:01+00:00 speech demo: 12 speakers, 72 utterances
2026-03-02T00:10:00+00:00 findings: 12, failures: 0, stages done now: 9
2026-04-01T10:00:00+00:00 command: personare evaluate ./speech_1 './hidden anna' --method anna-03 --key … --jobs 2
2026-04-01T10:00:02+00:00 findings: 12, failures: 0, stages done now: 0
"""
FAILURES = (
    "hide demo b2\tanna-07/u7\t/data/anna b/anna-07/u7.wav: broken <file>\n"
    "hide demo b2\tanna-08/u8\ttoo short\nhide demo b2\tanna-09/u8\ttoo short\n"
)
STUDY: dict[str, Any] = {
    "corpora": {"demo": {"path": "/data/anna/speech_1", "split": "halves", "train": 4.0}},
    "anonymizers": {
        "original": {},
        "b1 <x>": {"method": "xvector", "generator": "b1"},
        "b2": {"method": "mcadams", "alpha": [0.5, 0.9]},
    },
    "attackers": {
        "ignorant": {"knowledge": "oa", "embedder": "ge2e", "scorer": None},
        "lazy": {"knowledge": "aa", "embedder": "trained:/data/anna/voice.onnx", "scorer": "cosine"},
    },
    "listeners": {"moonshine": {"listener": "moonshine"}, "own": {"listener": "ctc", "trained_on": "b2"}},
    "conversations": [1, 3],
    "people": [2, 5, 12],
}
ENVIRONMENT: dict[str, Any] = {
    **{"personare": "0.1.0", "python": "3.11", "platform": "linux x86_64", "seed": 1},
    "libraries": {"numpy": "2"},
    "models": {"ecapa": {"carrier": "p 1", "licence": "Apache-2.0"}},
    "methods": {
        "b1 <x>": {"description": "An invented voice.", "paper": "Paper of B1, 2020", "fingerprint": "xvector-1"},
        "b2": {"description": "Resonances moved.", "paper": "Paper of B2, 2021", "fingerprint": "mcadams-1"},
    },
    "embedders": {
        "ge2e": {"description": "A network.", "paper": "Paper of GE2E, 2018", "fingerprint": "ge2e-1"},
        "trained": {
            "description": "One's own.",
            "paper": "",
            "fingerprint": "trained:/data/anna/voice.onnx",
        },
    },
    "scorers": {"cosine": {"description": "Cosine.", "paper": "", "fingerprint": "cosine"}},
    "listeners": {
        "moonshine": {"description": "Words.", "paper": "Paper of Moonshine, 2024", "fingerprint": "m-1"},
        "own": {"description": "Letters.", "paper": "", "fingerprint": "trained by this study", "trained_on": "b2"},
    },
}


def _finding(name: str, value: float, wide: float, conditions: dict[str, Any], chance: float | None = None) -> Finding:
    low, high = card(name).bounds
    estimate = Estimate(value, max(low, value - wide), min(high, value + wide), PEOPLE)
    return Finding(card(name), estimate, {"corpus": "demo", **conditions}, chance=chance)


def _attack(method: str, attacker: str, **more: Any) -> dict[str, Any]:
    level = "original" if method == "original" else KNOWS[attacker]
    return {
        "anonymizer": method,
        "attacker": attacker,
        "knowledge": level,
        "embedder": "ge2e",
        "scorer": "cosine",
        **more,
    }


def _eer(method: str, attacker: str, length: int, value: float) -> Finding:
    return _finding("eer", value, 0.05, _attack(method, attacker, L=length), chance=0.46)


def attacks(folder: Path, rng: np.random.Generator) -> tuple[list[Finding], list[dict[str, Any]]]:
    """Every attack: error rates, linkability and singling out over N, ZEBRA, scores, and who is exposed."""
    found: list[Finding] = []
    artefacts: list[dict[str, Any]] = []
    for method, attackers in LEFT.items():
        for attacker, left in attackers.items():
            for length in (1, 3):
                where = _attack(method, attacker, L=length)
                strength = float(1 - np.exp(-0.6 * left * length))
                found.append(_eer(method, attacker, length, 0.46 * (1 - strength)))
                for name in ("linkability", "singling_out"):
                    for people in (2, 5, PEOPLE):
                        value = 1 / people + (1 - 1 / people) * strength
                        found.append(_finding(name, value, 0.08, {**where, "N": people}, chance=1 / people))
                for gender in ("f", "m"):
                    by_gender = {**where, "N": PEOPLE, "gender": gender}
                    found.append(_finding("linkability", strength * 0.9 + 0.08, 0.1, by_gender, chance=1 / PEOPLE))
                artefacts.append(_table(folder, "scores", _scores(rng, left), where, len(artefacts)))
                frame = {
                    "speaker": SPEAKERS,
                    "share": np.clip(strength + rng.normal(0, 0.1, PEOPLE), 0, 1),
                    "trials": [6] * PEOPLE,
                }
                artefacts.append(_table(folder, "exposed", frame, {**where, "N": PEOPLE}, len(artefacts)))
            found += _zebra(method, attacker, left)
    control = {**_attack("b2", "lazy"), "attribute": "gender", "attack": 0.9, "control": 0.5, "baseline": 0.5}
    found.append(_finding("risk_over_control", 0.6, 0.2, control))
    forecast = {**_attack("b2", "lazy", L=1), "N": 10_000, "checked_to": 100}
    return [*found, _finding("population_linkability", 0.05, 0.04, forecast, chance=1e-4)], artefacts


def _zebra(method: str, attacker: str, left: float) -> list[Finding]:
    where = {**_attack(method, attacker, L=1), "tag": "B", "targets": 60, "nontargets": 300}
    return [
        _finding("d_ece", min(0.72, 0.05 + 0.15 * left), 0.03, where, chance=0.03),
        _finding("log10_l", 0.4 + 0.3 * left, 0.2, where, chance=0.3),
    ]


def _scores(rng: np.random.Generator, left: float) -> dict[str, Any]:
    enroll = np.repeat(SPEAKERS, PEOPLE * 3)
    test = np.tile([f"{s}-{u}" for s in SPEAKERS for u in range(3)], PEOPLE)
    target = np.array([e == t.rpartition("-")[0] for e, t in zip(enroll, test, strict=True)])
    return {"enroll": enroll, "test": test, "target": target, "score": rng.normal(0, 1, len(test)) + left * target}


def voices(folder: Path, rng: np.random.Generator) -> tuple[list[Finding], list[dict[str, Any]]]:
    """Similarity matrices with DeID and G_VD, and ranks."""
    found: list[Finding] = []
    artefacts: list[dict[str, Any]] = []
    for method, deid, gain in (("b1 <x>", 0.9, -4.0), ("b2", 0.4, -0.5)):
        for gender in ("f", "m"):
            where = {"anonymizer": method, "embedder": "ge2e", "gender": gender}
            found += [_finding("deid", deid, 0.05, where), _finding("g_vd", gain, 0.6, where)]
            artefacts.append(
                _table(folder, "similarity", _matrices(rng, 1 - deid), {"corpus": "demo", **where}, len(artefacts))
            )
    for method, attackers in LEFT.items():
        left, ranked = attackers["lazy"], {**_attack(method, "lazy"), "N": PEOPLE}
        ranks = np.clip((PEOPLE + 1) / 2 * np.exp(-left) + 1 + rng.normal(0, 0.3, PEOPLE), 1, PEOPLE)
        for name, value in (("rank_link_p50", float(np.median(ranks))), ("rank_link_p1", float(ranks.min()))):
            found.append(_finding(name, value, 0.4, ranked, chance=6.5))
        frame = {"speaker": SPEAKERS, "utterance": [None] * PEOPLE, "rank": ranks, "people": [PEOPLE] * PEOPLE}
        artefacts.append(_table(folder, "ranks", frame, ranked, len(artefacts)))
    return found, artefacts


def _matrices(rng: np.random.Generator, left: float) -> dict[str, Any]:
    columns: dict[str, list[Any]] = {"row_speaker": [], "column_speaker": [], "side": [], "value": []}
    for side, contrast in (("oo", 0.9), ("oa", left), ("aa", 0.6)):
        matrix = rng.uniform(0, 0.1, (PEOPLE, PEOPLE)) + contrast * np.eye(PEOPLE)
        for i, row in enumerate(SPEAKERS):
            for j, column in enumerate(SPEAKERS):
                for name, value in zip(columns, (row, column, side, matrix[i, j]), strict=True):
                    columns[name].append(value)
    return columns


def utility() -> list[Finding]:
    """Words, as two recognizers hear them, and quality."""
    found = []
    for method, wrong in (("original", 0.05), ("b1 <x>", 0.3), ("b2", 0.12)):
        where = {"anonymizer": method, "listener": "moonshine", "listener_trained_on": "original"}
        found.append(_finding("wer", wrong, 0.03, where))
        found.append(_finding("wer", wrong / 2, 0.02, {**where, "listener": "own", "listener_trained_on": "b2"}))
        found.append(_finding("dnsmos", 3.5 - 3 * wrong, 0.1, {"anonymizer": method, "listener": "dnsmos"}))
    return found


def clips(folder: Path, methods: Sequence[str]) -> list[dict[str, Any]]:
    """Two utterances, original and anonymized."""
    entries: list[dict[str, Any]] = []
    for u, method in [(u, m) for u in range(2) for m in methods]:
        name = f"clips/{len(entries):03d}.wav"
        write(folder / name, hum(len(entries), duration_s=0.7))
        where = {"corpus": "demo", "anonymizer": method, "utterance": f"{SPEAKERS[u]}/u", "speaker": SPEAKERS[u]}
        where["text"] = "A & B <c>"
        entries.append({"kind": "clip", "file": name, "conditions": where})
    return entries


def gate(findings: list[Finding]) -> list[dict[str, Any]]:
    """One bound that is kept, one that is not, one that nothing was measured for."""
    link = next(f for f in findings if f.metric.name == "linkability" and f.conditions["anonymizer"] == "b2")
    wer = next(f for f in findings if f.metric.name == "wer")
    rows: list[dict[str, Any]] = []
    for finding, limit in ((link, 0.3), (wer, 0.5)):
        high = finding.estimate.high
        bound = {"metric": finding.metric.name, "at_most": limit}
        rows.append({"bound": bound, "finding": row_of(finding), "tested": "high", "value": high, "limit": limit})
        rows[-1] |= {"held": high <= limit, "sentence": "in words"}
    nothing = {"bound": {"metric": "pesq", "at_least": 2.0}, "finding": None, "tested": "low", "value": None}
    return [*rows, {**nothing, "limit": 2.0, "held": False, "sentence": "nothing was measured"}]


def _table(folder: Path, kind: str, columns: dict[str, Any], conditions: dict[str, Any], number: int) -> dict[str, Any]:
    name = f"artefacts/{kind}-{number:04d}.parquet"
    (folder / "artefacts").mkdir(parents=True, exist_ok=True)
    write_frame(pl.DataFrame(columns), folder / name)
    return {"kind": kind, "file": name, "conditions": {"corpus": "demo", **conditions}}


def _json(path: Path, content: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content), encoding="utf-8")
