"""``make audit`` never says that all is well where nothing was checked."""

from __future__ import annotations

import importlib.util
from typing import Any

from wheel_environment import ROOT


def outcome(*packages: dict[str, Any]) -> tuple[int, list[str]]:
    spec = importlib.util.spec_from_file_location("audit", ROOT / ".ci" / "audit.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    found: tuple[int, list[str]] = module.outcome({"dependencies": list(packages)})
    return found


FINE = {"name": "numpy", "version": "2.0", "vulns": []}
BAD = {"name": "jinja2", "version": "3.0", "vulns": [{"id": "PYSEC-1", "fix_versions": ["3.1"]}]}
UNKNOWN = {"name": "typst", "skip_reason": "Dependency not found on PyPI and could not be audited"}
OWN = {"name": "personare", "skip_reason": "not on PyPI"}


def test_what_was_checked_and_what_was_not() -> None:
    assert outcome(FINE, OWN) == (0, ["audit: 1 packages checked, 0 with known vulnerabilities"])
    code, lines = outcome(FINE, BAD, UNKNOWN)
    assert code == 1 and lines[0] == "jinja2 3.0: PYSEC-1, fixed in 3.1"
    code, lines = outcome(FINE, UNKNOWN)
    assert code == 2 and lines[-1] == "audit: 1 packages could not be checked: typst"
    for nothing in ((), (UNKNOWN,), (OWN, UNKNOWN)):
        code, lines = outcome(*nothing)
        assert code == 2 and len(lines) == 1 and "nothing was checked" in lines[0]
