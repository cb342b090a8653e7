"""A real Ray cluster of two nodes on this machine: one is killed in the middle, the bytes are the same."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from crash.commands import content, left_over, write_hums
from personare.core.seeding import load_or_make_key
from personare.corpora import read_corpus
from personare.engine import Serial, engine_named
from personare.pipeline.jobs.anonymize import anonymize
from personare.pipeline.jobs.verify import verify
from personare.pipeline.system import System
from promise_counts import counted

STARTS = 5
SYSTEM = System("mcadams", {"alpha": [0.5, 0.9]})
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="needs the extra 'ray'"),
]


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Two raylets on loopback, one CPU each."""
    import ray
    from ray.cluster_utils import Cluster

    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(p for p in (os.environ.get("PYTHONPATH"),) if p))
    cluster = None
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
    try:
        yield cluster
    finally:
        ray.shutdown()
        cluster.shutdown()


def test_a_node_that_is_killed_in_the_middle_changes_nothing(cluster: Any, tmp_path: Path) -> None:
    import ray

    corpus = read_corpus(write_hums(tmp_path / "in", speakers=6, utterances=20)).corpus
    load_or_make_key(tmp_path / "key")
    anonymize(corpus, tmp_path / "one", SYSTEM, engine=Serial(), key_file=tmp_path / "key")
    seen: list[object] = []
    nodes: list[int] = []

    def kill(result: object) -> None:
        seen.append(result)
        if len(seen) == 20:
            nodes.append(sum(node["Alive"] for node in ray.nodes()))
            cluster.remove_node(cluster.second, allow_graceful=False)

    engine = engine_named("ray", 2, cluster.address)
    summary = anonymize(corpus, tmp_path / "two", SYSTEM, engine=engine, key_file=tmp_path / "key", watch=kill)
    assert nodes == [2] and sum(node["Alive"] for node in ray.nodes()) == 1
    assert (summary.done, summary.failed) == (120, 0), summary.failures[:3]
    assert content(tmp_path / "one") == content(tmp_path / "two")
    assert not verify(tmp_path / "two", key_file=tmp_path / "key").problems and not left_over(tmp_path / "two")
    counted("ray: 2 nodes, 1 killed in the middle of 120 utterances; byte-identical to one process")
