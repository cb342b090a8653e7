"""The report of a run: everything is there, what is missing is said, and the same run gives the same twice."""

from __future__ import annotations

import csv
import dataclasses
import io
import json
import re
from pathlib import Path

import polars as pl
import pytest

from personare.core.errors import TableError, UnknownNameError
from personare.metrics.literature import keys_in
from personare.reports.blocks import BulletList, Facts, FigureRow, Paragraph, ReportTable, Statements
from personare.reports.page import Page, render
from personare.reports.report import FORMATS, page_of_run, subtitle, write_page, write_run_report
from personare.reports.run import read_run
from personare.reports.sections import verdict
from reports.drawing.overlaps import assert_nothing_is_cut_or_covered
from reports.runs import write_evaluation, write_run, write_small_run

SECTIONS = (
    *(
        "verdict",
        "gate",
        "overview",
        "attackers",
        "criteria",
        "tradeoff",
        "gallery-sizes",
        "attack-bars",
        "disclosure",
        "similarity",
    ),
    *("ranks", "utility", "speakers", "sounds", "failures", "settings", "definitions", "numbers", "environment"),
    "literature",
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_run(tmp_path_factory.mktemp("run"))


@pytest.fixture(scope="module")
def page(folder: Path) -> Page:
    return page_of_run(read_run(folder), sounds="original")


@pytest.fixture(scope="module")
def written(folder: Path, page: Page) -> dict[str, Path]:
    return {path.name: path for path in write_page(page, folder / "report", formats=FORMATS)}


@pytest.fixture(scope="module")
def html(written: dict[str, Path]) -> str:
    return written["report.html"].read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Page:
    return page_of_run(read_run(write_small_run(tmp_path_factory.mktemp("small"))))


@pytest.fixture(scope="module")
def evaluation(tmp_path_factory: pytest.TempPathFactory) -> Page:
    return page_of_run(read_run(write_evaluation(tmp_path_factory.mktemp("evaluation"))))


def test_the_page_has_every_section_and_needs_nothing_else(html: str) -> None:
    assert re.findall(r'<h2 id="([^"]+)"', html) == list(SECTIONS)
    outside = html.replace("http://www.w3.org/", "")
    assert "http://" not in outside and "https://" not in outside and "<script" not in html and "@import" not in html
    assert not re.search(r'(src|href)="(?!data:|#)', html), "only data in the page itself, and places in it"
    assert len(html) < 6_000_000


def test_names_from_a_corpus_cannot_become_markup(html: str, written: dict[str, Path]) -> None:
    assert "<two>" not in html and "Two methods &amp; &lt;two&gt; attackers" in html
    assert "b1 <x>" not in html and "b1 &lt;x&gt;" in html and "A &amp; B &lt;c&gt;" in html
    assert "<x>" not in written["report.md"].read_text(encoding="utf-8").replace("&lt;x>", "")


def test_each_risk_is_a_sentence_with_number_interval_chance_and_outcome(page: Page) -> None:
    sentences = page.statements
    linked = next(s for s in sentences if s.startswith("b2: “I know the method") and "3 utterances I pick" in s)
    assert re.search(r"out of 12 in \d+\.\d % \[\d+\.\d, \d+\.\d\] of cases; guessing would give 8\.3 %", linked)
    safe = next(
        s
        for s in sentences
        if s.startswith("b1 <x>: “I do not know that voices were changed. From one utterance I pick")
    )
    tones = {s.sentence: s.tone for b in page.blocks() if isinstance(b, Statements) for s in b.statements}
    assert tones[linked] == "exposed" and tones[safe] == "unproven", "green only where the whole verdict is"
    assert any(s.startswith("Without protection: “Nothing is hidden from me.") for s in sentences)
    assert any("guess the speaker's gender" in s for s in sentences)


def test_the_gate_and_the_three_criteria(page: Page, small: Page) -> None:
    gate = next(t for t in page.tables if t.name == "gate")
    assert [row[0] for row in gate.rows] == ["NOT kept", "NOT kept", "kept"] and gate.rows[1][4] == "not measured"
    assert "2 of 3 bounds are not kept: the gate is closed." in page.statements
    criteria = next(t for t in page.tables if t.name == "criteria")
    assert {row[0] for row in criteria.rows} == {"Singling out", "Linkability", "Inference"}
    outcomes = {row[0]: row[6] for row in next(t for t in small.tables if t.name == "criteria").rows}
    assert outcomes["Singling out"] == outcomes["Inference"] == "not measured"
    assert outcomes["Linkability"] == "better than guessing"


def test_what_was_compared_comes_from_the_run_folder(page: Page) -> None:
    tables = {t.name: {row[0]: row for row in t.rows} for t in page.tables}
    assert tables["methods"]["b2"][1:] == ["mcadams: Resonances moved.", "alpha = 0.5 to 0.9", "Paper of B2, 2021"]
    assert tables["attackers"]["ignorant"][3] == "Paper of GE2E, 2018"
    assert tables["listeners"]["moonshine"][1:] == ["moonshine: Words.", "-", "Paper of Moonshine, 2024"]
    assert page.facts["method b2"] == "mcadams-1"


def test_of_several_corpora_the_number_of_attacked_people_is_said_of_each(folder: Path) -> None:
    run = read_run(folder)
    (name,) = {finding.conditions["corpus"] for finding in run.findings if "corpus" in finding.conditions}
    people = max(finding.estimate.n for finding in run.findings if "attacker" in finding.conditions)
    assert f"; {people} attacked speakers; corpus {name}" in subtitle(run)
    fewer = [
        dataclasses.replace(
            finding,
            estimate=dataclasses.replace(finding.estimate, n=3),
            conditions={**finding.conditions, "corpus": "other"},
        )
        for finding in run.findings
        if "attacker" in finding.conditions
    ]
    two = dataclasses.replace(run, findings=(*run.findings, *fewer))
    assert f"; {people} and 3 attacked speakers; corpus {name}, other" in subtitle(two)
    assert verdict.tested(two)["people"].startswith(f"{people} and 3 attacked, searched among ")


def test_what_nobody_asked_for_is_one_line_at_the_end(small: Page, evaluation: Page) -> None:
    assert [s.name for s in small.sections] == [
        *("verdict", "attackers", "criteria", "attack-bars", "failures", "settings", "definitions", "numbers"),
        *("environment", "unmeasured", "literature"),
    ]
    shown = [s.name for s in evaluation.sections]
    assert shown == [
        *("verdict", "attackers", "criteria", "attack-bars", "speakers", "sounds", "failures", "settings"),
        *("definitions", "numbers", "environment", "unmeasured", "literature"),
    ]
    assert not [b for s in evaluation.sections for b in s.blocks if b.kind == "notice"], "no box for what is not there"
    last = evaluation.sections[-2].blocks
    assert len(last) == 1 and isinstance(last[0], Paragraph)
    line = last[0].text
    assert line.startswith("Not measured in this run: the privacy gate (no bounds are stated); ")
    for name in ("privacy against utility", "ZEBRA", "similarity of voices", "rank percentiles", "words", "by gender"):
        assert name in line
    assert "EER" not in line and render(evaluation).count("<figure>") == 6


def test_the_first_screen_says_the_verdict_the_next_step_and_what_was_tested(evaluation: Page) -> None:
    first = evaluation.sections[0]
    assert [type(block) for block in first.every_block] == [Statements, ReportTable, FigureRow, Facts]
    (card,) = first.blocks[0].statements if isinstance(first.blocks[0], Statements) else ()
    assert card.label == "mcadams: voice not protected" and card.tone == "exposed"
    assert card.sentence == (
        "By voice: everybody who was played (ignorant and lazy-informed) does better than guessing. From 3 utterances "
        "the lazy-informed attacker picks the right person out of 12 in 89.4 % [79.4, 99.4] of cases; guessing gives "
        "8.3 %, speech without protection 99.9 %. Of the unprotected risk 88.5 % remains. 1 of 12 people "
        "is linked every time. Risk by words: not measured, because no attacker read the words."
    )
    assert card.next_step.startswith("do not release it as anonymous; use a stronger method")
    assert [figure.name for figure in evaluation.figures[:1]] == ["verdict"]
    tested = first.aside[-1].entries if isinstance(first.aside[-1], Facts) else {}
    assert tested == {
        "corpus": "demo",
        "people": "12 attacked, searched among 12",
        "utterances": "72 attacked",
        "date": "2026-03-02",
        "version": "personare 0.1.0",
        "command": "personare evaluate … … --method … --key … --jobs 2",
    }


def test_a_next_step_that_all_share_is_said_once(page: Page) -> None:
    cards = page.sections[0].blocks[0]
    assert isinstance(cards, Statements) and [s.label.partition(":")[0] for s in cards.statements] == [
        "b1 <x>",
        "b2",
        "",
    ]
    assert [bool(s.next_step) for s in cards.statements] == [False, False, True]


def test_an_evaluation_shows_the_strongest_attack_first_and_original_speech_last(evaluation: Page) -> None:
    risks, table = evaluation.tables[:2]
    assert [row[:5] for row in risks.rows] == [
        ["mcadams", "by voice", "lazy-informed", "3", "12"],
        ["mcadams", "by words", "not measured", "-", "-"],
    ]
    assert table.head[0].startswith("attacker") and [row[0] for row in table.rows] == [
        *("lazy-informed *", "lazy-informed", "ignorant", "ignorant", "original", "original")
    ]
    assert [row[-1] for row in table.rows[-2:]] == ["unprotected"] * 2 and table.rows[0][-1] == "exposed"
    counted = [b.sentences for b in evaluation.blocks() if isinstance(b, BulletList)]
    ties = "0 of 12 people are linked in all of their tests (guessing: up to 1.0), 0 in none."
    assert [f"mcadams (lazy-informed attacker, L = 1): {ties}"] in counted


def test_everything_that_is_cited_is_listed_at_the_end(page: Page, html: str) -> None:
    last = page.sections[-1]
    assert last.title == "Literature" and isinstance(last.blocks[0], BulletList)
    listed = list(last.blocks[0].sentences)
    for finding in page.findings:
        for key in keys_in(finding.metric.cite):
            assert any(sentence.startswith(f"{key}: ") for sentence in listed), key
    assert {"Paper of B1, 2020.", "Paper of B2, 2021.", "Paper of GE2E, 2018.", "Paper of Moonshine, 2024."} <= set(
        listed
    )
    assert html.index(">Literature</h2>") > html.index(">Every number</h2>")


def test_every_figure_of_the_papers_is_drawn_as_svg_and_pdf(written: dict[str, Path]) -> None:
    names = {name.removesuffix(".svg") for name in written if name.endswith(".svg")}
    wanted = {
        *(
            "linkability-demo-b2-L1",
            "linkability-demo-b2-L3",
            "singling-out-demo-b1-x-L1",
            "eer-bars-demo-L1",
            "linkability-bars-demo-L3",
            "wer-demo",
        ),
        *("ece-demo-lazy", "ranks-demo-lazy-link", "exposed-demo-b2"),
        *("similarity-demo-b2-ge2e-f", "similarity-demo-b2-ge2e-m", "deid-gvd-demo-ge2e-f", "deid-gvd-demo-ge2e-m"),
        *("gender-demo-linkability", "tradeoff-demo-linkability-wer", "tradeoff-demo-linkability-dnsmos"),
    }
    assert wanted <= names, wanted - names
    for name in names:
        drawn = written[f"{name}.svg"].read_text(encoding="utf-8")
        assert "var(--" not in drawn and "currentColor" not in drawn, "a picture on its own has colours of its own"
        assert written[f"{name}.pdf"].read_bytes().startswith(b"%PDF-1.4")
    legend = written["ece-demo-lazy.svg"].read_text(encoding="utf-8")
    assert re.search(r"b2 \(0\.\d\d, \d\.\d\d, [0A-F]\)", legend) and "zero evidence" in legend
    assert "guessing" in written["linkability-demo-b2-L1.svg"].read_text(encoding="utf-8")


def test_no_word_in_a_figure_is_cut_or_covers_another(page: Page, evaluation: Page, small: Page) -> None:
    figures = [*page.figures, *evaluation.figures, *small.figures]
    assert len(figures) > 25
    for figure in figures:
        assert_nothing_is_cut_or_covered(figure.scene)


def test_markdown_latex_csv_and_json_tell_the_same_findings(folder: Path, written: dict[str, Path]) -> None:
    findings = read_run(folder).findings
    rows = list(csv.DictReader(io.StringIO(written["findings.csv"].read_text(encoding="utf-8"))))
    told = json.loads(written["findings.json"].read_text(encoding="utf-8"))["findings"]
    assert len(rows) == len(told) == len(findings)
    assert [float(r["value"]) for r in rows] == [f.estimate.value for f in findings] == [r["value"] for r in told]
    assert {"anonymizer", "attacker", "L", "N", "gender"} <= set(rows[0])
    tex, text = (written[name].read_text(encoding="utf-8") for name in ("tables.tex", "report.md"))
    assert tex.count(r"\toprule") == tex.count(r"\bottomrule") >= 6 and r"\begin{longtable}" in tex
    bodies = re.sub(r"(?m)^%.*$", "", tex)
    assert not re.search(r"(?<!\\)[%#$]", bodies.replace(r"\$", "").replace("$\\infty$", "")), (
        "special characters are escaped"
    )
    assert r"45.0 \%" in tex or re.search(r"\d\.\d \\%", tex)
    assert text.startswith("# Two methods &amp; &lt;two> attackers") and "![" in text
    for link in re.findall(r"\]\((figures/[^)]+)\)", text):
        assert (written["report.md"].parent / link).is_file()


def test_the_same_run_gives_the_same_bytes(folder: Path, written: dict[str, Path], tmp_path: Path) -> None:
    again = write_run_report(folder, out=tmp_path / "again", formats=("html", "latex", "csv"), sounds="original")
    for path in again:
        if path.suffix in (".html", ".tex", ".csv"):
            assert path.read_bytes() == written[path.name].read_bytes()
    assert not (tmp_path / "again" / "report.md").exists()


def test_mistakes_are_one_line(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(TableError, match=r"is no run folder .* personare study run"):
        read_run(tmp_path)
    with pytest.raises(UnknownNameError, match="no format 'htm'; did you mean 'html'"):
        write_run_report(folder, formats=("htm",))
    run = write_small_run(tmp_path / "odd")
    (run / "gate.json").write_text("{", encoding="utf-8")
    with pytest.raises(TableError, match=r"gate\.json: cannot be read as JSON"):
        read_run(run)
    (run / "gate.json").write_text("[]", encoding="utf-8")
    (run / "artefacts.json").write_text(json.dumps([{"kind": "clip", "file": "../../secret.wav"}]), encoding="utf-8")
    with pytest.raises(TableError, match="lies outside the run folder"):
        read_run(run)
    (run / "artefacts.json").write_text(json.dumps([{"kind": "clip", "file": "gone.wav"}]), encoding="utf-8")
    assert "gone.wav is listed in artefacts.json, but is not there" in read_run(run).notes
    frame = pl.read_parquet(run / "findings.parquet").drop("value")
    frame.write_parquet(run / "findings.parquet")
    with pytest.raises(TableError, match="needs a column 'value'"):
        read_run(run)


def test_a_metric_from_a_plugin_keeps_its_own_words(tmp_path: Path) -> None:
    run = write_small_run(tmp_path)
    frame = pl.read_parquet(run / "findings.parquet")
    strange = frame.with_columns(metric=pl.lit("mine"), title=pl.lit("My number"), better=pl.lit("higher"))
    strange.write_parquet(run / "findings.parquet")
    finding = read_run(run).findings[0]
    assert finding.metric.title == "My number" and finding.metric.better == "higher"
    assert "My number" in render(page_of_run(read_run(run)))


def test_all_formats_have_a_name() -> None:
    assert set(FORMATS) == {"html", "markdown", "latex", "csv", "json", "figures"}
