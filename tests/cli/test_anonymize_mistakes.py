"""The mistakes of a new user of ``personare anonymize``: one line each, exit code 2, before anything is written."""

from __future__ import annotations

from pathlib import Path

import pytest

from conftest import Command, hum
from media_files import av, make_sound, without_media
from personare.core.audio import write

# what was typed -> what the line says; {x} stand for the files made below
MISTAKES: dict[tuple[str, ...], str] = {
    ("gone", "out"): "gone: no such file or folder",
    ("out", "corpus"): "but corpus is there; SRC comes first, then DST",
    ("gone.wav", "one.wav"): "but one.wav is there; SRC comes first, then DST",
    ("corpus", "corpus/out"): "lies inside corpus and would become part of it",
    ("corpus", "out.flac"): "SRC is a corpus of many recordings, so that DST is a folder",
    ("corpus", "full"): "is not empty and was not made by personare anonymize",
    ("corpus", "one.wav"): "one.wav: is a file; name a folder",
    ("corpus", "out", "--format", "ogg"): "'ogg' is not allowed; Known: flac, mp3, opus, wav",
    ("corpus", "out", "--format", "m4a"): "--format",
    ("corpus", "out", "--shard", "2"): "must be i/n with 1 <= i <= n",
    ("corpus", "out", "--shard", "5/4"): "must be i/n with 1 <= i <= n",
    ("corpus", "out", "--level", "person"): "--level",
    ("corpus", "out", "--names", "real"): "--names",
    ("corpus", "out", "--method", "xvectr"): "did you mean 'xvector'",
    ("corpus", "out", "--method", "xvector", "--set", "content=words"): "write --method cascade",
    ("corpus", "out", "--method", "xvector", "--set", "recognizer=both"): "write --method cascade",
    ("corpus", "out", "--method", "cascade", "--set", "timing=even"): "write timing=free",
    (
        "corpus",
        "out",
        "--method",
        "cascade",
        "--set",
        "voice=kokoro",
        "--set",
        "treble=false",
    ): "treble is a parameter of",
    ("corpus", "out", "--strength", "balance"): "no strength 'balance'; did you mean 'balanced'",
    ("corpus", "out", "--strength", "fast", "--method", "mcadams"): "leave one out",
    ("corpus", "out", "--set", "alpha=0.8"): "'alpha' is a parameter of a method; name the method",
    ("corpus", "out", "--strength", "fast", "--set", "alhpa=1"): "did you mean 'alpha'",
    ("corpus", "out", "--strength", "strong", "--unsure", "beep"): "unsure: 'beep' is not allowed; Known: silence",
    ("corpus", "out", "--strength", "fast", "--unsure", "tone"): "no parameter 'unsure'",
    ("corpus", "out", "--unsure", "tone"): "'unsure' is a parameter of a method; name the method",
    ("corpus", "out", "--speaker-from", "folders"): "did you mean 'folder'",
    ("corpus", "out", "--speaker-from", "{name}_x"): "name the field {speaker} once",
    ("corpus", "out", "--strength", "fast", "--layout", "folder"): "did you mean 'folders'",
    ("corpus", "out", "--strength", "fast", "--key", "out/key"): "the key must not lie in the folder",
    (
        "flat",
        "out",
        "--strength",
        "fast",
    ): "audio files lie in it directly; say who speaks: --speaker-from file, channel, or a pattern",
    ("empty", "out", "--strength", "fast"): "no known layout",
    ("one.wav", "one.wav"): "one.wav: is SRC itself; name a new file",
    ("one.wav", "two.wav"): "two.wav: exists already; name a new file",
    ("one.wav", "full"): "full: is a folder, but SRC is one recording; name a file, e.g. full/one.flac",
    ("one.wav", "out"): "out: a file needs an ending; use one of .flac",
    ("one.wav", "out.m4a"): "'.m4a' cannot be written; use one of .flac",
    ("one.wav", "out.flac", "--format", "wav"): "--format wav and the ending disagree",
    ("one.wav", "out.flac", "--shard", "1/2"): "--shard is for a corpus; SRC is one recording",
    ("one.wav", "out.flac", "--layout", "folders"): "--layout is for a corpus",
    ("one.wav", "out.flac", "--names", "keep"): "--names keep is for a corpus",
    ("one.wav", "out.flac", "--speaker-from", "folder"): "--speaker-from folder is for a corpus",
    ("one.wav", "out.mp4"): "SRC holds no moving picture; name a file ending in flac",
    ("sound.m4a", "out.mp4"): "SRC holds no moving picture",
    ("one.wav", "-", "--json"): "--json and the sound cannot both go to standard output",
    ("one.wav", "-", "--format", "flac"): "a pipe gets wav",
    ("words.wav", "out.flac"): "words.wav: not audio",
    ("notes.md", "out.flac"): "notes.md: not audio",
    ("corpus/manifest.parquet", "out.flac"): "so that DST is a folder",
    # a misspelt setting is said first, whatever is wrong with the recordings
    ("words.wav", "out.flac", "--strength", "balance"): "no strength 'balance'; did you mean 'balanced'",
    ("words.wav", "out.flac", "--method", "xvectr"): "did you mean 'xvector'",
    ("words.wav", "out.flac", "--method", "mcadams", "--set", "alhpa=1"): "did you mean 'alpha'",
    ("words.wav", "out.flac", "--method", "mcadams", "--set", "alpha=x"): "mcadams: alpha: expected a number",
    ("words.wav", "out.flac", "--method", "mcadams", "--set", "alpha=7"): "alpha must lie between 0.1 and 2",
    ("words.wav", "out.flac", "--strength", "fast", "--set", "alpha"): "write name=value",
    ("words.wav", "out.flac", "--level", "person"): "--level",
    ("words.wav", "out.flac", "--format", "ogg"): "'ogg' is not allowed",
    ("words.wav", "out.flac", "--speaker-from", "folders"): "did you mean 'folder'",
    ("words.wav", "out.flac", "--coarse", "-1"): "lengths can be rounded to",
    ("words.wav", "out.flac", "--engine", "locl"): "no engine 'locl'; did you mean 'local'",
    ("words.wav", "words.wav", "--strength", "fats"): "did you mean 'fast'",
    ("gone.wav", "out.flac", "--strength", "fats"): "did you mean 'fast'",
    ("broken", "out", "--method", "xvectr"): "did you mean 'xvector'",
    ("broken", "out", "--method", "mcadams", "--set", "alhpa=1"): "did you mean 'alpha'",
    ("broken", "out", "--strength", "fast", "--layout", "folder"): "did you mean 'folders'",
    ("empty", "out", "--strength", "balance"): "did you mean 'balanced'",
    ("empty", "out", "--method", "chain", "--set", "steps=[{name: mcadms}]"): "did you mean 'mcadams'",
}


