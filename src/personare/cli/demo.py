"""personare demo: the whole path on synthetic voices, from nothing to a report that compares strengths and methods."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from personare.cli import given, show

if TYPE_CHECKING:
    from personare.corpora.voices.speakers import Source

SAME_SYNTHESIZER = (
    "{language}: the speakers and the voices that hide them are voices of the same synthesizer (Kokoro), because no "
    "other offline source has many voices in this language. This shows that the path works, and proves nothing about "
    "privacy."
)


def demo(
    folder: Path | None = typer.Argument(
        None, metavar="DIR", help="Where everything goes.", show_default="personare-demo, or personare-demo-CODE"
    ),
    speakers: int | None = typer.Option(
        None, min=2, help="How many synthetic speakers.", show_default="16; 6 where it is not English"
    ),
    utterances: int | None = typer.Option(
        None, min=2, help="How many utterances each.", show_default="6; 4 where it is not English"
    ),
    language: str = typer.Option("en", metavar="CODE", help="What they speak (see: personare languages)."),
    method: list[str] | None = typer.Option(
        None, metavar="NAME", help="One more to compare: a method (see: personare methods), or module:Class."
    ),
    settings: list[str] | None = typer.Option(
        None, "--set", metavar="METHOD.NAME=VALUE", help="A parameter of a method that is compared."
    ),
    jobs: int = typer.Option(2, "--jobs", "-j", min=1, help="How many processes work at once."),
    as_json: bool = show.JSON,
) -> None:
    """Make voices, hide them, attack them, report: the whole path in a few minutes, without any data of yours.

    The speakers are synthetic: voices of Piper, which no strength speaks with. The strengths fast, balanced and strong
    (see: personare methods) are attacked and listened to side by side, and every --method beside them; the folder
    'anonymized' holds the output of 'personare anonymize'. A second run, also with one more --method, reuses finished
    work.

    In languages other than English the speakers are voices of Kokoro, which the neural voice was trained on and which
    speak French in balanced and strong: the numbers then show that the path works, and prove nothing about privacy.

    Examples:

        personare demo my-demo --jobs 2

        personare demo --language de

        personare demo my-demo --method usc --method my_module:MyAnonymizer
    """
    show.one_thread()
    from personare import api
    from personare.anonymizers.presets import PRESETS, usual
    from personare.api.choices import language_models
    from personare.core.language_codes import checked_language, language_title
    from personare.core.seeding import Key, load_or_make_key
    from personare.core.weights import files_of
    from personare.engine import engine_for
    from personare.pipeline import builtin
    from personare.pipeline.jobs import voices as speaking
    from personare.pipeline.jobs.target import private_folder

    code = checked_language(language)
    usually = (16, 6) if code == "en" else (6, 4)
    speakers, utterances = speakers or usually[0], utterances or usually[1]
    folder = folder or Path("personare-demo" if code == "en" else f"personare-demo-{code}")
    recognizer = builtin.recognizer_for([code])
    voices: Source = "piper" if code == "en" else "kokoro"  # nobody is hidden by the synthesizer they speak with
    wanted = speaking.Wanted(
        speakers, utterances, seed=1, rate_hz=16_000, source=voices, language=code, noted_gender=code == "en"
    )
    more = _methods(method or [], settings)
    for model in dict.fromkeys((*wanted.models, "ecapa", recognizer, "dnsmos", *language_models(code))):
        files_of(model)
    source, target = folder / "voices", folder / "anonymized"
    with show.progress("1/3 making voices", speakers * utterances) as tick:
        made = speaking.make_voices(source, wanted, engine=engine_for(jobs), watch=lambda _: tick(1))
    typer.echo(
        f"1/3 voices: {made.speakers} speakers, {made.done} utterances, {made.speech_s / 60:.1f} min -> {source}",
        err=as_json,
    )
    show.failures(made.failures)
    # public on purpose: everybody's demo shows the same numbers
    load_or_make_key(private_folder(target) / "key", new=Key.from_seed("demo"))
    with show.progress("2/3 anonymizing", made.done) as tick:
        anonymized = api.anonymize_corpus(source, target, jobs=jobs, watch=lambda _: tick(1))
    count = f"{anonymized.done} done, {anonymized.failed} failed"
    typer.echo(f"2/3 anonymized ({usual()[0].name}): {count} -> {target}", err=as_json)
    show.failures(anonymized.failures)
    typer.echo("3/3 attacking and listening", err=as_json)
    methods = {name: {"method": p.method, **p.parameters} for name, p in PRESETS.items()}
    study = builtin.comparison(
        source,
        methods | more,
        attacked=made.speakers,
        listeners=(recognizer, "dnsmos"),
        notes=() if code == "en" else (SAME_SYNTHESIZER.format(language=language_title(code)),),
    )
    result = given.watched(api.run_study, study=study, out=folder / "run", resume=True, jobs=jobs)
    page = result.report()
    title = f"{result.title}; every attack is in the report"
    given.tell(result, title, side_by_side=True, as_json=as_json, folder=result.folder, report=page)
    if not as_json:
        typer.echo(f"report: {page}")
        typer.echo(
            "on your own recordings: personare anonymize RECORDINGS HIDDEN, then personare evaluate RECORDINGS HIDDEN"
        )
    if result.failures:
        raise typer.Exit(1)


def _methods(names: list[str], settings: list[str] | None) -> dict[str, dict[str, Any]]:
    """Look up the methods to compare besides: what is misspelt or missing is said before any voice is made."""
    from personare.cli.settings import parse_member_settings
    from personare.core.errors import ConfigError, did_you_mean
    from personare.pipeline.system import System, rehearse

    parameters = parse_member_settings(settings, kind="method", example="mcadams.alpha=0.8")
    for name in parameters:
        if name not in names:
            following = did_you_mean(name, names) if names else f"add --method {name}"
            raise ConfigError(f"--set {name}: no --method names '{name}'; {following}")
    chosen = {name: parameters.get(name, {}) for name in names}
    for name, own in chosen.items():
        rehearse(System(name, own))
    return {name: {"method": name, **own} for name, own in chosen.items()}
