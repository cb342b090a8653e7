"""A listener of one's own may give a metric that personare does not have: it is measured, bounded and reported."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

import personare as pn
from personare.core.observations import Observation, ObservedUtterance, Stimulus, SummaryContext, UtilitySummary
from personare.core.protocols import Listener
from personare.listeners import LISTENERS
from personare.pipeline.study import Bound, CorpusChoice, Study
from pipeline.tiny import write_corpus

CARD = pn.MetricCard("gap", "Gap", "lower", (0.0, 9.0), None, "ours", "how far apart", "means nothing")


@dataclass(frozen=True)
class Gap(Listener):
    """The largest difference of two sounds."""

    gives: ClassVar[tuple[str, ...]] = ("gap",)
    compares: ClassVar[bool] = True
    fingerprint = "gap"

    def observe(self, batch: Sequence[Stimulus]) -> list[Observation]:
        pairs = [stimulus.pair for stimulus in batch]
        return [Observation(values={"gap": float(np.abs(a.samples - b.samples).max())}) for a, b in pairs]

    def summarize(self, rows: Sequence[ObservedUtterance], context: SummaryContext) -> UtilitySummary:
        gaps = [row.sides["both"].values["gap"] for row in rows]
        return UtilitySummary((pn.Finding(CARD, pn.Estimate(max(gaps), min(gaps), max(gaps), len(gaps))),))


@pytest.fixture(autouse=True)
def known() -> Iterator[None]:
    pn.register_listener("gap", Gap)
    yield
    del LISTENERS.registered["gap"]


@pytest.mark.parametrize("metrics", [(), ("gap",), ("gap", "stoi")], ids=str)
def test_its_metric_is_measured_whether_named_or_not(tmp_path: Path, metrics: tuple[str, ...]) -> None:
    study = Study(
        "own",
        {"hums": CorpusChoice(path=write_corpus(tmp_path / "corpus"), split="trial")},
        {"b2": {"method": "mcadams"}},
        listeners=("gap", "stoi"),
        metrics=metrics,
        bounds=(Bound("gap", at_most=9.0),),
        clips=0,
    )
    result = pn.run_study(study, tmp_path / "run")
    (gap,) = result["gap"]
    assert gap.metric == CARD and gap.conditions["listener"] == "gap" and gap.estimate.value > 0
    assert [verdict.held for verdict in result.verdicts] == [True]
    assert "Gap" in result.report().read_text(encoding="utf-8")


def test_a_metric_that_no_listener_gives_is_still_unknown(tmp_path: Path) -> None:
    study = Study("own", {"hums": CorpusChoice(path=tmp_path)}, {"b2": {"method": "mcadams"}}, metrics=("gap",))
    with pytest.raises(pn.PersonareError, match="'gap' does not exist"):
        pn.run_study(study, tmp_path / "run")
