"""What a measurement gives back in Python: findings that print as a table, filter, and write their own report."""

from __future__ import annotations

import html
import shutil
import tempfile
import weakref
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, overload

from personare.core.errors import UnknownNameError, did_you_mean
from personare.core.findings import Finding
from personare.core.ledger import Ledger
from personare.core.spoken import SpeechSummary, UncertainRecording
from personare.core.tables import Corpus

if TYPE_CHECKING:
    import polars as pl

    from personare.pipeline.gate import Verdict


@dataclass(frozen=True, eq=False)
class Findings(Sequence[Finding]):
    """Numbers with their intervals and conditions, in the order they were measured."""

    findings: tuple[Finding, ...]

    @overload
    def __getitem__(self, at: int) -> Finding: ...
    @overload
    def __getitem__(self, at: slice | str) -> Findings: ...
    def __getitem__(self, at: int | slice | str) -> Finding | Findings:
        """Give one finding by its place, or all of a metric by its name."""
        if isinstance(at, str):
            kept = tuple(f for f in self.findings if f.metric.name == at)
            if not kept:
                known = {f.metric.name for f in self.findings}
                raise UnknownNameError(f"'{at}' was not measured; {did_you_mean(at, known)}")
            return Findings(kept)
        return self.findings[at] if isinstance(at, int) else Findings(self.findings[at])

    def __len__(self) -> int:
        return len(self.findings)

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.findings)

    def where(self, **conditions: str | int | float | None) -> Findings:
        """Keep findings under these conditions (attacker, anonymizer, L, N, gender, ...); None: without that one."""
        kept = (f for f in self.findings if all(f.conditions.get(k) == v for k, v in conditions.items()))
        return Findings(tuple(kept))

    def strongest(self, *, by: Literal["voice", "words"] = "voice") -> Finding:
        """Give the attack on anonymized speech with the highest risk above chance, by voice or by words.

        Numbers of different metrics do not compare: among several, linkability decides, and EER where nobody linked.
        Of one metric those with the most people are compared; original speech counts only where there is nothing else.
        """
        from personare.reports.sections.choosing import of_risk, overall, protected, strongest, strongest_attack

        attacks = of_risk((f for f in overall(self.findings) if "attacker" in f.conditions), by)
        attacks = protected(attacks) or attacks
        names = list(dict.fromkeys(f.metric.name for f in attacks))
        best = strongest(attacks) if len(names) == 1 else strongest_attack(attacks)
        if best is None and len(names) > 1:
            raise UnknownNameError(f"choose a metric to compare attackers by: results[NAME], of {', '.join(names)}")
        if best is None:
            raise UnknownNameError("no attack was measured, so none is the strongest")
        return best

    def to_dict(self) -> list[dict[str, Any]]:
        """Give plain rows, as in findings.json."""
        from personare.pipeline.gate import row_of

        return [row_of(finding) for finding in self.findings]

    def to_polars(self) -> pl.DataFrame:
        """Give a table, as in findings.parquet."""
        from personare.pipeline.folder import findings_frame

        return findings_frame(self.findings)

    def tables(self) -> list[tuple[Sequence[str], list[list[str]]]]:
        """Lay out the headline numbers, each table as its head and rows: every attacker, then all other metrics."""
        from personare.reports.summary import other_rows, summary_rows

        return [(head, rows) for head, rows in (summary_rows(self.findings), other_rows(self.findings)) if rows]

    def comparison(self) -> tuple[Sequence[str], list[list[str]]]:
        """Lay out the methods side by side, a row each: verdict, strongest attack, and what it costs."""
        from personare.reports.comparison import comparison_rows

        return comparison_rows(self.findings)

    def __str__(self) -> str:
        tables = [plain_table([" ".join(name.split()) for name in head], rows) for head, rows in self.tables()]
        return "\n\n".join(tables) or "nothing was measured"

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self)} findings)"

    def _repr_html_(self) -> str:
        return "".join(_html_table(head, rows) for head, rows in self.tables())


class TemporaryFolder:
    """A folder that is removed, without a word, when nothing refers to this object any more."""

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix="personare-run-"))
        weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)


