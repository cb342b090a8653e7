"""evaluate and attack on given folders: who is played, who is left out and why, what failed, what a page gives away."""

from __future__ import annotations

import csv
import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest

import personare as pn
from conftest import Command
from personare.core.errors import PersonareError, UnknownNameError
from personare.core.seeding import load_or_make_key
from personare.core.tables import Corpus
from personare.reports.run import Run, read_run
from pipeline.blends import answers, answers_in, command, write_blends
from pipeline.tiny import write_embedder

NAMES = ("wilhelmine", "bartholomew", "clothilde", "dagobert", "eulalia")
ALPHA = "alpha=[0.6, 0.9]"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Five people with four utterances each, without parts; anonymized under kept names, and under tokens."""
    folder = tmp_path_factory.mktemp("evaluate")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PERSONARE_HOME", str(folder / "home"))
        write_embedder(folder / "net.onnx")
        write_blends(folder / "corpus", attacked=5, enrolment=2, trial=2, train=0, parts=False, names=NAMES)
        how = ("--method", "mcadams", "--set", ALPHA)
        command("anonymize", folder / "corpus", folder / "kept", *how, "--names", "keep")
        command("anonymize", folder / "corpus", folder / "tokens", *how)
        others = write_blends(folder / "others", attacked=5, enrolment=0, trial=0, train=4)
        some = Corpus.load(folder / "corpus" / "manifest.parquet").frame.filter(pl.col("speaker") == NAMES[0])
        frame = Corpus.load(others / "manifest.parquet").frame
        renamed = some.with_columns(pl.format("x-{}", "utterance").alias("utterance"))
        Corpus(pl.concat([frame, renamed], how="diagonal")).save(others / "manifest.parquet")
        yield folder


def frame_of(place: Path, name: str = "corpus") -> pl.DataFrame:
    return Corpus.load(place / name / "manifest.parquet").frame


def saved(frame: pl.DataFrame, folder: Path) -> Path:
    Corpus(frame).save(folder / "manifest.parquet")
    return folder


def run(place: Path, original: Path, anonymized: Path, out: Path, *words: object, code: int = 0) -> Run:
    """Evaluate at L = 1 by the small embedder, and read the run."""
    how = ["--embedder", f"trained:{place / 'net.onnx'}", "--lengths", "1", "--out", out]
    command("evaluate", original, anonymized, *how, *words, code=code)
    return read_run(out)


def told(found: Run) -> str:
    """All that is noted, in the run folder and by the study itself."""
    return "\n".join([*found.notes, str(found.study.get("notes", ""))])


def levels(found: Run) -> set[object]:
    return {f.conditions["knowledge"] for f in found.findings}


@pytest.fixture(scope="module")
def usual(place: Path) -> Run:
    return run(place, place / "corpus", place / "tokens", place / "usual")


def test_who_cannot_be_played_is_left_out_and_said(usual: Run, place: Path) -> None:
    assert levels(usual) == {"original", "ignorant", "lazy-informed"}
    assert "The informed attacker was not played: there is no speech of other people to learn from" in told(usual)
    words = ["--embedder", f"trained:{place / 'net.onnx'}", "--lengths", "1", "--out", place / "attacked"]
    done = command("attack", place / "corpus", place / "tokens", *words)
    assert answers_in(place / "attacked") == answers(usual.findings), "attack plays the same attackers"
    assert "The informed attacker was not played" in done.stdout
    assert "most exposed to the lazy-informed attacker: " in done.stdout


def test_the_report_says_the_day_and_the_command_without_places(usual: Run, place: Path) -> None:
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", usual.date)
    how = "--embedder trained:./net.onnx --lengths 1 --out ./usual"
    assert usual.command == f"personare evaluate ./corpus ./tokens {how}"
    page = (place / "usual" / "report" / "report.html").read_text(encoding="utf-8")
    assert f"<dd>{usual.date}</dd>" in page and str(place) not in page
    plain = re.sub(r"</?(span|code)>", "", page)
    assert "personare evaluate … … --embedder trained:… --lengths 1 --out …" in plain


def test_the_table_of_attackers_is_there_as_latex_markdown_and_csv(usual: Run, place: Path) -> None:
    report = place / "usual" / "report"
    latex, markdown = ((report / name).read_text(encoding="utf-8") for name in ("tables.tex", "report.md"))
    rows = [row for row in csv.DictReader((report / "findings.csv").open(encoding="utf-8")) if not row["gender"]]
    assert {row["metric"] for row in rows} == {"eer", "linkability"} and len(rows) == 6
    for row in rows:
        found = next(
            f
            for f in usual.findings
            if f.metric.name == row["metric"]
            and f.conditions["attacker"] == row["attacker"]
            and "gender" not in f.conditions
        )
        assert float(row["value"]) == found.estimate.value
        who = "original" if row["attacker"] == "original" else row["attacker"]
        for table, text in ((markdown, found.text.replace("[", "\\[").replace("]", "\\]")), (latex, found.text)):
            wanted = text.replace("%", "\\%") if table is latex else text
            assert any(who in line and wanted in line for line in table.splitlines()), (who, wanted)


def test_running_again_does_nothing_again(usual: Run, place: Path) -> None:
    again = run(place, place / "corpus", place / "tokens", place / "usual")
    assert answers(again.findings) == answers(usual.findings)
    assert (place / "usual" / "log.txt").read_text().splitlines()[-1].endswith("stages done now: 0")


def test_speech_of_others_lets_the_informed_attacker_join(usual: Run, place: Path) -> None:
    found = run(place, place / "corpus", place / "tokens", place / "informed", "--train", place / "others")
    assert levels(found) == {"original", "ignorant", "lazy-informed", "informed"}
    assert "1 attacked speakers are left out of the training speech" in told(found)
    assert "not played" not in told(found)
    shared = {q: a for q, a in answers(found.findings).items() if q in answers(usual.findings)}
    assert shared == answers(usual.findings), "who joins changes nobody else's numbers"


def test_a_method_nobody_names_leaves_out_who_must_know_it(usual: Run, place: Path) -> None:
    foreign = place / "foreign"
    shutil.copytree(place / "kept", foreign)
    (foreign / "anonymization.json").unlink()
    found = run(place, place / "corpus", foreign, place / "unknown")
    assert levels(found) == {"original", "ignorant"}
    assert "The lazy-informed attacker was not played: the method is unknown" in told(found)
    with pytest.raises(PersonareError, match=r"lazy-informed: must anonymize as 'foreign' was; .*--method") as caught:
        command("attack", place / "corpus", foreign, "-k", "lazy-informed", "--embedder", f"trained:{place}/net.onnx")
    assert "\n" not in str(caught.value)
    named = run(place, place / "corpus", foreign, place / "named", "--method", "mcadams", "--set", ALPHA)
    assert levels(named) == {"original", "ignorant", "lazy-informed"}
    kept = run(place, place / "corpus", place / "kept", place / "kept-run")
    assert answers(named.findings) == answers(kept.findings), "as if the folder had said so itself"


def test_a_lost_card_leaves_names_that_only_the_key_pairs(usual: Run, place: Path) -> None:
    bare = place / "bare"
    shutil.copytree(place / "tokens", bare)
    (bare / "anonymization.json").unlink()
    found = run(place, place / "corpus", bare, place / "bare-run", "--key", place / "tokens-private" / "key")
    ignorant = {q: a for q, a in answers(usual.findings).items() if q[2] != "lazy-informed"}
    assert answers(found.findings) == ignorant


def test_every_missing_counterpart_is_a_failure(place: Path) -> None:
    """Three files are missing, whether they would have been enrolled or tested; the exit code tells."""
    lost = [f"{NAMES[0]}-0", f"{NAMES[0]}-1", f"{NAMES[2]}-3"]
    hole = saved(frame_of(place, "kept").filter(~pl.col("utterance").is_in(lost)), place / "hole")
    words = ("--method", "mcadams", "--set", ALPHA)
    found = run(place, place / "corpus", hole, place / "hole-run", *words, code=1)
    assert sorted(item for _, item, _ in found.failures) == sorted(lost)
    assert {why for _, _, why in found.failures} == {"has no anonymized counterpart"}
    tested = [item for stage, item, _ in found.failures if "trial" in stage]
    counted = {f.conditions["knowledge"]: f.failed for f in found.findings}
    assert counted == {"original": 0, "ignorant": len(tested), "lazy-informed": len(tested)}


def test_files_without_an_original_are_noted(usual: Run, place: Path) -> None:
    fewer = saved(frame_of(place).filter(pl.col("speaker") != NAMES[4]), place / "fewer")
    found = run(place, fewer, place / "tokens", place / "fewer-run", "--key", place / "tokens-private" / "key")
    assert "4 anonymized utterances have no original and are not used" in told(found) and not found.failures
    assert {f.estimate.n for f in found.findings if "gender" not in f.conditions} == {4}


def test_people_without_anonymized_speech_are_not_attacked(place: Path) -> None:
    some = saved(frame_of(place, "kept").filter(pl.col("speaker") != NAMES[4]), place / "some")
    found = run(place, place / "corpus", some, place / "some-run")
    assert "1 speaker has no anonymized speech and is not attacked" in told(found) and not found.failures


def test_a_speaker_with_one_utterance_is_left_out(place: Path) -> None:
    last = pl.col("speaker") == NAMES[4]
    lone = saved(frame_of(place).filter(~last | (pl.col("utterance") == f"{NAMES[4]}-0")), place / "lone")
    found = run(place, lone, place / "kept", place / "lone-run")
    assert "1 speakers have too few utterances to be enrolled and tested; they are left out" in told(found)
    assert {f.estimate.n for f in found.findings if "gender" not in f.conditions} == {4}


def test_without_genders_everybody_is_compared_with_everybody(place: Path) -> None:
    found = run(place, saved(frame_of(place).drop("gender"), place / "nog"), place / "kept", place / "nog-run")
    assert "Genders are unknown: all speakers were compared with all." in told(found)
    assert not any("gender" in f.conditions for f in found.findings)
    scores = next(a for a in found.of_kind("scores") if a.conditions["knowledge"] == "ignorant")
    assert len(pl.read_parquet(scores.path)) == 10 * 5


def test_genders_keep_trials_within_them_and_have_numbers_of_their_own(usual: Run) -> None:
    assert "EER compares speakers of the same gender only" in told(usual)
    scores = next(a for a in usual.of_kind("scores") if a.conditions["knowledge"] == "ignorant")
    assert len(pl.read_parquet(scores.path)) == 6 * 3 + 4 * 2  # three and two people with two tests each
    assert {f.conditions.get("gender") for f in usual.findings if f.metric.name == "eer"} == {None, "f", "m"}


def test_a_speaker_alone_with_a_gender_has_no_error_rate(place: Path) -> None:
    men = [NAMES[1], NAMES[3]]
    alone = saved(frame_of(place).filter(~pl.col("speaker").is_in(men[1:])), place / "alone")
    found = run(place, alone, place / "kept", place / "alone-run")
    assert "1 speaker is alone with their gender and left out of error rates" in told(found)
    assert {f.metric.name: f.estimate.n for f in found.findings if "gender" not in f.conditions} == {
        "eer": 3,
        "linkability": 4,
    }


def test_guessed_genders_are_used_and_said_to_be_guesses(
    usual: Run, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a machine guesses fills the gaps; here it is right, and the numbers are those of noted genders."""
    from personare.pipeline.jobs import guess_attributes

    pytest.importorskip("pyworld", reason="needs the extra 'pitch'")
    truth = dict(frame_of(place).select("speaker", "gender").iter_rows())

    def right(voice: guess_attributes.Voice) -> dict[str, str]:
        if voice.speaker == NAMES[4]:
            raise PersonareError("no voice")
        return {"gender": truth[voice.speaker]}

    monkeypatch.setattr(guess_attributes, "guess_voice", right)
    bare = saved(frame_of(place).drop("gender"), place / "bare-genders")
    found = run(place, bare, place / "kept", place / "guessed", "--guess-gender")
    assert "Genders of 4 speakers are predicted" in told(found)
    assert "For 1 speakers nothing could be guessed" in told(found)
    assert "The gender of 1 speakers is not noted" in told(found)
    assert {f.conditions["corpus"] for f in found.findings} == {"bare-genders"}
    noted = run(place, place / "corpus", place / "kept", place / "kept-run")
    men = [{f.conditions["knowledge"]: f.estimate.value for f in r.findings if _of_men(f)} for r in (found, noted)]
    assert men[0] == men[1] and len(men[0]) == 3, "they are compared as if their gender had been noted"
    overall = [f for f in found.findings if f.metric.name == "eer" and "gender" not in f.conditions]
    assert {f.estimate.n for f in overall} == {4}, "who has no gender at all meets nobody"


