"""The evaluation: disjoint enrolment and trial, keys never shared, honest chance levels, a page that opens."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from personare.core.errors import CorpusError
from personare.core.seeding import Key
from personare.core.tables import Corpus, Embeddings
from personare.corpora import read_corpus
from personare.engine import Here, Pool
from personare.pipeline.jobs.anonymize import anonymize
from personare.pipeline.jobs.voices import Wanted, make_voices
from personare.pipeline.old_attack import run_attack
from personare.pipeline.old_evaluate import Evaluation, evaluate, how_many_sounds, read_pair, split
from personare.pipeline.old_evaluation_page import page_of, table_rows, write_report
from personare.pipeline.recipe import Recipe

RANDOM = Recipe("mcadams", {"alpha": [0.5, 0.9]})


@pytest.fixture(scope="module")
def hidden(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Path]]:
    """Six invented speakers (kept in the cache between runs), original and anonymized."""
    folder = tmp_path_factory.mktemp("evaluation")
    make_voices(folder / "voices", Wanted(6, 4, seed=1, rate_hz=16_000), engine=Pool(2))
    corpus = read_corpus(folder / "voices").corpus
    anonymize(corpus, folder / "anon", RANDOM, engine=Here(), key_file=folder / "key")
    yield folder / "voices", folder / "anon"


@pytest.fixture(scope="module")
def evaluation(hidden: tuple[Path, Path]) -> Evaluation:
    pairs, recipe, _ = read_pair(*hidden, hidden[0].parent / "key")
    return evaluate(pairs, recipe=recipe, engine=Here(), lengths=(1, 2, 5))


def values(evaluation: Evaluation) -> dict[tuple[str, str, int], float]:
    found = {}
    for f in evaluation.findings:
        found[f.metric.name, str(f.conditions["attacker"]), int(f.conditions["L"])] = f.estimate.value
    return found


@pytest.mark.models
def test_attackers_hear_originals_best_and_findings_repeat(evaluation: Evaluation, hidden: tuple[Path, Path]) -> None:
    found = values(evaluation)
    assert {attacker for _, attacker, _ in found} == {"unprotected", "ignorant", "lazy-informed"}
    assert found["eer", "unprotected", 1] <= 0.05 and found["linkability", "unprotected", 1] >= 0.9
    assert found["eer", "ignorant", 1] > found["eer", "unprotected", 1]
    assert found["linkability", "ignorant", 1] < found["linkability", "unprotected", 1]
    pairs, recipe, _ = read_pair(*hidden, hidden[0].parent / "key")
    again = evaluate(pairs, recipe=recipe, engine=Pool(2), lengths=(1, 2, 5))
    assert [f.as_row() for f in again.findings] == [f.as_row() for f in evaluation.findings]


@pytest.mark.models
def test_what_was_not_measured_is_said(evaluation: Evaluation, hidden: tuple[Path, Path]) -> None:
    assert any("L = 5 was not measured" in note for note in evaluation.notes)
    assert any("Not measured here: singling out" in note for note in evaluation.notes)
    pairs, _, _ = read_pair(*hidden, hidden[0].parent / "key")
    without = evaluate(pairs, recipe=None, engine=Here(), lengths=(1,))
    assert [o.attacker for o in without.outcomes] == ["unprotected", "ignorant"]
    assert any("lazy-informed attacker was not played" in note for note in without.notes)


@pytest.mark.models
def test_the_page_is_whole_and_tells_no_secret(
    evaluation: Evaluation, hidden: tuple[Path, Path], tmp_path: Path
) -> None:
    path = write_report(evaluation, tmp_path, title="A <b>test</b>")
    text = path.read_text(encoding="utf-8")
    key = (hidden[0].parent / "key").read_text().strip()
    assert key not in text and "<b>test</b>" not in text and "A &lt;b&gt;test" in text
    assert "http://" not in text.replace("http://www.w3.org", "") and "https://" not in text
    assert text.count("<audio") == 8 and "data:audio/flac" in text and "<svg" in text
    assert "guessing would give 16.7\u00a0%" in text  # number and unit stay on one line
    rows = json.loads((tmp_path / "findings.json").read_text())["findings"]
    assert len(rows) == len(evaluation.findings) and all(r["low"] <= r["value"] <= r["high"] for r in rows)
    again = write_report(evaluation, tmp_path / "again", title="A <b>test</b>")
    assert again.read_text(encoding="utf-8") == text
    head, table = table_rows(evaluation)
    assert all(len(row) == len(head) for row in table) and len(page_of(evaluation, title="").statements) == 5


@pytest.mark.models
def test_the_page_opens_in_a_real_browser_without_complaint(evaluation: Evaluation, tmp_path: Path) -> None:
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        pytest.skip("needs the browser chromium, which is not on this machine")
    page = write_report(evaluation, tmp_path, title="In a browser")
    options = "--headless --no-sandbox --disable-gpu --no-first-run --disable-background-networking --disable-sync"
    more = ["--disable-component-update", "--enable-logging=stderr", f"--user-data-dir={tmp_path / 'profile'}"]
    done = subprocess.run(
        [browser, *options.split(), *more, "--dump-dom", page.as_uri()],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert "What an attacker could say" in done.stdout and "<svg" in done.stdout
    assert not [line for line in done.stderr.splitlines() if "CONSOLE" in line]


def test_enrolment_and_trial_never_share_an_utterance() -> None:
    frame = pl.DataFrame({"utterance": [f"u{i:02d}" for i in range(12)], "speaker": ["a"] * 5 + ["b"] * 6 + ["lonely"]})
    enroll, trial, alone = split(frame, Key.from_seed(1))
    assert not set(enroll["utterance"]) & set(trial["utterance"]) and alone == ["lonely"]
    assert enroll.group_by("speaker").len().sort("speaker")["len"].to_list() == [3, 3]
    shuffled = split(frame.sample(fraction=1.0, shuffle=True, seed=3), Key.from_seed(1))
    assert set(shuffled[0]["utterance"]) == set(enroll["utterance"]), "the split must not depend on the order of rows"
    assert set(split(frame, Key.from_seed(2))[0]["utterance"]) != set(enroll["utterance"])


def test_too_small_a_corpus_is_one_line(small_corpus: Path, tmp_path: Path) -> None:
    corpus = read_corpus(small_corpus).corpus
    one = Corpus(corpus.frame.filter(pl.col("speaker") == "anna"))
    anonymize(one, tmp_path / "out", RANDOM, engine=Here())
    pairs, recipe, _ = read_pair(small_corpus, tmp_path / "out", None)
    assert len(pairs.missing) == 12 and how_many_sounds(pairs, recipe=recipe) == 8
    with pytest.raises(CorpusError, match="at least 2 speakers"):
        evaluate(pairs, recipe=recipe, engine=Here())


def crowd(rng: np.random.Generator, noise: float, speakers: int = 24, each: int = 6) -> tuple[Embeddings, Embeddings]:
    """Speakers as random directions, utterances as those directions with noise; enrolment and trial."""
    centres = rng.standard_normal((speakers, 32))
    names = tuple(f"s{i:02d}" for i in range(speakers) for _ in range(each))
    made = []
    for part in "et":
        rows = np.repeat(centres, each, axis=0) * (noise < 100) + noise * rng.standard_normal((len(names), 32))
        made.append(Embeddings(tuple(f"{part}{i}" for i in range(len(names))), names, rows.astype(np.float32)))
    return made[0], made[1]


def test_attack_on_noise_is_like_guessing_and_on_clear_voices_is_perfect() -> None:
    """Chance comes from the very trials: noise is no success although its EER is below 50 %."""
    genders = {f"s{i:02d}": "fm"[i % 2] for i in range(24)}
    key = Key.from_seed(1)
    noise = run_attack("x", *crowd(np.random.default_rng(1), 100.0), genders=genders, lengths=(1, 3), key=key, failed=0)
    eer, link = noise.findings[:2]
    assert eer.estimate.value < 0.5 and eer.differs_from_chance is False and link.differs_from_chance is False
    assert link.chance_level == pytest.approx(1 / 24) and 0.4 < (eer.chance_level or 0) < 0.5
    clear = run_attack("x", *crowd(np.random.default_rng(1), 0.1), genders=genders, lengths=(1,), key=key, failed=2)
    assert clear.findings[0].estimate.value == 0.0 and clear.findings[1].estimate.value == 1.0
    assert all(f.differs_from_chance and f.failed == 2 for f in clear.findings)
    assert set(clear.linked.values()) == {1.0}


def test_a_speaker_alone_with_a_gender_meets_nobody() -> None:
    """Dealt out anew within a gender of one, they would be dealt to themselves and spoil the chance level."""
    enroll, trial = crowd(np.random.default_rng(1), 100.0)
    alone = {f"s{i:02d}": "m" if i == 0 else "f" for i in range(24)}
    key = Key.from_seed(1)
    found = run_attack("x", enroll, trial, genders=alone, lengths=(1,), key=key, failed=0)
    assert found.findings[0].metric.name == "eer" and found.findings[0].estimate.n == 23
    pair_of = {f"s{i:02d}": f"g{i}" for i in range(24)}
    nobody = run_attack("x", enroll, trial, genders=pair_of, lengths=(1,), key=key, failed=0)
    assert [f.metric.name for f in nobody.findings] == ["linkability"]


def test_impossible_lengths_fail_before_listening(small_corpus: Path, tmp_path: Path) -> None:
    anonymize(read_corpus(small_corpus).corpus, tmp_path / "out", RANDOM, engine=Here())
    pairs, recipe, _ = read_pair(small_corpus, tmp_path / "out", None)
    with pytest.raises(CorpusError, match="L = 5 is not possible: some speaker has only 2 trial utterances"):
        evaluate(pairs, recipe=recipe, engine=Here(), lengths=(5,))


@pytest.mark.models
def test_when_nothing_can_be_heard_the_reason_is_told(small_corpus: Path, tmp_path: Path) -> None:
    anonymize(read_corpus(small_corpus).corpus, tmp_path / "out", RANDOM, engine=Here())
    for path in (tmp_path / "out" / "audio").rglob("*.flac"):
        path.write_bytes(b"spoilt")
    pairs, recipe, _ = read_pair(small_corpus, tmp_path / "out", None)
    with pytest.raises(CorpusError, match=r"nothing could be heard \(first: .*not audio"):
        evaluate(pairs, recipe=recipe, engine=Here(), embedder="ge2e")