@dataclass(frozen=True, eq=False, repr=False)
class Results(Findings):
    """What a run found.

    Parameters
    ----------
    folder : the run folder, which ``personare report`` reads too; a temporary one lives as long as this object.
    verdicts : the stated bounds, judged; failures : (stage, item, why); notes : what a reader must know.
    stages, executed : how many stages there are, and how many of them had to be done now.
    ledger : every recording of the anonymized folder, counted by its outcome; None where nobody noted it.
    """

    folder: Path
    verdicts: tuple[Verdict, ...] = ()
    failures: tuple[tuple[str, str, str], ...] = ()
    notes: tuple[str, ...] = ()
    stages: int = 0
    executed: int = 0
    keeps: TemporaryFolder | None = field(default=None, repr=False)
    ledger: Ledger | None = None

    def to_json(self) -> dict[str, Any]:
        """Give everything as plain values: findings, the verdict on each method, bounds, failures and notes."""
        from personare.reports.verdicts import judged_methods

        verdicts = [one.as_row() for one in judged_methods(self.findings, self.notes)]
        return {
            "findings": self.to_dict(),
            "verdicts": verdicts,
            "bounds": [{"sentence": one.sentence, "held": one.held} for one in self.verdicts],
            "failures": [{"stage": stage, "item": item, "why": why} for stage, item, why in self.failures],
            "notes": list(self.notes),
            "ledger": None if self.ledger is None else self.ledger.to_dict(),
        }

    @property
    def title(self) -> str:
        """Say in one line what was compared."""
        from personare.reports.report import subtitle
        from personare.reports.run import read_run

        return subtitle(read_run(self.folder))

    @property
    def verdict(self) -> str:
        """Sum up every anonymizer in a paragraph each: the risk by voice, the risk by words, and the next step."""
        from personare.reports.verdicts import judged_methods

        return "\n".join(judged.text for judged in judged_methods(self.findings, self.notes))

    def report(self, folder: str | Path | None = None, *, names: bool = False, sounds: bool = False) -> Path:
        """Write the report (a page, Markdown, LaTeX, CSV, JSON, figures); give the page's path.

        People are numbers unless ``names``; ``sounds`` puts original speech and its text beside the anonymized.
        """
        from personare.reports.report import write_run_report

        place = None if folder is None else Path(folder)
        return write_run_report(self.folder, out=place, names=names, sounds="original" if sounds else "anonymized")[0]

    def evidence(self, path: str | Path) -> Path:
        """Write the annex for an impact assessment: a PDF of a few pages (extra ``pdf``); give its path."""
        from personare.reports.evidence import write_evidence

        return write_evidence(self.folder, Path(path))

    def exposed(self, most: int = 5) -> dict[str, list[tuple[str, float]]]:
        """Name, for each attacker, the speakers who are linked most often, at the smallest L."""
        from personare.core.tables import read_frame
        from personare.reports.run import read_run

        exposed: dict[str, list[tuple[str, float]]] = {}
        run = read_run(self.folder)
        smallest = min((a.conditions["L"] for a in run.of_kind("exposed")), default=1)
        for artefact in run.of_kind("exposed"):
            if artefact.conditions["L"] == smallest and artefact.conditions["anonymizer"] != "original":
                rows = read_frame(artefact.path).select("speaker", "share").rows()
                worst = sorted(rows, key=lambda row: (-row[1], row[0]))[:most]
                exposed[str(artefact.conditions["attacker"])] = worst
        return exposed


@dataclass(frozen=True, eq=False)
class AnonymizedCorpus:
    """A folder of anonymized speech: what was done, and where everything lies.

    Parameters
    ----------
    folder : may be given away; private : must stay (key, settings, failures, which name source files).
    done, kept, failed : utterances that are there, those of them that an earlier run had made, and those that failed.
    speech_s, wall_s : seconds of speech anonymized now, and the time it took.
    unexplained : audio in the folder that no utterance of the corpus explains.
    ledger : every recording that was found, counted by its outcome; several_speakers : names of the recordings in which
        more than one person speaks on a channel.
    speech : how long the recordings were and are, and their languages; least_certain : those to listen to first.
    """

    folder: Path
    private: Path
    method: str
    done: int
    kept: int
    failed: int
    speech_s: float
    wall_s: float
    failures: tuple[tuple[str, str], ...] = field(repr=False)
    ledger: Ledger
    several_speakers: tuple[str, ...] = ()
    unexplained: int = 0
    speech: SpeechSummary = field(default_factory=SpeechSummary)
    least_certain: tuple[UncertainRecording, ...] = ()

    @property
    def corpus(self) -> Corpus:
        """The anonymized speech."""
        from personare.corpora import read_corpus

        return read_corpus(self.folder, person_channels=True).corpus

    def to_dict(self) -> dict[str, Any]:
        """Give plain values."""
        paths = {"folder": str(self.folder), "private": str(self.private)}
        heard = {"speech": asdict(self.speech), "least_certain": [asdict(one) for one in self.least_certain]}
        return {**self.__dict__, **paths, **heard, "ledger": self.ledger.to_dict()}

    def rows(self) -> tuple[list[str], list[list[str]]]:
        """Lay out one row for a table."""
        factor = f"{self.wall_s / self.speech_s:.3g}" if self.speech_s else "-"
        cells = [str(self.done), str(self.kept), str(self.failed), f"{self.speech_s / 3600:.3f}", factor]
        return ["done", "kept from before", "failed", "hours", "real-time factor"], [cells]

    def __str__(self) -> str:
        return f"{self.method} -> {self.folder}\n{plain_table(*self.rows())}"


def _html_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    cells = ["".join(f"<td>{html.escape(cell)}</td>" for cell in row) for row in rows]
    top = "".join(f"<th>{html.escape(name)}</th>" for name in head)
    return f"<table><tr>{top}</tr>{''.join(f'<tr>{row}</tr>' for row in cells)}</table>"


def plain_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Lay out words and numbers in columns, for print.

    >>> print(plain_table(["attacker", "EER"], [["ignorant", "31 %"], ["informed", "9 %"]]))
    attacker  EER
    ignorant  31 %
    informed  9 %
    """
    lines = [list(head), *map(list, rows)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(head))]
    return "\n".join("  ".join(cell.ljust(w) for cell, w in zip(line, widths, strict=True)).rstrip() for line in lines)
