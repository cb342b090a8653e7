"""Pools and fitted generators in files: what is read, what is refused, and the command that compares."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from conftest import hum
from personare.cli import main
from personare.core.audio import write
from personare.core.errors import ConfigError, OutputError, PersonareError, TableError
from personare.core.vectors import cosine
from personare.pseudospeakers import pseudospeaker
from personare.pseudospeakers.files import load, save
from personare.pseudospeakers.pool import SpeakerPool, read_pool, write_pool
from pseudospeakers.pools import clouds


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr(sys, "argv", ["personare", "pseudospeakers", *arguments])
    with pytest.raises(SystemExit) as stopped:
        main()
    return int(stopped.value.code or 0)


def test_a_pool_is_read_as_it_was_written(tmp_path: Path) -> None:
    pool = clouds(5)
    write_pool(pool, tmp_path / "pool.npz")
    again = read_pool(tmp_path / "pool.npz")
    assert (again.vectors == pool.vectors).all()
    assert again.genders == pool.genders


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"genders": np.array(["f"])}, "3 vectors, but 1 genders"),
        ({"genders": np.array(["f", "m", "q"])}, "gender 'q' is not known"),
        ({"vectors": np.full((3, 4), np.nan)}, "NaN"),
    ],
)
def test_a_wrong_pool_is_one_line_with_its_place(tmp_path: Path, arrays: dict[str, Any], message: str) -> None:
    whole = {"vectors": np.ones((3, 4)), "speakers": np.array(["a", "b", "c"])} | arrays
    np.savez(tmp_path / "pool.npz", **whole)
    with pytest.raises(TableError, match=message) as caught:
        read_pool(tmp_path / "pool.npz")
    assert str(tmp_path / "pool.npz") in str(caught.value)


@pytest.mark.parametrize("vectors", [np.ones(3), np.ones((0, 3)), np.ones((5, 1)), np.array([[np.inf, 1.0]])])
def test_pools_that_are_no_table_of_numbers_are_refused(vectors: Any) -> None:
    with pytest.raises(TableError, match="a pool holds"):
        SpeakerPool(vectors)


def test_a_pickle_is_never_opened(tmp_path: Path) -> None:
    np.savez(tmp_path / "evil.npz", card=np.array([{"run": "me"}], dtype=object))
    with pytest.raises(TableError, match="not a fitted generator"):
        load(tmp_path / "evil.npz")


@pytest.mark.parametrize("content", [b"", b"no zip at all"])
def test_other_files_are_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "fitted.npz").write_bytes(content)
    with pytest.raises(TableError, match="not a fitted generator"):
        load(tmp_path / "fitted.npz")
    with pytest.raises(TableError, match="no such file"):
        load(tmp_path / "nothing.npz")
    with pytest.raises(OutputError, match=r"written as \.npz"):
        save(pseudospeaker("random").fit(clouds(12), rng=np.random.default_rng(0)), tmp_path / "fitted.pickle")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda a: a.pop("f/vectors"), "not a fitted generator"),
        (lambda a: a.update({"f/vectors": a["f/vectors"][:, :7]}), "not a fitted generator"),
        (lambda a: a.update({"f/vectors": a["f/vectors"][:0]}), "not a fitted generator"),
        (lambda a: a.update({"f/vectors": a["f/vectors"] * np.nan}), "not a fitted generator"),
        (lambda a: a.update({"card": np.array(str(a["card"]).replace('"keyed"', '"kyed"'))}), "did you mean 'keyed'"),
        (lambda a: a.update({"card": np.array(str(a["card"]).replace('"mix"', '"mox"'))}), "did you mean 'mix'"),
        (lambda a: a.update({"card": np.array("{}")}), "not a fitted generator"),
    ],
)
def test_a_spoilt_file_is_refused_at_once(
    tmp_path: Path, change: Callable[[dict[str, Any]], Any], message: str
) -> None:
    save(pseudospeaker("keyed", voices=20).fit(clouds(12), rng=np.random.default_rng(0)), tmp_path / "k.npz")
    with np.load(tmp_path / "k.npz") as archive:
        arrays = dict(archive)
    change(arrays)
    np.savez(tmp_path / "k.npz", **arrays)
    with pytest.raises(PersonareError, match=message) as caught:
        load(tmp_path / "k.npz")
    assert str(caught.value).startswith(str(tmp_path / "k.npz"))


def test_a_scorer_must_be_given_again(tmp_path: Path) -> None:
    recipe = pseudospeaker("b1", farthest=5, average=2, distance="scorer")
    fitted = recipe.fit(clouds(12), rng=np.random.default_rng(0), scorer=cosine)  # type: ignore[call-arg]
    save(fitted, tmp_path / "b1.npz")
    with pytest.raises(ConfigError, match="give it to load"):
        load(tmp_path / "b1.npz")
    x = np.ones(256, np.float32)
    voices = [
        f(x, rng=np.random.default_rng(1), gender="f") for f in (fitted, load(tmp_path / "b1.npz", scorer=cosine))
    ]
    assert (voices[0] == voices[1]).all()


def test_compare_prints_every_generator_beside_the_pool(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write_pool(clouds(60), tmp_path / "pool.npz")
    assert (
        run(monkeypatch, "compare", str(tmp_path / "pool.npz"), "--only", "o1", "--only", "copy", "--most", "20") == 0
    )
    printed = capsys.readouterr().out
    assert "(the pool)" in printed
    copied = next(line for line in printed.splitlines() if "copy" in line)
    assert "1.00" in copied
    assert "b1" not in printed


def test_compare_counts_a_generator_that_cannot_be_fitted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write_pool(clouds(60), tmp_path / "pool.npz")
    assert run(monkeypatch, "compare", str(tmp_path / "pool.npz"), "--only", "b1") == 1
    assert "failed: b1: b1 needs at least 200 voices of gender" in capsys.readouterr().err
    options = ["--only", "b1", "--set", "b1.farthest=20", "--set", "b1.average=10"]
    assert run(monkeypatch, "compare", str(tmp_path / "pool.npz"), *options) == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--only", "o1c2"], "no pseudospeaker 'o1c2'; did you mean 'o1c1'?"),
        (["--set", "b1.farthst=3"], "b1 has no parameter 'farthst'; did you mean 'farthest'"),
        (["--set", "b1=3"], "write generator.parameter=value"),
        (["--share", "1.5"], "share of originals must lie between 0 and 1"),
    ],
)
def test_mistakes_are_one_line(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    options: list[str],
    message: str,
) -> None:
    write_pool(clouds(30), tmp_path / "pool.npz")
    assert run(monkeypatch, "compare", str(tmp_path / "pool.npz"), *options) == 2
    told = capsys.readouterr().err
    assert message in told
    assert told.count("\n") == 1


def test_several_vectors_per_speaker_are_noted_and_averaged_on_request(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pool = clouds(40)
    names = tuple(f"s{row // 2}" for row in range(len(pool)))
    write_pool(SpeakerPool(pool.vectors, pool.genders, names, pool.genders), tmp_path / "pool.npz")
    assert run(monkeypatch, "compare", str(tmp_path / "pool.npz"), "--only", "copy") == 0
    heard = capsys.readouterr()
    assert "several vectors per speaker" in heard.err
    assert "64 voices in the pool, 16 originals held out" in heard.out
    assert run(monkeypatch, "compare", str(tmp_path / "pool.npz"), "--only", "copy", "--people") == 0
    heard = capsys.readouterr()
    assert "several vectors" not in heard.err
    assert "32 voices in the pool, 8 originals held out" in heard.out


def test_a_person_keeps_gender_and_accent_when_averaged() -> None:
    pool = SpeakerPool(
        np.eye(4, dtype=np.float32), ("m", "f", "m", "f"), ("b", "a", "b", "c"), ("us", "uk", "us", "in")
    )
    people = pool.speaker_means()
    assert (people.ids, people.genders, people.accents) == (("a", "b", "c"), ("f", "m", "f"), ("uk", "us", "in"))
    assert people.vectors[1].tolist() == [0.5, 0.0, 0.5, 0.0]


def test_a_pool_is_made_of_speech_one_vector_and_gender_per_person(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    people = {"anna": "f", "bela": "m", "cora": "f"}
    for folder, start in (("first", 0), ("second", 1)):
        rows = ["utterance\tspeaker\taudio\tgender"]
        for seed, (name, gender) in enumerate(people.items()):
            utterance = f"{name}-{start}"
            (tmp_path / folder).mkdir(exist_ok=True)
            write(tmp_path / folder / f"{utterance}.wav", hum(10 * start + seed))
            rows.append(f"{utterance}\t{name}\t{utterance}.wav\t{gender}")
        (tmp_path / folder / "manifest.tsv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    corpora = ["--corpus", str(tmp_path / "first"), "--corpus", str(tmp_path / "second"), "--embedder", "energy"]
    assert run(monkeypatch, "pool", str(tmp_path / "pool.npz"), *corpora) == 0
    assert "2 f, 1 m" in capsys.readouterr().out
    whole = read_pool(tmp_path / "pool.npz")
    assert (whole.ids, whole.genders) == (("anna", "bela", "cora"), ("f", "m", "f"))
    assert run(monkeypatch, "pool", str(tmp_path / "one.npz"), *corpora, "--utterances", "1") == 0
    assert run(monkeypatch, "pool", str(tmp_path / "first.npz"), *corpora[:2], "--embedder", "energy") == 0
    one, first = read_pool(tmp_path / "one.npz"), read_pool(tmp_path / "first.npz")
    np.testing.assert_array_equal(one.vectors, first.vectors)
    assert not np.allclose(whole.vectors, one.vectors), "with two utterances each it is their mean"
    assert run(monkeypatch, "pool", str(tmp_path / "pool.csv"), *corpora) == 2
    assert "written as .npz" in capsys.readouterr().err


def test_every_generator_is_listed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(monkeypatch, "list") == 0
    printed = capsys.readouterr().out
    assert all(name in printed for name in ("b1", "o1c1", "rp_gmm_sc", "k2"))
