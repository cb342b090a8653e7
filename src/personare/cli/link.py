"""personare link, personare single-out: legal risk from speaker vectors, as curves over the number of people."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from personare.cli import given, show

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from personare.pipeline.curves import RiskCurves, VectorPair

TEST = typer.Argument(..., metavar="TEST", help="Vectors of the speech under test: .npz, .npy, .parquet, .ark or .scp.")
ENROLL = typer.Argument(..., metavar="ENROLL", help="Vectors of the attacker's enrolment speech.")
NAME = typer.Option("attacker", "--name", help="What to call this attacker in the table and the plot.")
ALSO = typer.Option(
    [], "--also", metavar="NAME=FILE,FILE", help="One more attacker to compare, TEST first; repeatable."
)
LENGTHS = typer.Option("1,3,30", "--lengths", metavar="L,L", help="Utterances per conversation.")
SIZES = typer.Option(None, "--sizes", metavar="N,N", help="Numbers of people.  [20,50,100,... and all]")
UTT2SPK = typer.Option(None, metavar="FILE", help="Who speaks, for Kaldi archives without an utt2spk beside them.")
WHO = typer.Option(0, "--who", min=0, metavar="K", help="Name the K speakers at the greatest risk.")
JSON = typer.Option(False, "--json", help="Print everything as JSON, with the risk of every speaker.")
PLOT = typer.Option(
    None, "--plot", metavar="DIR", callback=show.plot_folder, help="Draw the curves there, as SVG and PDF."
)
SEED = typer.Option(1, help="Chooses conversations and people.")


def link(
    test: Path = TEST,
    enroll: Path = ENROLL,
    name: str = NAME,
    also: list[str] = ALSO,
    lengths: str = LENGTHS,
    sizes: str | None = SIZES,
    population: str | None = typer.Option(
        None, "--population", metavar="N,N", help="Foretell it for so many people as well, e.g. 1e6,1e9."
    ),
    paper: bool = typer.Option(False, "--paper", help="One test per speaker and five random enrolments, as published."),
    utt2spk: Path | None = UTT2SPK,
    who: int = WHO,
    as_json: bool = JSON,
    plot: Path | None = PLOT,
    seed: int = SEED,
    jobs: int = given.JOBS,
    engine: str = given.ENGINE,
    address: str | None = given.ADDRESS,
) -> None:
    """Linkability: how often is the attacker's best guess, among N people, the right person?

    Enrolment vectors are averaged per speaker, test vectors over conversations of L utterances. Every number of people
    is measured exactly, not drawn. Guessing gives 1/N.

    Examples:

        personare link anonymous.npz enrolment.npz

        personare link anon.scp enroll.scp --population 1e6,1e9 --plot curves/

        personare link anonymous.npy everybody.npy --lengths 1 --engine ray --jobs 16
    """
    from personare.core.text import whole_numbers
    from personare.engine import engine_named
    from personare.pipeline.curves import link_curves

    machine = engine_named(engine, jobs, address)
    found = link_curves(
        _pairs(name, [test, enroll], also, utt2spk),
        lengths=whole_numbers(lengths, "--lengths"),
        sizes=whole_numbers(sizes, "--sizes") if sizes else (),
        populations=whole_numbers(population, "--population") if population else (),
        paper=paper,
        seed=seed,
        engine=machine,
    )
    _show(found, "linkability", who=who, as_json=as_json, plot=plot)


def single_out(
    test: Path = TEST,
    enroll: Path = ENROLL,
    name: str = NAME,
    also: list[str] = ALSO,
    lengths: str = LENGTHS,
    sizes: str | None = SIZES,
    predicates: int = typer.Option(495, "--predicates", min=1, help="How many enrolled voices are tried at most."),
    draws: int = typer.Option(5, "--draws", min=1, help="How often the people are drawn anew."),
    folds: int = typer.Option(
        10, "--folds", min=2, help="Conversations per person: one is tested, the others calibrate."
    ),
    control: bool = typer.Option(False, "--control", help="Run the attack on people who are not in the data, too."),
    utt2spk: Path | None = UTT2SPK,
    who: int = WHO,
    as_json: bool = JSON,
    plot: Path | None = PLOT,
    seed: int = SEED,
    jobs: int = given.JOBS,
    engine: str = given.ENGINE,
    address: str | None = given.ADDRESS,
) -> None:
    """Singling Out: how often does the description of a voice fit exactly one of N people, whoever it is?

    Enrolment is the mean of 30 utterances; each person has ten conversations of L utterances (at least two), nine of
    which set the threshold. Guessing isolates somebody in about 35 of 100 cases; the table has the exact level.

    Examples:

        personare single-out anonymous.npz enrolment.npz

        personare single-out anon.scp enroll.scp --control --plot curves/

        personare single-out anonymous.npy enrolment.npy --engine ray --jobs 16
    """
    from personare.core.text import whole_numbers
    from personare.engine import engine_named
    from personare.pipeline.curves import single_out_curves

    machine = engine_named(engine, jobs, address)
    found = single_out_curves(
        _pairs(name, [test, enroll], also, utt2spk),
        lengths=whole_numbers(lengths, "--lengths"),
        sizes=whole_numbers(sizes, "--sizes") if sizes else (),
        predicates=predicates,
        draws=draws,
        folds=folds,
        control=control,
        seed=seed,
        engine=machine,
    )
    _show(found, "singling out", who=who, as_json=as_json, plot=plot)


def ranks(
    test: Path = TEST,
    enroll: Path = ENROLL,
    name: str = NAME,
    also: list[str] = ALSO,
    tests: int = typer.Option(100, "--tests", min=1, help="How often one utterance of everybody is drawn."),
    original: bool = typer.Option(
        False, "--original", help="ENROLL is original speech: singling out, not linkability."
    ),
    utt2spk: Path | None = UTT2SPK,
    as_json: bool = JSON,
    seed: int = SEED,
) -> None:
    """Ranks: among how many people does a speaker vanish, when the attacker sorts them by likeness?

    One utterance of each speaker is compared with one of everybody, again and again; the mean rank of the right
    person is counted. p50 is its median over speakers; p1 is the speech k-anonymity factor. Guessing gives (N+1)/2.

    Examples:

        personare ranks anonymous.npz enrolment.npz

        personare ranks anonymous.npz originals.npz --original
    """
    from personare.cli.legal_tables import verdict
    from personare.pipeline.curves import rank_findings

    found = rank_findings(_pairs(name, [test, enroll], also, utt2spk), tests=tests, original=original, seed=seed)
    if as_json:
        show.json_object({"findings": [one.as_row() for one in found]})
        return
    rows = [
        [str(f.conditions["attacker"]), f.metric.title, f"{f.conditions['N']:,}", f.text, f.chance_text, verdict(f)]
        for f in found
    ]
    show.table("ranks", ["attacker", "metric", "N", "mean rank [95 % interval]", "guessing", "verdict"], rows)


def _pairs(name: str, files: list[Path], also: Sequence[str], utt2spk: Path | None) -> Mapping[str, VectorPair]:
    """Read every attacker's files; a file named twice is read once."""
    from personare.core.embedding_files import read_embeddings
    from personare.core.errors import ConfigError
    from personare.core.tables import Embeddings
    from personare.pipeline.curves import VectorPair

    read: dict[Path, Embeddings] = {}
    pairs: dict[str, VectorPair] = {}
    for called, both in [(name, files), *map(_one_more, also)]:
        if called in pairs:
            raise ConfigError(f"two attackers are called '{called}'; give each its own name (--name, --also)")
        _refuse_swapped(*both)
        for file in both:
            if file not in read:
                read[file] = read_embeddings(file, utt2spk=utt2spk if file.suffix in (".ark", ".scp") else None)
        test, enroll = (read[file] for file in both)
        pairs[called] = VectorPair(test, enroll)
    return pairs


