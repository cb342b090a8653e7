"""Another method than the three strengths, in a real browser: chosen by keys, kept, used, named at the end."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from personare.core.weights import missing
from web.servers import fine, page_of, started
from web.test_app_pages import hums, to_people

ANOTHER = "Another method"


def to_strengths(page: Any, speech: Path) -> None:
    to_people(page, speech)
    page.get_by_role("button", name="That is right").click()
    page.get_by_role("heading", name="How strongly?").wait_for()


def chosen_by(folder: Path) -> dict[str, str]:
    """Read from the job's folder what was chosen."""
    (job,) = folder.iterdir()
    facts = json.loads((job / "job.json").read_text())
    return {name: facts[name] for name in ("strength", "method", "language")}


@pytest.mark.parametrize(("width", "dark"), [(1280, False), pytest.param(390, True, marks=pytest.mark.slow)])
def test_a_method_is_chosen_by_keys_heard_kept_and_used(opened: Any, tmp_path: Path, width: int, dark: bool) -> None:
    pytest.importorskip("pyworld", reason="needs the extra 'pitch'")
    jobs, name = tmp_path / "jobs", f"app-method-{width}"
    with started("app", "--no-open", "--folder", jobs) as server, page_of(opened, width=width, dark=dark) as page:
        page.goto(f"{server.address}#{server.token}")
        to_strengths(page, hums(tmp_path / "speech"))
        listed = page.get_by_role("group", name="Which one?")
        assert not listed.is_visible(), "three strengths are enough for most"
        page.get_by_role("radio", name="strong").focus()
        page.keyboard.press("ArrowDown")
        assert page.get_by_role("radio", name=ANOTHER).is_checked() and listed.is_visible()
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.name") == "method"
        while page.evaluate("document.activeElement.value") != "world":
            page.keyboard.press("ArrowDown")
        world = page.get_by_role("radio", name="world")
        assert world.is_checked()
        described = world.evaluate("one => document.getElementById(one.getAttribute('aria-describedby')).textContent")
        assert described == "Another vocal tract length, pitch and breathiness (WORLD vocoder)."
        fine(page, f"{name}-chosen")
        page.get_by_role("button", name="Hear three recordings first").click()
        page.get_by_text("After (world)").nth(2).wait_for()
        assert chosen_by(jobs) == {"strength": "", "method": "world", "language": ""}
        page.reload()  # what was chosen is in the job
        page.get_by_text("After (world)").nth(2).wait_for()
        assert world.is_checked() and page.get_by_role("radio", name=ANOTHER).is_checked() and listed.is_visible()
        fine(page, f"{name}-heard")
        page.get_by_role("button", name="Hide all voices").click()
        page.get_by_text("9 recordings are hidden.").wait_for()
        (job,) = jobs.iterdir()
        assert json.loads((job / "anonymized" / "anonymization.json").read_text())["method"] == "world"
        page.on("dialog", lambda dialog: dialog.accept())
        page.get_by_role("button", name="Choose another method").click()
        page.get_by_role("radio", name="fast").check(force=True)
        assert not listed.is_visible() and not (job / "anonymized").exists()


def test_a_method_without_its_models_says_what_it_needs_and_cannot_be_chosen(
    opened: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PERSONARE_HOME", str(tmp_path / "empty"))
    with started("app", "--no-open", "--folder", tmp_path / "jobs") as server, page_of(opened, width=390) as page:
        page.goto(f"{server.address}#{server.token}")
        to_strengths(page, hums(tmp_path / "speech", people=1, each=1))
        page.get_by_role("radio", name=ANOTHER).check(force=True)
        usc = page.get_by_role("radio", name="usc", exact=True)
        assert usc.is_disabled() and not usc.is_checked()
        said = usc.evaluate(
            "one => one.getAttribute('aria-describedby').split(' ').map(id => document.getElementById(id).textContent)"
        )
        assert said[-1] == "Needs: personare models fetch moonshine swift-f0"
        fine(page, "app-method-absent")


@pytest.mark.slow
@pytest.mark.models
def test_usc_from_a_folder_to_the_verdict_and_a_report_that_names_it(opened: Any, tmp_path: Path) -> None:
    if missing("moonshine", "swift-f0", "ecapa"):
        pytest.skip("needs models: personare models fetch moonshine swift-f0 ecapa")
    with started("app", "--no-open", "--folder", tmp_path / "jobs") as server, page_of(opened) as page:
        page.set_default_timeout(0)
        page.goto(f"{server.address}#{server.token}")
        to_strengths(page, hums(tmp_path / "speech", people=4, each=4))
        page.get_by_role("radio", name=ANOTHER).check(force=True)
        page.get_by_role("radio", name="usc", exact=True).check()
        page.get_by_role("button", name="Hide all voices").click()
        page.get_by_role("button", name="Let attackers listen").click()
        page.get_by_role("heading", name="The verdict").wait_for()
        assert page.locator(".verdict h2").first.inner_text().split(" ", 1)[1].startswith("usc: ")
        fine(page, "app-method-verdict")
        with page.context.expect_page() as waiting:
            page.get_by_role("link", name="Report").click()
        report = waiting.value
        report.wait_for_load_state()
        assert "usc" in report.locator("main, body").first.inner_text()
