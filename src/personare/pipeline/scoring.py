"""From a score file to findings: every detection and ZEBRA number with interval and chance, and what pictures need."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from personare.core.errors import MetricError
from personare.core.seeding import Key, rng_for
from personare.corpora.score_files import FileScores, read_scores
from personare.metrics.privacy.chance import Identities
from personare.metrics.privacy.redraws import trial_groups
from personare.metrics.privacy.summary import ScoreSummary, score_summary
from personare.metrics.privacy.zebra import tag
from personare.reports.score_plots import ScorePicture, score_picture

NO_SPEAKERS = (
    "no speakers in this file: intervals leave out trials, and are too narrow where a speaker has several trials"
)
ENROLLED_LEFT_OUT = "this file does not tell who speaks in every recording: intervals leave out the enrolled speakers"


@dataclass(frozen=True, eq=False)
class ScoredFile:
    """One score file, read and measured; ``notes`` say what a reader must know about the numbers."""

    path: Path
    scores: FileScores
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


def score_file(path: Path, *, key: Path | None, seed: int, dcf_prior: float) -> ScoredFile:
    """Read one file and compute everything; the same seed gives the same numbers."""
    scores = read_scores(path, key=key)
    rng = rng_for(Key.from_seed(seed), "score")
    try:
        if scores.target_enrolled is None or scores.nontarget_enrolled is None:
            return ScoredFile(path, scores, _by_trial(scores, rng, dcf_prior), (NO_SPEAKERS,))
        tested = scores.nontarget_tested
        redrawn = tested if tested is not None and scores.tested_known else scores.nontarget_enrolled
        identities = None if tested is None else Identities(scores.target_enrolled, tested, scores.nontarget_enrolled)
        summary = score_summary(
            scores.targets,
            scores.nontargets,
            target_speakers=scores.target_enrolled,
            nontarget_speakers=redrawn,
            identities=identities,
            rng=rng,
            dcf_prior=dcf_prior,
        )
    except MetricError as error:
        raise MetricError(f"{path}: {error}") from None
    if len(np.unique(np.append(scores.target_enrolled, redrawn))) == 1:
        return ScoredFile(path, scores, summary, ("one enrolled speaker: no interval can be given",))
    return ScoredFile(path, scores, summary, () if scores.tested_known else (ENROLLED_LEFT_OUT,))


def _by_trial(scores: FileScores, rng: np.random.Generator, dcf_prior: float) -> ScoreSummary:
    """Leave out trials instead of speakers."""
    trials = len(scores.targets) + len(scores.nontargets)
    groups = trial_groups(scores.targets, scores.nontargets, rng=rng)
    found = score_summary(
        scores.targets,
        scores.nontargets,
        target_speakers=groups[0],
        nontarget_speakers=groups[1],
        rng=rng,
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
    return score_picture(found.scores.targets, found.scores.nontargets, name)
