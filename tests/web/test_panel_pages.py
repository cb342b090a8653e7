"""The listening panel in a real browser: a whole session of every test by clicks, keys and dragging, with sounds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from panels.pools import write_test_panel
from personare.panels import TESTS, Test
from personare.panels.folder import PanelFolder
from personare.panels.store import AnswerStore
from web.servers import Server, fine, page_of, started

TRIALS = {"unified": 1, "mos": 3, "abx": 1, "clustering": 1, "expression": 1}


def invited(panel: PanelFolder, server: Server) -> str:
    store = AnswerStore(panel.answers)
    token = store.invite(1, days=1)[0]
    store.close()
    return f"{server.address}#{token}"


def consent(page: Any, name: str) -> None:
    page.get_by_role("button", name="Begin").wait_for()
    fine(page, f"{name}-consent")
    assert page.get_by_role("button", name="Begin").is_disabled()
    page.get_by_role("group", name="Is English your first language?").get_by_label("no", exact=True).check()
    page.get_by_label("I am of age").check()
    page.get_by_role("button", name="Begin").click()


def headphones(page: Any, panel: PanelFolder, name: str, *, right: bool = True) -> None:
    page.get_by_role("heading", name="Are your headphones on?").wait_for()
    for number, quiet in enumerate(panel.settings.headphones.values(), start=1):
        card = page.locator("section.card").nth(number - 1)
        card.get_by_role("button", name="Play").click()
        card.locator(".player.heard").wait_for()
        card.get_by_role("radio").nth(quiet - 1 if right else quiet % 3).check(force=True)
    fine(page, f"{name}-headphones")
    page.get_by_role("button", name="Go on").click()


def hear(page: Any, label: str) -> None:
    page.get_by_role("button", name=f"Play {label}", exact=True).click()
    page.locator(".player.heard", has=page.get_by_text(label, exact=True)).wait_for()


def rate(page: Any, test: Test, name: str) -> None:
    """Scales by mouse and by keys."""
    assert page.get_by_role("button", name="Next").is_disabled()
    assert page.get_by_role("radio", name="7 of 10" if test == "unified" else "3 of 5").first.is_disabled()
    hear(page, "Recording 1" if test == "unified" else "Recording")
    if test == "unified":
        assert page.locator("input[name=similarity]").first.is_disabled(), "both must be heard before they are compared"
        hear(page, "Recording 2")
    page.locator("input[name=intelligibility]").nth(3).check(force=True)
    page.locator("input[name=intelligibility]:checked").press("ArrowRight")
    page.locator("input[name=naturalness]").nth(2).check(force=True)
    if test == "unified":
        page.locator("input[name=similarity]").nth(8).check(force=True)
    fine(page, f"{name}-trial")


def choose(page: Any, _test: Test, name: str) -> None:
    """Sounds by keys, the choice by mouse."""
    for key in "xab":
        page.keyboard.press(key)
        page.locator(".player.heard", has=page.get_by_text(key.upper(), exact=True)).wait_for()
    page.get_by_role("radio", name="X is the speaker of B").check(force=True)
    fine(page, f"{name}-trial")


def cluster(page: Any, _test: Test, name: str) -> None:
    """The first recording is dragged, the second put by its button, the others moved by keys."""
    tiles = page.locator("button.tile")
    count = tiles.count()
    for number in range(1, count + 1):
        tile = page.locator(f"button.tile[data-number='{number}']")
        tile.focus()
        page.keyboard.press(" ")
        page.locator(f"button.tile.heard[data-number='{number}']").wait_for()
        if number == 1:
            tile.drag_to(page.locator("section.cluster").nth(2))
        elif number == 2:
            page.get_by_role("button", name="Put recording 2 into group 1").click()
        else:
            page.keyboard.press(str(number % 4 + 1))
    if count > 4:
        page.locator("button.tile[data-number='5']").focus()
        page.keyboard.press("1")  # changed its mind
    assert page.locator("section.cluster").nth(2).locator("button.tile[data-number='1']").count() == 1
    fine(page, f"{name}-trial-{count}")


SESSIONS = [  # a whole session takes its time: sounds are played; the others are run by 'make slow'
    pytest.param("unified", 1280, False, id="unified-desk"),
    pytest.param("clustering", 390, True, id="clustering-phone"),
    pytest.param("abx", 390, False, id="abx-phone"),
    pytest.param("mos", 390, False, id="mos-phone", marks=pytest.mark.slow),
    pytest.param("unified", 390, True, id="unified-phone", marks=pytest.mark.slow),
    pytest.param("clustering", 1280, False, id="clustering-desk", marks=pytest.mark.slow),
    pytest.param("abx", 1280, True, id="abx-desk", marks=pytest.mark.slow),
    pytest.param("mos", 1280, True, id="mos-desk", marks=pytest.mark.slow),
]


@pytest.mark.parametrize(("test", "width", "dark"), SESSIONS)
def test_a_whole_session(opened: Any, tmp_path: Path, test: Test, width: int, dark: bool) -> None:
    panel = write_test_panel(tmp_path, test, sessions=1, seconds=0.25, trials=TRIALS[test])
    act = {"unified": rate, "mos": rate, "abx": choose, "clustering": cluster, "expression": choose}[test]
    name = f"{test}-{width}-{'dark' if dark else 'light'}"
    total = len(panel.sessions[1])
    with (
        started("panel", "serve", panel.path, "--port", "0") as server,
        page_of(opened, width=width, dark=dark) as page,
    ):
        page.goto(invited(panel, server))
        consent(page, name)
        assert "#" not in page.url, "the invitation does not stay in the address"
        headphones(page, panel, name)
        for number in range(1, total + 1):
            page.get_by_text(f"{number} of {total}", exact=True).wait_for()
            if number == 2:
                page.locator(".player button, .tile").first.click()
                page.reload()  # begins this trial anew; the earlier answer is there
                page.get_by_text(f"2 of {total}", exact=True).wait_for()
            act(page, test, name)
            page.get_by_role("button", name="Next").click()
        page.get_by_role("heading", name="Thank you!").wait_for()
        fine(page, f"{name}-done")
    store = AnswerStore(panel.answers)
    rows = store.answers()
    assert [row["trial"] for row in rows] == list(range(1, total + 1)) and store.evaluators()[0].headphones is True
    assert store.evaluators()[0].native is False
    for row in rows:
        assert all(row["listening"]["plays"].values()) and row["answered"] > row["shown"]
    if test == "clustering":
        assert [row["answer"]["moves"] for row in rows] == [0] + [1] * (total - 1)
    elif test == "abx":
        assert {row["answer"]["choice"] for row in rows} == {"B"}
    else:
        assert {row["answer"]["intelligibility"] for row in rows} == {5}


def test_a_sound_whose_length_is_not_known_yet(opened: Any, tmp_path: Path) -> None:
    """The bytes of the sounds come only after "play": until then nobody knows how long they are."""
    panel = write_test_panel(tmp_path, "abx", sessions=1, seconds=0.25, trials=1)
    held, holding = list[Any](), True
    with started("panel", "serve", panel.path, "--port", "0") as server, page_of(opened) as page:
        page.route("**/audio/*", lambda route: held.append(route) if holding else route.continue_())
        page.goto(invited(panel, server))
        consent(page, "held")
        card = page.locator("section.card").first
        card.get_by_role("button", name="Play").click()
        card.get_by_text("Playing …").wait_for()
        assert card.locator("progress").evaluate("bar => bar.value") == 0
        holding = False
        for route in held:
            route.continue_()
        card.locator(".player.heard").wait_for()
        assert card.locator("progress").evaluate("bar => bar.value") == 1


@pytest.mark.slow
def test_headphones_are_tried_twice_and_the_owner_sees_who_is_how_far(opened: Any, tmp_path: Path) -> None:
    panel = write_test_panel(tmp_path, "abx", sessions=1, seconds=0.25, trials=1)
    with started("panel", "serve", panel.path, "--port", "0") as server:
        with page_of(opened, width=390) as page:
            page.goto(invited(panel, server))
            consent(page, "again")
            headphones(page, panel, "again", right=False)
            page.get_by_text("try once more").wait_for()
            headphones(page, panel, "again", right=False)
            page.get_by_role("heading", name="Who is X?").wait_for()
        store = AnswerStore(panel.answers)
        admin = store.invite(1, days=1, role="admin")[0]
        assert store.evaluators()[0].headphones is False
        with page_of(opened) as page:
            page.goto(f"{server.address}#{admin}")
            page.get_by_text("1 invited, 0 began, 0 ended.").wait_for()
            page.get_by_role("cell", name="not passed").wait_for()
            fine(page, "overview")


def press(page: Any, control: Any, *keys: str) -> None:
    """Go to a control by Tab, as somebody without a mouse does, and press keys there."""
    control.wait_for()
    for _ in range(100):
        if control.evaluate("one => one === document.activeElement"):
            break
        page.keyboard.press("Tab")
    else:
        pytest.fail(f"{control} cannot be reached by Tab")
    for key in keys:
        page.keyboard.press(key)


def test_a_whole_session_by_keys_alone(opened: Any, tmp_path: Path) -> None:
    panel = write_test_panel(tmp_path, "mos", sessions=1, seconds=0.25, trials=3)
    with started("panel", "serve", panel.path, "--port", "0") as server, page_of(opened) as page:
        page.goto(invited(panel, server))
        press(page, page.get_by_label("I am of age"), "Space")
        press(page, page.get_by_role("button", name="Begin"), "Enter")
        for number, quiet in enumerate(panel.settings.headphones.values(), start=1):
            card = page.locator("section.card").nth(number - 1)
            press(page, card.get_by_role("button", name="Play"), "Enter")
            card.locator(".player.heard").wait_for()
            press(page, card.get_by_role("radio").first, *["Space"], *["ArrowRight"] * (quiet - 1))
        press(page, page.get_by_role("button", name="Go on"), "Enter")
        total = len(panel.sessions[1])
        for number in range(1, total + 1):
            page.get_by_text(f"{number} of {total}", exact=True).wait_for()
            press(page, page.get_by_role("button", name="Play Recording"), "Space")
            page.locator(".player.heard").wait_for()
            press(page, page.locator("input[name=intelligibility]").first, "Space", "ArrowRight", "ArrowRight")
            press(page, page.locator("input[name=naturalness]").first, "Space", "ArrowRight")
            press(page, page.get_by_role("button", name="Next"), "Enter")
        page.get_by_role("heading", name="Thank you!").wait_for()
    rows = AnswerStore(panel.answers).answers()
    assert [row["answer"] for row in rows] == [{"intelligibility": 3, "naturalness": 2}] * total


def test_without_an_invitation_nothing_is_shown(opened: Any, tmp_path: Path) -> None:
    panel = write_test_panel(tmp_path, "abx", sessions=1, trials=1)
    with started("panel", "serve", panel.path, "--port", "0") as server:
        context = opened.new_context()
        page = context.new_page()
        page.goto(server.address)
        page.get_by_role("heading", name="By invitation only").wait_for()
        page.goto(f"{server.address}#{'x' * 32}")
        page.get_by_text("This invitation is not valid").wait_for()
        context.close()


def test_every_test_has_its_page() -> None:
    assert set(TRIALS) == set(TESTS)
