"""The report in a real browser, on a desk and on a phone: no complaint, nothing cut off or tiny, sounds play."""

from __future__ import annotations

from pathlib import Path

import pytest

from personare.studies.run_report import write_run_report
from reports.browser import look
from reports.runs import write_run

SMALLEST_PX = 8.0


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("browser")
    return write_run_report(write_run(folder / "run"), formats=("html",))[0]


@pytest.mark.parametrize("width", [1280, 390], ids=["desktop", "phone"])
def test_the_report_opens_whole(page: Path, tmp_path: Path, width: int) -> None:
    seen, console = look(page, tmp_path, width=width)
    assert not console and not seen["errors"]
    assert seen["width"] == width and seen["scroll"] <= seen["client"], f"the page is too wide: {seen['wide'][:5]}"
    assert not seen["wide"], "nothing but tables in their own frame may go beyond the edge"
    assert len(seen["drawings"]) > 10 and all(w > 200 and h > 80 for w, h in seen["drawings"])
    assert seen["smallest"] >= SMALLEST_PX and all(seen["images"])
    assert len(seen["sounds"]) == 6 and all(
        s["can"] and s["duration"] == pytest.approx(0.7, abs=0.05) for s in seen["sounds"]
    )
    assert seen["played"] > 0
