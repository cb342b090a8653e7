"""The mistakes of a new user of everything but ``anonymize``: one line each, exit code 2, nothing written.

Those of ``personare anonymize`` are in test_anonymize_mistakes.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest

from conftest import Command, hum
from personare.core.audio import write
from personare.core.tables import Corpus
from pipeline.blends import command
from pipeline.tiny import write_study

NET = ("--embedder", "trained:net.onnx")
BOTH = ("corpus", "anonymous")
BROKEN = ("broken", "broken-too")
# what was typed -> what the line says
MISTAKES: dict[tuple[str, ...], str] = {
    ("evalute", *BOTH): "Did you mean 'evaluate'",
    ("evaluate", "corpus"): "Missing argument 'ANON'",
    ("evaluate", *BOTH, "--job", "2"): "No such option: --job (Possible options: --jobs",
    ("evaluate", *BOTH, "--seed", "x"): "Invalid value for '--seed'",
    ("evaluate", "gone", "anonymous"): "gone: no such file or folder",
    ("evaluate", "corpus", "gone"): "gone: no such file or folder",
    ("evaluate", "anonymous", "corpus"): "was made of corpus by personare anonymize; ORIG comes first, then ANON",
    ("evaluate", "alone", "anonymous", *NET): "there is 1 speaker; at least 2 must be left to be attacked",
    ("evaluate", "once", "anonymous", *NET): "0 speakers are enrolled and tested",
    ("evaluate", "flat", "anonymous"): "audio files lie in it directly; say who speaks: --speaker-from",
    ("evaluate", "empty", "anonymous"): "empty: no known layout; looked for",
    ("evaluate", "corpus", "empty", *NET): "empty: no known layout",
    ("evaluate", "corpus", "others", *NET): "can be paired with an original; name the key with --key",
    ("evaluate", *BOTH, "--embedder", "ecap"): "no embedder 'ecap'; did you mean 'ecapa'",
    ("evaluate", *BOTH, "--embedder", "trained:gone.onnx"): "gone.onnx: no such file; train one with",
    ("evaluate", *BOTH, "--lengths", "0"): "'0' is no whole number from 1 on; write e.g. 1,3,30",
    ("evaluate", *BOTH, "--lengths", "99", *NET): "L = 99 is impossible, the most trial utterances of a speaker are 2",
    ("evaluate", *BOTH, "--train", "gone", *NET): "gone: no such file or folder",
    ("evaluate", *BOTH, "--train", "alone", *NET): "holds fewer than 2 speakers who are not attacked",
    ("evaluate", *BOTH, "--key", "gone.key", *NET): "gone.key: no such key file",
    ("evaluate", *BOTH, "--key", "notes.txt", *NET): "not a key file (it must hold 64 hexadecimal digits)",
    ("evaluate", *BOTH, "--key", "other.key", *NET): "is it the right key?",
    ("evaluate", *BOTH, "--method", "mcadms", *NET): "no anonymizer 'mcadms'; did you mean 'mcadams'",
    ("evaluate", *BOTH, "--speaker-from", "folders"): "did you mean 'folder'",
    ("attack", *BOTH, "--knowledge", "informd"): "no attacker 'informd'; did you mean 'informed'",
    ("attack", *BOTH, "--knowledge", "semi-informed"): "name it with --train-method",
    ("infer", *BOTH): "Missing option '--train'",
    ("infer", *BOTH, "--train", "corpus", "--attribute", "hight", *NET): "no corpus has a column 'hight'; Known:",
    ("listen", *BOTH, "--listeners", "moonshne"): "no listener 'moonshne'; did you mean 'moonshine'",
    ("listen", *BOTH, "--listeners", ""): "no listener is named; name one, e.g. moonshine",
    ("listen", *BOTH, "--listeners", "stoi", "--by", "colour"): "the corpus has no column 'colour'; Known:",
    ("report", "gone"): "gone: is no run folder",
    ("report", "corpus"): "make one with: personare evaluate ORIG ANON, or personare study run STUDY.yaml",
    ("report", "corpus", "--pdf", "evidence.txt"): "the annex is a PDF; name it .pdf",
    ("report", "corpus", "--format", "htm"): "no format 'htm'; did you mean 'html'",
    ("lookup", "s00", "corpus"): "name the key with --key FILE, or give the folder ending in -private",
    ("lookup", "nobody", "anonymous-private"): "'nobody' is no token, utterance or speaker of it under this key",
    ("metrics", "show", "linkabilty"): "no metric 'linkabilty'; did you mean 'linkability'",
    ("metrics", "lst"): "Did you mean 'list'",
    ("methods", "mcadms"): "did you mean 'mcadams'",
    ("models", "fetch", "ecpa"): "no model 'ecpa'; did you mean 'ecapa'",
    ("models", "verify", "ecapa"): "fetch it with: personare models fetch ecapa",
    ("corpus", "info", "gone"): "gone: no such file or folder",
    ("corpus", "convert", "corpus", "x", "--to", "kaldy"): "no layout 'kaldy' to write; did you mean 'kaldi'",
    ("corpus", "convert", "calls", "x", "--to", "kaldi", "--speaker-from", "channel"): "is another person",
    ("study", "run", "gone.yaml"): "gone.yaml: no such file",
    ("study", "check", "notes.txt"): "must hold keys and values at the top",
    ("score", "gone.scores"): "gone.scores: no such file",
    ("link", "a.npz"): "Missing argument 'ENROLL'",
    ("embed", "corpus", "x.csv"): "unknown kind of vector file '.csv'; use .npz or .parquet",
    ("codec", "info", "usk"): "no codec 'usk'; did you mean 'usc'",
    ("voices", "corpus"): "is not empty and was not made by personare voices; name a new folder",
    # a misspelt setting is said before a recording is found unreadable
    ("evaluate", *BROKEN, "--embedder", "ecap"): "no embedder 'ecap'; did you mean 'ecapa'",
    ("evaluate", *BROKEN, "--method", "mcadams", "--set", "alhpa=1"): "did you mean 'alpha'",
    ("attack", *BROKEN, "--scorer", "cosin"): "no scorer 'cosin'; did you mean 'cosine'",
    ("listen", *BROKEN, "--listeners", "stoj"): "no listener 'stoj'; did you mean 'stoi'",
    ("listen", *BROKEN, "--listeners", "stoi", "--set", "stoi.rat=1"): "stoi has no parameter 'rat'",
    ("embed", "broken", "x.npz", "--embedder", "ecap"): "no embedder 'ecap'; did you mean 'ecapa'",
    ("codec", "encode", "notes.txt", "x.npz", "--codec", "usk"): "no codec 'usk'; did you mean 'usc'",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    place = tmp_path_factory.mktemp("mistakes")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        patch.setenv("PERSONARE_HOME", str(place / "home"))
        write_study(place)
        command("anonymize", "corpus", "anonymous", "--strength", "fast")
        frame = Corpus.load(place / "corpus" / "manifest.parquet").frame
        audio = frame.with_columns(pl.format("{}/{}", pl.lit(str(place / "corpus")), "audio").alias("audio"))
        own = audio if not frame["audio"][0].startswith("/") else frame
        Corpus(own.filter(pl.col("speaker") == "s00").drop("part")).save(place / "alone" / "manifest.parquet")
        Corpus(own.unique("speaker", maintain_order=True).drop("part")).save(place / "once" / "manifest.parquet")
        for name in ("flat/a.wav", "others/x/1.wav", "others/y/2.wav"):
            write(place / name, hum(1, duration_s=0.2))
        write(place / "calls" / "c.wav", [hum(1), hum(2)])
        for name in (f"{folder}/{who}/1.wav" for folder in BROKEN for who in ("anna", "bela")):
            (place / name).parent.mkdir(parents=True)
            (place / name).write_text("these are words", encoding="utf-8")
        (place / "empty").mkdir()
        (place / "notes.txt").write_text("x", encoding="utf-8")
        (place / "other.key").write_text(bytes(range(32)).hex(), encoding="utf-8")
        (place / "other.key").chmod(0o600)
        yield place


@pytest.mark.parametrize("words", MISTAKES, ids=" ".join)
def test_each_mistake_is_one_line_and_nothing_is_written(
    words: tuple[str, ...], folder: Path, personare: Command
) -> None:
    places = [path for path in folder.rglob("*") if "-run" not in str(path)]
    done = personare(*words)
    lines = [line for line in done.stderr.splitlines() if line.startswith("personare: ")]
    assert done.code == 2 and MISTAKES[words] in lines[0] and len(lines) == 1, done.stderr
    assert "Traceback" not in done.stderr and not done.stdout
    assert [path for path in folder.rglob("*") if "-run" not in str(path)] == places


def test_a_corpus_without_genders_is_attacked_all_the_same(folder: Path, personare: Command) -> None:
    frame = Corpus.load(folder / "corpus" / "manifest.parquet").frame.drop("gender")
    Corpus(frame).save(folder / "corpus" / "nogender.parquet")
    done = personare(
        "evaluate", "corpus/nogender.parquet", "anonymous", *NET, "--lengths", "1", "--out", "nogender-run"
    )
    assert done.code == 0, done.stderr
    assert "Genders are unknown: all speakers were compared with all." in done.stdout
