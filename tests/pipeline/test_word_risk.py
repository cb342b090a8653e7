"""The risk by words through the commands: who reads by default, what is read, and that all outputs give two numbers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import personare as pn
from personare.core.findings import WORDS_NOT_MEASURED
from personare.core.tables import Corpus
from personare.pipeline import attack_sets
from personare.pipeline.study import AttackerChoice, CorpusChoice, Study
from personare.reports.evidence import evidence_pdf
from personare.reports.run import read_run
from personare.web.job_folders import new_job
from personare.web.job_work import Progress, attack
from pipeline.blends import command, write_blends
from reports.test_evidence import words_of

PEOPLE = 8
TOPICS = ("whale", "garden", "ledger", "engine", "fever", "violin", "glacier", "bakery")
READS = AttackerChoice("ignorant", "vocabulary", "idf")


def written(folder: Path, text: str = "the {topic} of today") -> Path:
    """Write voices, everybody with a topic of their own; ``text`` is what they say, "" for no texts."""
    write_blends(folder, attacked=PEOPLE, train=0, parts=False)
    frame = pn.read_corpus(folder).frame
    topic = {who: TOPICS[i % len(TOPICS)] for i, who in enumerate(sorted(set(frame["speaker"])))}
    texts = [text.format(topic=topic[who]) for who in frame["speaker"]]
    said = frame.drop("text") if not text else frame.with_columns(pl.Series("text", texts))
    Corpus(said).save(folder / "manifest.parquet")
    return folder


@pytest.fixture(scope="module")
def spoken(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A corpus with texts, anonymized."""
    place = tmp_path_factory.mktemp("words")
    written(place / "corpus")
    command("anonymize", place / "corpus", place / "hidden", "--method", "mcadams")
    return place


