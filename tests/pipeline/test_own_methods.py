"""An anonymizer, an embedder, a scorer and a metric of one's own, through whole studies, on one worker and on two."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

import personare as pn
from personare.anonymizers import ANONYMIZERS
from personare.attackers import EMBEDDERS, SCORERS
from personare.core.errors import ConfigError, PersonareError
from personare.core.tables import Embeddings
from personare.metrics.intervals import wilson
from personare.pipeline.attack_inputs import PlayedAttack
from personare.pipeline.measured import load
from personare.pipeline.measures import MEASURES, expand_metrics, measure_facts
from personare.reports.run import read_run
from pipeline.blends import answers, write_blends
from pipeline.plugins import Bands, Distance, Hiss

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("own")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PERSONARE_HOME", str(folder / "home"))
        patch.syspath_prepend(str(EXAMPLES))
        write_blends(folder / "corpus", attacked=6, enrolment=2, trial=2, train=0)
        yield folder


@pytest.fixture
def registered(place: Path) -> Iterator[None]:
    """Everything under a name, and as before afterwards."""
    from own_metric import TopOne  # type: ignore[import-not-found]

    pn.register_anonymizer("hiss", Hiss)
    pn.register_embedder("bands", Bands)
    pn.register_scorer("distance", Distance)
    pn.register_metric("identification", TopOne)
    yield
    for catalog, name in ((ANONYMIZERS, "hiss"), (EMBEDDERS, "bands"), (SCORERS, "distance")):
        catalog.forget(name)
    MEASURES.forget("identification")


def study(place: Path, name: str, names: dict[str, str], **changes: Any) -> Path:
    how = {"embedder": names["embedder"], "scorer": names["scorer"], "enroll_draws": 2}
    choices = {
        "title": "methods of my own",
        "corpora": {"speech": {"path": "corpus"}},
        "anonymizers": {"original": {}, "mine": {"method": names["method"], "level": "speaker"}},
        "attackers": {level: {"knowledge": level, **how} for level in ("ignorant", "lazy-informed")},
        "metrics": ["eer", names["metric"]],
        "clips": 0,
        **changes,
    }
    path = place / f"{name}.yaml"
    path.write_text(yaml.safe_dump(choices), encoding="utf-8")
    return path


BY_NAME = {"method": "hiss", "embedder": "bands", "scorer": "distance", "metric": "top_one"}
BY_PLACE = {
    "method": "pipeline.plugins:Hiss",
    "embedder": "pipeline.plugins:Bands",
    "scorer": "pipeline.plugins:Distance",
    "metric": "own_metric:TopOne",
}


def test_by_name_on_two_workers_and_by_place_on_one_give_the_same(place: Path, registered: None) -> None:
    named = pn.run_study(study(place, "named", BY_NAME), place / "named", jobs=2)
    assert not named.failures, named.failures
    assert {f.metric.name for f in named} == {"eer", "top_one"}
    assert {f.conditions["scorer"] for f in named} == {"distance"}
    placed = pn.run_study(study(place, "placed", BY_PLACE), place / "placed")
    assert not placed.failures
    rows = [
        {tuple(v for v in question if v not in ("distance", BY_PLACE["scorer"])): a for question, a in given.items()}
        for given in (answers(named), answers(placed))
    ]
    assert rows[0] == rows[1]


def test_a_card_of_ones_own_comes_along_everywhere(place: Path, registered: None) -> None:
    from own_metric import CARD

    result = pn.run_study(study(place, "card", BY_PLACE), place / "card")
    (finding,) = result["top_one"].where(anonymizer="mine", attacker="ignorant")
    assert finding.metric == CARD and finding.chance_level == 1 / 6 and finding.conditions["N"] == 6
    assert finding.estimate == wilson(round(finding.estimate.value * 6), 6)
    assert "Rank-1 identification" in str(result) and str(result).splitlines()[-1].split()[2] == "Rank-1"
    assert "Rank-1 identification" in result._repr_html_()
    assert set(result.to_polars().filter(metric="top_one")["cite"]) == {CARD.cite}
    again = read_run(result.folder)
    assert {f.metric.title for f in again.findings} == {"EER (ROCCH)", "Rank-1 identification"}
    page = result.report().read_text(encoding="utf-8")
    assert "Rank-1 identification" in page
    saved = [load(p.parent).findings for p in (result.folder / "stages").glob("measure-*/findings.json")]
    assert CARD in [f.metric for findings in saved for f in findings], "also where a run is gone on with"
    assert pn.run_study(place / "card.yaml", place / "card", resume=True).executed == 0


def test_bounds_judge_a_metric_of_ones_own(place: Path, registered: None) -> None:
    bounds = [{"metric": "top_one", "at_most": 0.0}]
    result = pn.run_study(study(place, "bound", BY_PLACE, bounds=bounds), place / "card", resume=True)
    assert [verdict.held for verdict in result.verdicts] == [False, False]


def test_rank_one_counts_people_whose_best_score_is_their_own(place: Path) -> None:
    """Closed form: two are found, one is taken for another, one ties; who is tested but not enrolled does not count."""
    from own_metric import TopOne

    from personare.attackers.attack import Attack

    gallery = Embeddings(("e0", "e1", "e2", "e3"), ("a", "b", "c", "d"), np.eye(4, dtype=np.float32))
    rows = [[1, 0, 0, 0], [9, 0, 0, 0], [0, 1, 0, 0], [0, 1, 0.5, 0], [1, 0, 0, 1], [0, 1, 0, 0]]
    speakers = ("a", "a", "b", "c", "d", "stranger")
    trial = Embeddings(tuple(f"t{i}" for i in range(6)), speakers, np.array(rows, np.float32))
    measured = TopOne().run(PlayedAttack(Attack(gallery, trial), 1), rng=np.random.default_rng(1))
    (finding,) = measured.findings
    assert finding.estimate == wilson(2, 4) and finding.chance_level == 0.25


def test_what_is_wrong_with_a_method_of_ones_own_is_told_before_any_work(place: Path) -> None:
    wrong = {
        "metric": ("own_metric:TopOnce", "has no class 'TopOnce'; did you mean 'TopOne'"),
        "embedder": ("pipeline.plugins:Hiss", "has no fingerprint"),
        "scorer": ("pipeline.plugins:Hiss", "has no learns"),
        "method": ("pipeline.plugins:Distance", "has no __call__"),
    }
    for kind, (name, line) in wrong.items():
        path = study(place, f"wrong-{kind}", {**BY_PLACE, kind: name})
        with pytest.raises(PersonareError) as caught:
            pn.run_study(path, place / f"wrong-{kind}")
        assert line in str(caught.value), caught.value
        assert not list((place / f"wrong-{kind}").rglob("*.flac"))


def test_two_families_cannot_give_the_same_metric(place: Path, registered: None) -> None:
    from own_metric import TopOne

    class Again(TopOne):  # type: ignore[misc]
        """The same under another name."""

    MEASURES.register("again", Again)
    try:
        with pytest.raises(ConfigError, match="'top_one' is there already"):
            expand_metrics(("top_one",))
    finally:
        MEASURES.forget("again")
    assert expand_metrics(("own_metric:TopOne", "eer")) == ["top_one", "eer"], "one class under two names is one"


def test_a_changed_source_is_another_question(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was measured by an older version of a file is not taken for the new one's."""
    monkeypatch.syspath_prepend(str(tmp_path))
    marks = []
    for name, more in (("first_metric", ""), ("first_metric", "# changed\n")):
        shutil.copy(EXAMPLES / "own_metric.py", tmp_path / f"{name}.py")
        with (tmp_path / f"{name}.py").open("a") as stream:
            stream.write(more)
        sys.modules.pop(name, None)
        marks.append(measure_facts(MEASURES.load(f"{name}:TopOne")()))
    assert marks[0]["measure"] == marks[1]["measure"] and marks[0] != marks[1]
    builtin = MEASURES.load("linkability")()
    assert "fingerprint" not in measure_facts(builtin)


