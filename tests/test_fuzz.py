"""Every reader on bytes that are nearly right: only our errors, no hang, no blow-up of memory; for a bounded time."""

from __future__ import annotations

import io
import json
import resource
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import soundfile

from conftest import hum
from core.test_wholeness import KINDS
from personare.core.audio import decode_whole, read_channels
from personare.core.config import load_yaml
from personare.core.embedding_files import read_embeddings, write_embeddings
from personare.core.errors import PersonareError
from personare.core.journal import read_journal
from personare.core.tables import Embeddings
from personare.corpora import read_corpus
from personare.corpora.score_files import read_scores
from personare.pipeline.audit.tags import residual_tags
from personare.pipeline.study import Study
from pipeline.tiny import study_text
from promise_counts import counted

ROUNDS = 400
LONGEST_S = 20
SIZES = (b"\xff\xff\xff\xff", b"\0\0\0\0", b"\x7f\xff\xff\xff", b"\xff\xff\xff\x7f")
WORDS = (b"\t", b"\n", b"nan", b"-1", b"1e999", b"../x", b"\xef\xbb\xbf", b"\x00", b'"', b"9" * 5000, b"- {", b"[[[[")
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]
COUNTS: dict[str, int] = {}


@contextmanager
def limited() -> Iterator[None]:
    """A reader that hangs is stopped, and fails the test."""

    def late(_number: int, _frame: object) -> None:
        raise TimeoutError(f"still reading after {LONGEST_S} s")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(LONGEST_S)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def mutated(content: bytes, rng: np.random.Generator) -> bytes:
    """Change bytes, cut, repeat, insert or splice: what files look like after bad disks, bad tools and bad people."""
    data = bytearray(content)
    for _ in range(int(rng.integers(1, 6))):
        place = int(rng.integers(0, len(data) + 1))
        how = int(rng.integers(0, 7))
        if how == 0 and data:
            data[place % len(data)] = int(rng.integers(0, 256))
        elif how == 1:
            del data[place:]
        elif how == 2:
            data[place:place] = rng.bytes(int(rng.integers(1, 9)))
        elif how == 3:
            data[place : place + 4] = SIZES[int(rng.integers(len(SIZES)))]  # rng.choice would cut zeros off
        elif how == 4:
            data[place:place] = data[: int(rng.integers(0, 200))]
        elif how == 5:
            del data[place : place + int(rng.integers(1, 50))]
        else:
            data[place:place] = WORDS[int(rng.integers(len(WORDS)))]
    return bytes(data)


def fuzz(
    name: str, seeds: dict[str, bytes], read: Callable[[Path], object], folder: Path, rounds: int = ROUNDS
) -> None:
    """Feed a reader; every failure must be one of ours."""
    rng = np.random.default_rng(len(name))
    for number in range(rounds):
        for file, content in seeds.items():
            target = folder / file
            for other, kept in seeds.items():
                (folder / other).parent.mkdir(parents=True, exist_ok=True)
                (folder / other).write_bytes(kept)
            target.write_bytes(mutated(content, rng))
            with limited():
                try:
                    read(target)
                except PersonareError as error:
                    assert len(str(error)) < 100_000, (name, number, file)
            COUNTS[name] = COUNTS.get(name, 0) + 1


@pytest.fixture(autouse=True, scope="module")
def memory_stays_small() -> Iterator[None]:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    yield
    grown_mb = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    counted(f"fuzz: {sum(COUNTS.values()):,} files, {COUNTS}; memory grew by {grown_mb:.0f} MB")
    assert grown_mb < 1500


@pytest.mark.parametrize("suffix", KINDS)
def test_audio(suffix: str, tmp_path: Path) -> None:
    container, subtype = KINDS[suffix]
    stream = io.BytesIO()
    soundfile.write(stream, hum(1, duration_s=0.2, rate_hz=24_000).samples, 24_000, format=container, subtype=subtype)

    def read(path: Path) -> None:
        residual_tags(path)
        read_channels(path)
        decode_whole(path)

    fuzz(f"audio {suffix}", {f"a.{suffix}": stream.getvalue()}, read, tmp_path)


def test_manifests(tmp_path: Path) -> None:
    frame = pl.DataFrame(
        {"utterance": ["u1", "u2"], "speaker": ["a", "b"], "audio": ["u1.wav", "u2.wav"], "start_s": [0.0, 1.0]}
    )
    stream = io.BytesIO()
    frame.write_parquet(stream)
    corpus = lambda path: read_corpus(path.parent)  # noqa: E731
    (tmp_path / "p").mkdir()
    fuzz("parquet manifest", {"manifest.parquet": stream.getvalue()}, corpus, tmp_path / "p")
    (tmp_path / "t").mkdir()
    fuzz("tsv manifest", {"manifest.tsv": frame.write_csv(separator="\t").encode()}, corpus, tmp_path / "t")


def test_kaldi_and_lhotse(tmp_path: Path) -> None:
    kaldi = {
        "wav.scp": b"u1 u1.wav\nu2 u2.wav\n",
        "utt2spk": b"u1 a\nu2 b\n",
        "segments": b"u1 u1 0 1\nu2 u2 0.5 2\n",
        "text": b"u1 hello\n",
        "spk2gender": b"a f\nb m\n",
    }
    (tmp_path / "k").mkdir()
    fuzz("kaldi", kaldi, lambda path: read_corpus(path.parent, layout="kaldi"), tmp_path / "k", ROUNDS // 4)
    lhotse = {
        "recordings.jsonl": b'{"id": "r", "sources": [{"type": "file", "source": "u1.wav"}], "duration": 1}\n',
        "supervisions.jsonl": b'{"id": "s", "recording_id": "r", "start": 0, "duration": 1, "speaker": "a"}\n',
    }
    (tmp_path / "l").mkdir()
    fuzz("lhotse", lhotse, lambda path: read_corpus(path.parent, layout="lhotse"), tmp_path / "l", ROUNDS // 2)


def test_score_and_embedding_files(tmp_path: Path) -> None:
    scores = b"a u1 0.5 target\nb u1 -0.5 nontarget\n"
    fuzz("scores", {"s.txt": scores}, lambda path: read_scores(path), tmp_path)
    vectors = Embeddings(("u1", "u2"), ("a", "b"), np.eye(2, 4, dtype=np.float32))
    for suffix in (".npz", ".parquet"):
        write_embeddings(vectors, tmp_path / f"seed{suffix}")
        content = (tmp_path / f"seed{suffix}").read_bytes()
        fuzz(f"embeddings {suffix}", {f"e{suffix}": content}, lambda path: read_embeddings(path), tmp_path)


def test_studies_and_journals(tmp_path: Path) -> None:
    fuzz("studies", {"study.yaml": study_text().encode()}, lambda path: load_yaml(Study, path), tmp_path)
    line = b"0123456789abcdef " + json.dumps(["u1", 0.5, None]).encode() + b"\n"
    fuzz("journals", {"journal": line * 3}, lambda path: list(read_journal(path)), tmp_path)
