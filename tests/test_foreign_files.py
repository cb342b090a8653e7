"""Files and folders of others: what cannot be read is a failure row, what cannot be right is one line."""

from __future__ import annotations

import contextlib
import io
import os
import tracemalloc
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import soundfile

import personare as pn
from conftest import Command, hum
from crash.commands import count, write_hums
from media_files import av
from personare.core import audio as audio_module
from personare.core import media, sound
from personare.core.audio import probe, read_mono, write
from personare.core.embedding_files import read_embeddings
from personare.core.errors import AudioError, CorpusError, TableError
from personare.corpora import read_corpus
from personare.corpora.score_files import read_scores
from personare.pseudospeakers.files import load as load_generator


@contextlib.contextmanager
def little_memory(most: float = 50e6) -> Iterator[None]:
    """Nothing large is allocated inside."""
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] < most
    finally:
        tracemalloc.stop()


def folders(place: Path, *, speakers: int = 2, utterances: int = 2) -> Path:
    write_hums(place, speakers=speakers, utterances=utterances)
    (place / "manifest.parquet").unlink()
    return place


def rows_of(private: Path) -> list[str]:
    return (private / "failures.tsv").read_text().splitlines()[1:]


# what cannot be read is a failure row, and the exit code is 1


def test_an_unreadable_file_is_a_row_and_the_others_are_done(tmp_path: Path, personare: Command) -> None:
    """Reading /proc/self/mem fails even for root; for anybody else a file without permissions does as well."""
    corpus = folders(tmp_path / "corpus")
    broken = corpus / "s0" / "broken.wav"
    if os.geteuid() == 0:
        broken.symlink_to("/proc/self/mem")
    else:
        broken.write_bytes(b"RIFF")
        broken.chmod(0)
    for jobs in ("1", "2"):
        words = ["--method", "mcadams", "--jobs", jobs, "--follow-links"]
        ended = personare("anonymize", corpus, tmp_path / f"out{jobs}", *words)
        assert ended.code == 1, ended.stderr
        assert count(tmp_path / f"out{jobs}") == 4
        (row,) = rows_of(tmp_path / f"out{jobs}-private")
        assert row.startswith("s0/broken\t") and "broken.wav" in row


@pytest.mark.parametrize("refused", ["open", "stat"])
def test_a_file_that_the_system_does_not_open_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refused: str
) -> None:
    """libsndfile gives up without a word, and libav opens the file through Python."""
    write(tmp_path / "a.wav", hum(1))
    original: Any = getattr(Path, refused)

    def closed(self: Path, *words: Any, **named: Any) -> Any:
        if self.name == "a.wav":
            raise PermissionError(13, "Permission denied", str(self))
        return original(self, *words, **named)

    def unopened(*words: Any, **named: Any) -> Any:
        raise OSError("System error")

    monkeypatch.setattr(Path, refused, closed)
    monkeypatch.setattr(soundfile, "SoundFile", unopened)
    for work in (probe, read_mono):
        with pytest.raises(
            AudioError, match=r"a\.wav: cannot be opened \(Permission denied\)|not audio that libsndfile"
        ):
            work(tmp_path / "a.wav")
    if media.is_there():
        with pytest.raises(AudioError, match="Permission denied"):
            probe(tmp_path / "a.wav")


def test_an_unreadable_folder_is_a_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, personare: Command) -> None:
    corpus = folders(tmp_path / "corpus")
    (corpus / "s1" / "closed").mkdir()
    original = os.scandir

    def scandir(path: Any = ".") -> Any:
        if str(path).endswith("closed"):
            raise PermissionError(13, "Permission denied", str(path))
        return original(path)

    monkeypatch.setattr(os, "scandir", scandir)
    ended = personare("anonymize", corpus, tmp_path / "out", "--method", "mcadams")
    assert ended.code == 1 and "folder cannot be opened" in ended.stderr
    assert count(tmp_path / "out") == 4
    assert [row.split("\t")[0] for row in rows_of(tmp_path / "out-private")] == ["s1/closed"]
    assert personare("anonymize", corpus, tmp_path / "out", "--method", "mcadams").code == 1, "again"


def test_a_pipe_among_recordings_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.wav")
    for work in (probe, read_mono):
        with pytest.raises(AudioError, match=r"pipe\.wav: is no regular file"):
            work(tmp_path / "pipe.wav")


