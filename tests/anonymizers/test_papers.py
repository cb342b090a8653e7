"""The systems of papers by name: the same systems as their settings, and one line where something is missing."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import personare as pn
from conftest import hum
from personare.anonymizers import ANONYMIZERS, anonymizer, models_needed
from personare.anonymizers.papers import PAPERS, PaperSystem
from personare.cli import app
from personare.core.errors import ConfigError, UnknownNameError
from personare.pipeline.resolve import resolve_anonymizer
from personare.pipeline.system import System

BUILT = [row for row in PAPERS.values() if not row.missing]
ASKED = (
    *("B1", "B2", "D1", "I1", "M1", "M1c1", "M1c2", "M1c3", "M1c4", "O1", "O1c1", "A1", "A2"),
    *("S1", "S1c1", "S2", "S2c1", "K2", "RP+GMM", "RP+GMM+SC", "SALT", "USC"),
)


def test_every_system_of_the_papers_tables_is_there() -> None:
    assert {row.name for row in BUILT} >= set(ASKED)
    assert all(row.deviations for row in BUILT) and all(row.paper and row.section for row in PAPERS.values())


@pytest.mark.parametrize("row", BUILT, ids=lambda row: str(row.name))
def test_a_papers_name_is_the_same_system_as_its_settings(row: PaperSystem) -> None:
    named, spelled = System(row.name), System(row.method, row.settings)
    assert named.fingerprint == spelled.fingerprint
    assert named.name == row.name, "reports and cards show the name that was typed"
    assert models_needed(row.name) == models_needed(row.method, row.settings)
    assert anonymizer(row.name) == anonymizer(row.method, **row.settings)


def test_case_and_spaces_do_not_count_and_a_methods_own_name_comes_first() -> None:
    assert ANONYMIZERS.resolve("rp + gmm") == ("xvector", {"generator": "rp_gmm"})
    assert ANONYMIZERS.resolve("m1C3") == ANONYMIZERS.resolve("M1c3")
    assert ANONYMIZERS.resolve("usc") == ("usc", {}) and ANONYMIZERS.resolve("USC") == ("usc", {"voice": "none"})


def test_settings_that_are_typed_override_those_of_the_name() -> None:
    assert anonymizer("D1", alpha=0.7) == anonymizer("mcadams", alpha=0.7, radius=0.975)
    with pytest.raises(ConfigError, match="alpha"):
        anonymizer("D1", alhpa=0.7)


@pytest.mark.parametrize("row", [row for row in PAPERS.values() if row.missing], ids=lambda row: str(row.name))
def test_what_cannot_be_built_says_in_one_line_what_is_missing(row: PaperSystem) -> None:
    with pytest.raises(ConfigError) as refused:
        System(row.name).build()
    assert row.missing in str(refused.value) and "\n" not in str(refused.value)
    with pytest.raises(UnknownNameError, match="no anonymizer 'B11'"):
        anonymizer("B11")


def test_studies_and_the_api_take_the_names(tmp_path: Path) -> None:
    resolved = resolve_anonymizer("baseline", {"method": "B2"}, tmp_path)
    other = resolve_anonymizer("spelled", {"method": "mcadams", "alpha": 0.8}, tmp_path)
    assert resolved.owner_identity.fingerprint == other.owner_identity.fingerprint
    with pytest.raises(ConfigError, match=r"anonymizers: b5: .*missing"):
        resolve_anonymizer("b5", {"method": "B5"}, tmp_path)
    voice = hum(1, duration_s=0.5)
    sound = (voice.samples, voice.rate_hz)
    named = pn.anonymize(sound, key="k", method="D1")
    spelled = pn.anonymize(sound, key="k", method="mcadams", alpha=0.8, radius=0.975)
    assert np.array_equal(named.samples, spelled.samples)


def test_methods_papers_prints_the_table() -> None:
    shown = CliRunner().invoke(app, ["methods", "--papers", "--json"])
    assert shown.exit_code == 0, shown.output
    rows = {row["name"]: row for row in json.loads(shown.output)["papers"]}
    assert rows["D1"]["settings"] == {"alpha": 0.8, "radius": 0.975} and rows.keys() == PAPERS.keys()
    table = CliRunner().invoke(app, ["methods", "--papers"], env={"COLUMNS": "200"})
    assert "xvector own=source" in table.output and "missing: " in table.output
    card = CliRunner().invoke(app, ["methods", "m1c3"])
    assert "M1c3" in card.output and "Differs from the original" in " ".join(card.output.split())


def test_the_app_offers_the_systems_that_can_be_built() -> None:
    from personare.web.job_actions import other_methods

    offered = {one["name"]: one for one in other_methods()}
    assert set(ASKED) <= offered.keys() and "B4" not in offered
    assert offered["B2"]["needs"] == "" and offered["B2"]["paper"]
