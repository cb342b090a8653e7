"""After a power cut at any moment the same command ends with the same bytes: nothing lost, nothing half or left."""

from __future__ import annotations

import hashlib
from pathlib import Path

import polars as pl
import pytest

from conftest import hum
from crash.recorded_disk import KINDS, Kind, RecordedDisk, lay_out
from personare.core import journal
from personare.core.audio import write
from personare.core.files import TEMPORARY
from personare.core.seeding import Key
from personare.core.tables import Corpus
from personare.engine import Serial
from personare.pipeline.jobs.anonymize import AnonymizeSummary, anonymize
from personare.pipeline.jobs.verify import verify
from personare.pipeline.system import System
from promise_counts import counted

SYSTEM = System("mcadams", {"alpha": [0.5, 0.9]})
POINTS = 30
pytestmark = pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="needs /proc to tell which file is forced")


class Recorded:
    """A job on a disk that remembers: its source, its events, and how it ends when nothing goes wrong."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        rows = []
        for number in range(6):
            path = folder / "source" / f"{number}.wav"
            write(path, hum(number, duration_s=0.1))
            rows.append((f"utterance-{number}", f"speaker-{number // 2}", str(path), f"SENTENCE {number}"))
        frame = pl.DataFrame(rows, schema=["utterance", "speaker", "audio", "text"], orient="row")
        self.corpus = Corpus(frame)
        self.disk = RecordedDisk(folder / "disk")
        (folder / "disk").mkdir()
        with self.disk.recording():
            assert self.run(folder / "disk").done == 6
        self.whole = content(folder / "disk" / "out")

    def run(self, root: Path) -> AnonymizeSummary:
        return anonymize(self.corpus, root / "out", SYSTEM, engine=Serial())

    def check(self, point: int, kind: Kind, root: Path) -> int:
        """Cut the power, run the command again; gives how many results were kept."""
        lay_out(self.disk.after_power_cut(point, kind), root)
        has_key = (root / "out-private" / "key").is_file()
        assert has_key or not list((root / "out").rglob("*.flac")), "audio under a key that is lost"
        summary = self.run(root)
        assert (summary.done, summary.failed, summary.damaged) == (6, 0, 0), (point, kind, summary)
        assert content(root / "out") == self.whole, (point, kind)
        assert not [p for p in root.rglob("*") if TEMPORARY.match(p.name)], (point, kind)
        assert not verify(root / "out").problems
        return summary.kept


def content(folder: Path) -> dict[str, str]:
    files = sorted(p for p in folder.rglob("*") if p.is_file())
    return {str(p.relative_to(folder)): hashlib.sha256(p.read_bytes()).hexdigest() for p in files}


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Key, "new", classmethod(lambda _cls: Key.from_seed("power cut")))
        patched.setattr(journal, "_BATCH_LINES", 1)  # six utterances would be one batch
        return Recorded(tmp_path_factory.mktemp("recorded"))


@pytest.fixture(autouse=True)
def the_same_key_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """A key that was lost with the power is drawn anew; here it is drawn alike, so that bytes can be compared."""
    monkeypatch.setattr(Key, "new", classmethod(lambda _cls: Key.from_seed("power cut")))


def test_at_the_end_everything_was_forced_to_the_disk(recorded: Recorded) -> None:
    there = recorded.disk.after_power_cut(len(recorded.disk.events), "strict")
    disk = recorded.folder / "disk"
    files = {str(p.relative_to(disk)): p.read_bytes() if p.is_file() else None for p in disk.rglob("*")}
    assert there == files
    assert len(recorded.disk.events) >= 2 * POINTS


def test_at_30_points_the_job_goes_on_and_ends_with_the_same_bytes(recorded: Recorded, tmp_path: Path) -> None:
    last = len(recorded.disk.events)
    points = sorted({round(n * last / (POINTS - 1)) for n in range(POINTS)})
    assert len(points) == POINTS
    kept = [recorded.check(p, KINDS[n % 3], tmp_path / str(n)) for n, p in enumerate(points)]
    assert kept[0] == 0 and kept[-1] == 6, "what was on the disk is kept"
    assert sum(kept) > 2 * POINTS, "and not only at the end"


@pytest.mark.slow
def test_at_every_point_of_every_kind_of_disk(recorded: Recorded, tmp_path: Path) -> None:
    last, tried = len(recorded.disk.events), 0
    for kind in KINDS:
        for point in range(last + 1):
            recorded.check(point, kind, tmp_path / f"{tried}")
            tried += 1
    counted(f"power cuts: {tried} moments (every one of {last}, on {len(KINDS)} kinds of disk), all byte-identical")
