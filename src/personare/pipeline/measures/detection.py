"""Same speaker or not? The detection metrics of one attack: EER, Cllr, ZEBRA, linkability of scores.

Trials are within one gender where genders are known, as in the challenges, or those of a list. An enrolled speaker is
the mean of their vectors, a test the mean of L utterances; a trial belongs to the speaker who is tested.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from personare.attackers.calibration import fit_calibration
from personare.core.errors import MetricError
from personare.core.findings import Finding
from personare.metrics.privacy import eer as eer_file
from personare.metrics.privacy.chance import Identities
from personare.metrics.privacy.conversations import conversations, enrolment_means
from personare.metrics.privacy.summary import score_summary
from personare.pipeline.measured import Artefact, Measured
from personare.pipeline.seen import Seen, of_speakers
from personare.pipeline.wishes import NEED_LLRS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from personare.core.tables import Embeddings

DCF_PRIOR = 0.01


@dataclass(frozen=True, eq=False)
class TrialTable:
    """Every trial of an attack: scores and truth [n], names of the tests and the enrolled, who is tested."""

    score: NDArray[np.float64]
    target: NDArray[np.bool_]
    enroll: NDArray[np.str_]
    test: NDArray[np.str_]
    speaker: NDArray[np.str_]

    def __post_init__(self) -> None:
        if not self.target.any() or self.target.all():
            raise MetricError("detection needs target and nontarget trials; no two enrolled people could be compared")

    def kept(self, rows: NDArray[np.bool_]) -> TrialTable:
        """Keep some trials."""
        return TrialTable(self.score[rows], self.target[rows], self.enroll[rows], self.test[rows], self.speaker[rows])

    def split(self, scores: NDArray[np.float64] | None = None) -> dict[str, Any]:
        """Give what the metrics ask for: targets, nontargets and whose they are."""
        given = self.score if scores is None else scores
        return {
            "targets": given[self.target],
            "nontargets": given[~self.target],
            "target_speakers": self.speaker[self.target],
            "nontarget_speakers": self.speaker[~self.target],
        }

    def identities(self, genders: Mapping[str, str | None]) -> Identities:
        """Give who was compared with whom, within which chance deals identities."""
        return Identities(self.speaker[self.target], self.speaker[~self.target], self.enroll[~self.target], genders)


def trial_table(
    seen: Seen,
    sides: tuple[Embeddings, Embeddings],
    *,
    length: int,
    genders: Mapping[str, str | None],
    listed: Sequence[tuple[str, str]] | None,
    rng: np.random.Generator,
) -> TrialTable:
    """Score every allowed pair of an enrolled speaker and a test of ``length`` utterances."""
    enroll, trial = sides
    people = enrolment_means(enroll.vectors, enroll.speakers)
    names = people.speakers.astype(str)
    if length == 1:
        tests, owners = np.array(trial.ids, dtype=str), np.array(trial.speakers, dtype=str)
        vectors = trial.vectors
    else:
        heard = conversations(trial.vectors, trial.speakers, length=length, rng=rng)
        owners, vectors = heard.speakers.astype(str), heard.vectors
        tests = np.array([f"{who} conversation {i}" for i, who in enumerate(owners.tolist())])
    scores = seen.scores(vectors, people.vectors)
    allowed = _allowed(owners, names, genders)
    if listed is not None and length == 1:
        pairs = set(listed)
        allowed = np.array([[(name, test) in pairs for name in names.tolist()] for test in tests.tolist()])
    row, column = np.nonzero(allowed)
    return TrialTable(scores[row, column], owners[row] == names[column], names[column], tests[row], owners[row])


def _allowed(owners: NDArray[np.str_], names: NDArray[np.str_], genders: Mapping[str, str | None]) -> Any:
    mine, theirs = (np.array([genders.get(w) or "" for w in column.tolist()]) for column in (owners, names))
    return mine[:, None] == theirs[None, :]


def measure_detection(
    seen: Seen,
    *,
    metrics: Sequence[str],
    length: int,
    genders: Mapping[str, str | None],
    listed: Sequence[tuple[str, str]] | None,
    rng: np.random.Generator,
) -> Measured:
    """Measure one attack at one L: every metric asked for, EER also by gender, and the scores for pictures."""
    how = {"length": length, "genders": genders, "rng": rng}
    table = trial_table(seen, (seen.enroll, seen.trial), listed=listed, **how)  # type: ignore[arg-type]
    found, tag = (
        ({"eer": _eer(table, genders, rng)}, "") if set(metrics) == {"eer"} else _everything(table, genders, rng)
    )
    llrs = _llrs(seen, table, listed=None, **how) if seen.calibration is not None else None
    if llrs is not None and set(metrics) & set(NEED_LLRS):
        again = score_summary(**table.split(llrs), identities=table.identities(genders), dcf_prior=DCF_PRIOR, rng=rng)
        found |= {f.metric.name: f for f in again.findings if f.metric.name in NEED_LLRS}
    findings = [found[name] for name in metrics if name in found]
    if "log10_l" in metrics:
        findings = [_tagged(f, tag) if f.metric.name in ("d_ece", "log10_l") else f for f in findings]
    if "eer" in metrics:
        findings += _by_gender(table, genders, rng)
    findings = [replace(f, conditions={**f.conditions, "L": length}) for f in findings]
    missing = [f"L = {length}: {name} needs more trials" for name in metrics if name not in found]
    return Measured(tuple(findings), (Artefact("scores", _frame(table, llrs), {"L": length}),), tuple(missing))


def _everything(
    table: TrialTable, genders: Mapping[str, str | None], rng: np.random.Generator
) -> tuple[dict[str, Finding], str]:
    """Every detection metric by name, and ZEBRA's tag."""
    summary = score_summary(**table.split(), identities=table.identities(genders), dcf_prior=DCF_PRIOR, rng=rng)
    return {f.metric.name: f for f in summary.findings}, summary.tag


