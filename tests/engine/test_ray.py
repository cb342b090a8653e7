"""Ray keeps the pool's promises on a real local cluster: one Result per item, order as asked, failures as rows."""

from __future__ import annotations

import importlib.util

import pytest

from personare.core.errors import ConfigError, MissingExtraError, UnknownNameError
from personare.engine import Serial, engine_named

INSTALLED = importlib.util.find_spec("ray") is not None


def halved(number: int) -> float:
    """Work that fails on odd numbers."""
    if number % 2:
        raise ValueError(f"{number} is odd")
    return number / 2


@pytest.mark.skipif(INSTALLED, reason="the extra 'ray' is installed here")
def test_without_the_extra_it_is_one_line() -> None:
    with pytest.raises(MissingExtraError, match=r"pip install 'personare\[ray\]'"):
        engine_named("ray", 2)


def test_an_unknown_engine_is_one_line() -> None:
    with pytest.raises(UnknownNameError, match="no engine 'rai'; did you mean 'ray'"):
        engine_named("rai", 1)


@pytest.mark.slow
@pytest.mark.skipif(not INSTALLED, reason="needs the extra 'ray'")
def test_a_local_cluster_gives_what_this_process_gives() -> None:
    items = list(range(30))
    engine = engine_named("ray", 2)
    assert list(engine.map(halved, items)) == list(Serial().map(halved, items))
    unordered = sorted(engine.map(halved, items, ordered=False), key=lambda result: result.index)
    assert unordered == list(Serial().map(halved, items))
    failed = [result for result in unordered if not result.ok]
    assert len(failed) == 15 and failed[0].error == "ValueError: 1 is odd"


def test_a_cluster_that_does_not_start_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    class Broken:
        """A Ray that never comes up."""

        starts = 0

        def is_initialized(self) -> bool:
            return False

        def init(self, **_: object) -> None:
            self.starts += 1
            raise RuntimeError("node timed out\nduring startup")

        def shutdown(self) -> None:
            pass

    broken = Broken()
    monkeypatch.setattr("personare.engine.ray._library", lambda: broken)
    with pytest.raises(
        ConfigError, match=r"a local Ray cluster could not be joined \(RuntimeError: node timed out dur"
    ):
        list(engine_named("ray", 2).map(halved, [1]))
    assert broken.starts == 3
