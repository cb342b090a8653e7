"""Pictures of every page of the listening panels, the app and a report, made by using them: ``make pictures``.

All of them go into the folder that is named, at two widths, light and dark, to be looked at. Those that the
documentation shows are written to docs/images. The people who speak are invented voices; so are those who listen.
"""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from web.servers import browser, fine, page_of

IMAGES = Path(__file__).resolve().parent / "images"


@dataclass(frozen=True)
class Look:
    """How large a page is, in which colours, and which of its pictures the documentation shows, under which names."""

    width: int
    dark: bool = False
    height: int = 900
    shown: tuple[tuple[str, str], ...] = ()
    most_bytes: int = 200_000  # of a picture in the documentation

    def __str__(self) -> str:
        return f"{self.width}-{'dark' if self.dark else 'light'}"


BOTH_WIDTHS = tuple(Look(width, dark) for width in (1280, 390) for dark in (False, True))


@dataclass(frozen=True)
class Camera:
    """Takes pictures of one page into a folder."""

    folder: Path
    page: Any
    look: Look

    def take(self, name: str) -> None:
        """Take the whole page, and check it as the tests do; what the documentation shows is one screen of it."""
        fine(self.page, name)
        self.page.screenshot(path=str(self.folder / f"{name}-{self.look}.png"), full_page=True)
        for wanted, image in self.look.shown:
            if wanted == name:
                shown = self._shown()
                while len(picture := self.page.screenshot(clip=shown)) > self.look.most_bytes:
                    shown["height"] -= 40  # drawings take the most: show less of them
                (IMAGES / f"{image}.png").write_bytes(picture)

    def _shown(self) -> dict[str, float]:
        """One screen, without the empty space below."""
        box = self.page.locator("main > :last-child").bounding_box()
        height = min(self.look.height, box["y"] + box["height"] + 24)
        return {"x": 0, "y": 0, "width": self.look.width, "height": height}


def personare(*words: str | Path, cwd: Path) -> None:
    """Run a command as a user does."""
    subprocess.run([sys.executable, "-m", "personare", *map(str, words)], cwd=cwd, check=True)  # noqa: S603


def voices(folder: Path) -> Path:
    """Make the voices of twenty invented people; what is there already stays."""
    folder.mkdir(parents=True, exist_ok=True)
    personare("voices", "voices", "--speakers", "20", "--utterances", "8", "--jobs", "1", cwd=folder)
    return folder / "voices"


REPORT_LOOKS = (*BOTH_WIDTHS, Look(1280, height=1180, shown=(("report", "report"),), most_bytes=340_000))


def report(opened: Any, folder: Path, pictures: Path) -> None:
    """Take the report of the demo; the README shows its top. A demo that is there already stays."""
    page_file = folder / "demo" / "run" / "report" / "report.html"
    if not page_file.is_file():
        personare("demo", "demo", "--jobs", "1", cwd=folder)
    for look in REPORT_LOOKS:
        with page_of(opened, width=look.width, dark=look.dark) as page:
            page.set_viewport_size({"width": look.width, "height": look.height})
            page.goto(page_file.as_uri())
            Camera(pictures, page, look).take("report")


def main(folder: Path, *parts: str) -> None:
    """Take the pictures of ``panels``, ``app`` and ``report``, or of some of them, into ``folder/pictures``."""
    pictures = folder / "pictures"
    pictures.mkdir(parents=True, exist_ok=True)
    from app_pictures import app
    from panel_pictures import panels

    known = {"panels": panels, "app": app, "report": report}
    with browser() as opened:
        for part in parts or known:
            known[part](opened, folder, pictures)


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve(), *sys.argv[2:])
