"""The stage "listen" in batches: the same bytes as pair by pair, in any order, and one bad pair is one failure."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from conftest import hum
from listener_plugins import Spelling
from personare.core.audio import Audio, write
from personare.core.observations import ObservedUtterance
from personare.engine import Engine, ProcessPool, Result, Serial
from personare.listeners import BUILTIN
from personare.pipeline.stages.listen import OBSERVATIONS, ListenJob
from personare.pipeline.store import Failures, Store
from personare.pipeline.study import ListenerChoice
from personare.pipeline.study_listener import StudyListener
from personare.pipeline.waves import Job, run_wave


class Silent:
    """A watcher that says nothing."""

    def began(self, wave: str, jobs: Sequence[Job], items: int) -> None: ...

    def did(self, job: Job | None, result: Result[Any, Any]) -> None: ...

    def ended(self, job: Job, failures: Failures, seconds: float) -> None: ...


class Backwards:
    """An engine that does the last item first."""

    def map(self, work: Callable[[Any], Any], items: Iterable[Any], *, ordered: bool = True) -> Iterator[Any]:
        yield from reversed(list(Serial().map(work, items, ordered=ordered)))


class Dying:
    """An engine whose worker dies at the first item."""

    def map(self, work: Callable[[Any], Any], items: Iterable[Any], *, ordered: bool = True) -> Iterator[Any]:
        for result in Serial().map(work, items, ordered=ordered):
            yield result if result.index else Result(0, result.item, None, "the worker died")


@pytest.fixture
def spelling(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """A recognizer that joined the table; gives the sizes of the batches it was given."""
    monkeypatch.setenv("PERSONARE_HOME", str(tmp_path / "home"))
    monkeypatch.setitem(BUILTIN, "spelling", "listener_plugins:Spelling")
    Spelling.batches.clear()
    return Spelling.batches


def corpus(folder: Path, lengths: Sequence[int]) -> pl.DataFrame:
    """Utterances of so many samples, the third of them a part of a longer file."""
    rows = []
    for i, length in enumerate(lengths):
        path = folder / f"u{i:02d}.wav"
        sound = hum(i, duration_s=1.0).samples
        write(path, Audio(sound if i == 2 else sound[:length], 16_000))
        rows.append((f"u{i:02d}", "s", str(path), 0.0, length / 16_000 if i == 2 else None))
    frame = pl.DataFrame(rows, schema=["utterance", "speaker", "audio", "start_s", "end_s"], orient="row")
    return frame.with_columns(digest=pl.col("utterance"))


def listened(frame: pl.DataFrame, folder: Path, engine: Engine, *, name: str = "spelling") -> tuple[bytes, Failures]:
    job, store = ListenJob("listen", frame, StudyListener("words", ListenerChoice(name))), Store(folder)
    run_wave("listen", [job], store, engine=engine, watch=Silent())
    done = store.done(job.stage)
    assert done is not None and done.items == len(frame)
    return (store.place(job.stage) / OBSERVATIONS).read_bytes(), done.failures


def pair_by_pair(frame: pl.DataFrame, store: Store, *, name: str = "spelling") -> bytes:
    """What the stage would write if it took one pair at a time."""
    job = ListenJob("listen", frame, StudyListener("words", ListenerChoice(name)))
    rows = [row for pair in job.pairs(store) for row in job.work(store)([pair])]
    return "\n".join([*(row.to_json() for row in rows if not isinstance(row, str)), ""]).encode()


def test_batches_write_the_bytes_of_single_pairs_in_any_order(spelling: list[int], tmp_path: Path) -> None:
    frame = corpus(tmp_path / "corpus", [3_000 + 37 * (7 * i % 20) for i in range(20)])
    here, failures = listened(frame, tmp_path / "here", Serial())
    assert not failures
    assert spelling == [8, 8, 4]  # eight pairs at a time; both sounds of a pair are the same here
    (tmp_path / "home").rename(tmp_path / "forgotten")
    assert listened(frame, tmp_path / "back", Backwards()) == (here, ())
    (tmp_path / "home").rename(tmp_path / "forgotten too")
    assert pair_by_pair(frame, Store(tmp_path / "here")) == here


def test_a_bad_pair_is_one_failure_and_its_neighbours_are_heard(spelling: list[int], tmp_path: Path) -> None:
    frame = corpus(tmp_path / "corpus", [4_000, 4_444, 4_100, 4_200, 5_555, 4_300])
    (tmp_path / "corpus" / "u05.wav").write_bytes(b"RIFF nothing")
    heard, failures = listened(frame, tmp_path / "run", Serial())
    rows = {row.utterance: row for row in map(ObservedUtterance.from_json, heard.decode().splitlines())}
    assert list(rows) == ["u00", "u01", "u02", "u03"]
    assert (rows["u01"].failure, rows["u01"].sides) == ("this cannot be spelt", {})
    assert {side: one.words for side, one in rows["u03"].sides.items()} == {
        "original": "4200 samples",
        "anonymized": "4200 samples",
    }
    assert [name for name, _ in failures] == ["u04", "u05"]
    assert failures[0][1] == "RuntimeError: a bug"


def test_a_worker_that_dies_fails_every_pair_of_its_batch_by_name(spelling: list[int], tmp_path: Path) -> None:
    frame = corpus(tmp_path / "corpus", [4_000 + i for i in range(10)])
    heard, failures = listened(frame, tmp_path / "run", Dying())
    lost, kept = {name for name, _ in failures}, {json.loads(line)["utterance"] for line in heard.splitlines()}
    assert (len(lost), len(kept), len(lost | kept)) == (8, 2, 10)
    assert {why for _, why in failures} == {"the worker died"}
    again, failures = listened(frame, tmp_path / "run", Serial())  # and is tried again
    assert not failures and len(again.splitlines()) == 10


@pytest.mark.models
@pytest.mark.shared
@pytest.mark.slow
def test_real_words_are_the_same_on_two_workers_and_pair_by_pair(
    shared_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from personare.core import weights

    models = weights.home() / "models"
    monkeypatch.setenv("PERSONARE_HOME", str(tmp_path / "home"))
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "models").symlink_to(models)
    manifest = pl.read_csv(shared_folder / "corpus" / "manifest.tsv", separator="\t", quote_char=None)
    rows = manifest.filter((pl.col("corpus") == "librispeech-mini") & (pl.col("seconds") < 6)).head(20)
    places = [str(shared_folder / "corpus" / path) for path in rows["audio"]]
    frame = rows.select("utterance", "speaker").with_columns(pl.Series("audio", places), digest="utterance")
    two, failures = listened(frame, tmp_path / "two", ProcessPool(2), name="moonshine")
    assert not failures and len(two.splitlines()) == 20
    (tmp_path / "home" / "observations").rename(tmp_path / "forgotten")
    assert pair_by_pair(frame, Store(tmp_path / "two"), name="moonshine") == two
