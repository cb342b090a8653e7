"""Running a study: the folder others read, the same findings every time, only what changed is done, failures kept."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from personare.core.audio import probe
from personare.core.errors import OutputError
from personare.core.tables import Scores
from personare.engine import Engine, ProcessPool, Result, Serial, engine_named
from personare.metrics import CARDS
from personare.pipeline.folder import COLUMNS
from personare.pipeline.resolve import key_of
from personare.pipeline.run import Ran, run_study
from personare.pipeline.study import read_study
from pipeline.tiny import write_study
from promise_counts import counted


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with corpus and embedder; the embedding cache is its own."""
    folder = tmp_path_factory.mktemp("study")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PERSONARE_HOME", str(folder / "home"))
        yield folder


def go(path: Path, out: str, *, engine: Engine | None = None, resume: bool = False) -> Ran:
    return run_study(
        read_study(path),
        path.parent / out,
        engine=engine or Serial(),
        written=path.read_text(encoding="utf-8"),
        home=path.parent,
        resume=resume,
    )


@pytest.fixture(scope="module")
def ran(place: Path) -> Ran:
    return go(write_study(place), "run")


def content(folder: Path) -> dict[str, bytes]:
    """Everything a reader may rely on: all files but the stages and the log."""
    files = [p for p in folder.rglob("*") if p.is_file() and "stages" not in p.parts and p.name != "log.txt"]
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in sorted(files)}


def test_the_folder_holds_what_the_contract_names(ran: Ran) -> None:
    folder = ran.outcome.folder
    frame = pl.read_parquet(folder / "findings.parquet")
    assert frame.schema == pl.Schema(COLUMNS)
    assert set(frame["metric"]) == {"eer", "linkability", "stoi"} and set(frame["metric"]) <= set(CARDS)
    told = json.loads((folder / "findings.json").read_text())
    assert told["study"] == "A tiny study" and len(told["findings"]) == len(frame) == len(ran.outcome.findings)
    environment = json.loads((folder / "environment.json").read_text())
    assert {"seed", "models", "libraries", "python", "methods", "embedders", "scorers", "listeners"} <= set(environment)
    for family in ("methods", "embedders", "scorers", "listeners"):
        assert environment[family], family
        for described in environment[family].values():
            assert described["description"] and described["fingerprint"] and "paper" in described
    assert (folder / "failures.tsv").read_text() == "stage\titem\twhy\n"
    for entry in json.loads((folder / "artefacts.json").read_text()):
        path = folder / entry["file"]
        if entry["kind"] == "scores":
            assert Scores.load(path).frame["target"].any() and entry["conditions"]["attacker"]
        elif entry["kind"] == "clip":
            assert probe(path).encoding == "WAV PCM_16" and entry["conditions"]["text"]
        else:
            assert set(pl.read_parquet(path).columns) == {"speaker", "share", "trials"}
    assert {e["kind"] for e in json.loads((folder / "artefacts.json").read_text())} == {"scores", "exposed", "clip"}


def test_findings_have_conditions_chance_and_intervals(ran: Ran) -> None:
    frame = pl.read_parquet(ran.outcome.folder / "findings.parquet")
    link = frame.filter((pl.col("metric") == "linkability") & pl.col("gender").is_null())
    assert set(link["N"]) == {2, 4} and set(link["L"]) == {1}
    assert (link["chance"] * link["N"] == 1).all() and (link["low"] <= link["value"]).all()
    oo = frame.filter(pl.col("anonymizer") == "original", pl.col("metric") == "eer")
    assert set(oo["knowledge"]) == {"original"} and set(oo["attacker"]) == {"ignorant", "lazy"}
    pair = [oo.filter(pl.col("attacker") == a).drop("attacker") for a in ("ignorant", "lazy")]
    assert pair[0].equals(pair[1])  # the same embedder on unprotected speech is one measurement
    assert set(frame.filter(pl.col("metric") == "stoi")["anonymizer"]) == {"b2"}  # compares with the original


def test_running_twice_gives_identical_files_on_one_or_two_workers(place: Path, ran: Ran) -> None:
    again = go(place / "study.yaml", "again", engine=ProcessPool(2))
    assert content(again.outcome.folder) == content(ran.outcome.folder)
    assert again.executed == ran.executed == ran.stages