def test_a_pipe_is_called_a_pipe_and_is_a_failure(tmp_path: Path, personare: Command) -> None:
    corpus = folders(tmp_path / "corpus")
    os.mkfifo(corpus / "s0" / "live.wav")
    ended = personare("anonymize", corpus, tmp_path / "out", "--method", "mcadams")
    assert ended.code == 1 and "does not exist" not in ended.stderr
    (row,) = rows_of(tmp_path / "out-private")
    assert row.startswith("s0/live -> ") and "\tunreadable\t" in row and "pipe" in row


@pytest.mark.parametrize("name", ["live", "live.wav"])
def test_a_pipe_given_as_input_is_one_line(tmp_path: Path, personare: Command, name: str) -> None:
    os.mkfifo(tmp_path / name)
    for words in (
        ("anonymize", tmp_path / name, tmp_path / "out", "--method", "mcadams"),
        ("corpus", "info", tmp_path / name),
        ("evaluate", tmp_path / name, tmp_path / name),
    ):
        ended = personare(*words)
        assert ended.code == 2 and len(ended.stderr.splitlines()) == 1, ended.stderr
        assert f"{name}: is neither a regular file nor a folder (a pipe or a device)" in ended.stderr


# links


@pytest.fixture
def linked(tmp_path: Path) -> Path:
    """A corpus with a link to a file and one to a folder outside, and one of each within."""
    corpus, outside = folders(tmp_path / "corpus"), folders(tmp_path / "elsewhere")
    (corpus / "s0" / "file.wav").symlink_to(outside / "s0" / "s0-0.wav")
    (corpus / "s0" / "own.wav").symlink_to("s0-0.wav")
    (corpus / "s9").symlink_to(outside / "s1", target_is_directory=True)
    return corpus


def test_links_out_of_the_corpus_are_refused_and_named(linked: Path, tmp_path: Path, personare: Command) -> None:
    reading = read_corpus(linked)
    problems = [problem for problem in reading.problems if problem.kind == "outside-link"]
    assert sorted(name for problem in problems for name in problem.names) == ["s0/file", "s9"]
    assert "s0/own" in reading.corpus.frame["utterance"].to_list(), "a link within the corpus is followed"
    ended = personare("anonymize", linked, tmp_path / "out", "--method", "mcadams")
    assert ended.code == 1 and "--follow-links" in ended.stderr
    assert sorted(row.split("\t")[0] for row in rows_of(tmp_path / "out-private")) == ["s0/file", "s9"]
    assert count(tmp_path / "out") == 5


def test_links_are_followed_on_request_and_so_are_those_of_the_originals(
    linked: Path, tmp_path: Path, personare: Command
) -> None:
    with pytest.warns(UserWarning, match="2 links lead out|link leads out"):
        assert len(pn.read_corpus(linked)) == 5
    assert len(pn.read_corpus(linked, follow_links=True)) == 8
    assert '"utterances": 8' in personare("corpus", "info", linked, "--follow-links", "--json").stdout
    words = ["--method", "mcadams", "--follow-links"]
    assert personare("anonymize", linked, tmp_path / "out", *words).code == 0
    assert count(tmp_path / "out") == 8
    assert personare("lookup", "s9", tmp_path / "out").code == 0, "read again as it was read"
    assert personare("corpus", "convert", linked, tmp_path / "list", "--to", "parquet", "--follow-links").code == 0
    assert len(read_corpus(tmp_path / "list").corpus) == 8, "a list names its files, wherever they lie"


def test_a_link_in_a_listed_corpus_is_refused_too(linked: Path) -> None:
    audio = [linked / "s0" / "s0-0.wav", linked / "s0" / "file.wav", linked / "s9" / "s1-0.wav"]
    table = {"utterance": ["a", "b", "c"], "speaker": ["s"] * 3, "audio": [str(a.relative_to(linked)) for a in audio]}
    pl.DataFrame(table).write_parquet(linked / "manifest.parquet")
    reading = read_corpus(linked)
    assert reading.corpus.frame["utterance"].to_list() == ["a"]
    assert [problem.names for problem in reading.problems if problem.kind == "outside-link"] == [("b", "c")]


# one line before memory is allocated


