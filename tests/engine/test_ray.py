"""Ray keeps the pool's promises on a real local cluster: one Result per item, order as asked, failures as rows."""

from __future__ import annotations

import importlib.util
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from crash.commands import content, write_hums
from personare.core.embedding_files import read_embeddings
from personare.core.errors import ConfigError, MissingExtraError, UnknownNameError
from personare.core.remote import RemoteFolder
from personare.core.seeding import load_or_make_key
from personare.core.tables import Embeddings
from personare.corpora import read_corpus
from personare.corpora.manifest import read_listed
from personare.engine import Serial, engine_named
from personare.engine import ray as ray_engine
from personare.pipeline import gallery_parts
from personare.pipeline.gallery_parts import nontargets_by_engine
from personare.pipeline.jobs.anonymize import anonymize
from personare.pipeline.system import System
from pipeline import test_predicate_parts
from promise_counts import counted

INSTALLED = importlib.util.find_spec("ray") is not None
TESTS = Path(__file__).resolve().parents[1]


@pytest.fixture(autouse=True)
def workers_find_the_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers import ``halved`` from here, and so what this file imports."""
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(TESTS), *filter(None, [os.environ.get("PYTHONPATH")])]))


def halved(number: int) -> float:
    """Work that fails on odd numbers."""
    if number % 2:
        raise ValueError(f"{number} is odd")
    return number / 2


@pytest.mark.skipif(INSTALLED, reason="the extra 'ray' is installed here")
def test_without_the_extra_it_is_one_line() -> None:
    with pytest.raises(MissingExtraError, match=r"pip install '\.\[ray\]'"):
        engine_named("ray", 2)


def test_an_unknown_engine_is_one_line() -> None:
    with pytest.raises(UnknownNameError, match="no engine 'rai'; did you mean 'ray'"):
        engine_named("rai", 1)


@pytest.mark.slow
@pytest.mark.skipif(not INSTALLED, reason="needs the extra 'ray'")
def test_a_local_cluster_gives_what_this_process_gives() -> None:
    items = list(range(30))
    engine = engine_named("ray", 2)
    assert list(engine.map(halved, items)) == list(Serial().map(halved, items))
    unordered = sorted(engine.map(halved, items, ordered=False), key=lambda result: result.index)
    assert unordered == list(Serial().map(halved, items))
    failed = [result for result in unordered if not result.ok]
    assert len(failed) == 15 and failed[0].error == "ValueError: 1 is odd"


@pytest.mark.slow
@pytest.mark.skipif(not INSTALLED, reason="needs the extra 'ray'")
def test_a_gallery_is_counted_in_parts_to_the_same_whole_numbers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(5)
    np.save(tmp_path / "e.npy", rng.standard_normal((4000, 32)).astype(np.float32))
    gallery = read_embeddings(tmp_path / "e.npy")
    vectors = gallery.vectors[::40] + 2 * rng.standard_normal((100, 32)).astype(np.float32)
    tests = Embeddings(tuple(f"t{n:03d}" for n in range(100)), gallery.speakers[::40], vectors)
    expected = nontargets_by_engine(tests, gallery, engine=Serial())
    monkeypatch.setattr(gallery_parts, "PART_ROWS", 150)
    for some in (gallery, replace(gallery, vectors=np.array(gallery.vectors))):  # mapped from the file, and sent
        assert (nontargets_by_engine(tests, some, engine=engine_named("ray", 2)) == expected).all()
    assert expected.max() > 100
    counted("ray: linkability in 27 parts of 4,000 people, from a file and sent; the same whole numbers as one process")


@pytest.mark.slow
@pytest.mark.skipif(not INSTALLED, reason="needs the extra 'ray'")
def test_singling_out_is_run_in_parts_to_the_same_outcomes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tests = test_predicate_parts.gallery(tmp_path / "t.npy")
    expected = test_predicate_parts.outcomes(tests)
    monkeypatch.setattr(gallery_parts, "PART_PREDICATES", 3)
    for some in (tests, replace(tests, vectors=np.array(tests.vectors))):  # mapped from the file, and sent
        assert (test_predicate_parts.outcomes(some, engine=engine_named("ray", 2)) == expected).all()
    counted(
        f"ray: Singling Out in 7 parts of 20 voices among {test_predicate_parts.PEOPLE} people, from a file and sent; "
        f"the same {expected.sum():,} of {expected.size:,} isolated as one process"
    )


@pytest.mark.slow
@pytest.mark.skipif(not INSTALLED, reason="needs the extra 'ray'")
def test_recordings_are_fetched_and_results_put_by_the_workers(tmp_path: Path) -> None:
    write_hums(tmp_path / "in", speakers=2, utterances=5)
    load_or_make_key(tmp_path / "key")
    how: dict[str, Any] = {"key_file": tmp_path / "key"}
    system = System("mcadams", {"alpha": [0.5, 0.9]})
    anonymize(read_corpus(tmp_path / "in").corpus, tmp_path / "one", system, engine=Serial(), **how)
    how |= {"fetch": RemoteFolder(f"file://{tmp_path}/in"), "put": RemoteFolder(f"file://{tmp_path}/bucket")}
    corpus = read_listed(tmp_path / "in" / "manifest.parquet").corpus
    made = anonymize(corpus, tmp_path / "two", system, engine=engine_named("ray", 2), **how)
    assert (made.done, made.failed) == (10, 0), made.failures
    assert content(tmp_path / "bucket") == content(tmp_path / "one")
    counted("ray: 10 utterances fetched and put by URL; byte-identical to one process on one disk")


def test_another_cluster_than_the_joined_one_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Work that was meant for one cluster must not be done on another in silence."""

    class Joined:
        """A Ray that has joined a cluster."""

        gcs_address = "10.0.0.1:6379"

        def is_initialized(self) -> bool:
            return True

        def get_runtime_context(self) -> Joined:
            return self

    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    for same in (None, "auto", "10.0.0.1:6379", "ray://10.0.0.1:10001"):
        ray_engine._join(Joined(), 2, same)
    with pytest.raises(ConfigError, match=r"at 10\.0\.0\.1:6379 already, and cannot join the one at 10\.0\.0\.2"):
        ray_engine._join(Joined(), 2, "10.0.0.2:6379")
    monkeypatch.setenv("RAY_ADDRESS", "10.0.0.3:6379")
    with pytest.raises(ConfigError, match="cannot join"):
        ray_engine._join(Joined(), 2, None)


def test_a_cluster_that_does_not_start_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    class Broken:
        """A Ray that never comes up."""

        starts = 0

        def is_initialized(self) -> bool:
            return False

        def init(self, **_: object) -> None:
            self.starts += 1
            raise RuntimeError("node timed out\nduring startup")

        def shutdown(self) -> None:
            pass

    broken = Broken()
    monkeypatch.setattr("personare.engine.ray._library", lambda: broken)
    with pytest.raises(
        ConfigError, match=r"a local Ray cluster could not be joined \(RuntimeError: node timed out dur"
    ):
        list(engine_named("ray", 2).map(halved, [1]))
    assert broken.starts == 3
