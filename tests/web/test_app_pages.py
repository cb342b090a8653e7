"""The app in a real browser, on sounds made by code and on real speech: the whole way, reload, pause, restart."""

from __future__ import annotations

import time
import zipfile
from pathlib import Path
from typing import Any

import pytest

from conftest import hum
from personare.core.audio import write
from personare.web.job_folders import JobFolder
from personare.web.job_work import pack
from web.servers import Gate, fine, page_of, started


def hums(folder: Path, *, people: int = 3, each: int = 3) -> Path:
    """Recordings in one folder per person."""
    for p in range(people):
        for n in range(each):
            write(folder / f"anna{p}" / f"talk{n}.wav", hum(10 * p + n, duration_s=0.6, f0_hz=100.0 + 20 * p))
    return folder


def to_people(page: Any, speech: Path) -> None:
    page.get_by_label("Folder on this machine").fill(str(speech))
    page.get_by_role("button", name="Use this folder").click()
    page.get_by_role("button", name="That is right").wait_for()


@pytest.mark.parametrize(("width", "dark"), [(1280, False), pytest.param(390, True, marks=pytest.mark.slow)])
def test_from_a_folder_to_hidden_voices(opened: Any, tmp_path: Path, width: int, dark: bool) -> None:
    speech, name = hums(tmp_path / "speech"), f"app-{width}-{'dark' if dark else 'light'}"
    with (
        started("app", "--no-open", "--folder", tmp_path / "jobs") as server,
        page_of(opened, width=width, dark=dark) as page,
    ):
        page.goto(f"{server.address}#{server.token}")
        page.get_by_role("heading", name="Hide voices, and prove it").wait_for()
        assert server.token not in page.url
        page.get_by_text("folders and").wait_for()
        fine(page, f"{name}-home")
        to_people(page, speech)
        page.get_by_role("heading", name="3 people in 9 recordings").wait_for()
        page.get_by_label("Name of anna2").wait_for()
        page.get_by_label("Name of anna2").fill("anna1")  # they are one person after all
        page.get_by_label("Name of anna2").press("Enter")
        page.get_by_text("anna2 is anna1").wait_for(state="attached")  # said when it is kept
        fine(page, f"{name}-people")
        page.reload()  # the job is in the address
        assert page.get_by_label("Name of anna2").input_value() == "anna1"
        page.get_by_role("button", name="That is right").click()
        page.get_by_role("radio", name="fast").check(force=True)
        page.get_by_role("button", name="Hear three recordings first").click()
        page.locator("canvas").nth(5).wait_for()
        page.wait_for_function("() => [...document.querySelectorAll('audio')].every(a => a.readyState >= 3)")
        page.wait_for_function(
            "() => [...document.querySelectorAll('canvas')].every(c => c.width > 1 && c.height === 256)"
        )
        fine(page, f"{name}-strength")
        page.get_by_role("button", name="Hide all voices").click()
        page.get_by_role("button", name="Let attackers listen").wait_for()
        page.get_by_text("9 recordings are hidden.").wait_for()
        fine(page, f"{name}-hidden")
        assert not page.get_by_role("link", name="ZIP").count(), "nobody has attacked it"
        job = next((tmp_path / "jobs").iterdir())
        pack(JobFolder(job))
        inside = zipfile.ZipFile(job / "anonymized.zip").namelist()
        assert sum(n.endswith(".flac") for n in inside) == 9 and not any("anna" in n or "key" in n for n in inside)
        assert (job / "anonymized-private" / "key").is_file()
        assert len(list((job / "anonymized").rglob("*.flac"))) == 9
        page.on("dialog", lambda dialog: dialog.accept())
        page.get_by_role("button", name="Choose another strength").click()
        page.get_by_role("heading", name="How strongly?").wait_for()
        assert not (job / "anonymized").exists() and not (job / "anonymized-private").exists()


def flat_hums(folder: Path) -> list[str]:
    """48 recordings of 4 people in one folder, and something that is no recording."""
    names = []
    for number, path in enumerate(sorted(hums(folder / "speech", people=4, each=12).rglob("*.wav"))):
        target = folder / "flat" / f"{path.parent.name}_{number}.wav"  # one folder: names must differ
        target.parent.mkdir(exist_ok=True)
        target.write_bytes(path.read_bytes())
        names.append(str(target))
    (folder / "flat" / "notes.txt").write_text("no sound")
    return names


