"""The pages of the app where recordings are unusable, calls, or hold several people; wide and on a phone."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from personare.web import job_work
from personare.web.job_folders import JobFolder, new_job, new_upload
from web.servers import fine, page_of, started
from web.test_app_pages import hums
from web.test_app_uploads import call, drop_thirty

WIDTHS = [(1280, False), (390, True)]


def opened_job(page: Any, server: Any, title: str) -> None:
    page.goto(f"{server.address}#{server.token}")
    page.get_by_role("button", name=f"Open {title}", exact=True).click()


def read(job: JobFolder, **more: Any) -> None:
    """Read the job's recordings; ``more`` is what a model would have found."""
    assert job_work.main(job.path, "read") == 0
    job.keep("done-read.json", {**job.ended("read"), **more})
    job.change(phase="read", status="idle")


@pytest.mark.parametrize(("width", "dark"), WIDTHS)
def test_what_is_left_out_is_in_plain_sight_and_counts_agree(
    opened: Any, tmp_path: Path, width: int, dark: bool
) -> None:
    job = new_job(tmp_path / "jobs", source="", title="thirty", rule="")
    drop_thirty(job)
    read(job, several=["anna0/talk0", "anna1/talk2"], several_count=2, speakers_checked=12)
    with (
        started("app", "--no-open", "--folder", tmp_path / "jobs") as server,
        page_of(opened, width=width, dark=dark) as page,
    ):
        opened_job(page, server, "thirty")
        page.get_by_role("heading", name="3 people in 12 recordings").wait_for()
        account = page.locator("#account")
        assert "30 recordings found: 12 recordings to anonymize, 8 unreadable, 10 left out." in account.inner_text()
        assert account.get_by_text("loose9.wav").is_visible(), "nothing is folded away"
        assert account.get_by_text("unreadable, holds no samples: ").is_visible()
        assert "jobs/" not in account.inner_text(), "files are named by their place among the recordings"
        assert page.locator("#several").get_by_text("anna1/talk2").is_visible()
        field = page.get_by_label("Name of anna2")
        field.wait_for()
        page.get_by_label("Name of anna0").wait_for()
        assert field.bounding_box()["width"] > 140, "a name can be read while it is typed"
        cut = page.evaluate(
            "() => [...document.querySelectorAll('.scroll')].filter(e => e.scrollWidth > e.clientWidth)"
        )
        assert not cut, "the table fits the screen"
        fine(page, f"app-account-{width}")
        page.get_by_role("button", name="That is right").click()
        page.get_by_role("radio", name="fast").check(force=True)
        page.get_by_role("button", name="Hide all voices").click()
        page.get_by_text("12 recordings are hidden.").wait_for()
        ledger = page.get_by_label("Recordings").inner_text().split()
        assert " ".join(ledger) == "found 30 left out 10 unreadable 8 anonymized 12"
        fine(page, f"app-account-hidden-{width}")


@pytest.mark.parametrize(("width", "dark"), WIDTHS)
def test_calls_are_asked_about_and_each_person_is_heard_alone(
    opened: Any, tmp_path: Path, width: int, dark: bool
) -> None:
    job = new_job(tmp_path / "jobs", source="", title="calls", rule="file")
    for n in range(3):
        call(new_upload(job, f"call{n}.wav"))
    read(job)
    with (
        started("app", "--no-open", "--folder", tmp_path / "jobs") as server,
        page_of(opened, width=width, dark=dark) as page,
    ):
        opened_job(page, server, "calls")
        page.get_by_role("heading", name="6 people in 3 recordings").wait_for()
        page.get_by_text("3 two-channel recordings have another person on each channel.").wait_for()
        page.get_by_label("Name of call2/2").wait_for()
        fine(page, f"app-calls-{width}")
        page.get_by_role("button", name="No, each file is one person").click()
        page.get_by_role("heading", name="3 people in 3 recordings").wait_for()
        page.get_by_text("Both would get the same new voice.").wait_for()
        page.get_by_role("button", name="Each channel is a person").click()
        page.get_by_role("heading", name="6 people in 3 recordings").wait_for()
        page.get_by_role("button", name="That is right").click()
        page.get_by_role("radio", name="fast").check(force=True)
        page.get_by_role("button", name="Hear three recordings first").click()
        page.locator("canvas").nth(5).wait_for()
        assert [h.inner_text() for h in page.locator("section.card h2").all()] == ["call0/1", "call0/2", "call1/1"]
        page.wait_for_function("() => [...document.querySelectorAll('audio')].every(a => a.readyState >= 3)")
        fine(page, f"app-calls-preview-{width}")