@pytest.mark.parametrize(
    ("rate_hz", "channels", "why"),
    [(768_000, 1, "768,000 Hz is outside 1,000 to 192,000 Hz"), (16_000, 64, "has 64 channels, not 1 to 32")],
)
def test_rates_and_channels_that_no_speech_has(tmp_path: Path, rate_hz: int, channels: int, why: str) -> None:
    soundfile.write(tmp_path / "a.wav", np.zeros((100, channels), np.float32), rate_hz)
    for work in (probe, read_mono):
        with pytest.raises(AudioError, match=why):
            work(tmp_path / "a.wav")
    soundfile.write(tmp_path / "b.wav", np.full((100, 32), 0.1, np.float32), 192_000)
    assert probe(tmp_path / "b.wav").channels == 32 and len(read_mono(tmp_path / "b.wav").samples) == 100


def write_zeros(path: Path, mega_samples: int) -> Path:
    with soundfile.SoundFile(path, "w", 16_000, 1, subtype="PCM_16") as file:
        for _ in range(mega_samples):
            file.write(np.zeros(1 << 20, np.int16))
    return path


def test_silence_that_expands_to_more_than_half_a_gigabyte(tmp_path: Path) -> None:
    path = write_zeros(tmp_path / "a.flac", 140)
    with little_memory(), pytest.raises(AudioError, match=r"0\.5 MB expand 1,2[0-9][0-9]-fold to 0\.6 GB of sound"):
        read_mono(path)
    assert len(read_mono(path, start_s=60.0, stop_s=61.0).samples) == 16_000, "a part of it is read"


