"""personare anonymize: hide the voices of one recording, a pipe, a video or a whole corpus."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import typer

from personare.cli import given, show
from personare.cli.anonymize_summary import tell, tell_plan
from personare.cli.work_progress import checked_speakers, work_progress

if TYPE_CHECKING:
    from personare.api.speech import ResolvedMethod
    from personare.core.corpus_parts import CorpusParts
    from personare.core.remote import RemoteFolder
    from personare.core.spoken import SpeechNotes
    from personare.corpora.gathering import PartsReading
    from personare.pipeline.jobs.anonymize_file import AnonymizedFile
    from personare.pipeline.jobs.speaker_check import CheckedCorpus
    from personare.pipeline.system import Level, System

SPEAKER_FROM_HELP = (
    "Who speaks, in any folder: 'file', 'folder' (the first one), 'last-folder', 'channel' (one person per channel), "
    "or a pattern of names such as {speaker}_{rest}, or {speaker1}_{speaker2}_{rest} with a name for each channel."
)
FOLLOW_LINKS_HELP = "Read recordings that symbolic links take from outside SRC."


def anonymize(
    source: Path = typer.Argument(..., metavar="SRC", help="A recording, a video, a folder of them, or - for a pipe."),
    target: Path = typer.Argument(..., metavar="DST", help="A new file or folder; the key goes to DST-private."),
    strength: str | None = typer.Option(None, help="fast, balanced or strong (see: personare methods)."),
    method: str | None = typer.Option(None, help="A method by name (see: personare methods), or module:Class."),
    settings: list[str] | None = typer.Option(None, "--set", metavar="NAME=VALUE", help="A parameter of the method."),
    language: str | None = given.SPOKEN_LANGUAGE,
    unsure: str | None = typer.Option(
        None,
        help="With balanced, strong: 'speak' words that were hardly understood, leave 'silence', or a 'tone'.",
    ),
    speaker_from: str | None = typer.Option(None, "--speaker-from", metavar="RULE", help=SPEAKER_FROM_HELP),
    key: Path | None = typer.Option(
        None, metavar="FILE", help="The secret key; made there when absent.  [DST-private/key]"
    ),
    level: str = typer.Option("speaker", help="One new voice per 'speaker', or per 'utterance'."),
    names: str = typer.Option("tokens", help="'tokens' tell nobody who it was; 'keep' keeps ids (research only)."),
    file_format: str | None = typer.Option(None, "--format", help="flac (the default), wav, opus or mp3."),
    layout: str | None = typer.Option(None, help="Layout of SRC, where several fit."),
    follow_links: bool = typer.Option(False, "--follow-links", help=FOLLOW_LINKS_HELP),
    jobs: int = typer.Option(1, "--jobs", "-j", min=1, help="How many processes work at once."),
    engine: str = given.ENGINE,
    address: str | None = given.ADDRESS,
    shard: str | None = typer.Option(
        None, metavar="I/N", help="Do only the I-th of N parts (run the others elsewhere)."
    ),
    retime: bool = typer.Option(False, "--retime", help="Change pauses, rate and length by chance."),
    trim: bool = typer.Option(False, "--trim", help="Cut silence at both ends."),
    coarse: float | None = typer.Option(None, metavar="SECONDS", help="Round lengths up to a multiple of it."),
    no_text: bool = typer.Option(False, "--no-text", help="Leave transcripts out of the manifest."),
    fetch: str | None = typer.Option(None, metavar="URL", help="Where the audio that the table SRC lists is fetched."),
    put: str | None = typer.Option(None, metavar="URL", help="Where results are put, e.g. s3://bucket/anonymous."),
    dry_run: bool = typer.Option(
        False, "--dry-run", help="Say what would be done and how long it takes; write nothing."
    ),
    as_json: bool = show.JSON,
) -> None:
    """Hide voices: audio in, audio out, identities nowhere.

    The result has new names for files and speakers and carries no tags. An
    interrupted job goes on when the same command is run again. Failed files are
    rows, never silently dropped; the exit code is then 1. A video keeps its
    picture and gets the new voice. A pipe (-) is wav in and wav out. balanced
    and strong give a recording another length, unless a picture or other
    channels must stay in time with it.

    Without --strength or --method, the best method whose models are there is
    used; one line says how to get a better one.

    balanced and strong transcribe the speech and re-synthesize it, in the
    languages that `personare languages` lists. The language of a recording is
    the corpus' own (column language), else identified; --language CODE
    overrides both, --language auto identifies all. Recordings in another
    language are rejected, and shorter stretches are replaced by a tone. fast
    works in any language.

    Whoever has the originals finds them again by length, loudness or words;
    --retime, --trim, --coarse and --no-text leave less to compare, and
    personare audit measures how much.

    Examples:

        personare anonymize interview.wav hidden.flac

        personare anonymize interview.mp4 hidden.mp4 --strength strong --unsure tone

        personare anonymize recordings/ anonymous/ --jobs 2

        personare anonymize calls/ hidden-calls/ --speaker-from channel --dry-run

        personare anonymize flat/ hidden/ --speaker-from "{speaker}_{rest}"

        personare anonymize in/ out/ --method my_module:MyAnonymizer --key my.key

        cat in.wav | personare anonymize - - > out.wav
    """
    from personare.anonymizers.signal.retiming import Timing
    from personare.core.config import coerce
    from personare.core.errors import ConfigError
    from personare.corpora import read_in_parts
    from personare.corpora.problems import left_out
    from personare.corpora.speaker_from import parse_rule
    from personare.engine import check_engine, engine_named, shard_of
    from personare.pipeline.jobs import target as places
    from personare.pipeline.jobs.anonymize_file import PIPE, check_file, is_recording

    chosen_level = coerce(level, Literal["speaker", "utterance"], where="--level")
    coerce(names, Literal["tokens", "keep"], where="--names")
    if file_format is not None:
        coerce(file_format, places.Format, where="--format")
    timing = Timing(trim, retime, coarse)
    check_engine(engine, address)
    rule = parse_rule(speaker_from) if speaker_from is not None else None
    if shard is not None:
        shard_of(shard, [], name=str)
    typed = [*(settings or ()), *([f"unsure={unsure}"] if unsure is not None else ())]
    chosen = _chosen(method, strength, typed, language)
    if source != PIPE:
        places.check_source(source, target)
    one = is_recording(source)
    if one:
        others: dict[str, Any] = {"--retime": retime, "--trim": trim, "--coarse": coarse, "--no-text": no_text}
        others |= {"--fetch": fetch, "--put": put, "--follow-links": follow_links}
        _refuse_for_one(layout=layout, shard=shard, names=names, speaker_from=speaker_from, others=others)
        if as_json and target == PIPE:
            raise ConfigError("--json and the sound cannot both go to standard output; name a file instead of -")
        check_file(source, target, key_file=key, file_format=file_format)
    else:
        places.check_folder(source, target, key_file=key)
    system = _rehearsed(chosen, chosen_level)
    if one:
        each_channel = rule is not None and rule.kind == "channel"
        _one(source, target, system, key, each_channel=each_channel, dry_run=dry_run, as_json=as_json)
        return
    remote = {name: _remote(url) for name, url in (("fetch", fetch), ("put", put)) if url is not None}
    if fetch is not None and (layout or speaker_from or dry_run):
        raise ConfigError("--fetch reads a table of utterances: leave out --layout, --speaker-from and --dry-run")
    reads: dict[str, Any] = {"layout": layout, "speaker_from": speaker_from, "follow_links": follow_links}
    with read_in_parts(source, fetched=fetch is not None, **reads) as reading:
        speakers = _tell_corpus(reading, source, system, here=fetch is None)
        if dry_run:
            plan: dict[str, Any] = {"jobs": jobs, "key": key, "as_json": as_json, "speakers": speakers}
            tell_plan(reading.corpus.whole(), source, target, system, **plan)
            return
        origin = places.Origin(source, **reads)
        how: dict[str, Any] = {"key_file": key, "names": names, "file_format": file_format or "flac", "shard": shard}
        how |= {"timing": timing, "text": not no_text, "engine": engine_named(engine, jobs, address)}
        how |= {"excluded": left_out(reading.problems)}
        _corpus(reading.corpus, target, system, origin, how | remote, as_json=as_json)


def _remote(url: str) -> RemoteFolder:
    from personare.core.remote import RemoteFolder

    remote = RemoteFolder(url.rstrip("/"))
    remote.check()
    return remote


def _chosen(
    method: str | None, strength: str | None, settings: list[str] | None, language: str | None
) -> ResolvedMethod:
    """Choose the method; a name or setting that does not exist is refused before any recording is looked at."""
    from personare.api.speech import resolve_method
    from personare.cli.settings import parse_settings
    from personare.pipeline.system import System

    chosen = resolve_method(method, strength, parse_settings(settings), language=language)
    System(chosen.method, chosen.parameters).build()
    return chosen


def _rehearsed(chosen: ResolvedMethod, level: Level) -> System:
    """Try the method on a moment of noise: what is wrong or missing must fail before a corpus is read."""
    from personare.pipeline.system import System, rehearse

    if chosen.note:
        show.aside(chosen.note)
    system = System(chosen.method, chosen.parameters, level)
    if not rehearse(system):
        show.aside(f"note: {system.name} draws nothing by chance: everybody gets the same change")
    return system


def _refuse_for_one(
    *, layout: str | None, shard: str | None, names: str, speaker_from: str | None, others: dict[str, Any]
) -> None:
    from personare.core.errors import ConfigError

    for option, chosen in {
        "--layout": layout is not None,
        "--shard": shard is not None,
        "--names keep": names == "keep",
        f"--speaker-from {speaker_from}": speaker_from not in (None, "file", "channel"),
        **others,
    }.items():
        if chosen:
            raise ConfigError(f"{option} is for a corpus; SRC is one recording")


def _one(
    source: Path,
    target: Path,
    system: System,
    key: Path | None,
    *,
    each_channel: bool,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Anonymize one recording; where it goes into a pipe, nothing else is written there."""
    import os
    import sys

    from personare.core.errors import ConfigError
    from personare.pipeline.jobs.anonymize_file import PIPE, anonymize_file
    from personare.pipeline.jobs.speaker_check import check_file as check_speakers

    speakers = None if source == PIPE else check_speakers(source, each_channel=each_channel)
    if speakers:
        show.problems(speakers.problems(str(source)))
        for note in speakers.notes:
            show.aside(f"note: {note}")
    if dry_run:
        typer.echo(f"would write {target} by {system.describe()}; nothing is written", err=target == PIPE)
        return
    if source == PIPE and sys.stdin.isatty():
        raise ConfigError("- reads a recording from a pipe, not from the keyboard; see: personare anonymize --help")
    pipes = (sys.stdin.buffer, sys.stdout.buffer)
    try:
        with show.sound_progress("anonymizing, seconds") as watch:
            how: dict[str, Any] = {"key_file": key, "each_channel": each_channel, "pipes": pipes}
            done = anonymize_file(source, target, system, watch=watch, **how)
    except BrokenPipeError:  # the listener has hung up: what is left in the buffer goes nowhere
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return
    if as_json:
        several = None if speakers is None or not speakers.checked else bool(speakers.problems(""))
        show.json_object(done, several_speakers=several)
        return
    _tell_one(done, target, system, kept=key is not None)


