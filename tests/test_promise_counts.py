"""The end of a run of the slow tests tells every count, what was skipped and why, and what did not hold."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

import promise_counts


def report(nodeid: str, reason: str = "") -> SimpleNamespace:
    return SimpleNamespace(nodeid=nodeid, longrepr=("file", 1, f"Skipped: {reason}"))


def test_the_summary(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(promise_counts, "LINES", ["killed: 50 times"])
    stats = {
        "skipped": [
            report("tests/crash/test_real_disks.py::test_a", "needs permission to mount"),
            report("tests/a.py"),
        ],
        "failed": [report("tests/engine/test_ray.py::test_b"), report("tests/a.py::test_c")],
    }
    assert list(promise_counts.summary(stats)) == [
        "killed: 50 times",
        "not counted: tests/crash/test_real_disks.py::test_a (needs permission to mount)",
        "NOT HELD: tests/engine/test_ray.py::test_b",
        "promises: 1 counted, 1 not held",
    ]