def test_a_rejected_preview_is_named_beside_the_others(opened: Any, tmp_path: Path) -> None:
    job = new_job(tmp_path / "jobs", source="", title="one rejected", rule="file")
    for n in range(3):
        call(new_upload(job, f"call{n}.wav"))
    read(job)
    job.change(strength="fast", phase="preview")
    assert job_work.main(job.path, "preview") == 0
    failed = [{"recording": "talk7", "kind": "rejected", "reason": "talk7: no words were recognized"}]
    job.keep("done-preview.json", {**job.ended("preview"), "failed": failed})
    with started("app", "--no-open", "--folder", tmp_path / "jobs") as server, page_of(opened, width=390) as page:
        opened_job(page, server, "one rejected")
        page.get_by_text("1 recording could not be anonymized with fast:").wait_for()
        assert page.locator("#rejected").get_by_text("talk7: no words were recognized").is_visible()
        page.locator("canvas").nth(5).wait_for()
        fine(page, "app-rejected-390")


def test_removing_says_what_remains(opened: Any, tmp_path: Path) -> None:
    speech = tmp_path / "speech"
    call(speech / "call.wav")
    new_job(tmp_path / "jobs", source=str(speech), title="gone", rule="file")
    with started("app", "--no-open", "--folder", tmp_path / "jobs") as server, page_of(opened, width=390) as page:
        asked: list[str] = []

        def accept(dialog: Any) -> None:
            asked.append(dialog.message)
            dialog.accept()

        page.on("dialog", accept)
        page.goto(f"{server.address}#{server.token}")
        page.get_by_role("button", name="Remove gone").click()
        page.get_by_text(f"the original recordings in {speech}").wait_for()
        assert "speaker embeddings and transcripts" in asked[0] and (speech / "call.wav").is_file()
        assert page.evaluate("document.documentElement.scrollWidth") <= 390, "a long path is broken into lines"
        fine(page, "app-removed-390")


def test_the_private_file_leads_a_real_browser_into_the_app(
    opened: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From file:// to the app's own name; its cookie goes to that name only, and the file is gone afterwards."""
    monkeypatch.setenv("BROWSER", "true %s")  # a browser that does nothing
    with started("app", "--folder", tmp_path / "jobs") as server, page_of(opened) as page:
        (door,) = (tmp_path / "jobs").glob("open-*.html")
        page.goto(door.as_uri())
        page.get_by_role("heading", name="Hide voices, and prove it").wait_for()
        assert page.url == server.address and not door.exists()
        (cookie,) = page.context.cookies()
        assert cookie["domain"] == server.host and cookie["httpOnly"] and cookie["sameSite"] == "Strict"
        assert not page.context.cookies(f"http://127.0.0.1:{server.port}/")


def test_links_and_pipes_are_counted_so_that_the_sentence_adds_up(opened: Any, tmp_path: Path) -> None:
    corpus, outside = hums(tmp_path / "corpus", people=2, each=2), hums(tmp_path / "elsewhere", people=1, each=1)
    (corpus / "anna0" / "link.wav").symlink_to(outside / "anna0" / "talk0.wav")
    os.mkfifo(corpus / "anna1" / "live.wav")
    read(new_job(tmp_path / "jobs", source=str(corpus), title="links", rule=""))
    with started("app", "--no-open", "--folder", tmp_path / "jobs") as server, page_of(opened, width=390) as page:
        opened_job(page, server, "links")
        page.get_by_role("heading", name="2 people in 4 recordings").wait_for()
        account = page.locator("#account").inner_text()
        assert "6 recordings found: 4 recordings to anonymize, 1 unreadable, 1 rejected." in account
        assert "link leads out of the corpus" in account and "pipe" in account
        fine(page, "app-account-links")
