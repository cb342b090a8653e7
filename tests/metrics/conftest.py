"""What the metric tests share: the golden VoicePrivacy 2020 scores and x-vectors, and the values others computed."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

CONDITIONS = ("f_oo", "m_oo", "f_oa", "m_oa", "f_aa", "m_aa")


@dataclass(frozen=True, eq=False)
class GoldenTrials:
    """Real scores of one condition, the speaker each trial belongs to, and the expected values."""

    targets: NDArray[np.float64]
    nontargets: NDArray[np.float64]
    target_speakers: NDArray[Any]
    nontarget_speakers: NDArray[Any]
    expected: dict[str, Any]


@pytest.fixture(scope="session")
def vpc2020_folder(shared_folder: Path) -> Path:
    """The folder with the golden VoicePrivacy 2020 files."""
    return shared_folder / "golden" / "vpc2020"


@pytest.fixture(scope="session")
def vpc2020_expected(vpc2020_folder: Path) -> dict[str, Any]:
    """Everything in expected.json."""
    found: dict[str, Any] = json.loads((vpc2020_folder / "expected.json").read_text())
    return found


@pytest.fixture(scope="session")
def golden_scores(vpc2020_folder: Path, vpc2020_expected: dict[str, Any]) -> Callable[[str], GoldenTrials]:
    """The challenge's own PLDA scores of a condition."""

    def load(condition: str) -> GoldenTrials:
        with np.load(vpc2020_folder / f"scores_{condition}.npz") as file:
            score, target, enroll = file["score"], file["target"], file["enroll"]
        expected = vpc2020_expected["conditions"][condition]
        return GoldenTrials(score[target], score[~target], enroll[target], enroll[~target], expected)

    return load


@pytest.fixture(scope="session")
def golden_cosines(vpc2020_folder: Path, vpc2020_expected: dict[str, Any]) -> Callable[[str], GoldenTrials]:
    """Cosine scores computed from the x-vectors of a condition."""

    def load(condition: str) -> GoldenTrials:
        gender, enrolled, tested = condition[0], condition[2], condition[3]
        kind = {"o": "orig", "a": "anon"}
        with np.load(vpc2020_folder / f"xvectors_enroll_{kind[enrolled]}.npz") as file:
            enroll_ids, enroll = file["speaker"], file["vector"].astype(np.float64)
        with np.load(vpc2020_folder / f"xvectors_trial_{gender}_{kind[tested]}.npz") as file:
            test_ids, test = file["speaker"], file["vector"].astype(np.float64)
        own_gender = np.isin(enroll_ids, test_ids)
        enroll_ids, enroll = enroll_ids[own_gender], enroll[own_gender]
        unit = [v / np.linalg.norm(v, axis=1, keepdims=True) for v in (enroll, test)]
        score, target = unit[0] @ unit[1].T, enroll_ids[:, None] == test_ids[None, :]
        who = np.broadcast_to(enroll_ids[:, None], target.shape)
        expected = vpc2020_expected["cosine_from_xvectors"][condition]
        return GoldenTrials(score[target], score[~target], who[target], who[~target], expected)

    return load


def printed(value: float, decimals: int) -> float:
    """How far a value may be from one that was printed with so many decimals: half a unit, or 1e-5 of it."""
    return max(0.5000001 * 10.0**-decimals, 1e-5 * abs(value))
