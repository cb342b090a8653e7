"""personare train prosody: train the network that predicts F0 contour, voicing and energy for the neural voice."""

from __future__ import annotations

from pathlib import Path

import typer

from personare.cli import show
from personare.cli.train_synthesizer import speech_of


def prosody(
    corpus: list[Path] = typer.Option(
        ..., metavar="PATH", help="Speech to train on, in any known layout, with genders; repeatable."
    ),
    out: Path = typer.Option(..., metavar="DIR", help="A new folder for the voice, its features, log and checkpoints."),
    part: str | None = typer.Option(None, help="The part of the corpora to train on, e.g. train."),
    config: Path | None = typer.Option(
        None, metavar="FILE.yaml", help="Settings, e.g. trainings/prosody.yaml, those of the shipped network."
    ),
    voice: Path | None = typer.Option(
        None, metavar="DIR", help="The trained voice it joins (see train synthesizer).  [the shipped one]"
    ),
    resume: bool = typer.Option(False, "--resume", help="Go on with the training in DIR."),
    jobs: int = typer.Option(2, min=1, help="Processes that extract features."),
    layout: str | None = typer.Option(None, help="Layout of the corpora, where several fit."),
    as_json: bool = show.JSON,
) -> None:
    """Train the prosody network: content and a speaker vector in; F0 contour, voicing and energy out.

    The energy and the F0 contour of a recording give its speaker away to who knows the method. With this network
    a voice predicts both. Every utterance is prepared once; content comes mostly from copies in
    other voices and other recording conditions, so that neither speaker nor session is learnt. The pseudo-speakers of
    the new folder are drawn from all speakers of these corpora; a speaker's name means one person in all of them.
    Interrupted? Run it again with --resume: the result is the same as without the interruption.

    Examples:

        personare train prosody --corpus recordings/ --part train --out my-voice

        personare train prosody --corpus a/ --corpus b/ --out better --voice my-voice

        personare anonymize SRC DST --method cascade --set weights=better
    """
    from personare.core.config import load_yaml
    from personare.engine import engine_for
    from personare.pipeline.jobs.train_prosody import open_run, train_prosody
    from personare.training.prosody.settings import ProsodySettings
    from personare.training.torch_extra import torch_for

    torch_for("personare train")
    settings = ProsodySettings() if config is None else load_yaml(ProsodySettings, config)
    speech = speech_of(corpus, part, layout)
    with show.progress("preparing", len(speech)) as tick:
        run, failures = open_run(speech, settings, out, engine_for(jobs), watch=tick)
    show.failures(failures)
    with show.progress("training", settings.plan.steps) as tick:
        result = train_prosody(run, speech, out, voice=voice, resume=resume, watch=lambda step: tick(min(step.step, 1)))
    measured = result.measured
    if as_json:
        show.json_object(
            {
                "speakers": len({item.speaker for item in run.utterances}),
                "utterances": len(run.utterances),
                "failed": len(failures),
                "voice": result.folder,
                "megabytes": result.megabytes,
                **measured,
            }
        )
        return
    show.table(
        f"trained on {len({item.speaker for item in run.utterances})} speakers, {len(run.utterances)} utterances",
        ["steps", "held-out loss", "F0 correlation", "voicing errors", "energy correlation", "MB"],
        [
            [
                str(result.validations[-1].step),
                f"{min(validation.held_out for validation in result.validations):.3f}",
                f"{measured['f0_correlation']:.2f}",
                f"{100 * measured['voicing_error']:.1f} %",
                f"{measured['energy_correlation']:.2f}",
                f"{result.megabytes:.1f}",
            ]
        ],
    )
    typer.echo(
        f"voice: {result.folder} (use it: personare anonymize SRC DST --method xvector --set weights={result.folder} "
        "--set f0=predicted --set energy=predicted)"
    )
