"""personare codec at the door: files and corpora of tokens and back, nobody's name in them, every mistake one line."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import personare as pn
from conftest import hum
from docs.pages import DOCS, Page
from personare.cli import main
from personare.core.audio import Audio, probe, read_mono, write
from personare.corpora import read_corpus
from personare.pipeline.given import pair_given
from personare.pipeline.resolve import GivenFolder

pytestmark = pytest.mark.models
Run = Callable[..., int]
PAGE = Page(DOCS / "how-to" / "train-a-speech-model-on-tokens.md")
NAMES = ("anna", "bela", "cora", "dirk")


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tiny_codec: Path) -> Run:
    def call(*words: object) -> int:
        own = ["--codec", f"usc:{tiny_codec}"] if words[0] in ("encode", "decode") else []
        monkeypatch.setattr(sys, "argv", ["personare", "codec", *map(str, words), *own])
        with pytest.raises(SystemExit) as ended:
            main()
        return int(ended.value.code or 0)

    return call


def everything_in(folder: Path) -> bytes:
    return b"".join(str(p.name).encode() + p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file())


def test_a_recording_becomes_a_small_file_and_sound_again(
    run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stereo = [hum(1, duration_s=2.0, rate_hz=48_000), hum(2, duration_s=2.0, rate_hz=48_000)]
    write(tmp_path / "speech.wav", stereo)
    assert run("encode", tmp_path / "speech.wav", tmp_path / "c0.pntk") == 0
    assert "1 of 6 levels, 0.20 kbit/s, 2.00 s" in capsys.readouterr().out
    assert run("encode", tmp_path / "speech.wav", tmp_path / "all.pntk", "--levels", 6) == 0
    assert "as personal as the recordings" in capsys.readouterr().err
    assert (tmp_path / "c0.pntk").stat().st_size < (tmp_path / "all.pntk").stat().st_size < 400
    assert pn.read_tokens(tmp_path / "all.pntk").codes.shape == (50, 6)
    assert run("decode", tmp_path / "all.pntk", tmp_path / "back.wav") == 0
    facts = probe(tmp_path / "back.wav")
    assert (facts.rate_hz, facts.channels, facts.duration_s) == (48_000, 1, 2.0)
    assert run("decode", tmp_path / "all.pntk", tmp_path / "a.wav", "--levels", 1, "--set", "voice=a") == 0
    assert not np.array_equal(read_mono(tmp_path / "a.wav").samples, read_mono(tmp_path / "back.wav").samples)
    capsys.readouterr()
    assert run("info", tmp_path / "c0.pntk") == 0
    assert "levels 1 (256 codes)" in capsys.readouterr().out


@pytest.mark.parametrize("container", ["parquet", "webdataset"])
def test_a_corpus_of_tokens_names_nobody_and_comes_back_as_a_corpus(
    run: Run,
    small_corpus: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    container: str,
) -> None:
    out = tmp_path / "tokens"
    words = ("encode", small_corpus, out, "--format", container)
    assert run(*words) == 0
    given_away = everything_in(out)
    assert not any(name.encode() in given_away for name in NAMES)
    rows = list(pn.read_token_corpus(out))
    assert len(rows) == 16 and len({row.speaker for row in rows}) == 4
    assert sorted({row.text for row in rows}) == [f"SENTENCE NUMBER {n}" for n in range(4)]
    assert [row.utterance for row in rows] == sorted(row.utterance for row in rows)
    assert {(row.tokens.levels, row.frame_rate_hz) for row in rows} == {(1, 25.0)}
    card = json.loads((out / "tokens.json").read_text(encoding="utf-8"))
    assert (card["bits_per_second"], card["utterances"]) == (200.0, 16)
    assert not (tmp_path / "tokens-private" / "coded").exists()
    assert run(*words) == 0  # again: the same bytes
    assert everything_in(out) == given_away
    assert run(*words, "--levels", 2) == 2
    assert "was begun with another codec, other settings or another key" in " ".join(capsys.readouterr().err.split())

    assert run("decode", out, tmp_path / "speech") == 0
    corpus = read_corpus(tmp_path / "speech").corpus
    assert len(corpus) == 16 and set(corpus.speakers) == {row.speaker for row in rows}
    assert read_mono(Path(corpus.frame["audio"][0])).duration_s == pytest.approx(0.8)
    capsys.readouterr()
    assert run("info", out) == 0
    assert "16 utterances of 4 speakers" in capsys.readouterr().out


def test_names_are_those_that_anonymize_gives_with_the_same_key(
    run: Run, small_corpus: Path, tmp_path: Path, tiny_codec: Path
) -> None:
    key = tmp_path / "key"
    assert run("encode", small_corpus, tmp_path / "tokens", "--key", key) == 0
    pn.anonymize_corpus(small_corpus, tmp_path / "audio", key=key, strength="fast")
    audio = pl.read_parquet(tmp_path / "audio" / "manifest.parquet").select("utterance", "speaker").rows()
    assert sorted(audio) == [(row.utterance, row.speaker) for row in pn.read_token_corpus(tmp_path / "tokens")]
    each = pn.encode_corpus(
        small_corpus,
        tmp_path / "each",
        parameters={"weights": str(tiny_codec)},
        level="utterance",
    )
    assert each.done == 16
    assert len({row.speaker for row in pn.read_token_corpus(tmp_path / "each")}) == 16


def test_what_fails_is_a_row_and_exit_1(
    run: Run, small_corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (small_corpus / "anna" / "anna-0.wav").write_bytes(b"RIFF")
    assert run("encode", small_corpus, tmp_path / "tokens") == 1
    assert "failed: anna-0" in capsys.readouterr().err
    assert len(list(pn.read_token_corpus(tmp_path / "tokens"))) == 15
    assert "anna-0" in (tmp_path / "tokens-private" / "failures.tsv").read_text(encoding="utf-8")


def test_decoded_speech_is_attacked_with_the_key_that_the_page_names(
    run: Run, small_corpus: Path, tmp_path: Path
) -> None:
    lines = [line for block in PAGE.blocks("") for line in block.splitlines()]
    (attack,) = [line for line in lines if line.startswith("personare evaluate recordings/ speech/")]
    key = tmp_path / attack.partition(" --key ")[2]
    assert run("encode", small_corpus, tmp_path / "tokens") == 0
    assert run("decode", tmp_path / "tokens", tmp_path / "speech") == 0
    pairs = pair_given(read_corpus(small_corpus).corpus.frame, GivenFolder(tmp_path / "speech", key))
    assert len(pairs.files) == 16 and not pairs.unpaired


def test_every_mistake_is_one_line(
    run: Run, small_corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path / "s.wav", hum(1, duration_s=0.2))
    (tmp_path / "empty").mkdir()
    assert run("encode", tmp_path / "s.wav", tmp_path / "s.pntk") == 0
    broken = tmp_path / "broken.pntk"
    broken.write_bytes((tmp_path / "s.pntk").read_bytes()[:-3])
    pl.DataFrame({"utterance": ["../x"]}).write_parquet(tmp_path / "t.parquet")
    mistakes = {
        "levels 1 to 6, not 7": ("encode", tmp_path / "s.wav", tmp_path / "x.pntk", "--levels", 7),
        "this codec has levels 1 to 6, not 9": ("encode", small_corpus, tmp_path / "x", "--levels", 9),
        "the checksum does not fit": ("decode", broken, tmp_path / "x.wav"),
        "a recording becomes a token file, which ends in .pntk": ("encode", tmp_path / "s.wav", tmp_path / "x"),
        "a corpus becomes a folder": ("encode", small_corpus, tmp_path / "x.pntk"),
        "not a token file": ("decode", tmp_path / "s.wav", tmp_path / "x.wav"),
        "has no column 'speaker'": ("decode", tmp_path / "t.parquet", tmp_path / "x"),
        "no token corpus": ("decode", tmp_path / "empty", tmp_path / "x"),
        "did you mean 'usc'": ("info", "ucs"),
        "needs its published weights": ("info", "encodec"),
        "did you mean 'parquet'": ("encode", small_corpus, tmp_path / "x", "--format", "parket"),
        "no voice 'z'": ("decode", tmp_path / "s.pntk", tmp_path / "x.wav", "--set", "voice=z"),
    }
    capsys.readouterr()
    for message, words in mistakes.items():
        assert run(*words) == 2, words
        lines = [line for line in capsys.readouterr().err.splitlines() if line.startswith("personare: ")]
        assert len(lines) == 1 and message in lines[0], (message, lines)


def test_info_lists_the_codecs_and_their_rates(run: Run, tiny_codec: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("info") == 0
    shown = capsys.readouterr().out
    assert all(name in shown for name in ("usc", "encodec", "dac", "speechtokenizer", "facodec"))
    assert run("info", f"usc:{tiny_codec}") == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "25 frames per second" in shown and "C0:5" in shown and "voices for C0 alone: a, b" in shown


def test_one_recording_in_python(tiny_codec: Path, tmp_path: Path) -> None:
    audio = hum(4, duration_s=1.0)
    tokens = pn.encode(audio, codec=f"usc:{tiny_codec}", levels=2)
    assert tokens.levels == 2 and isinstance(tokens, pn.Tokens)
    place = pn.write_tokens(tmp_path / "a.pntk", tokens)
    one, same = (pn.decode(given, codec=f"usc:{tiny_codec}") for given in (tokens, place))
    assert isinstance(one, Audio) and np.array_equal(one.samples, same.samples)
    with pytest.raises(pn.PersonareError, match=r"ends in \.pntk"):
        pn.write_tokens(tmp_path / "a.txt", tokens)