def _tell_one(done: AnonymizedFile, target: Path, system: System, *, kept: bool) -> None:
    piped = done.private is None
    voices = f"{done.voices} new voice{'s' if done.voices > 1 else ''}"
    place = "standard output" if piped else str(target)
    before = f" (before: {done.source_s:.1f} s)" if abs(done.speech_s - done.source_s) >= 0.05 else ""
    typer.echo(f"{place}: {done.speech_s:.1f} s{before} by {system.name}, {voices}", err=piped)
    if done.notes is not None:
        typer.echo(_heard(done.notes), err=piped)
    if done.picture:
        show.aside("note: the picture is copied as it is: faces, name plates and lips stay")
    if done.private is not None:
        typer.echo(f"keep private: {done.private}")
    elif not kept:
        show.aside("the key of this pipe is forgotten; --key FILE keeps it")


def _heard(notes: SpeechNotes) -> str:
    """Say what a method that transcribes heard in one recording."""
    if not notes.is_speech:
        return "no speech was heard: the result is silent"
    omitted = f"; {notes.omitted_s:.1f} s of speech are omitted, marked by a tone" if notes.omitted_s else ""
    return (
        f"language {notes.language} ({100 * notes.language_confidence:.0f} %), {notes.words} words "
        f"({100 * notes.word_confidence:.0f} % sure){omitted}"
    )


