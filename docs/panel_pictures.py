"""Pictures of the listening panels: invited people consent, listen, answer; then what they said is analyzed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from pictures import BOTH_WIDTHS, Camera, Look, personare, voices

from panels.pools import Listened, simulate
from personare.panels import TESTS, Test
from personare.panels.folder import PanelFolder, PlannedTrial, read_panel
from personare.panels.store import AnswerStore
from web.servers import Server, page_of, started

SESSIONS, EVALUATORS, SPEED = 8, 24, 8.0
TITLE = "Can people recognise these speakers?"
STUDY = f"""
title: {TITLE}
corpora:
  voices: {{path: voices}}
anonymizers:
  original: {{}}
  mcadams: {{method: mcadams}}
  formants: {{method: formants}}
attackers:
  ignorant: {{knowledge: ignorant, embedder: ge2e}}
listeners: [moonshine]
metrics: [eer, min_cllr, wer]
"""
# how alike and how natural invented evaluators find speech, from 1 to 10; speech of others sounds alike by 3
ALIKE = {"original": 8.0, "mcadams": 5.5, "formants": 3.5}
NATURAL = {"original": 8.5, "mcadams": 6.0, "formants": 5.0}
FASTER = f"""
const play = HTMLMediaElement.prototype.play;
HTMLMediaElement.prototype.play = function () {{ this.playbackRate = {SPEED}; return play.call(this); }};
"""
LOOKS = (
    *BOTH_WIDTHS,
    Look(820, shown=(("unified-trial", "panel-unified"), ("clustering-trial", "panel-clustering"))),
    Look(391, shown=(("abx-trial", "panel-abx"),)),
)


def prepare(folder: Path) -> dict[Test, PanelFolder]:
    """Make a run of two methods, and a panel of every test; what is there already stays."""
    voices(folder)
    (folder / "study.yaml").write_text(STUDY)
    if not (folder / "run").exists():
        personare("study", "run", "study.yaml", "--out", "run", cwd=folder)
    for test in TESTS:
        if not (folder / f"panel-{test}").exists():
            words = ("--test", test, "--sessions", str(SESSIONS), "--language", "English", "--title", TITLE)
            personare("panel", "make", "run", f"panel-{test}", *words, "--contact", "panel@example.org", cwd=folder)
    return {test: read_panel(folder / f"panel-{test}") for test in TESTS}


def evaluator(trial: PlannedTrial, rng: np.random.Generator) -> dict[str, Any]:
    """Answer a trial as somebody of ordinary hearing might."""
    if len(trial.stimuli) > 3:
        names = sorted({s.speaker for s in trial.stimuli})
        lost = 0.0 if trial.check else 0.1 if trial.system == "original" else 0.45
        groups = {s.token: 1 + names.index(s.speaker) for s in trial.stimuli}
        wrong = {token: int(rng.integers(1, 5)) for token in groups if rng.random() < lost}
        return {"clusters": groups | wrong, "moves": int(rng.integers(0, 4) + 10 * lost)}
    if trial.answer:
        right = bool(trial.check) or rng.random() < {"original": 0.8, "mcadams": 0.65}.get(trial.system, 0.52)
        return {"choice": trial.answer if right else "AB".replace(trial.answer, "")}
    most = 10 if len(trial.stimuli) == 2 else 5
    natural = (1.0 if trial.check == "noise" else NATURAL[trial.system]) * most / 10
    alike = {"same recording": 10.0, "other gender": 1.0}.get(trial.check, ALIKE[trial.system] if trial.target else 3.0)
    means = {"naturalness": natural, "intelligibility": natural} | ({"similarity": alike} if most == 10 else {})
    spread = 0.0 if trial.check else 0.17 * most
    return {name: int(np.clip(round(m + spread * rng.standard_normal()), 1, most)) for name, m in means.items()}


# the panels


def hear(page: Any, *names: str) -> None:
    """Play sounds to their ends."""
    for name in names:
        page.get_by_role("button", name=f"Play {name}", exact=True).click()
        page.locator(".player.heard", has=page.get_by_text(name, exact=True)).wait_for()


def rate(page: Any, test: Test) -> None:
    """Hear everything, rate all scales but the last one."""
    hear(page, *(("Recording 1", "Recording 2") if test == "unified" else ("Recording",)))
    page.locator("input[name=intelligibility]").nth(3).check(force=True)
    if test == "unified":
        page.locator("input[name=naturalness]").nth(6).check(force=True)


def choose(page: Any, _test: Test) -> None:
    """Hear all three and choose B, by keys."""
    for key in "xab":
        page.keyboard.press(key)
        page.locator(".player.heard", has=page.get_by_text(key.upper(), exact=True)).wait_for()
    page.get_by_role("radio", name="X is the speaker of B").check(force=True)


def cluster(page: Any, _test: Test) -> None:
    """Put nine of sixteen recordings into three groups, by keys."""
    for number in range(1, 10):
        page.locator(f"button.tile[data-number='{number}']").focus()
        page.keyboard.press(" ")
        page.locator(f"button.tile.heard[data-number='{number}']").wait_for()
        page.keyboard.press(str(number % 3 + 1))


ACTS: dict[Test, Callable[[Any, Test], None]] = {"unified": rate, "mos": rate, "abx": choose, "clustering": cluster}


def session(camera: Camera, panel: PanelFolder, server: Server) -> None:
    """Take the pages of one evaluator's session, from the consent to the end."""
    page, test, store = camera.page, panel.settings.test, AnswerStore(panel.answers)
    token = store.invite(1, days=1)[0]
    page.add_init_script(FASTER)
    page.goto(f"{server.address}#{token}")
    page.get_by_role("button", name="Begin").wait_for()
    camera.take(f"{test}-consent")
    page.get_by_label("I am of age").check()
    page.get_by_role("button", name="Begin").click()
    page.get_by_role("heading", name="Are your headphones on?").wait_for()
    hear(page, "Three tones, round 1")
    page.locator("input[name=round-0]").nth(1).check(force=True)
    camera.take(f"{test}-headphones")
    for number, quiet in enumerate(panel.settings.headphones.values(), start=1):
        if number > 1:
            hear(page, f"Three tones, round {number}")
        page.locator(f"input[name=round-{number - 1}]").nth(quiet - 1).check(force=True)
    page.get_by_role("button", name="Go on").click()
    page.get_by_role("button", name="Next").wait_for()
    login = store.enter(token)
    assert login is not None and login.evaluator.session is not None
    trials, rng = panel.sessions[login.evaluator.session], np.random.default_rng(1)

    def answer_until(wanted: Callable[[PlannedTrial], bool]) -> None:
        """Answer behind the page, up to the trial that is wanted."""
        for trial in trials[store.answered(login.evaluator.evaluator) :]:
            if wanted(trial):
                break
            store.answer(login.evaluator, trial.number, evaluator(trial, rng), Listened(trial).report)
        page.reload()

    answer_until(lambda trial: not trial.check)
    page.get_by_role("button", name="Next").wait_for()
    camera.take(f"{test}-first")
    ACTS[test](page, test)
    camera.take(f"{test}-trial")
    answer_until(lambda _: False)
    page.get_by_role("heading", name="Thank you!").wait_for()
    camera.take(f"{test}-end")
    if test == "unified":
        page.goto(f"{server.address}#{store.invite(1, days=1, role='admin')[0]}")
        page.get_by_text("ended.").wait_for()
        camera.take("panel-overview")
    store.close()


def panels(opened: Any, folder: Path, pictures: Path) -> None:
    """Take every panel at every look, then its analysis."""
    for panel in prepare(folder).values():
        with started("panel", "serve", panel.path, "--port", "0") as server:
            for look in LOOKS:
                with page_of(opened, width=look.width, dark=look.dark) as page:
                    session(Camera(pictures, page, look), panel, server)
        panel.answers.unlink()
        simulate(panel, [evaluator] * EVALUATORS, native=lambda number: number % 3 > 0)
        personare("panel", "analyze", panel.path, cwd=folder)
        for look in BOTH_WIDTHS:
            with page_of(opened, width=look.width, dark=look.dark) as page:
                page.goto((panel.path / "analysis" / "report" / "report.html").resolve().as_uri())
                page.screenshot(path=str(pictures / f"{panel.settings.test}-analysis-{look}.png"), full_page=True)