def _of_men(finding: pn.Finding) -> bool:
    return finding.metric.name == "eer" and finding.conditions.get("gender") == "m"


def test_the_wrong_key_is_one_line_and_exit_2(place: Path, personare: Command) -> None:
    load_or_make_key(place / "wrong.key")
    how = ("--key", place / "wrong.key", "--embedder", f"trained:{place / 'net.onnx'}", "--out", place / "wrong-run")
    done = personare("evaluate", place / "corpus", place / "tokens", *how)
    assert done.code == 2 and done.stderr.count("\n") == 1, done.stderr
    assert done.stderr.startswith("personare: ") and "is it the right key?" in done.stderr


def test_lengths_that_nobody_can_fill_are_left_out_or_refused(place: Path) -> None:
    tested = f"trained:{place / 'net.onnx'}"
    how = {"embedder": tested, "attackers": ["ignorant"], "metrics": ["linkability"]}
    found = pn.evaluate(place / "corpus", place / "kept", utterances_per_trial=[1, 2, 5], **how)  # type: ignore[arg-type]
    assert {f.conditions["L"] for f in found} == {1, 2}
    assert any(
        "left out: attacks by 5 utterances at once (L = 5); the most trial utterances of a speaker are 2" in note
        for note in found.notes
    )
    with pytest.raises(PersonareError, match="L = 5 is impossible, the most trial utterances of a speaker are 2"):
        pn.evaluate(place / "corpus", place / "kept", utterances_per_trial=[5], **how)  # type: ignore[arg-type]


