"""personare train synthesizer: train the neural voice of `anonymize --method cascade` and `xvector`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from personare.cli import show

if TYPE_CHECKING:
    from personare.core.findings import Estimate
    from personare.core.tables import Corpus
    from personare.training.synthesizer.settings import SynthesizerSettings


def synthesizer(
    corpus: list[Path] = typer.Option(
        [], metavar="PATH", help="Speech to train on, in any known layout, with genders; repeatable."
    ),
    out: Path = typer.Option(..., metavar="DIR", help="A new folder for the voice, its features, log and checkpoints."),
    part: str | None = typer.Option(None, help="The part of the corpus to train on, e.g. train."),
    config: Path | None = typer.Option(None, metavar="FILE.yaml", help="Settings.  [those of the shipped voice]"),
    start: Path | None = typer.Option(
        None, metavar="DIR", help="Start from the network of an earlier training, or of a voice ('shipped')."
    ),
    prosody: Path | None = typer.Option(
        None, metavar="DIR", help="A voice with a prosody network: half of the speech gets its predicted energy."
    ),
    readings: Path | None = typer.Option(
        None, metavar="DIR", help="A folder of train reader: what its readers read is learnt from its own content too."
    ),
    for_reading: bool = typer.Option(
        False, "--for-reading", help="The network joins the voice of --readings, to speak what is read; all else stays."
    ),
    for_languages: bool = typer.Option(
        False, "--for-languages", help="Train the network that speaks what train reader --language in --readings reads."
    ),
    resume: bool = typer.Option(False, "--resume", help="Go on with the training in DIR."),
    jobs: int = typer.Option(2, min=1, help="Processes that extract features."),
    layout: str | None = typer.Option(None, help="Layout of the corpus, where several fit."),
    as_json: bool = show.JSON,
) -> None:
    """Train the neural voice: content, pitch and a speaker vector in, speech out.

    Every utterance is prepared once (pitch, energy, speaker vector, and what is said, encoded from the speech and from
    three copies in other voices), then two processes train with averaged gradients. Some speakers are held out to
    validate on, by the content a recognizer's encoder finds. The shipped voice took two and a half hours on two
    busy cores, in two trainings: a new network, then a second one that started from it with lower rates (--start).
    With --for-languages no corpus is needed: the network begins with the one that speaks English words, is trained on
    the readings, and imitates its beginning in English, so that every pseudo-speaker can be spoken as.
    Interrupted? Run it again with --resume: the result is the same as without the interruption.

    Examples:

        personare train synthesizer --corpus recordings/ --part train --out my-voice

        personare train synthesizer --corpus in/ --out better --start my-voice

        personare train synthesizer --corpus a/ --out third --start shipped

        personare train synthesizer --corpus a/ --out b --readings c --for-reading

        personare train synthesizer --out b --readings c --for-languages

        personare anonymize SRC DST --method xvector --set weights=better
    """
    from personare.anonymizers.neural.xvector.weights import SHIPPED, shipped_folder
    from personare.core.config import load_yaml
    from personare.core.errors import ConfigError
    from personare.engine import engine_for
    from personare.pipeline.jobs.train_synthesizer import open_run, train_synthesizer
    from personare.pipeline.jobs.training_files import sources_of
    from personare.training.synthesizer.settings import SynthesizerSettings
    from personare.training.torch_extra import torch_for

    torch_for("personare train")
    if for_reading and readings is None:
        raise ConfigError("--for-reading joins the voice of --readings DIR; name it")
    settings = SynthesizerSettings() if config is None else load_yaml(SynthesizerSettings, config)
    if for_languages:
        if readings is None or corpus or prosody or for_reading:
            raise ConfigError("--for-languages needs --readings DIR, and no --corpus, --prosody, --for-reading")
        _for_languages(readings, out, settings, start=start, resume=resume, jobs=jobs, as_json=as_json)
        return
    if not corpus:
        raise ConfigError("name the speech to train on with --corpus PATH")
    speech = speech_of(corpus, part, layout)
    begin = shipped_folder() if start is not None and str(start) == SHIPPED else start
    with show.progress("preparing", len(speech)) as tick:
        run, failures = open_run(
            speech, settings, out, engine_for(jobs), watch=tick, start=begin, prosody=prosody, readings=readings
        )
    show.failures(failures)
    with show.progress("training", settings.plan.steps) as tick:
        result = train_synthesizer(
            run,
            speech,
            out,
            sources=sources_of(speech),
            resume=resume,
            beside=readings if for_reading else None,
            watch=lambda step: tick(min(step.step, 1)),
        )
    if as_json:
        rates = {"wer_original": result.wer_original, "wer": result.wer}
        show.json_object(
            {
                "speakers": len({item.speaker for item in run.utterances}),
                "utterances": len(run.utterances),
                "failed": len(failures),
                "steps": result.validations[-1].step,
                "loss": result.validations[-1].loss,
                "held_out": min(validation.held_out for validation in result.validations),
                **{name: rate and rate.to_dict() for name, rate in rates.items()},
                "megabytes": result.megabytes,
                "voice": str(result.folder),
            }
        )
        return
    show.table(
        f"trained on {len({item.speaker for item in run.utterances})} speakers, {len(run.utterances)} utterances",
        ["steps", "loss", "held-out distance of contents", "WER original [95 %]", "WER in other voices [95 %]", "MB"],
        [
            [
                str(result.validations[-1].step),
                f"{result.validations[-1].loss:.3f}",
                f"{min(validation.held_out for validation in result.validations):.3f}",
                _percent(result.wer_original),
                _percent(result.wer),
                f"{result.megabytes:.1f}",
            ]
        ],
    )
    method = "cascade" if for_reading else "xvector"  # without a reader it speaks encoded content
    use = f"personare anonymize SRC DST --method {method} --set weights={result.folder}"
    typer.echo(f"voice: {result.folder} (use it: {use})")


def _for_languages(
    readings: Path,
    out: Path,
    settings: SynthesizerSettings,
    *,
    start: Path | None,
    resume: bool,
    jobs: int,
    as_json: bool,
) -> None:
    """Train the network that speaks languages other than English."""
    from personare.core.weights import require
    from personare.engine import engine_for
    from personare.pipeline.jobs.train_languages import (
        VOICE_MODELS,
        languages_run,
        readings_of,
        train_languages_voice,
    )

    require(*VOICE_MODELS)
    with show.progress("preparing", len(readings_of(readings))) as tick:
        run, failures = languages_run(readings, settings, out, engine_for(jobs), start=start, watch=tick)
    show.failures(failures)
    with show.progress("training", settings.plan.steps) as tick:
        result = train_languages_voice(run, readings, out, resume=resume, watch=lambda step: tick(min(step.step, 1)))
    speakers, held_out = len({item.speaker for item in run.utterances}), min(one.held_out for one in result.validations)
    steps = result.validations[-1].step
    if as_json:
        counts = {"speakers": speakers, "utterances": len(run.utterances), "failed": len(failures), "steps": steps}
        show.json_object({**counts, "held_out": held_out, "megabytes": result.megabytes, "voice": str(out)})
        return
    show.table(
        f"trained on {speakers} speakers, {len(run.utterances)} utterances",
        ["steps", "held-out distance of contents", "MB"],
        [[str(steps), f"{held_out:.3f}", f"{result.megabytes:.1f}"]],
    )
    typer.echo(f"voice: {out}")


def speech_of(paths: Sequence[Path], part: str | None, layout: str | None) -> Corpus:
    """Read corpora and put the part to train on together."""
    from personare.corpora import read_corpus
    from personare.pipeline.jobs.train_synthesizer import together

    corpora = []
    for path in paths:
        reading = read_corpus(path, layout=layout)
        show.problems(reading.problems)
        corpora.append(reading.corpus)
    return together(corpora, part)


def _percent(rate: Estimate | None) -> str:
    return "no texts" if rate is None else rate.text("%")