def _tell_corpus(reading: PartsReading, source: Path, system: System, *, here: bool) -> CheckedCorpus | None:
    """Say whom a corpus holds before any work, and warn of several speakers; ``here``: audio is on this file system."""
    from personare.pipeline.jobs.corpus_facts import people_of, speech_problems
    from personare.pipeline.jobs.speaker_check import SAMPLED_S

    people = people_of(reading.corpus)
    counts = f"{people.count:,} speakers, {len(reading.corpus):,} utterances"
    show.aside(f"{source}: {reading.layout}, {counts}, such as {show.people(people.examples)}")
    speakers = checked_speakers(reading.corpus, most_s=SAMPLED_S) if here else None
    more = [*speech_problems(reading.corpus), *speakers.problems(str(source))] if speakers else []
    show.problems([*reading.problems, *more])
    for note in (*reading.notes, *(speakers.notes if speakers else ())):
        show.aside(f"note: {note}")
    show.aside(f"method: {system.describe()}")
    return speakers


def _corpus(
    corpus: CorpusParts, target: Path, system: System, origin: Any, how: dict[str, Any], *, as_json: bool
) -> None:
    """Anonymize a corpus and print its table."""
    from personare.pipeline.jobs import anonymize as job

    with work_progress("anonymizing") as told:
        summary = job.anonymize(corpus, target, system, told=told, origin=origin, **how)
    kept = {"private": job.private_folder(target), "key": how["key_file"]}
    tell(summary, system.method, target, source=origin.source, **kept, as_json=as_json)
    if summary.failed or summary.unexplained:
        raise typer.Exit(1)