def test_dropped_files_pause_restart_and_cancel(opened: Any, tmp_path: Path) -> None:
    files, jobs, gate = flat_hums(tmp_path), tmp_path / "jobs", Gate(tmp_path / "gate")
    gate.let_through(8)
    with started("app", "--no-open", "--folder", jobs, gate=gate) as server, page_of(opened) as page:
        page.goto(f"{server.address}#{server.token}")
        page.locator("#files").set_input_files(files)
        page.get_by_role("heading", name="48 people in 48 recordings").wait_for()
        page.get_by_label("Who speaks").select_option("*")
        page.get_by_label("Pattern of file names").fill("{speaker}_{rest}")
        page.get_by_role("button", name="Look again").click()
        page.get_by_role("heading", name="4 people in 48 recordings").wait_for()
        page.get_by_role("button", name="That is right").click()
        page.get_by_role("radio", name="fast").check(force=True)
        page.get_by_role("button", name="Hide all voices").click()
        page.get_by_text("8 of 48").wait_for()
        pause = page.get_by_role("button", name="Pause").element_handle()
        gate.let_through(12)
        page.get_by_text("12 of 48").wait_for()
        assert pause.evaluate("button => button.isConnected"), "a button that is being pressed must not be replaced"
        shown = page.evaluate("document.querySelector('progress').value")
        assert shown == pytest.approx(12 / 48), "recordings of one length"
        page.get_by_role("button", name="Pause").click()
        page.get_by_role("button", name="Go on").wait_for()
        page.get_by_text("Paused at 12 of 48").wait_for()
        fine(page, "app-paused")
        page.get_by_role("button", name="Go on").click()
        page.get_by_role("button", name="Pause").wait_for()
        server.kill()  # in the middle of the work
    gate.let_through(1000)
    with started("app", "--no-open", "--folder", jobs, gate=gate) as server, page_of(opened) as page:
        page.goto(f"{server.address}#{server.token}")
        page.get_by_role("button", name="Open Dropped recordings").click()
        page.get_by_text("48 recordings are hidden.").wait_for()  # it went on by itself
        page.get_by_role("link", name="personare").click()
        page.on("dialog", lambda dialog: dialog.accept())
        page.get_by_role("button", name="Remove Dropped recordings").click()
        page.get_by_role("button", name="Remove Dropped recordings").wait_for(state="detached")
    assert not any(jobs.iterdir())


def test_a_pause_that_comes_when_everything_is_done_shows_that_it_is_done(opened: Any, tmp_path: Path) -> None:
    jobs, gate = tmp_path / "jobs", Gate(tmp_path / "gate")
    gate.let_through(4)

    def first_the_end(route: Any) -> None:
        gate.let_through(1000)
        for _ in range(15_000):  # as patient as the page
            if list(jobs.glob("*/done-hide.json")):
                break
            time.sleep(0.02)
        route.continue_()

    with started("app", "--no-open", "--folder", jobs, gate=gate) as server, page_of(opened) as page:
        page.goto(f"{server.address}#{server.token}")
        to_people(page, hums(tmp_path / "speech"))
        page.get_by_role("button", name="That is right").click()
        page.get_by_role("radio", name="fast").check(force=True)
        page.get_by_role("button", name="Hide all voices").click()
        page.get_by_text("4 of 9").wait_for()
        page.route("**/act", first_the_end)
        page.get_by_role("button", name="Pause").click()
        page.get_by_text("9 recordings are hidden.").wait_for()
        page.get_by_role("button", name="Let attackers listen").wait_for()
        page.reload()
        page.get_by_text("9 recordings are hidden.").wait_for()


def test_cancelling_is_asked_about_and_removes_what_was_made_with_its_key(opened: Any, tmp_path: Path) -> None:
    jobs, gate, answers = tmp_path / "jobs", Gate(tmp_path / "gate"), [False, True]
    gate.let_through(4)
    with started("app", "--no-open", "--folder", jobs, gate=gate) as server, page_of(opened) as page:
        page.on("dialog", lambda dialog: dialog.accept() if answers.pop(0) else dialog.dismiss())
        page.goto(f"{server.address}#{server.token}")
        to_people(page, hums(tmp_path / "speech"))
        page.get_by_role("button", name="That is right").click()
        page.get_by_role("radio", name="fast").check(force=True)
        page.get_by_role("button", name="Hide all voices").click()
        page.get_by_text("4 of 9").wait_for()
        job = next(jobs.iterdir())
        page.get_by_role("button", name="Cancel").click()  # a slip
        page.get_by_text("4 of 9").wait_for()
        assert (job / "anonymized-private" / "key").is_file()
        page.get_by_role("button", name="Cancel").click()
        page.get_by_role("heading", name="How strongly?").wait_for()
        assert not (job / "anonymized").exists() and not (job / "anonymized-private").exists() and not answers
        gate.let_through(1000)
        page.get_by_role("button", name="Hide all voices").click()
        page.get_by_text("9 recordings are hidden.").wait_for()


