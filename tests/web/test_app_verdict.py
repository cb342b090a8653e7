"""The app's last page for every verdict: what it means for the person, and what may be given away."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from personare.anonymizers.presets import PRESETS
from personare.core.findings import Estimate, Finding
from personare.core.ledger import Ledger
from personare.metrics import card
from personare.web.job_folders import JobFolder, new_job
from personare.web.job_work import in_words
from web.servers import fine, page_of, started

HEAD = ["attacker (* strongest)", "EER [95 %]", "EER chance", "linkability [95 %]", "verdict"]
ROWS = [["lazy-informed *", "23.6 % [17.2, 30.6]", "46.5 %", "61.0 % [48.2, 72.0]", "exposed"]]
# what was decided of what voices were hidden by -> the heading, what comes next, what is said of the recordings, the
# first button
VERDICTS = {
    ("protected", "balanced"): ("Balanced: protected", "try it with more people", "May be given away:", "Report"),
    ("partly protected", "fast"): ("Fast: partly protected", "a greater strength", "May be given away:", "Report"),
    ("not protected", "fast"): (
        "Fast: not protected",
        "Do not give it away as anonymous: choose a greater strength",
        "Hidden, but not protected; not to be given away as anonymous:",
        "Choose another strength",
    ),
    ("not protected", "strong"): (
        "Strong: not protected",
        "there is no greater strength",
        "Hidden, but not protected; not to be given away as anonymous:",
        "Choose another strength",
    ),
    ("not decided", "fast"): ("Fast: not decided", "so few prove nothing", "is not proved yet:", "Report"),
    ("not protected", "usc"): (
        "usc: not protected",
        "Do not give it away as anonymous: choose another method or a strength",
        "Hidden, but not protected; not to be given away as anonymous:",
        "Choose another method",
    ),
}


def judged_job(folder: Path, protection: str, hidden_by: str, **more: Any) -> JobFolder:
    """A job whose attackers have ended; ``more`` is what else the verdict says."""
    job = new_job(folder, source=str(folder), title=f"{protection}, {hidden_by}", rule="")
    job.keep("done-read.json", {"ok": True, "people": 4, "recordings": 12, "notes": []})
    hidden = {"done": 12, "failed": 0, "failures": [], "folder": str(job.anonymized), "private": str(job.private)}
    hidden |= {"ledger": Ledger(12, anonymized=12, speakers_checked=12).to_dict(), "several": []}
    job.keep("done-hide.json", {"ok": True, **hidden})
    told = {"corpus": "c", "method": "m", "protection": protection, "sentence": "In words and numbers.", "next": "x"}
    told |= more
    tables = {"tables": [{"head": HEAD, "rows": ROWS}], "notes": ["A remark."], "evidence": "", "ledger": None}
    job.keep("done-attack.json", {"ok": True, "verdict": "m: x", "verdicts": [told], **tables})
    named = {"strength": hidden_by, "method": ""} if hidden_by in PRESETS else {"strength": "", "method": hidden_by}
    job.change(phase="attack", status="idle", **named)
    return job


@pytest.mark.parametrize(("width", "dark"), [(1280, False), (390, True)])
def test_a_verdict_says_what_to_do_without_commands(opened: Any, tmp_path: Path, width: int, dark: bool) -> None:
    jobs = {key: judged_job(tmp_path / "jobs", *key) for key in VERDICTS}
    with (
        started("app", "--no-open", "--folder", tmp_path / "jobs") as server,
        page_of(opened, width=width, dark=dark) as page,
    ):
        page.goto(f"{server.address}#{server.token}")
        for key, (heading, following, given_away, first) in VERDICTS.items():
            page.get_by_role("button", name=f"Open {', '.join(key)}", exact=True).click()
            page.get_by_role("heading", name=heading).wait_for()
            words = page.locator("main").inner_text()
            assert following in words and given_away in words and "personare " not in words and "--" not in words, words
            assert page.locator(".actions > *").first.inner_text() == first
            zipped = key[0] in ("protected", "partly protected")
            assert page.get_by_role("link", name="ZIP to give away").count() == zipped
            assert page.locator(".numbers td").first.evaluate("one => one.getClientRects().length") == 1
            assert page.locator(".numbers td").first.evaluate("one => one.offsetHeight") < 60, (
                "numbers stay on one line"
            )
            fine(page, f"app-verdict-{'-'.join(key).replace(' ', '-')}-{width}")
            page.get_by_role("link", name="personare").click()
    assert len(jobs) == len(VERDICTS)


# as a verdict of the reports says it: the voice, whether words identify people -> the mark, what is said of the ZIP
MARKS = {
    ("protected", False, "not-shown"): ("good", "May be given away:"),
    ("protected", True, "partly"): ("warn", "Voices are hidden; the words still identify people:"),
    ("not decided", False, "undecided"): ("open", "is not proved yet:"),
    ("not decided", True, "undecided"): ("open", "Voices are hidden; the words still identify people:"),
    ("not protected", True, "exposed"): ("bad", "not to be given away as anonymous:"),
}


def test_the_mark_is_that_of_both_risks(opened: Any, tmp_path: Path) -> None:
    for protection, words, tone in MARKS:
        shown = {"measured": True, "shown": "exposed" if words else "not shown"}
        label = f"voice {protection}{', words identify people' if words else ''}"
        job = judged_job(tmp_path / "jobs", protection, "balanced", verdict=label, tone=tone, by_words=shown)
        job.change(title=f"{protection} {words}")
    with started("app", "--no-open", "--folder", tmp_path / "jobs") as server, page_of(opened) as page:
        page.goto(f"{server.address}#{server.token}")
        for (protection, words, _), (kind, given_away) in MARKS.items():
            page.get_by_role("button", name=f"Open {protection} {words}", exact=True).click()
            heading = f"Balanced: voice {protection}{', words identify people' if words else ''}"
            page.get_by_role("heading", name=heading).wait_for()
            assert page.locator("section.verdict").get_attribute("class") == f"verdict {kind}"
            text = page.locator("main").inner_text()
            assert given_away in text and ("May be given away" in text) == (kind == "good")
            assert (page.get_by_role("link", name="ZIP to give away").count() == 1) == (kind == "good")
            assert page.get_by_role("link", name="ZIP").count() == (protection == "protected")
            page.get_by_role("link", name="personare").click()


def test_what_an_attacker_reached_is_said_without_names_of_metrics() -> None:
    def said(metric: str, attacker: str) -> str:
        return in_words(Finding(card(metric), Estimate(0.25, 0.2, 0.3, 9), {}, chance=0.5), attacker)

    eer, linked = said("eer", "ignorant"), said("linkability", "original")
    assert (
        eer == "The ignorant attacker is wrong about who speaks in 25.0 % [20.0, 30.0] of cases; guessing is in 50.0 %."
    )
    assert linked.startswith("Without protection an attacker picks the right person in 25.0 % [20.0, 30.0] of cases")
    assert "EER" not in eer and "D_sys" in said("dsys", "ignorant"), "other metrics keep their names"
