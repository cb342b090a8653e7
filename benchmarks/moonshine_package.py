"""Does the default recognizer write down what the package that carries its weights writes down?

    pip download --no-deps moonshine-voice==0.1.0
    python benchmarks/moonshine_package.py WHEEL [CORPUS [utterances]]

The wheel is unpacked into a folder that vanishes, and never installed. Its voice activity detector is switched off,
so that it hears each utterance in one piece; what it heard (it leaves out the samples beyond a multiple of 512) is
given to our adapter. The package brings an onnxruntime of its own: to compare with the very same one, run this with it,

    pip install --no-deps --target FOLDER onnxruntime==1.23.2
    PYTHONPATH=FOLDER python benchmarks/moonshine_package.py WHEEL [CORPUS [utterances]]
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # one core, before numpy wakes up

import ctypes
import importlib
import sys
import tempfile
import types
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from personare.core.audio import Audio, read_mono
from personare.core.tables import Corpus
from personare.listeners.moonshine import RATE_HZ, Moonshine
from personare.listeners.normalize import WhisperEnglish

BESIDE = Path(__file__).resolve().parents[2] / "shared" / "corpus"
Lines = list[tuple[str, Any]]


def package(folder: Path) -> Callable[[Audio], Lines]:
    """Give the package's own transcription: sound in, lines of text and the samples each was heard in out."""
    inside = types.ModuleType("moonshine_voice")  # without its __init__, which wants microphones and downloads
    inside.__path__ = [str(folder / "moonshine_voice")]
    sys.modules["moonshine_voice"] = inside
    transcriber: Any = importlib.import_module("moonshine_voice.transcriber")
    tiny = importlib.import_module("moonshine_voice.moonshine_api").ModelArch.TINY
    model = str(folder / "moonshine_voice" / "assets" / "tiny-en")
    ear = transcriber.Transcriber(model, tiny, options={"vad_threshold": "0"})

    def hear(audio: Audio) -> Lines:
        found = ear.transcribe_without_streaming(audio.samples.tolist(), RATE_HZ)
        return [(line.text, np.array(line.audio_data, np.float32)) for line in found.lines]

    return hear


def runtime_version(folder: Path) -> str:
    """Ask the onnxruntime inside the package for its version."""
    (place,) = folder.glob("moonshine_voice.libs/libonnxruntime*")
    library = ctypes.CDLL(str(place))
    library.OrtGetApiBase.restype = ctypes.POINTER(ctypes.c_void_p)
    told: bytes = ctypes.CFUNCTYPE(ctypes.c_char_p)(library.OrtGetApiBase()[1])()
    return told.decode()


def chosen(corpus: Path, most: int) -> list[Audio]:
    frame = Corpus.load(corpus / "manifest.tsv").frame
    if "corpus" in frame.columns:
        frame = frame.filter(pl.col("corpus") == "librispeech-mini")
    frame = frame.sort("utterance").gather_every(max(1, len(frame) // most)).head(most)
    return [read_mono(Path(path)) for path in frame["audio"]]


def main(wheel: Path, corpus: Path, most: int) -> None:
    batch = chosen(corpus, most)
    with tempfile.TemporaryDirectory() as unpacked:
        folder = Path(unpacked)
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(folder)
        hear = package(folder)
        heard = [hear(audio) for audio in batch]
        import onnxruntime  # after personare, which switches its telemetry off

        print(f"onnxruntime of the package {runtime_version(folder)}, of personare {onnxruntime.__version__}")
    theirs = [" ".join(" ".join(text for text, _ in lines).split()) for lines in heard]
    pieces = [Audio(np.concatenate([samples for _, samples in lines]), RATE_HZ) for lines in heard]
    lost = [len(audio.samples) - len(piece.samples) for audio, piece in zip(batch, pieces, strict=True)]
    print(f"{len(batch)} utterances, {sum(map(len, heard))} lines; unheard at the end: at most {max(lost)} samples")
    capped = Moonshine(spare_tokens=1)  # the package's cap: 6.5 word pieces a second, rounded up
    _say("the samples the package heard, its cap", theirs, capped(pieces))
    _say("whole utterances, our cap", theirs, Moonshine()(batch))


def _say(what: str, theirs: list[str], ours: list[str]) -> None:
    words = WhisperEnglish()
    letters = sum(a == b for a, b in zip(theirs, ours, strict=True))
    same = sum(words(a) == words(b) for a, b in zip(theirs, ours, strict=True))
    print(f"{what}: {letters} of {len(ours)} the same to the letter, {same} the same words", flush=True)
    for a, b in zip(theirs, ours, strict=True):
        if words(a) != words(b):
            print(f"  package: {a}\n  ours:    {b}")


if __name__ == "__main__":
    given = sys.argv[1:]
    place = Path(given[1]) if given[1:] else BESIDE
    if not given:
        print("skipped: name the wheel of moonshine-voice 0.1.0, from: pip download --no-deps moonshine-voice==0.1.0")
    elif place.is_dir():
        main(Path(given[0]), place, int(given[2]) if given[2:] else 40)
    else:
        print(f"skipped: no real speech at {place}; name a corpus")
