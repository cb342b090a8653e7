"""One real browser for all tests of a file of pages."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from web.servers import browser


@pytest.fixture(scope="module")
def opened() -> Iterator[Any]:
    """Chromium without a window, or a skip that says why there is none."""
    with browser() as one:
        yield one
