"""A Ray cluster of two nodes on this machine: one is killed with work in hand, the bytes are those of one process."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from crash.commands import content, left_over, write_hums
from crash.lost_node import LosesANode
from personare import api
from personare.core.embedding_files import write_embeddings
from personare.core.seeding import load_or_make_key
from personare.corpora import read_corpus
from personare.engine import Engine, Serial
from personare.pipeline.jobs.anonymize import anonymize
from personare.pipeline.jobs.verify import verify
from personare.pipeline.system import System
from pipeline.tiny import write_embedder, write_study
from promise_counts import counted

STARTS = 5
TESTS = Path(__file__).resolve().parents[1]
SYSTEM = System("mcadams", {"alpha": [0.5, 0.9]})
RUN_ONLY = ("log.txt", "stages")  # times of day, and where the run's own files lie
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="needs the extra 'ray'"),
]


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Any]:
    """Two raylets on loopback, one CPU each, whose workers have a cache of their own."""
    import ray
    from ray.cluster_utils import Cluster

    cluster = None
    ray.shutdown()  # a local one that another test has started
    with pytest.MonkeyPatch.context() as theirs:
        theirs.setenv("PERSONARE_HOME", str(tmp_path / "home of the cluster"))
        theirs.setenv("PYTHONPATH", os.pathsep.join([str(TESTS), *filter(None, [os.environ.get("PYTHONPATH")])]))
        for _ in range(STARTS):  # a busy machine is no wrong answer
            try:
                cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
                cluster.second = cluster.add_node(num_cpus=1)
                break
            except Exception:  # Ray raises plain exceptions
                if cluster is not None:
                    cluster.shutdown()
                    cluster = None
    if cluster is None:
        pytest.skip(f"Ray did not start in {STARTS} attempts; is the machine too busy?")
    monkeypatch.setenv("PERSONARE_HOME", str(tmp_path / "home"))
    try:
        yield cluster
    finally:
        ray.shutdown()
        cluster.shutdown()


def both(cluster: Any, folder: Path, run: Callable[[Engine, Path], object]) -> tuple[Path, Path]:
    """Run something in this process and on a cluster that loses a node; what it wrote is in two folders."""
    run(Serial(), folder / "one")
    engine = LosesANode(cluster, cluster.second, folder / "begun")
    run(engine, folder / "two")
    assert engine.alive == [2, 1], "a node was lost with work in hand"
    return folder / "one", folder / "two"


def test_anonymize(cluster: Any, tmp_path: Path) -> None:
    corpus = read_corpus(write_hums(tmp_path / "in", speakers=6, utterances=20)).corpus
    load_or_make_key(tmp_path / "key")

    def run(engine: Engine, out: Path) -> None:
        summary = anonymize(corpus, out, SYSTEM, engine=engine, key_file=tmp_path / "key")
        assert (summary.done, summary.failed) == (120, 0), summary.failures[:3]

    one, two = both(cluster, tmp_path, run)
    assert content(one) == content(two)
    assert not verify(two, key_file=tmp_path / "key").problems and not left_over(two)
    counted("ray: 2 nodes, 1 killed in the middle of anonymize, 120 utterances; byte-identical to one process")


def test_embed(cluster: Any, tmp_path: Path) -> None:
    corpus = read_corpus(write_hums(tmp_path / "in", speakers=6, utterances=20)).corpus
    net = write_embedder(tmp_path / "net.onnx")

    def run(engine: Engine, out: Path) -> None:
        vectors, failures = api.embed(corpus, embedder=f"trained:{net}", engine=engine)
        assert len(vectors.ids) == 120 and not failures
        write_embeddings(vectors, out / "vectors.parquet")

    one, two = both(cluster, tmp_path, run)
    assert content(one) == content(two)
    counted("ray: 2 nodes, 1 killed in the middle of embed, 120 utterances; byte-identical to one process")


@pytest.fixture
def hidden(tmp_path: Path) -> Path:
    """Speech before and after, in one folder."""
    write_study(tmp_path / "speech")
    corpus = read_corpus(tmp_path / "speech" / "corpus").corpus
    anonymize(corpus, tmp_path / "speech" / "anonymous", SYSTEM, engine=Serial())
    return tmp_path / "speech"


def test_listen(cluster: Any, tmp_path: Path, hidden: Path) -> None:
    def run(engine: Engine, out: Path) -> None:
        results = api.listen(
            hidden / "corpus", hidden / "anonymous", listeners=["stoi", "pitch"], engine=engine, out=out
        )
        assert not results.failures

    one, two = both(cluster, tmp_path, run)
    assert content(one, without=RUN_ONLY) == content(two, without=RUN_ONLY)
    counted("ray: 2 nodes, 1 killed in the middle of listen; byte-identical to one process")


def test_evaluate(cluster: Any, tmp_path: Path, hidden: Path) -> None:
    def run(engine: Engine, out: Path) -> None:
        results = api.evaluate(
            hidden / "corpus",
            hidden / "anonymous",
            embedder=f"trained:{hidden / 'net.onnx'}",
            engine=engine,
            out=out,
            utterances_per_trial=(1,),
        )
        assert not results.failures

    one, two = both(cluster, tmp_path, run)
    assert content(one, without=RUN_ONLY) == content(two, without=RUN_ONLY)
    counted("ray: 2 nodes, 1 killed in the middle of evaluate; byte-identical to one process")