def _refuse_swapped(test: Path, enroll: Path) -> None:
    """Refuse files whose names say that they are in the other order, as single-out once took them."""
    from personare.core.errors import ConfigError

    if "enrol" in test.stem.lower() and "enrol" not in enroll.stem.lower():
        rule = "the tested vectors come first, then the enrolment"
        raise ConfigError(f"{rule}, and {test.name} is given for TEST; write {enroll.name} {test.name}, or rename it")


def _one_more(text: str) -> tuple[str, list[Path]]:
    """Read ``NAME=FILE,FILE``."""
    from personare.core.errors import ConfigError

    name, _, files = text.partition("=")
    both = [Path(word) for word in files.split(",") if word]
    if not name or len(both) != 2:
        raise ConfigError(f"--also {text}: write NAME=FILE,FILE, the tested vectors first")
    return name, both


def _show(found: RiskCurves, title: str, *, who: int, as_json: bool, plot: Path | None) -> None:
    """Print the table or the JSON, the notes, who is at risk; draw the plot."""
    from personare.cli.legal_tables import as_document, curve_rows, risk_lines

    if as_json:
        import json

        typer.echo(json.dumps(as_document(found), indent=2))
    else:
        head, rows = curve_rows(found.findings)
        show.table(title, head, rows)
        for line in (*found.notes, *risk_lines(found.risks, who)):
            show.text(line)
    if plot is not None:
        from personare.metrics.privacy.singling_chance import TRIVIAL
        from personare.reports.risk_curves import save_curves

        paper_chance = TRIVIAL if "out" in title else None
        for kind in (".svg", ".pdf"):
            path = plot / f"{title.replace(' ', '-')}{kind}"
            save_curves(found.findings, path, title=title.capitalize(), paper_chance=paper_chance)
            typer.echo(f"plot: {path}", err=as_json)