def test_what_an_attacker_lacks_is_one_line(place: Path) -> None:
    words = ["attack", place / "corpus", place / "kept", "--embedder", f"trained:{place / 'net.onnx'}"]
    train = ["--train", place / "others"]
    mistakes: dict[str, list[object]] = {
        "learns from training speech, and there are 0 train speakers; name another corpus (--train": ["-k", "informed"],
        "name it with --train-method": ["-k", "semi-informed", *train],
        "holds fewer than 2 speakers who are not attacked": ["-k", "informed", "--train", place / "corpus"],
        "did you mean 'ignorant'": ["-k", "ignorrant"],
        "did you mean 'plda'": ["--scorer", "pdla"],
        "informed learns, and the scorer cosine cannot": ["-k", "informed", "--scorer", "cosine", *train],
    }
    for line, more in mistakes.items():
        with pytest.raises(PersonareError) as caught:
            command(*words, *more)
        assert line in str(caught.value) and "\n" not in str(caught.value), caught.value
    one = saved(frame_of(place).filter(pl.col("speaker") == NAMES[0]), place / "one")
    with pytest.raises(PersonareError, match="there is 1 speaker; at least 2 must be left to be attacked"):
        pn.evaluate(one, place / "kept", embedder=f"trained:{place / 'net.onnx'}")
    with pytest.raises(UnknownNameError, match="did you mean 'linkability'"):
        pn.evaluate(place / "corpus", place / "kept", embedder=f"trained:{place / 'net.onnx'}", attackers=["ignorant"])[
            "linkabilty"
        ]


