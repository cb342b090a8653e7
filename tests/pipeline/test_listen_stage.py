"""The stage "listen" in batches: the same bytes as pair by pair, in any order, and one bad pair is one failure."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from conftest import hum
from personare.core.audio import Audio, write
from personare.core.errors import AudioError
from personare.engine import Engine, ProcessPool, Result, Serial
from personare.pipeline import listening
from personare.pipeline.stages.listen import HEARD, Ear, ListenJob
from personare.pipeline.store import Failures, Store
from personare.pipeline.study import ListenerChoice
from personare.pipeline.waves import Job, run_wave


class Spelling:
    """A recognizer that hears the length of a sound; refuses one length, and breaks down at another."""

    fingerprint = "spelling"

    def __init__(self) -> None:
        self.batches: list[int] = []

    def __call__(self, batch: Sequence[Audio]) -> list[str]:
        self.batches.append(len(batch))
        if any(len(sound.samples) == 4_444 for sound in batch):
            raise AudioError("this cannot be spelt")
        if any(len(sound.samples) == 5_555 for sound in batch):
            raise RuntimeError("a bug")
        return [f"{len(sound.samples)} samples" for sound in batch]


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
def spelling(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Spelling:
    monkeypatch.setenv("PERSONARE_HOME", str(tmp_path / "home"))
    ear = Spelling()
    monkeypatch.setattr(listening, "_ear", lambda _name: ear)
    return ear


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


def listened(frame: pl.DataFrame, folder: Path, engine: Engine, *, ear: str = "moonshine") -> tuple[bytes, Failures]:
    job, store = ListenJob("listen", frame, Ear("words", ListenerChoice(ear))), Store(folder)
    run_wave("listen", [job], store, engine=engine, watch=Silent())
    done = store.done(job.stage)
    assert done is not None and done.items == len(frame)
    return (store.place(job.stage) / HEARD).read_bytes(), done.failures


def pair_by_pair(frame: pl.DataFrame, store: Store, *, ear: str = "moonshine") -> bytes:
    """What the stage wrote when it took one pair at a time."""
    job = ListenJob("listen", frame, Ear("words", ListenerChoice(ear)))
    work = job.ear.work(store)
    told = [{"utterance": pair.utterance, **asdict(work(pair))} for pair in job.pairs(store)]
    return "\n".join([*(json.dumps(one, sort_keys=True) for one in told), ""]).encode()


def test_batches_write_the_bytes_of_single_pairs_in_any_order(spelling: Spelling, tmp_path: Path) -> None:
    frame = corpus(tmp_path / "corpus", [3_000 + 37 * (7 * i % 20) for i in range(20)])
    here, failures = listened(frame, tmp_path / "here", Serial())
    assert not failures
    assert spelling.batches == [8, 8, 4]  # eight pairs at a time; both sounds of a pair are the same here
    (tmp_path / "home").rename(tmp_path / "forgotten")
    assert listened(frame, tmp_path / "back", Backwards()) == (here, ())
    (tmp_path / "home").rename(tmp_path / "forgotten too")
    assert pair_by_pair(frame, Store(tmp_path / "here")) == here


def test_a_bad_pair_is_one_failure_and_its_neighbours_are_heard(spelling: Spelling, tmp_path: Path) -> None:
    frame = corpus(tmp_path / "corpus", [4_000, 4_444, 4_100, 4_200, 5_555, 4_300])
    (tmp_path / "corpus" / "u05.wav").write_bytes(b"RIFF nothing")
    heard, failures = listened(frame, tmp_path / "run", Serial())
    told = {one["utterance"]: one for one in map(json.loads, heard.splitlines())}
    assert list(told) == ["u00", "u01", "u02", "u03"]
    assert told["u01"]["failures"] == {"words": "this cannot be spelt"}
    assert told["u03"]["words"] == {"moonshine": ["4200 samples", "4200 samples"]}
    assert [name for name, _ in failures] == ["u04", "u05"]
    assert failures[0][1] == "RuntimeError: a bug"


def test_a_worker_that_dies_fails_every_pair_of_its_batch_by_name(spelling: Spelling, tmp_path: Path) -> None:
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
    two, failures = listened(frame, tmp_path / "two", ProcessPool(2))
    assert not failures and len(two.splitlines()) == 20
    (tmp_path / "home" / "heard").rename(tmp_path / "forgotten")
    assert pair_by_pair(frame, Store(tmp_path / "two")) == two
