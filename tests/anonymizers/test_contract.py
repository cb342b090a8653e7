"""Every anonymizer of the catalog keeps every promise of the contract."""

from __future__ import annotations

import pytest

from anonymizers.contract import CLAUSES
from personare.anonymizers import ANONYMIZERS, BUILTIN, anonymizer

SETTINGS: dict[str, list[dict[str, object]]] = {
    "mcadams": [{}, {"alpha": (0.5, 0.9)}, {"radius": 0.975}],
    "chain": [{"steps": [{"name": "world"}, {"name": "mcadams", "parameters": {"alpha": 0.9}}]}],
}
CASES = [(name, setting) for name in BUILTIN for setting in SETTINGS.get(name, [{}])]
SLOW = {"ten_minutes_survive"}


@pytest.mark.parametrize("clause", [c for c in CLAUSES if c not in SLOW])
@pytest.mark.parametrize(("name", "setting"), CASES, ids=str)
def test_contract(name: str, setting: dict[str, object], clause: str) -> None:
    CLAUSES[clause](anonymizer(name, **setting))


def test_mcadams_at_length() -> None:
    CLAUSES["ten_minutes_survive"](anonymizer("mcadams"))


@pytest.mark.slow
@pytest.mark.parametrize("name", [n for n in BUILTIN if n != "mcadams"])
def test_contract_at_length(name: str) -> None:
    CLAUSES["ten_minutes_survive"](anonymizer(name, **SETTINGS.get(name, [{}])[0]))


def test_every_name_is_listed() -> None:
    assert set(BUILTIN) <= set(ANONYMIZERS.names())
