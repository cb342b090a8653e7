"""One real browser for all tests of a file of pages."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from web.servers import browser


@pytest.fixture(autouse=True)
def own_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    """What work on a job keeps of people is in the job: the setting ends with the test that has set it."""
    monkeypatch.setenv("PERSONARE_PERSONAL_CACHE", "")


@pytest.fixture(scope="module")
def opened() -> Iterator[Any]:
    """Chromium without a window, or a skip that says why there is none."""
    with browser() as one:
        yield one
