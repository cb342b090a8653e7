"""personare panel: listening tests with people, from a run to invitations, answers and findings."""

from __future__ import annotations

from pathlib import Path

import typer

from personare.cli import show

app = typer.Typer(no_args_is_help=True, help="Listening tests with people, in the browser.")
DIR = typer.Argument(..., metavar="DIR", help="The panel folder.")


@app.command("make")
def make(
    run: Path = typer.Argument(..., metavar="RUN", help="A run folder that still has its stages."),
    folder: Path = typer.Argument(..., metavar="DIR", help="The panel folder to make."),
    test: str = typer.Option("unified", help="unified, clustering, abx, expression or mos."),
    sessions: int = typer.Option(20, min=1, help="How many different sessions are dealt; people share them evenly."),
    trials: int | None = typer.Option(None, min=1, help="Trials a session; without, as the papers have."),
    title: str = typer.Option("", help="What people read at the top; without, the title of the run."),
    contact: str = typer.Option("", help="Whom people can ask, e.g. an e-mail address."),
    language: str = typer.Option("", help="Ask people whether this is their first language, e.g. English."),
    seed: int = typer.Option(1, help="The same run and seed deal the same trials."),
    as_json: bool = show.JSON,
) -> None:
    """Make a listening panel of a run: choose recordings, deal them evenly, write them equally loud under opaque names.

    unified: intelligibility, naturalness, similarity to a speaker, 1 to 10, 36 trials (VoicePrivacy 2020). clustering:
    16 recordings put together by voice, 3 trials (VoicePrivacy 2020). abx: is X the speaker of A or of B, 20 triplets
    (USC). expression: which of two renderings is said like the original, 20 triplets. mos: naturalness and
    intelligibility, 1 to 5, 10 samples of every method.

    Examples:

        personare panel make my-study-run panel

        personare panel make my-study-run clusters --test clustering
    """
    from personare.api import make_panel
    from personare.panels.design import counts

    words = {"title": title, "contact": contact, "language": language}
    made = make_panel(run, folder, test=test, sessions=sessions, trials=trials, seed=seed, **words)
    rows = [
        [system, {True: "target", False: "nontarget", None: "-"}[target], str(count)]
        for (system, target), count in sorted(counts(made.sessions).items(), key=str)
    ]
    each = len(made.sessions[0].trials)
    if as_json:
        dealt = [{"system": row[0], "speaker": row[1], "trials": int(row[2])} for row in rows]
        facts = {"panel": folder, "test": test, "sessions": sessions, "trials": each, "sounds": made.stimuli}
        show.json_object(facts, dealt=dealt, notes=made.notes)
        return
    show.table(
        f"{test}: {sessions} sessions of {each} trials, {made.stimuli} sounds", ["system", "speaker", "trials"], rows
    )
    for note in made.notes:
        show.aside(f"note: {note}")
    typer.echo(f"panel: {folder}; invite people with: personare panel invite {folder} --count 10")


@app.command("invite")
def invite(
    folder: Path = DIR,
    count: int = typer.Option(1, min=1, max=10_000, help="How many people."),
    days: float = typer.Option(30.0, help="How long the invitations are valid."),
    address: str = typer.Option("http://127.0.0.1:8000/", help="Where people will open the panel."),
    admin: bool = typer.Option(False, "--admin", help="A link for yourself: who is how far."),
    as_json: bool = show.JSON,
) -> None:
    """Make invitations: one secret link for each person, printed once; the folder keeps only their digests.

    Examples:

        personare panel invite panel --count 12 > links.txt

        personare panel invite panel --admin
    """
    from personare.panels.folder import read_panel
    from personare.panels.store import AnswerStore

    store = AnswerStore(read_panel(folder).answers)
    tokens = store.invite(count, days=days, role="admin" if admin else "evaluator")
    links = [f"{address.rstrip('/')}/#{token}" for token in tokens]
    store.close()
    if as_json:
        show.json_object({"links": links, "days": days})
        return
    typer.echo("\n".join(links))


@app.command("serve")
def serve(
    folder: Path = DIR,
    host: str = typer.Option("127.0.0.1", help="The address to listen at; 127.0.0.1: this machine only."),
    port: int = typer.Option(8000, min=0, max=65535, help="The port; 0: any free one."),
    name: list[str] = typer.Option([], "--name", help="A host name under which people open it; several times."),
    behind_proxy: bool = typer.Option(
        False, "--behind-proxy", help="A reverse proxy on this machine speaks https: cookies are sent over https only."
    ),
) -> None:
    """Serve a panel to browsers until you stop it; answers are on disk the moment they are acknowledged.

    Examples:

        personare panel serve panel

        personare panel serve panel --behind-proxy --name listen.example.org
    """
    from personare.web.serving import hosts_of, listen, require_web
    from personare.web.serving import serve as run

    require_web("personare panel serve")
    from personare.panels.folder import read_panel
    from personare.panels.store import AnswerStore
    from personare.web.panel import PanelServer

    panel = read_panel(folder)
    opened = listen(host, port)
    server = PanelServer(panel, AnswerStore(panel.answers), secure=behind_proxy)
    shown = f"[{host}]" if ":" in host else host
    run(
        server.app(tuple(hosts_of(shown, name))),
        opened,
        behind_proxy=behind_proxy,
        started=lambda at: typer.echo(f"panel: http://{shown}:{at}/  (stop with Ctrl-C)"),
    )


@app.command("analyze")
def analyze(
    folder: Path = DIR,
    out: Path | None = typer.Option(None, "--out", metavar="RUN", help="Where findings go.  [DIR/analysis]"),
    attentive_only: bool = typer.Option(
        False, "--attentive-only", help="Leave out evaluators who failed a check of attention."
    ),
    as_json: bool = show.JSON,
) -> None:
    """Analyze the answers: findings with intervals over evaluators, the papers' figures, a report like any other.

    Evaluators who failed a check of attention are named by their token, and kept unless you leave them out.

    Examples:

        personare panel analyze panel
    """
    from personare.api import analyze_panel

    found = analyze_panel(folder, out=out, attentive_only=attentive_only)
    if as_json:
        show.json_object(
            {"findings": found.to_dict(), "notes": list(found.notes)}, folder=found.folder, report=found.page
        )
        return
    rows = [
        [f.metric.title, str(f.conditions["anonymizer"]), str(f.conditions.get("trials", "-")), f.text, f.chance_text]
        for f in found.findings
    ]
    show.table(f"{len(rows)} findings -> {found.folder}", ["metric", "method", "trials", "value", "chance"], rows)
    for note in found.notes:
        show.aside(f"note: {note}")
    typer.echo(f"report: {found.page}")


@app.command("export")
def export(
    folder: Path = DIR,
    file: Path = typer.Argument(..., metavar="FILE", help="A .csv or .parquet file."),
    as_json: bool = show.JSON,
) -> None:
    """Write every answer as a table, one row each: what was heard, what was answered, how long it took.

    Examples:

        personare panel export panel answers.parquet
    """
    from personare.api import export_panel

    count, kind = export_panel(folder, file)
    if as_json:
        show.json_object({"answers": count, "file": file, "kind": kind})
        return
    typer.echo(f"{count} answers -> {file} ({kind})")