def test_a_header_that_hides_its_length_is_stopped_on_the_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A FLAC may leave the number of samples out: what is decoded is counted."""
    path = write_zeros(tmp_path / "a.flac", 8)
    content = bytearray(path.read_bytes())
    content[21] &= 0xF0  # the 36 bits of the number of samples, in STREAMINFO
    content[22:26] = bytes(4)
    path.write_bytes(content)
    monkeypatch.setattr(sound, "_HARMLESS_BYTES", 1 << 23)
    with pytest.raises(AudioError, match="expand"):
        for block in audio_module.open_blocks(path):
            assert len(block)


def test_libav_is_bounded_as_well(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.mka"
    with av().open(str(path), "w") as out:
        track = out.add_stream("flac", rate=16_000, layout="mono")
        for n in range(200):
            frame = av().AudioFrame.from_ndarray(np.zeros((1, 4096), np.int16), format="s16", layout="mono")
            frame.sample_rate, frame.pts = 16_000, 4096 * n
            out.mux(track.encode(frame))
        out.mux(track.encode(None))
    assert len(read_mono(path).samples) == 200 * 4096
    monkeypatch.setattr(sound, "_HARMLESS_BYTES", 1 << 20)
    monkeypatch.setattr(sound, "MAX_EXPANSION", 100)
    with pytest.raises(AudioError, match="expand"):
        read_mono(path)


def claiming(path: Path, shape: tuple[int, ...]) -> Path:
    """An archive whose array says that it is as large as ``shape``."""
    head = io.BytesIO()
    np.lib.format.write_array_header_1_0(head, {"descr": "<f4", "fortran_order": False, "shape": shape})
    with zipfile.ZipFile(path, "w") as archive:
        for name in ("vectors", "targets"):
            archive.writestr(f"{name}.npy", head.getvalue() + bytes(64))
        names = io.BytesIO()
        np.save(names, np.array(["a", "b"]))
        for name in ("speakers", "nontargets"):
            archive.writestr(f"{name}.npy", names.getvalue())
    return path


def expanding(path: Path, mega_bytes: int) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("vectors.npy", "w") as stream:
        shape = (mega_bytes << 10, 256)
        np.lib.format.write_array_header_1_0(stream, {"descr": "<f4", "fortran_order": False, "shape": shape})
        for _ in range(mega_bytes):
            stream.write(bytes(1 << 20))
    return path


@pytest.mark.parametrize("read", [read_embeddings, read_scores, load_generator], ids=lambda f: f.__name__)
def test_an_npz_that_claims_a_terabyte_or_expands_a_thousandfold(tmp_path: Path, read: Callable[[Path], Any]) -> None:
    with little_memory(), pytest.raises(TableError, match=r"claims 1,099,511,627,776 bytes and has 64"):
        read(claiming(tmp_path / "a.npz", (1 << 30, 256)))
    path = expanding(tmp_path / "b.npz", 300)
    with little_memory(), pytest.raises(TableError, match=r"0\.3 MB expand to 0\.3 GB, more than 100-fold"):
        read(path)


@pytest.mark.parametrize(("start", "end"), [("inf", "inf"), ("0", "inf"), ("nan", "2"), ("0", "nan"), ("-inf", "1")])
def test_times_that_are_not_finite(tmp_path: Path, start: str, end: str) -> None:
    write(tmp_path / "a.wav", hum(1, duration_s=2.0))
    rows = ["utterance\tspeaker\taudio\tstart_s\tend_s", "good\ts\ta.wav\t0.5\t1.5", f"bad\ts\ta.wav\t{start}\t{end}"]
    (tmp_path / "manifest.tsv").write_text("\n".join(rows) + "\n")
    reading = read_corpus(tmp_path / "manifest.tsv")
    assert reading.corpus.frame["utterance"].to_list() == ["good"]
    assert any(problem.names == ("bad",) and "not finite" in problem.line for problem in reading.problems)
    with pytest.raises(AudioError, match="finite times"):
        read_mono(tmp_path / "a.wav", start_s=float(start), stop_s=float(end))


@pytest.mark.parametrize(("start", "end"), [("1e300", "1e301"), ("1e20", ""), ("0", "1e19")])
def test_times_beyond_every_recording_are_one_line(tmp_path: Path, personare: Command, start: str, end: str) -> None:
    """They are finite, but no sample has such a number."""
    write(tmp_path / "a.wav", hum(1, duration_s=2.0))
    rows = ["utterance\tspeaker\taudio\tstart_s\tend_s", "good\ts\ta.wav\t0.5\t1.5", f"bad\ts\ta.wav\t{start}\t{end}"]
    (tmp_path / "manifest.tsv").write_text("\n".join(rows) + "\n")
    ended = personare("anonymize", tmp_path / "manifest.tsv", tmp_path / "out", "--method", "mcadams")
    assert ended.code == 1 and count(tmp_path / "out") == 1
    (row,) = rows_of(tmp_path / "out-private")
    assert row.startswith("bad\tunreadable\t") and "a.wav: no recording is as long as the part from" in row


def test_names_over_255_bytes_are_one_line(tmp_path: Path, personare: Command) -> None:
    corpus = folders(tmp_path / "corpus")
    long, nearly = "ä" * 150, "b" * 250
    for words in (
        ("anonymize", tmp_path / long, tmp_path / "out"),
        ("anonymize", corpus, tmp_path / long, "--method", "mcadams"),
        ("anonymize", corpus, tmp_path / nearly, "--method", "mcadams"),
        ("anonymize", corpus / "s0" / "s0-0.wav", tmp_path / f"{nearly[:245]}.flac", "--method", "mcadams"),
        ("corpus", "info", tmp_path / long),
        ("report", tmp_path / long),
    ):
        ended = personare(*words)
        assert ended.code == 2 and ended.stderr.splitlines()[-1].endswith("choose a shorter one"), ended.stderr
    with pytest.raises(AudioError, match="File name too long"):
        probe(tmp_path / f"{long}.wav")
    rows = ["utterance\tspeaker\taudio", "good\ts\tcorpus/s0/s0-0.wav", f"bad\ts\t{long}.wav"]
    (tmp_path / "list.tsv").write_text("\n".join(rows) + "\n")
    reading = read_corpus(tmp_path / "list.tsv")
    assert reading.corpus.frame["utterance"].to_list() == ["good"]
    assert [problem.kind for problem in reading.problems] == ["missing-audio"]


def test_no_folder_is_left_where_every_recording_is_a_link(tmp_path: Path) -> None:
    outside = folders(tmp_path / "elsewhere")
    (tmp_path / "corpus" / "s").mkdir(parents=True)
    (tmp_path / "corpus" / "s" / "a.wav").symlink_to(outside / "s0" / "s0-0.wav")
    with pytest.raises(CorpusError, match="link leads out of the corpus"):
        read_corpus(tmp_path / "corpus")
