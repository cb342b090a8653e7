"""The language of the recordings in the app: chosen in a real browser, kept in the job, passed to the library."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from conftest import hum
from personare import api
from personare.api.choices import language_models, languages
from personare.api.inspection import preview_recording
from personare.core.audio import resample, write
from personare.core.weights import missing
from personare.languages import LANGUAGES
from personare.languages.sentences import sentences_in
from personare.voices.kokoro import Kokoro
from personare.web import job_work
from personare.web.guard import RequestError
from personare.web.job_actions import act
from personare.web.job_folders import JobFolder, new_job
from web.servers import fine, page_of, started
from web.test_app_methods import chosen_by, to_strengths
from web.test_app_pages import hums

LABEL = "Language of the recordings"


class _Waiting:
    """Takes work and does none of it."""

    def start(self, job: JobFolder, phase: Any) -> None:
        pass

    def stop(self, job: JobFolder) -> None:
        pass


def job_of(tmp_path: Path) -> JobFolder:
    for n in range(2):
        write(tmp_path / "speech" / f"anna{n}" / "talk.wav", hum(n, duration_s=0.5))
    job = new_job(tmp_path / "jobs", source=str(tmp_path / "speech"), title="t", rule="")
    assert job_work.main(job.path, "read") == 0
    return job


def test_the_language_goes_to_every_step_of_the_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    job, heard = job_of(tmp_path), dict[str, Any]()
    originals = {name: getattr(api, name) for name in ("anonymize_corpus", "evaluate")}

    def noting(name: str, function: Any) -> Any:
        def noted(*words: Any, **named: Any) -> Any:
            heard[name] = named["language"]
            return function(*words, **named)

        return noted

    monkeypatch.setattr(job_work, "preview_recording", noting("preview", preview_recording))
    for name, function in originals.items():
        monkeypatch.setattr(api, name, noting(name, function))
    assert act(_Waiting(), job, {"action": "hide", "strength": "fast", "language": "de"}) is None
    assert job.facts().language == "de"
    for phase in ("preview", "hide"):
        job_work.main(job.path, phase)
        assert job.ended(phase)["ok"], job.ended(phase)
    job_work.main(job.path, "attack")  # two recordings are too few to be attacked; the language has arrived
    assert heard == {"preview": "de", "anonymize_corpus": "de", "evaluate": "de"}
    with pytest.raises(RequestError, match="another way already"):
        act(_Waiting(), job, {"action": "hide", "strength": "fast", "language": "fr"})
    job.change(language="")
    job_work.main(job.path, "preview")
    assert heard["preview"] is None, "identified, or the corpus' own"


def test_a_language_that_is_not_spoken_is_refused(tmp_path: Path) -> None:
    job = job_of(tmp_path)
    for wrong in ("nl", "../de", 3):
        with pytest.raises(RequestError):
            act(_Waiting(), job, {"action": "hide", "strength": "balanced", "language": wrong})
    assert job.facts().language == ""


def test_a_job_of_an_earlier_version_says_no_language(tmp_path: Path) -> None:
    job = new_job(tmp_path, source=str(tmp_path), title="t", rule="")
    facts = json.loads((job.path / "job.json").read_text())
    del facts["language"]
    (job.path / "job.json").write_text(json.dumps(facts))
    assert job.facts().hidden_by == {"strength": "balanced", "language": None}


@pytest.mark.parametrize("width", [1280, 390])
def test_the_language_is_chosen_on_the_page_and_kept(opened: Any, tmp_path: Path, width: int) -> None:
    jobs = tmp_path / "jobs"
    with started("app", "--no-open", "--folder", jobs) as server, page_of(opened, width=width) as page:
        page.goto(f"{server.address}#{server.token}")
        to_strengths(page, hums(tmp_path / "speech", people=2, each=2))
        select, about = page.get_by_label(LABEL), page.locator("#about-language")
        assert select.input_value() == "", "the language is detected unless somebody says it"
        offered = select.locator("option").evaluate_all("all => all.map(one => [one.value, one.textContent])")
        assert offered[1:] == [[one["code"], f"{one['name']} ({one['status']})"] for one in languages()]
        page.get_by_role("radio", name="balanced").check(force=True)
        assert "rejected" in about.inner_text()
        select.select_option("de")
        assert "German" in about.inner_text() and LANGUAGES["de"].status in about.inner_text().lower()
        fine(page, f"app-language-{width}")
        page.get_by_role("radio", name="fast").check(force=True)
        assert "any language" in about.inner_text()
        page.get_by_role("button", name="Hear three recordings first").click()
        page.get_by_text("After (fast, German)").nth(2).wait_for()
        assert chosen_by(jobs) == {"strength": "fast", "method": "", "language": "de"}
        page.reload()
        page.get_by_text("After (fast, German)").nth(2).wait_for()
        assert select.input_value() == "de"


def test_a_language_without_its_models_says_how_to_fetch_them(
    opened: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PERSONARE_HOME", str(tmp_path / "empty"))
    with started("app", "--no-open", "--folder", tmp_path / "jobs") as server, page_of(opened, width=390) as page:
        page.goto(f"{server.address}#{server.token}")
        to_strengths(page, hums(tmp_path / "speech", people=1, each=1))
        page.get_by_role("radio", name="strong").check(force=True)
        page.get_by_label(LABEL).select_option("fr")
        assert page.locator("#needs-language").inner_text() == "Needs: personare models fetch --language fr"
        page.get_by_role("radio", name="fast").check(force=True)
        assert not page.locator("#needs-language").count()
        fine(page, "app-language-absent")


@pytest.mark.slow
@pytest.mark.models
def test_recordings_are_counted_by_language_up_to_the_verdict(opened: Any, tmp_path: Path) -> None:
    """Four people read German sentences; the page counts them as the command does, and so does the report."""
    if missing(*language_models("de"), "ecapa"):
        pytest.skip("models are not fetched")
    kokoro, rng = Kokoro(), np.random.default_rng(1)
    for person, voice in enumerate((2, 3, 4, 5)):
        for number, text in enumerate(sentences_in("de")[:4]):
            sound = kokoro.speak_phonemes(LANGUAGES["de"].pronounce(text), voice=voice, rate=1.0, rng=rng)
            write(tmp_path / "speech" / f"person{person}" / f"{number}.wav", resample(sound, 16_000))
    with started("app", "--no-open", "--folder", tmp_path / "jobs") as server, page_of(opened) as page:
        page.set_default_timeout(0)
        page.goto(f"{server.address}#{server.token}")
        to_strengths(page, tmp_path / "speech")
        page.get_by_role("radio", name="strong").check(force=True)
        page.get_by_label(LABEL).select_option("de")
        page.get_by_role("button", name="Hide all voices").click()
        page.get_by_role("button", name="Let attackers listen").wait_for()
        assert page.get_by_text("Languages: 16 de.").count() == 1
        page.get_by_role("button", name="Let attackers listen").click()
        page.get_by_role("heading", name="The verdict").wait_for()
        assert page.get_by_text("Languages: 16 de.").count() == 1
        fine(page, "app-language-verdict")
        with page.context.expect_page() as waiting:
            page.get_by_role("link", name="Report").click()
        report = waiting.value
        report.wait_for_load_state()
        assert "Languages: 16 de." in report.locator("body").inner_text()