@pytest.fixture
def cheap(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let attackers by voice hear with what costs nothing; who reads stays as it is."""
    monkeypatch.setattr(attack_sets, "EMBEDDERS", ("energy",))
    monkeypatch.setattr(attack_sets, "VOICE", "energy")
    monkeypatch.setattr(attack_sets, "PLAIN", "energy")


@pytest.mark.usefixtures("cheap")
def test_every_output_of_evaluate_gives_both_risks_alike(spoken: Path) -> None:
    how = [spoken / "corpus", spoken / "hidden", "--lengths", "1,3", "--out", spoken / "run"]
    told = json.loads(command("evaluate", *how, "--json").stdout)
    shown = command("evaluate", *how).stdout
    (verdict,) = told["verdicts"]
    voice, words = verdict["by_voice"], verdict["by_words"]
    assert voice["measured"] and words["measured"] and words["attacker"] == "words" and words["value"] == 1.0
    assert (words["L"], words["N"], words["chance"], words["shown"]) == (1, PEOPLE, 1 / PEOPLE, "exposed")
    assert verdict["verdict"].endswith("words identify people") and verdict["tone"] != "not-shown"
    line = "By words: from one utterance the attacker "
    run = read_run(spoken / "run")
    page = (spoken / "run" / "report" / "report.md").read_text(encoding="utf-8")
    html = (spoken / "run" / "report" / "report.html").read_text(encoding="utf-8").replace("\N{NO-BREAK SPACE}", " ")
    pdf = " ".join(words_of(evidence_pdf(run)).split())
    for text in (shown, page, html, pdf):
        assert "By voice: " in text and line in text and "12.5 %" in text, text[:500]
        assert "picks the right person out of 8 in 100.0 %" in text and "67.6, 100.0" in text
    assert {"words", "ignorant"} <= {f.conditions["attacker"] for f in run.findings}
    by_python = pn.evaluate(spoken / "corpus", spoken / "hidden", utterances_per_trial=[1, 3])
    assert by_python.to_json()["verdicts"] == told["verdicts"] and verdict["sentence"] in by_python.verdict
    assert by_python.strongest(by="words").estimate.value == 1.0


@pytest.mark.usefixtures("cheap")
def test_the_app_gives_what_evaluate_gives(spoken: Path, tmp_path: Path) -> None:
    job = new_job(tmp_path, source=str(spoken / "corpus"), title="x", rule="")
    for name, source in (("speech", spoken / "corpus"), ("anonymized", spoken / "hidden")):
        target: Path = getattr(job, name)
        if not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            target.symlink_to(source / "manifest.parquet" if target.suffix else source)
    job.private.symlink_to(spoken / "hidden-private")
    told: Any = attack(job, Progress(job, "attack"))
    (verdict,) = told["verdicts"]
    assert verdict["by_words"]["value"] == 1.0 and verdict["by_voice"]["measured"]
    assert "words identify people" in verdict["verdict"] and "By words: " in told["verdict"]


@pytest.mark.usefixtures("cheap")
def test_without_texts_the_result_says_why_nobody_read(tmp_path: Path) -> None:
    written(tmp_path / "corpus", "")
    command("anonymize", tmp_path / "corpus", tmp_path / "hidden", "--method", "mcadams")
    done = command("evaluate", tmp_path / "corpus", tmp_path / "hidden", "--lengths", "1", "--quick", "--json")
    told = json.loads(done.stdout)
    (verdict,) = told["verdicts"]
    assert verdict["by_words"]["measured"] is False and verdict["by_words"]["why"].startswith(WORDS_NOT_MEASURED)
    assert "the corpus has no texts and no recognizer listened; give the corpus a column text" in verdict["sentence"]
    assert not told["failures"] and "words" not in {f["conditions"]["attacker"] for f in told["findings"]}


@pytest.mark.usefixtures("cheap")
@pytest.mark.parametrize(("lacking", "measured"), [(0.05, True), (0.4, False)])
def test_a_few_utterances_without_a_text_have_nothing_to_read(
    spoken: Path, tmp_path: Path, lacking: float, measured: bool
) -> None:
    frame = pn.read_corpus(spoken / "corpus").frame.sort("utterance")
    keep = pl.int_range(pl.len()) >= round(lacking * len(frame))
    some = Corpus(frame.with_columns(pl.when(keep).then(pl.col("text")).alias("text")))
    key = spoken / "hidden-private" / "key"
    result = pn.evaluate(some, spoken / "hidden", key=key, quick=True, utterances_per_trial=[1], out=tmp_path / "run")
    assert not result.failures, "they are no failures: an attacker who has nothing to read guesses"
    assert result.to_json()["verdicts"][0]["by_words"]["measured"] is measured
    assert ("attacked utterances have a text" in result.verdict) is not measured


def study(corpus: Path, attackers: dict[str, AttackerChoice], listeners: tuple[str, ...]) -> Study:
    corpora = {"speech": CorpusChoice(path=corpus / "manifest.parquet", one_sided="drop")}
    how: dict[str, Any] = {"listeners": listeners, "utterances_per_trial": (1,), "clips": 0}
    return Study("x", corpora, {"original": {}, "b2": {"method": "mcadams"}}, attackers, skip_impossible=True, **how)


def eers(result: pn.Results) -> dict[str, float]:
    found = [f for f in result["eer"] if "gender" not in f.conditions]
    return {str(f.conditions["anonymizer"]): f.estimate.value for f in found}


def test_where_the_study_recognizes_the_trial_speech_these_words_are_read(spoken: Path, tmp_path: Path) -> None:
    """The plug-in hears the same word in everything: an attacker who reads it guesses, whatever the corpus writes."""
    attackers = {"words": READS}
    as_written = pn.run_study(study(spoken / "corpus", attackers, ()), tmp_path / "written")
    assert eers(as_written) == {"original": 0.0, "b2": 0.0}
    heard = pn.run_study(study(spoken / "corpus", attackers, ("listener_plugins:Spelling",)), tmp_path / "heard")
    assert eers(heard) == {"original": 0.5, "b2": 0.5}
    listened = [p for p in (tmp_path / "heard" / "stages").glob("listen-*") if p.is_dir()]
    assert len(listened) == 2, "before and after anonymization, each once, also for the error rate of words"


def test_without_texts_both_sides_are_recognized(tmp_path: Path) -> None:
    written(tmp_path / "corpus", "")
    chosen = study(tmp_path / "corpus", {"words": READS}, ("listener_plugins:Spelling",))
    result = pn.run_study(chosen, tmp_path / "run")
    assert eers(result) == {"original": 0.5, "b2": 0.5} and not result.failures
    listened = [p for p in (tmp_path / "run" / "stages").glob("listen-*") if p.is_dir()]
    assert len(listened) == 3, "the enrolment speech, once, as it was"


def test_who_reads_where_nobody_is_named() -> None:
    alone, trained = attack_sets.word_set(), attack_sets.word_set(learnt_from=8)
    assert alone.attackers == {"words": READS} and not alone.notes
    assert list(trained.attackers) == ["words", "words, trained"]
    assert trained.attackers["words, trained"] == AttackerChoice("ignorant", "words", "chosen")
    nobody = attack_sets.word_set(why_not="there is nothing to read")
    assert not nobody.attackers and nobody.notes == (f"{WORDS_NOT_MEASURED} there is nothing to read.",)
