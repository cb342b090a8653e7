"""One hypothesis profile for all tests, without a deadline: a test's result never depends on the machine's speed."""

from __future__ import annotations

from pathlib import Path

from hypothesis import HealthCheck, settings


def test_the_profile_knows_no_deadline_and_no_test_sets_its_own() -> None:
    assert settings().deadline is None and HealthCheck.too_slow in settings().suppress_health_check
    option = "deadline" + "="
    allowed = {"conftest.py", Path(__file__).name}
    tests = Path(__file__).parent.rglob("*.py")
    assert [p.name for p in tests if p.name not in allowed and option in p.read_text(encoding="utf-8")] == []