@pytest.fixture
def folder(small_corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    small_corpus.rename(tmp_path / "corpus")
    monkeypatch.chdir(tmp_path)
    for name in ("one.wav", "two.wav", "flat/anna.wav"):
        write(tmp_path / name, hum(1, duration_s=0.2))
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.txt").write_text("precious")
    (tmp_path / "empty").mkdir()
    (tmp_path / "words.wav").write_text("these are words")
    (tmp_path / "notes.md").write_text("these are notes")
    for name in ("anna", "bela"):
        (tmp_path / "broken" / name).mkdir(parents=True)
        (tmp_path / "broken" / name / "1.wav").write_text("these are words")
    return tmp_path


def test_each_mistake_is_one_line_and_nothing_is_written(folder: Path, personare: Command) -> None:
    av()
    make_sound(folder / "sound.m4a", codec="aac")
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
    for words, line in MISTAKES.items():
        done = personare("anonymize", *words)
        last = done.stderr.splitlines()[-1]
        assert done.code == 2 and last.startswith("personare: ") and line in last, (words, done.stderr)
        assert not done.stdout
        assert {path: path.stat().st_mtime_ns for path in folder.rglob("*")} == before, words


def test_a_missing_extra_is_named_before_any_work(
    folder: Path, personare: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_media(monkeypatch)
    (folder / "call.m4a").write_bytes(b"whatever it is")
    done = personare("anonymize", "call.m4a", "out.flac")
    assert done.code == 2 and "call.m4a needs the extra 'media'; install it with: pip install" in done.stderr


def test_without_models_the_fast_one_is_used_and_one_line_says_how_to_get_better(
    folder: Path, personare: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PERSONARE_HOME", str(folder / "nothing"))
    done = personare("anonymize", "one.wav", "out.flac")
    assert done.code == 0 and "by mcadams" in done.stdout
    (line,) = [line for line in done.stderr.splitlines() if "using" in line]
    models = "cmudict moonshine moonshine-base segmentation whisper-base whisper-small ge2e"
    assert line.endswith(f"for 'balanced' (cascade) run: personare models fetch {models}")
    strong = personare("anonymize", "one.wav", "strong.flac", "--strength", "strong")
    assert strong.code == 2 and "personare models fetch" in strong.stderr and not (folder / "strong.flac").exists()
    listed = personare("methods")
    assert "``" not in listed.stdout, "marks of code are no words"
    assert listed.stdout.count("not fetched") == 2 and "usc" in listed.stdout


@pytest.mark.models
def test_with_models_the_usual_one_is_the_balanced_one(folder: Path, personare: Command) -> None:
    done = personare("anonymize", "one.wav", "out.flac", "--dry-run")
    assert done.code == 0 and "cascade per speaker" in done.stdout


def test_a_method_is_explained_parameter_by_parameter(personare: Command) -> None:
    shown = personare("methods", "mcadams").stdout
    assert "the frequency that stays where it is." in shown and " 2546.48 " in shown
    assert not any(mark in shown for mark in (">>>", "----", "Parameters", "``")), "no words for programmers"


def test_what_a_corpus_leaves_open_is_told(folder: Path, personare: Command) -> None:
    rows = ["utterance\tspeaker\taudio\tgender", f"u1\tanna\t{folder / 'one.wav'}\talien"]
    (folder / "list.tsv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    done = personare("anonymize", "list.tsv", "hidden", "--strength", "fast", "--dry-run")
    assert done.code == 0
    assert "note: gender 'alien' (1 row) is not known as f, m or x and is left empty" in " ".join(done.stderr.split())