def _eer(table: TrialTable, genders: Mapping[str, str | None], rng: np.random.Generator) -> Finding:
    """The EER alone, where nothing else is asked for: several times as quick."""
    return eer_file.eer_finding(**table.split(), identities=table.identities(genders), rng=rng)


def _tagged(finding: Finding, tag: str) -> Finding:
    return replace(finding, conditions={**finding.conditions, "tag": tag})


def _llrs(seen: Seen, table: TrialTable, **how: Any) -> NDArray[np.float64]:
    """Set the scale on trials of other people, scored the same way."""
    assert seen.calibration is not None
    others = trial_table(seen, seen.calibration, **how)
    return fit_calibration(others.score[others.target], others.score[~others.target])(table.score)


def _by_gender(table: TrialTable, genders: Mapping[str, str | None], rng: np.random.Generator) -> list[Finding]:
    """EER of each gender by itself, where there are two."""
    known = sorted({genders.get(who) or "" for who in set(table.speaker.tolist())} - {""})
    findings = []
    for gender in known if len(known) > 1 else ():
        rows = np.array([genders.get(who) == gender for who in table.speaker.tolist()])
        try:
            part = table.kept(rows)
        except MetricError:  # one person of this gender meets nobody
            continue
        findings.append(replace(_eer(part, genders, rng), conditions={"gender": gender}))
    return findings


def _frame(table: TrialTable, llrs: NDArray[np.float64] | None) -> pl.DataFrame:
    columns = {"enroll": table.enroll, "test": table.test, "target": table.target, "score": table.score}
    return pl.DataFrame(columns if llrs is None else {**columns, "llr": llrs})


def enrolled_tests(seen: Seen) -> tuple[Embeddings, int]:
    """Give the trial vectors of people who are enrolled, and how many tested people are not."""
    known = set(seen.enroll.speakers)
    return of_speakers(seen.trial, known), len(set(seen.trial.speakers) - known)