def test_a_class_written_inside_a_function_stays_in_one_process(place: Path) -> None:
    from dataclasses import dataclass

    @dataclass(frozen=True)
    class Local(Bands):
        """Nobody else can import it."""

    pn.register_embedder("local", Local)
    try:
        vectors, failures = pn.embed(place / "corpus", embedder="local", part="trial")
        assert len(vectors.ids) == 12 and not failures
        with pytest.raises(ConfigError, match="embedder 'local': its class is written inside a function"):
            pn.embed(place / "corpus", embedder="local", part="trial", jobs=2)
    finally:
        EMBEDDERS.forget("local")


MINE = '''"""A method of somebody's own."""
from dataclasses import dataclass
import numpy as np
from personare import Audio


@dataclass(frozen=True)
class Softer:
    """Turns every voice down by a drawn factor, and adds a hum."""

    hum_hz: float = 60.0

    def __call__(self, audio, *, rng):
        t = np.arange(len(audio.samples)) / audio.rate_hz
        hum = 0.2 * np.sin(2 * np.pi * (self.hum_hz + 100 * rng.uniform()) * t)
        return Audio((0.5 * audio.samples + hum).astype(np.float32), audio.rate_hz)
'''


def test_a_method_on_the_python_path_through_the_commands(place: Path, tmp_path: Path) -> None:
    """Anonymize and evaluate in processes of their own, which know the file by PYTHONPATH alone."""
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "softly.py").write_text(MINE)
    places = [str(tmp_path / "lib"), str(Path(__file__).resolve().parents[1]), *sys.path]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(places)}

    def personare(*words: object) -> str:
        call = [sys.executable, "-P", "-m", "personare", *map(str, words)]
        done = subprocess.run(call, capture_output=True, text=True, check=False, cwd=tmp_path, env=environment)
        assert done.returncode == 0, done.stderr
        return done.stdout

    personare("anonymize", place / "corpus", "anon", "--method", "softly:Softer", "--set", "hum_hz=70", "--jobs", 2)
    how = ["--embedder", "pipeline.plugins:Bands", "--lengths", 1]
    told = personare("evaluate", place / "corpus", "anon", *how, "--out", "run")
    assert "softly:Softer" in told
    found = read_run(tmp_path / "run")
    assert {f.conditions["knowledge"] for f in found.findings} == {"original", "ignorant", "lazy-informed"}
    (tmp_path / "anon" / "anonymization.json").unlink()
    named = ["--method", "softly:Softer", "--set", "hum_hz=70", "--key", "anon-private/key"]
    personare("evaluate", place / "corpus", "anon", *how, *named, "--out", "again")
    assert answers(read_run(tmp_path / "again").findings) == answers(found.findings)
