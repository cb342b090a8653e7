"""Pictures of the app: the whole way from a folder of recordings to what may be given away, in one walk."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pictures import BOTH_WIDTHS, Camera, Look, voices

from web.servers import page_of, started

LOOKS = (
    *BOTH_WIDTHS,
    Look(900, height=1120, shown=(("app-strength", "app-strength"),)),  # down to the first recording
    Look(1040, height=830, shown=(("app-verdict", "app-verdict"),)),
)


@dataclass(frozen=True)
class AppCamera:
    """Takes pictures of the app at every look in one walk: attackers take their time, and need not do it five times."""

    folder: Path
    page: Any
    home: Path

    def take(self, name: str, *, drawn_anew: Callable[[], None] = lambda: None) -> None:
        """Take the page at every look; ``drawn_anew`` loads it again where its drawings have the colours of a look."""
        for look in LOOKS:
            self.page.set_viewport_size({"width": look.width, "height": look.height})
            self.page.emulate_media(color_scheme="dark" if look.dark else "light")
            drawn_anew()
            self.page.evaluate(SOMEBODYS_HOME, str(self.home))
            Camera(self.folder, self.page, look).take(name)


# whose machine took the pictures does not matter: folders are shown as if they lay at somebody's home
SOMEBODYS_HOME = """home => {
  const words = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (words.nextNode()) words.currentNode.data = words.currentNode.data.replaceAll(home, "~");
  for (const field of document.querySelectorAll("input[type=text]"))
    field.value = field.value.replaceAll(home, "~");
}"""


def app(opened: Any, folder: Path, pictures: Path) -> None:
    """Take every step of the app, on the voices of six people."""
    home = folder / "home"
    for number, person in enumerate(sorted(p for p in voices(folder).iterdir() if p.is_dir())[:6]):
        for recording in sorted(person.iterdir())[:4]:
            place = home / "interviews" / f"person {number + 1}" / recording.name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(recording.read_bytes())
    shutil.rmtree(home / "personare", ignore_errors=True)
    with started("app", "--no-open", "--folder", home / "personare") as server, page_of(opened) as page:
        page.set_default_timeout(0)
        page.goto(f"{server.address}#{server.token}")
        whole_way(AppCamera(pictures, page, home), home / "interviews")


def whole_way(camera: AppCamera, speech: Path) -> None:
    """From the first page to what may be given away."""
    page = camera.page
    page.get_by_label("Folder on this machine").fill(str(speech))
    page.get_by_label("Folder on this machine").press("Enter")
    page.get_by_text("6 folders and").wait_for()
    camera.take("app-start")
    page.get_by_label("Folder on this machine").fill(str(speech))
    page.get_by_role("button", name="Use this folder").click()
    page.get_by_label("Name of person 6").wait_for()
    camera.take("app-people")
    page.get_by_role("button", name="That is right").click()
    camera.take("app-strengths")
    page.get_by_role("radio", name="balanced").check(force=True)
    page.get_by_role("button", name="Hear three recordings first").click()
    page.locator("canvas").nth(5).wait_for()

    def heard_again() -> None:
        page.reload()
        page.locator("canvas").nth(5).wait_for()
        page.wait_for_function("() => [...document.querySelectorAll('audio')].every(a => a.readyState >= 3)")
        page.wait_for_function("() => [...document.querySelectorAll('canvas')].every(c => c.height === 256)")

    camera.take("app-strength", drawn_anew=heard_again)
    page.get_by_role("radio", name="fast").check(force=True)
    page.get_by_role("button", name="Hide all voices").click()
    page.get_by_role("button", name="Pause").click()
    page.get_by_role("button", name="Go on").wait_for()
    camera.take("app-paused")
    page.get_by_role("button", name="Go on").click()
    page.get_by_role("button", name="Pause").wait_for()
    camera.take("app-hiding")
    page.get_by_role("button", name="Let attackers listen").wait_for()
    camera.take("app-hidden")
    page.get_by_role("button", name="Let attackers listen").click()
    page.locator(".lines li").first.wait_for()
    camera.take("app-attack")
    page.get_by_role("heading", name="The verdict").wait_for()
    camera.take("app-verdict")
    page.get_by_role("link", name="personare").click()
    page.get_by_role("button", name="Open interviews").wait_for()
    camera.take("app-jobs")