def test_speech_that_cannot_be_embedded_is_named_and_counted(place: Path) -> None:
    spoilt = place / "spoilt"
    shutil.copytree(place / "kept", spoilt)
    for path in (spoilt / "audio").rglob("*.flac"):
        path.write_bytes(b"spoilt")
    frame = frame_of(place, "kept").with_columns(pl.col("audio").str.replace("kept", "spoilt", literal=True))
    found = run(place, place / "corpus", saved(frame, spoilt), place / "spoilt-run", code=1)
    assert levels(found) == {"original"}, "what was heard is measured all the same"
    reasons = [why for _, _, why in found.failures]
    assert sum("not audio" in why for why in reasons) == 10
    assert any("none of the speech could be embedded; see failures.tsv" in why for why in reasons)


def every_word(folder: Path) -> str:
    """Everything a report's folder says, in any kind of text file."""
    kinds = (".html", ".md", ".tex", ".csv", ".json", ".svg", ".txt")
    return "\n".join(p.read_text(encoding="utf-8") for p in folder.rglob("*") if p.suffix in kinds).lower()


def test_a_report_names_nobody_and_tells_nothing_said(usual: Run, place: Path) -> None:
    said = every_word(place / "usual" / "report")
    assert "linkability" in said
    key = (place / "tokens-private" / "key").read_text().strip()
    for secret in (*NAMES, "sentence 0", "sentence 3", key, str(place).lower()):
        assert secret not in said, secret
    named = run(place, place / "corpus", place / "tokens", place / "usual", "--names")
    assert named.findings == usual.findings or answers(named.findings) == answers(usual.findings)
    assert any(name in every_word(place / "usual" / "report") for name in NAMES)


def test_findings_on_disk_hold_no_name(usual: Run) -> None:
    rows = json.loads((usual.folder / "findings.json").read_text(encoding="utf-8"))["findings"]
    assert rows and not any(name in json.dumps(rows) for name in NAMES)