def test_a_used_folder_asks_for_resume_and_then_nothing_is_left_to_do(place: Path, ran: Ran) -> None:
    with pytest.raises(OutputError, match="holds a run already; go on with --resume"):
        go(place / "study.yaml", "run")
    before = content(ran.outcome.folder)
    assert go(place / "study.yaml", "run", resume=True).executed == 0
    assert content(ran.outcome.folder) == before
    (place / "strange").mkdir()
    (place / "strange" / "thesis.doc").write_text("x")
    with pytest.raises(OutputError, match="is no run folder"):
        go(place / "study.yaml", "strange", resume=True)


def labels(folder: Path) -> list[str]:
    cards = [json.loads(p.read_text()) for p in (folder / "stages").glob("*/done.json")]
    return [card["stage"] for card in cards]


def test_only_what_depends_on_a_change_is_done_again(place: Path, ran: Ran) -> None:
    # another metric on the same vectors: nothing is hidden or heard again
    path = write_study(place, metrics=["eer", "linkability", "stoi", "singling_out"], gallery_sizes=[2])
    more = go(path, "run", resume=True)
    assert more.executed == 3 + 3  # link (another N) and Singling Out for three attacks
    # another setting of one method: the originals stay as they are
    changed = {"original": {}, "b2": {"method": "mcadams", "alpha": [0.6, 0.9]}}
    before = set(labels(place / "run"))
    path = write_study(place, anonymizers=changed)
    other = go(path, "run", resume=True)
    assert set(labels(place / "run")) == before  # the same steps, for b2 only
    hide, hear, listen, utility, detection, link = 2, 2, 1, 1, 2, 2
    assert other.executed == hide + hear + listen + utility + detection + link
    # and back again: nothing at all
    assert go(write_study(place), "run", resume=True).executed == 0


class Interrupted:
    """An engine whose user presses Ctrl-C after some items."""

    def __init__(self, after: int) -> None:
        self.left = after

    def map(
        self, work: Callable[[Any], Any], items: Iterable[Any], *, ordered: bool = True
    ) -> Iterator[Result[Any, Any]]:
        for result in Serial().map(work, items, ordered=ordered):
            if self.left == 0:
                raise KeyboardInterrupt
            self.left -= 1
            yield result


@pytest.mark.parametrize("after", [5, 40])
def test_resume_after_an_interruption_ends_identical(place: Path, ran: Ran, after: int) -> None:
    write_study(place)
    with pytest.raises(KeyboardInterrupt):
        go(place / "study.yaml", f"cut{after}", engine=Interrupted(after))
    done = go(place / "study.yaml", f"cut{after}", resume=True)
    assert done.executed < done.stages or after < 16
    whole = go(place / "study.yaml", "run", resume=True)
    assert content(done.outcome.folder) == content(whole.outcome.folder)


def test_failures_are_rows_and_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PERSONARE_HOME", str(tmp_path / "home"))
    path = write_study(tmp_path, listeners=None, metrics=["eer"])
    (tmp_path / "corpus" / "s00" / "s00-1.wav").write_bytes(b"RIFF nothing")
    found = go(path, "run").outcome
    rows = [line.split("\t") for line in (tmp_path / "run" / "failures.tsv").read_text().splitlines()[1:]]
    assert {row[1] for row in rows} == {"s00-1"} and all(len(row) == 3 and row[2] for row in rows)
    failed = {f.conditions["anonymizer"]: f.failed for f in found.findings}
    assert failed == {"original": 1, "b2": 1}
    # repaired and gone on with: what had failed is done, and what was built on it again
    from personare.core.audio import write
    from pipeline.tiny import voice

    write(tmp_path / "corpus" / "s00" / "s00-1.wav", voice(0, 1))
    again = go(path, "run", resume=True).outcome
    assert not again.failures and {f.failed for f in again.findings} == {0}


def test_no_file_holds_a_key(ran: Ran, place: Path) -> None:
    study = read_study(write_study(place))
    secrets = [key_of(study, who).secret for who in ("owner", "attacker", "training", "calibration")]
    assert len(set(secrets)) == 4
    for path in ran.outcome.folder.rglob("*"):
        if path.is_file():
            found = path.read_bytes()
            assert not any(s in found or s.hex().encode() in found for s in secrets), path


@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="needs the extra 'ray'")
def test_a_ray_cluster_gives_the_same_files(place: Path, ran: Ran) -> None:
    write_study(place)
    again = go(place / "study.yaml", "ray", engine=engine_named("ray", 2))
    assert content(again.outcome.folder) == content(go(place / "study.yaml", "run", resume=True).outcome.folder)
    counted("ray: study run on a local cluster; byte-identical to one process")
