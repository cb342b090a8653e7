"""On real file systems: an ext4 image copied in the middle of a job, and disks that are full at every stage."""

from __future__ import annotations

import contextlib
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from crash.commands import content, finish, left_over, start, write_hums
from personare.core import journal
from personare.core.errors import PersonareError
from personare.core.seeding import Key
from personare.corpora import read_corpus
from personare.engine import Serial
from personare.pipeline.jobs.anonymize import AnonymizeSummary, anonymize
from personare.pipeline.jobs.verify import verify
from personare.pipeline.system import System
from promise_counts import counted

SYSTEM = System("mcadams", {"alpha": [0.5, 0.9]})
IMAGE_MB = 24
POINTS = 30
pytestmark = [pytest.mark.slow, pytest.mark.disk]


@contextlib.contextmanager
def mounted(place: Path, *how: object) -> Iterator[Path]:
    """Mount a file system; where that is not permitted the test is skipped, and says so."""
    place.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(["mount", *map(str, how), str(place)], capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"needs permission to mount: {done.stderr.strip()}")
    try:
        yield place
    finally:
        subprocess.run(["umount", str(place)], check=True)


@pytest.fixture
def one_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Key, "new", classmethod(lambda _cls: Key.from_seed("real disks")))
    monkeypatch.setattr(journal, "_BATCH_LINES", 4)


def test_a_copy_of_an_ext4_image_at_30_points_goes_on(tmp_path: Path, one_key: None) -> None:
    if shutil.which("mkfs.ext4") is None:
        pytest.skip("needs mkfs.ext4")
    corpus = read_corpus(write_hums(tmp_path / "in", speakers=5, utterances=6, duration_s=0.2)).corpus
    image = tmp_path / "disk.img"
    copies: list[Path] = []
    with image.open("wb") as stream:
        stream.truncate(IMAGE_MB << 20)
    subprocess.run(["mkfs.ext4", "-q", str(image)], check=True)

    def run(root: Path, **options: object) -> AnonymizeSummary:
        return anonymize(corpus, root / "out", SYSTEM, engine=Serial(), **options)  # type: ignore[arg-type]

    def copy(_result: object = None) -> None:
        copies.append(tmp_path / f"copy-{len(copies)}.img")
        subprocess.run(["cp", "--sparse=always", str(image), str(copies[-1])], check=True)

    with mounted(tmp_path / "disk", "-o", "loop", image) as disk:
        run(disk, watch=copy)
        copy()  # exit 0 has been told: everything must be there, without waiting and without unmounting
        expected = content(disk / "out")
    assert len(copies) == POINTS + 1
    kept = []
    for number, one in enumerate(copies):
        with mounted(tmp_path / f"after-{number}", "-o", "loop", one) as disk:
            if number == POINTS:
                assert content(disk / "out") == expected and not verify(disk / "out").problems
            summary = run(disk)
            assert (summary.done, summary.failed, summary.damaged) == (30, 0, 0)
            assert content(disk / "out") == expected and not verify(disk / "out").problems
            assert not left_over(disk)
            kept.append(summary.kept)
    assert kept[-1] == 30 and sorted(kept) == kept
    counted(f"ext4: the raw image copied at {len(copies)} moments of a job; all went on and ended byte-identical")


def test_a_disk_that_is_full_at_every_stage_loses_nothing(tmp_path: Path) -> None:
    source = write_hums(tmp_path / "in", speakers=3, utterances=4, duration_s=0.3)
    key, how = tmp_path / "key", ("--method", "mcadams")
    code, _, errors = finish(start("anonymize", source, tmp_path / "whole", "--key", key, *how))
    assert code == 0, errors
    expected = content(tmp_path / "whole")
    stages = 0
    for left_kb in (0, 4, 8, 12, 16, 24, 32, 48, 64, 96, 128, 160):
        with mounted(tmp_path / f"small-{left_kb}", "-t", "tmpfs", "-o", "size=512k,mode=0755", "tmpfs") as disk:
            with (disk / "ballast").open("wb") as stream:
                stream.write(bytes((512 - left_kb) << 10))
            code, printed, errors = finish(start("anonymize", source, disk / "out", *how, "--key", disk / "key"))
            assert code in (0, 1, 2) and "Traceback" not in errors, errors
            if code:
                assert "No space left on device" in errors, (left_kb, printed, errors)
                stages += 1
            (disk / "ballast").unlink()
            if not (disk / "key").exists():
                shutil.copy(key, disk / "key")
            again = finish(start("anonymize", source, disk / "out", *how, "--key", disk / "key"))
            assert again[0] == 0, again
            assert not verify(disk / "out", key_file=disk / "key").problems and not left_over(disk)
            if (disk / "key").read_bytes() == key.read_bytes():
                assert content(disk / "out") == expected
    assert stages >= 6
    counted(f"full disk: at {stages} stages; every job ended whole once there was space")


def test_a_full_disk_never_leaves_an_empty_key(tmp_path: Path) -> None:
    from personare.core.seeding import load_or_make_key

    with mounted(tmp_path / "small", "-t", "tmpfs", "-o", "size=64k", "tmpfs") as disk:
        with contextlib.suppress(OSError), (disk / "ballast").open("wb") as stream:
            stream.write(bytes(1 << 20))
        with pytest.raises(PersonareError, match="No space left"):
            load_or_make_key(disk / "key")
        assert not (disk / "key").exists() and not left_over(disk)
