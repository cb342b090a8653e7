"""Every command of the application with words to type, in a folder where each of them works within a moment."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from conftest import hum
from personare.core import weights
from personare.core.audio import write
from personare.core.embedding_files import write_embeddings
from personare.core.tables import Embeddings
from personare.pipeline.jobs.anonymize import MANIFEST
from pipeline.blends import command
from pipeline.tiny import write_study

LACKING = weights.missing("moonshine", "swift-f0")  # the codec's own models
NET = ("--embedder", "trained:net.onnx")
ONCE = ("--lengths", "1")
# the words after the name of a command; {n} is another number every time, for what must be new
LINES: dict[str, tuple[tuple[str, ...], ...]] = {
    "anonymize": (
        ("one.wav", "hidden-{n}.flac", "--strength", "fast"),
        ("corpus", "hidden-{n}", "--strength", "fast"),
        ("corpus", "hidden-{n}", "--strength", "fast", "--dry-run"),
    ),
    "methods": ((), ("mcadams",)),
    "lookup": (("s00", "corpus", "--key", "anonymous-private/key"),),
    "fit-targets": (("corpus", "targets-{n}.tsv"),),
    "evaluate": (("corpus", "anonymous", *NET, *ONCE, "--out", "evaluated"),),
    "attack": (("corpus", "anonymous", *NET, *ONCE, "--out", "attacked"),),
    "infer": (("corpus", "anonymous", *NET, "--train", "others", "--out", "inferred"),),
    "listen": (("corpus", "anonymous", "--listeners", "stoi", "--out", "listened"),),
    "score": (("scores.npz",),),
    "embed": (("corpus", "vectors-{n}.npz", *NET),),
    "link": (("test.npz", "enroll.npz", *ONCE),),
    "ranks": (("test.npz", "enroll.npz"),),
    "single-out": (("test.npz", "enroll.npz", *ONCE, "--draws", "1"),),
    "forget": (("--dry-run",), ("--yes",)),
    "verify": (("anonymous",), ("anonymous", "--public")),
    "audit": (("anonymous", "--original", "corpus"),),
    "codec encode": (("one.wav", "one-{n}.pntk", "--codec", "usc:codec"),),
    "codec decode": (("one.pntk", "decoded-{n}.wav", "--codec", "usc:codec"),),
    "codec info": ((), ("usc:codec",), ("one.pntk",)),
    "study run": (("study.yaml", "--out", "run", "--resume"),),
    "study check": (("study.yaml",),),
    "study plan": (("study.yaml", "--no-probe"),),
    "report make": (("run", "--format", "csv", "--out", "report-{n}"),),
    "report compare": (("run", "run", "--out", "compared-{n}"),),
    "metrics list": ((),),
    "metrics show": (("linkability",), ("dsys",)),
    "corpus info": (("corpus",), ("calls", "--speaker-from", "channel")),
    "corpus convert": (("corpus", "lists-{n}", "--to", "parquet"),),
    "models list": ((), ("--language", "de")),
    "languages": ((), ("de",)),
    "pseudospeakers list": ((),),
    "pseudospeakers pool": (("pool-{n}.npz", "--corpus", "corpus", *NET),),
    "pseudospeakers compare": (("pool.npz", "--only", "random"),),
}
# commands that take minutes, fetch, or are run elsewhere
NOT_RUN = {
    "demo": "minutes of work; what it prints at the end is what evaluate prints",
    "voices": "needs the synthesizer's model; tests/cli/test_voices_command.py",
    "models fetch": "fetches",
    "models verify": "needs models; a table is not printed",
    "stream": "its output is sound",
    "panel make": "tests/panels",
    "panel invite": "tests/panels",
    "panel serve": "a server; tests/web",
    "app": "a server; tests/web",
    "panel analyze": "tests/panels",
    "panel export": "tests/panels",
    "express encode": "needs models; tests/cli/test_express.py",
    "express speak": "needs models; tests/cli/test_express.py",
    "train expression": "tests/training/test_expression.py",
    "train embedder": "tests/cli/test_train_command.py",
    "train prosody": "tests/cli/test_train_prosody.py",
    "train reader": "tests/cli/test_train_reader.py",
    "train recognizer": "tests/cli/test_train_recognizer.py",
    "train synthesizer": "tests/cli/test_train_synthesizer.py",
    "train usc": "tests/cli/test_train_usc.py",
}


def commands(group: Any, words: tuple[str, ...] = ()) -> dict[str, set[str]]:
    """Every command that does something, by its words, with its options."""
    inner = getattr(group, "commands", {})
    if not inner:
        return {" ".join(words): {flag for one in group.params for flag in (*one.opts, *one.secondary_opts)}}
    found: dict[str, set[str]] = {}
    for name, one in inner.items():
        found |= commands(one, (*words, name))
    return found


def link_models(home: Path) -> None:
    """Give a cache folder of its own the models of the real one, and nothing of what is kept of anybody's voice."""
    home.mkdir()
    for place in weights.home().iterdir() if weights.home().is_dir() else ():
        if place.name not in ("vectors", "observations"):
            (home / place.name).symlink_to(place)


def make_folder(folder: Path, codec: Path) -> Path:
    """Make everything that the lines take for granted."""
    write_study(folder)
    write(folder / "one.wav", hum(1, duration_s=1.0))
    write(folder / "calls" / "a long name of a call without any order.wav", [hum(1), hum(2)])
    (folder / "codec").symlink_to(codec)
    rng = np.random.default_rng(1)
    speakers = tuple(f"p{i:02d}" for i in range(24) for _ in range(12))
    own = np.repeat(rng.standard_normal((24, 16)), 12, axis=0)
    for name in ("test", "enroll"):
        heard = (own + rng.standard_normal(own.shape)).astype(np.float32)
        write_embeddings(
            Embeddings(tuple(f"{name}-{i}" for i in range(len(own))), speakers, heard), folder / f"{name}.npz"
        )
    genders = np.repeat(["f", "m"] * 30, 2)
    pool = np.repeat([f"p{i:03d}" for i in range(60)], 2)
    np.savez(folder / "pool.npz", vectors=rng.standard_normal((120, 24)), speakers=pool, genders=genders)
    np.savez(folder / "scores.npz", targets=rng.normal(2.0, size=40), nontargets=rng.normal(size=200))
    command("anonymize", "corpus", "anonymous", "--strength", "fast")
    command("corpus", "convert", "corpus", "others", "--to", "parquet")
    _only_train(folder / "others" / MANIFEST)
    if not LACKING:
        command("codec", "encode", "one.wav", "one.pntk", "--codec", "usc:codec")
    command("study", "run", "study.yaml", "--out", "run")
    return folder


def _only_train(manifest: Path) -> None:
    """Other people than those who are attacked, two of each gender, under names of their own."""
    import polars as pl

    frame = pl.read_parquet(manifest)
    renamed = frame.with_columns(
        pl.format("x-{}", "utterance").alias("utterance"), pl.format("x-{}", "speaker").alias("speaker")
    )
    renamed.drop("part").write_parquet(manifest)


def as_object(printed: str) -> dict[str, Any]:
    """Read what a command printed as one JSON object; anything else on standard output is a fault."""
    found = json.loads(printed)
    assert isinstance(found, dict)
    return found