def test_what_the_command_line_refuses_is_refused_in_the_same_words(
    opened: Any, tmp_path: Path, personare: Any
) -> None:
    (tmp_path / "empty").mkdir()
    ended = personare("anonymize", tmp_path / "empty", tmp_path / "out")
    assert ended.code == 2
    words = ended.stderr.removeprefix("personare: ").strip()
    with started("app", "--no-open", "--folder", tmp_path / "jobs") as server, page_of(opened) as page:
        page.goto(f"{server.address}#{server.token}")
        page.get_by_label("Folder on this machine").fill(str(tmp_path / "empty"))
        page.get_by_role("button", name="Use this folder").click()
        page.get_by_role("alert").wait_for()
        shown = page.get_by_role("alert").inner_text()
        assert words.split(";")[0].lower().rstrip(".") in shown.lower(), (words, shown)


@pytest.mark.slow
@pytest.mark.shared
@pytest.mark.models
def test_the_whole_way_on_real_speech(opened: Any, tmp_path: Path, shared_folder: Path) -> None:
    """Four people, three utterances each: hidden, attacked, judged; report, PDF and ZIP come down."""
    import polars as pl

    rows = pl.read_csv(shared_folder / "corpus" / "manifest.tsv", separator="\t", infer_schema=False)
    rows = rows.filter(pl.col("part") == "eval")
    some = rows.filter(pl.col("speaker").is_in(sorted(rows["speaker"].unique())[:4]))
    for speaker, audio in some.select("speaker", "audio").iter_rows():
        target = tmp_path / "speech" / speaker / Path(audio).name
        if target.parent.is_dir() and len(list(target.parent.iterdir())) >= 3:
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes((shared_folder / "corpus" / audio).read_bytes())
    with started("app", "--no-open", "--folder", tmp_path / "jobs") as server, page_of(opened) as page:
        page.set_default_timeout(0)
        page.goto(f"{server.address}#{server.token}")
        to_people(page, tmp_path / "speech")
        page.get_by_role("button", name="That is right").click()
        page.get_by_role("radio", name="fast").check(force=True)
        page.get_by_role("button", name="Hear three recordings first").click()
        page.locator("canvas").nth(5).wait_for()
        page.wait_for_function(
            "() => [...document.querySelectorAll('canvas')].every(c => c.width > 1 && c.height === 256)"
        )
        fine(page, "app-real-strength")
        page.get_by_role("button", name="Hide all voices").click()
        page.get_by_role("button", name="Let attackers listen").click()
        numbers = page.get_by_text("attacker is wrong about who speaks in")  # shown while attackers are at work
        numbers.or_(page.get_by_role("heading", name="The verdict")).first.wait_for()
        fine(page, "app-real-attack")
        page.get_by_role("heading", name="The verdict").wait_for()
        fine(page, "app-real-verdict")
        with page.context.expect_page() as waiting:
            page.get_by_role("link", name="Report").click()
        report = waiting.value
        report.wait_for_load_state()
        assert report.locator("h2").first.inner_text()
        with page.expect_download() as pdf:
            page.get_by_role("link", name="PDF evidence").click()
        assert Path(pdf.value.path()).read_bytes()[:5] == b"%PDF-"


def test_a_job_that_cannot_be_removed_is_said(opened: Any, tmp_path: Path) -> None:
    """What the server answers is shown; the list is not left as if nothing had been asked."""
    files, jobs = flat_hums(tmp_path)[:2], tmp_path / "jobs"
    refusal = page_of(opened, expected="status of 500")
    with started("app", "--no-open", "--folder", jobs) as server, refusal as page:
        page.goto(f"{server.address}#{server.token}")
        page.locator("#files").set_input_files(files)
        page.get_by_role("heading", name="2 people in 2 recordings").wait_for()
        page.get_by_role("link", name="personare").click()
        refused = {"status": 500, "json": {"error": "the folder could not be removed whole"}}
        page.route("**/act", lambda route: route.fulfill(**refused))
        page.on("dialog", lambda dialog: dialog.accept())
        page.get_by_role("button", name="Remove Dropped recordings").click()
        page.get_by_role("alert").get_by_text("Not removed. the folder could not be removed whole").wait_for()
