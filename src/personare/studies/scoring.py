"""From a score file to findings: every detection and ZEBRA number with interval and chance, and what pictures need."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from personare.core.errors import MetricError
from personare.core.seeding import Key, rng_for
from personare.metrics.privacy.detection import error_curve
from personare.metrics.privacy.summary import ScoreSummary, score_summary, score_values
from personare.metrics.privacy.zebra import ece_curve, tag
from personare.reports.score_plots import ScorePicture
from personare.studies.scores import TrialScores, read_scores

GROUPS = 500
CELLS_PER_UNIT = 100
NO_SPEAKERS = "no speakers in this file: intervals redraw trials, and are too narrow where a speaker has several trials"


@dataclass(frozen=True, eq=False)
class ScoredFile:
    """One score file, read and measured; ``notes`` say what a reader must know about the numbers."""

    path: Path
    scores: TrialScores
    summary: ScoreSummary
    notes: tuple[str, ...]

    def as_row(self) -> dict[str, Any]:
        """Flatten for JSON."""
        found = self.summary
        return {
            "file": str(self.path),
            "targets": found.targets,
            "nontargets": found.nontargets,
            "tag": found.tag,
            "tag_interval": self.tag_interval,
            "log10_l_maximum": found.log10_l_maximum,
            "findings": [finding.as_row() for finding in found.findings],
            "notes": list(self.notes),
        }

    @property
    def tag_interval(self) -> list[str] | None:
        """The tags at both ends of the interval of log10(l)."""
        worst = next(f.estimate for f in self.summary.findings if f.metric.name == "log10_l")
        return None if np.isnan(worst.low) else [tag(worst.low), tag(worst.high)]


def score_file(path: Path, *, key: Path | None, seed: int, resamples: int, dcf_prior: float) -> ScoredFile:
    """Read one file and compute everything; the same seed gives the same intervals."""
    scores = read_scores(path, key=key)
    rng = rng_for(Key.from_seed(seed), "score")
    try:
        if scores.target_speakers is None or scores.nontarget_speakers is None:
            return ScoredFile(path, scores, _by_trial(scores, rng, resamples, dcf_prior), (NO_SPEAKERS,))
        summary = score_summary(
            scores.targets,
            scores.nontargets,
            target_speakers=scores.target_speakers,
            nontarget_speakers=scores.nontarget_speakers,
            rng=rng,
            resamples=resamples,
            dcf_prior=dcf_prior,
        )
    except MetricError as error:
        raise MetricError(f"{path}: {error}") from None
    alone = len(np.unique(np.append(scores.target_speakers, scores.nontarget_speakers))) == 1
    return ScoredFile(path, scores, summary, ("one enrolled speaker: no interval can be given",) if alone else ())


def _by_trial(scores: TrialScores, rng: np.random.Generator, resamples: int, dcf_prior: float) -> ScoreSummary:
    """Redraw trials instead of speakers, in at most 500 random groups so that millions of trials stay quick."""
    trials = len(scores.targets) + len(scores.nontargets)
    groups = [rng.permutation(np.arange(len(s)) % min(GROUPS, trials)) for s in (scores.targets, scores.nontargets)]
    found = score_summary(
        scores.targets,
        scores.nontargets,
        target_speakers=groups[0],
        nontarget_speakers=groups[1],
        rng=rng,
        resamples=resamples,
        dcf_prior=dcf_prior,
    )
    findings = tuple(replace(f, estimate=replace(f.estimate, n=trials)) for f in found.findings)
    return replace(found, findings=findings)


def picture_names(paths: Sequence[Path]) -> list[str]:
    """Name pictures after their files; files of the same name get their folder's name, then a number.

    >>> picture_names([Path("a/x.txt"), Path("b/x.txt"), Path("y.txt")])
    ['a-x', 'b-x', 'y']
    """
    stems = [path.stem for path in paths]
    names = [f"{p.resolve().parent.name}-{p.stem}" if stems.count(p.stem) > 1 else p.stem for p in paths]
    return [f"{n}-{names[:i].count(n) + 1}" if names.count(n) > 1 else n for i, n in enumerate(names)]


def picture(found: ScoredFile, name: str) -> ScorePicture:
    """Gather what the pictures of one file show."""
    return picture_of(found.scores, name)


def picture_of(scores: TrialScores, name: str) -> ScorePicture:
    """Gather what the pictures of one list of scores show."""
    t, n = scores.targets, scores.nontargets
    errors = error_curve(t, n)
    kept = _visible(errors.miss, errors.false_alarm)
    priors = 1 / (1 + np.exp(-np.linspace(-8, 8, 321)))
    profile = ece_curve(t, n, priors=priors)
    values = score_values(t, n)
    return ScorePicture(
        name=name,
        miss=errors.miss[kept],
        false_alarm=errors.false_alarm[kept],
        eer=values["eer"],
        priors=priors,
        zero_evidence=profile.zero_evidence,
        adversary=profile.minimum,
        zebra=(values["d_ece"], values["log10_l"], tag(values["log10_l"])),
        targets=t,
        nontargets=n,
    )


def _visible(miss: Any, false_alarm: Any) -> Any:
    """Choose the points of a DET curve that a picture can tell apart on its normal scales."""
    from scipy.special import ndtri

    cells = [np.round(CELLS_PER_UNIT * ndtri(np.clip(rate, 1e-9, 1 - 1e-9))) for rate in (miss, false_alarm)]
    moved = (np.diff(cells[0]) != 0) | (np.diff(cells[1]) != 0)
    return np.flatnonzero(np.append(True, moved) | np.append(moved, True))
