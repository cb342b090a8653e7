"""The report shows an audit that lies in the run folder, without names, and nothing where there is none."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from personare.core.findings import Estimate, Finding
from personare.metrics import card
from personare.pipeline.audit.audit import Audited, AuditFinding
from personare.reports.blocks import ReportTable
from personare.reports.run import Run
from personare.reports.sections.audit import FILE, audit_section

RUN = Run(Path(), "run", (), (), (), (), {}, {}, ())


def test_findings_and_relinking_are_shown_without_examples(tmp_path: Path) -> None:
    finding = AuditFinding("high", "tags in audio files", 3, ("anna.flac: tag artist",), "write them again")
    relinked = Finding(card("relink_duration"), Estimate(0.5, 0.4, 0.6, 20), {"N": 100}, chance=0.01)
    (tmp_path / FILE).write_text(json.dumps(Audited(7, 5, (finding,), (relinked,), ()).as_document()))
    section = audit_section(replace(RUN, folder=tmp_path))
    tables = [block for block in section.blocks if isinstance(block, ReportTable)]
    assert tables[0].rows == [["high", "tags in audio files", "3", "write them again"]]
    assert tables[1].rows == [["Relinking by duration", "50.0 % [40.0, 60.0]", "100", "1.0 %"]]
    assert "anna" not in repr(section)


def test_without_an_audit_or_with_a_damaged_one_there_is_no_section(tmp_path: Path) -> None:
    assert not audit_section(replace(RUN, folder=tmp_path)).blocks
    (tmp_path / FILE).write_text('{"findings": 3')
    assert not audit_section(replace(RUN, folder=tmp_path)).blocks
