"""personare train reader: train the networks that read recognized words for the neural voice."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from personare.cli import show
from personare.cli.train_synthesizer import speech_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from personare.training.checkpoints import Validation
    from personare.training.reader.settings import ReaderSettings


def reader(
    corpus: list[Path] = typer.Option(
        [], metavar="PATH", help="English speech whose words are read, in any known layout; repeatable."
    ),
    out: Path = typer.Option(..., metavar="DIR", help="A new folder for the voice, its readings, log and checkpoints."),
    part: str | None = typer.Option(None, help="The part of the corpora, or the set of the sentences, e.g. train."),
    language: list[str] = typer.Option(
        [], metavar="CODE", help="Train a reader of this language instead, beside the English one; repeatable."
    ),
    sentences: list[Path] = typer.Option(
        [], metavar="FILE.tsv", help="With --language: what is read; columns language, set, text; repeatable."
    ),
    each: int = typer.Option(160, min=1, help="With --language: sentences and rows of words per language."),
    config: Path | None = typer.Option(None, metavar="FILE.yaml", help="Settings.  [those of the shipped reader]"),
    voice: Path | None = typer.Option(
        None, metavar="DIR", help="The trained voice it joins (see train synthesizer).  [the shipped one]"
    ),
    resume: bool = typer.Option(False, "--resume", help="Go on with the training in DIR."),
    jobs: int = typer.Option(2, min=1, help="Processes that recognize and read aloud."),
    layout: str | None = typer.Option(None, help="Layout of the corpora, where several fit."),
    as_json: bool = show.JSON,
) -> None:
    """Train the reader: sounds of words in; durations and content out, as synthetic readers have them.

    Pronunciation and rhythm give a speaker away, whatever voice they are spoken in. With a reader, cascade takes the
    words alone, and reads them anew. Nobody's voice is learnt: of the corpora only the recognized words are taken;
    Kokoro's voices read them, with rows of words from the dictionary. Every sentence is read once and kept. The folder
    then holds a whole voice with the new reader.
    With --language, mixtures of Kokoro's voices read the sentences of a table, and rows of words made of them. The
    reader begins with the English one, which stays as it is; then run train synthesizer --for-languages.
    Interrupted? Run it again with --resume: the result is the same as without the interruption.

    Examples:

        personare train reader --corpus recordings/ --part train --out my-voice

        personare train reader --language de --sentences german.tsv --out my-voice

        personare train reader --corpus a/ --corpus b/ --out better --voice my-voice

        personare anonymize SRC DST --method cascade --set weights=better
    """
    from personare.core.config import load_yaml
    from personare.core.errors import ConfigError
    from personare.core.weights import require
    from personare.engine import engine_for
    from personare.pipeline.jobs.train_reader import MODELS, planned_sentences, read_sentences, train_reader
    from personare.training.reader.settings import ReaderSettings
    from personare.training.torch_extra import torch_for

    torch_for("personare train")
    if bool(corpus) == bool(language):
        raise ConfigError("name either --corpus (English) or --language with --sentences")
    settings = ReaderSettings() if config is None else load_yaml(ReaderSettings, config)
    if language:
        if not sentences:
            raise ConfigError("--language needs --sentences FILE.tsv: what is read in these languages")
        _further(
            language, sentences, part, out, settings, each=each, voice=voice, resume=resume, jobs=jobs, as_json=as_json
        )
        return
    require(*MODELS)
    speech, engine = speech_of(corpus, part, layout), engine_for(jobs)
    with show.progress("recognizing", len(speech)) as tick:
        to_read, failures = planned_sentences(speech, out, engine, seed=settings.seed, watch=tick)
    with show.progress("reading aloud", len(to_read)) as tick:
        run, unread = read_sentences(to_read, settings, engine, watch=tick)
    failures += unread
    show.failures(failures)
    with show.progress("training", settings.plan.steps) as tick:
        result = train_reader(run, speech, out, voice=voice, resume=resume, watch=lambda step: tick(min(step.step, 1)))
    _show(len(run.readings), len(failures), out, result.validations, result.measured, result.megabytes, as_json=as_json)
    if not as_json:
        typer.echo(f"voice: {out} (use it: personare anonymize SRC DST --method cascade --set weights={out})")


def _further(
    codes: list[str],
    tables: list[Path],
    part: str | None,
    out: Path,
    settings: ReaderSettings,
    *,
    each: int,
    voice: Path | None,
    resume: bool,
    jobs: int,
    as_json: bool,
) -> None:
    """Train the reader of languages other than English."""
    from personare.core.weights import require
    from personare.corpora.voices.further_text import read_sentences
    from personare.engine import engine_for
    from personare.pipeline.jobs.train_languages import MODELS, planned_foreign, read_foreign, train_languages_reader

    require(*MODELS)
    plan = planned_foreign(read_sentences(tables, codes, part=part), out, each=each, seed=settings.seed)
    with show.progress("reading aloud", len(plan)) as tick:
        run, failures = read_foreign(plan, settings, engine_for(jobs), voice=voice, watch=tick)
    show.failures(failures)
    with show.progress("training", settings.plan.steps) as tick:
        result = train_languages_reader(
            run, out, codes=codes, voice=voice, resume=resume, watch=lambda step: tick(min(step.step, 1))
        )
    _show(len(run.readings), len(failures), out, result.validations, result.measured, result.megabytes, as_json=as_json)
    if not as_json:
        typer.echo(f"reader: {out} (next: personare train synthesizer --readings {out} --for-languages --out DIR)")


def _show(
    sentences: int,
    failed: int,
    folder: Path,
    validations: tuple[Validation, ...],
    measured: Mapping[str, float],
    megabytes: float,
    *,
    as_json: bool,
) -> None:
    if as_json:
        counts = {"sentences": sentences, "failed": failed}
        show.json_object({**counts, "voice": folder, "megabytes": megabytes, **measured})
        return
    show.table(
        f"trained on {sentences} sentences",
        ["steps", "held-out distance of content", "usual error of a duration", "MB"],
        [
            [
                str(validations[-1].step),
                f"{measured['content_distance']:.3f}",
                f"{measured['duration_factor']:.2f} times",
                f"{megabytes:.1f}",
            ]
        ],
    )
