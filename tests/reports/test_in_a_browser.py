"""The report in a real browser, on a desk and on a phone: no complaint, nothing cut off or tiny, sounds play."""

from __future__ import annotations

from pathlib import Path

import pytest

from personare.reports.compare import compare_runs, write_comparison
from personare.reports.report import write_run_report
from reports.browser import look
from reports.runs import write_evaluation, write_run

SMALLEST_PX = 8.0


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("browser")
    return write_run_report(write_run(folder / "run"), formats=("html",), sounds="original")[0]


@pytest.fixture(scope="module")
def evaluation(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("evaluation")
    return write_run_report(write_evaluation(folder / "run"), formats=("html",))[0]


@pytest.mark.parametrize(("width", "dark"), [(1280, False), (390, True)], ids=["desktop-light", "phone-dark"])
def test_the_report_opens_whole(page: Path, tmp_path: Path, width: int, dark: bool) -> None:
    seen, console = look(page, tmp_path, width=width, dark=dark)
    assert not console and not seen["errors"]
    assert seen["dark"] is dark and seen["worded"] > 500 and not seen["faint"], "words stand out from what is below"
    assert seen["width"] == width and seen["scroll"] <= seen["client"], f"the page is too wide: {seen['wide'][:5]}"
    assert not seen["wide"], "nothing but tables in their own frame may go beyond the edge"
    assert len(seen["drawings"]) > 10 and all(w > 200 and h > 80 for w, h in seen["drawings"])
    assert seen["smallest"] >= SMALLEST_PX and all(seen["images"])
    assert len(seen["sounds"]) == 6 and all(
        s["can"] and s["duration"] == pytest.approx(0.7, abs=0.05) for s in seen["sounds"]
    )
    assert seen["played"] > 0


@pytest.mark.parametrize(("width", "dark"), [(390, False), (1280, True)], ids=["phone-light", "desktop-dark"])
def test_the_report_of_an_evaluation_opens_whole(evaluation: Path, tmp_path: Path, width: int, dark: bool) -> None:
    seen, console = look(evaluation, tmp_path, width=width, dark=dark)
    assert not console and not seen["errors"] and not seen["faint"] and not seen["wide"]
    assert seen["scroll"] <= seen["client"] and seen["smallest"] >= SMALLEST_PX
    assert len(seen["drawings"]) == 6 and len(seen["sounds"]) == 2 and all(s["can"] for s in seen["sounds"])


def test_two_runs_side_by_side_open_whole(tmp_path: Path) -> None:
    runs = [write_run(tmp_path / name, title=name, seed=seed) for name, seed in (("before", 1), ("after", 2))]
    page = write_comparison(compare_runs(*runs), tmp_path / "compared")[0]
    seen, console = look(page, tmp_path, width=390, dark=True)
    assert not console and not seen["errors"] and not seen["faint"] and not seen["wide"]
    assert len(seen["drawings"]) > 5 and seen["smallest"] >= SMALLEST_PX
