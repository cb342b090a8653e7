"""The codec's configurations: the paper's numbers are the paper's, files change what they name and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch")

from personare.codecs.tokens import bit_rate
from personare.core.errors import ConfigError, UnknownNameError
from personare.training.usc.configurations import NAMES, settings_of
from personare.training.usc.paper_task import PaperSettings
from personare.training.usc.small_task import SmallSettings


def test_the_papers_configuration_has_the_papers_numbers() -> None:
    paper = settings_of("paper")
    assert isinstance(paper, PaperSettings)
    weights = paper.weights
    lambdas = (weights.mel, weights.adversarial, weights.matching, weights.codebook, weights.commitment)
    assert (*lambdas, weights.speaker, weights.distil) == (15, 1, 2, 1, 0.25, 25, 45)
    assert (paper.epsilon, paper.dropout.p, paper.labelled, paper.plan.steps) == (15, 0.5, 0.2, 1_000_000)
    hop = 1
    for stride in paper.shape.strides:
        hop *= stride
    assert hop == 640
    assert bit_rate(paper.shape.codes[:1], 16_000 / hop) == 350
    assert bit_rate(paper.shape.codes, 16_000 / hop) == 1600


def test_every_name_gives_settings_and_another_is_refused_with_a_suggestion() -> None:
    assert {type(settings_of(name)) for name in NAMES} == {PaperSettings, SmallSettings}
    with pytest.raises(UnknownNameError, match="did you mean 'paper'"):
        settings_of("papper")


def test_a_file_changes_what_it_names(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text("config: small\ncrops: 4\nshape: {front: mel, levels: 3}\nplan: {steps: 7, fade: 0.5}\n")
    found = settings_of(str(path))
    assert isinstance(found, SmallSettings)
    assert (found.crops, found.shape.front, found.shape.levels, found.plan.steps, found.plan.fade) == (
        4,
        "mel",
        3,
        7,
        0.5,
    )
    assert found.shape.width == SmallSettings().shape.width


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("crops: 4\n", "needs the key 'config'"),
        ("config: small\ncrosp: 4\n", "did you mean 'crops'"),
        ("config: small\nshape: {front: wave}\n", "not allowed"),
        ("config: paper\nstage: 3\n", "stage must be 1 or 2"),
        ("config: small\nshares: {alone: 0.9}\n", "add up to 1"),
    ],
)
def test_a_wrong_file_is_one_line(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "wrong.yaml"
    path.write_text(text)
    with pytest.raises(ConfigError, match=message):
        settings_of(str(path))
    with pytest.raises(ConfigError, match="no such file"):
        settings_of(str(tmp_path / "none.yaml"))
