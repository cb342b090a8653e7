"""personare corpus: look at a corpus before using it, and write it in another layout."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from personare.cli import show
from personare.cli.anonymize import FOLLOW_LINKS_HELP, SPEAKER_FROM_HELP
from personare.cli.work_progress import checked_speakers

if TYPE_CHECKING:
    from personare.corpora.gathering import Reading
    from personare.corpora.problems import Problem
    from personare.pipeline.jobs.corpus_facts import CorpusFacts

app = typer.Typer(no_args_is_help=True, help="Look at a corpus, or write it in another layout.")

LAYOUT_HELP = (
    "Layout of the corpus, where several fit: commonvoice, folders, hub, kaldi, lhotse, librispeech, manifest, vctk, "
    "voxceleb."
)
BAR_WIDTH = 40


@app.command("info")
def print_facts(
    path: Path = typer.Argument(..., metavar="PATH", help="A folder or a table in any known layout."),
    layout: str | None = typer.Option(None, metavar="NAME", help=LAYOUT_HELP),
    speaker_from: str | None = typer.Option(None, "--speaker-from", metavar="RULE", help=SPEAKER_FROM_HELP),
    follow_links: bool = typer.Option(False, "--follow-links", help=FOLLOW_LINKS_HELP),
    probe: bool = typer.Option(
        True, "--probe/--no-probe", help="Read every header, and check for more than one speaker."
    ),
    guess: bool = typer.Option(False, "--guess", help="Guess gender and age group where not noted; needs the sounds."),
    language: str | None = typer.Option(
        None,
        "--language",
        metavar="CODE|auto",
        help="Identify the language of 20 recordings (auto), or list those of them that are not in CODE.",
    ),
    as_json: bool = show.JSON,
) -> None:
    """Show what a corpus holds: speakers, hours, rates, genders, languages, utterances per speaker, every problem.

    The layout is detected, and the evidence for it is printed. Headers are read to count hours, rates and channels.
    Recordings with more than one speaker on a channel are listed as a problem: they would get one voice.

    Examples:

        personare corpus info recordings/

        personare corpus info data/libri_dev --layout kaldi --no-probe

        personare corpus info calls/ --speaker-from "{speaker}_{rest}"

        personare corpus info recordings/ --language auto

        personare corpus info recordings/ --json > facts.json
    """
    from personare.core.language_codes import checked_language
    from personare.corpora import read_corpus
    from personare.corpora.problems import plain
    from personare.corpora.speaker_from import parse_rule
    from personare.pipeline.jobs.corpus_facts import facts_of, speech_problems

    if speaker_from is not None:
        parse_rule(speaker_from)
    expected = None if language is None else checked_language(language)
    how: dict[str, Any] = {"layout": layout, "speaker_from": speaker_from, "follow_links": follow_links}
    reading = read_corpus(path, **how, person_channels=True)
    headers, more = _probed(reading) if probe else (None, [])
    facts = facts_of(reading.corpus, headers)
    problems = [*reading.problems, *more, *speech_problems(reading.corpus, headers)]
    if probe:
        speakers = checked_speakers(reading.corpus)
        problems += speakers.problems(str(path))
        reading = dataclasses.replace(reading, notes=(*reading.notes, *speakers.notes))
    predicted = _guessed(reading) if guess else {}
    heard = None if expected is None else _detected(reading, expected)
    if as_json:
        more_facts: dict[str, Any] = {"predicted": predicted} if guess else {}
        more_facts |= {} if heard is None else {"detected_languages": heard}
        show.json_object(_as_json(path, reading, facts, problems), **more_facts)
        return
    for line in _as_text(path, reading, facts, problems):
        show.text(plain(line))
    for kind, counts in predicted.items():
        groups = ", ".join(f"{value} {count:,}" for value, count in counts.items())
        show.text(f"predicted {kind.replace('_', ' ')} (guessed by machine, speakers): {groups or 'none was lacking'}")
    if heard is not None:
        _tell_detected(heard)


def _detected(reading: Reading, expected: str) -> dict[str, Any]:
    """Identify the language of a sample, and name the recordings that are not in the expected one."""
    from personare.core.language_codes import AUTO
    from personare.engine import Serial
    from personare.pipeline.jobs.spoken_languages import detect, sample_of

    sample = sample_of(reading.corpus.frame)
    with show.progress("identifying languages", len(sample)) as tick:
        found = detect(sample, engine=Serial(), watch=lambda _: tick(1))
    show.failures(found.failures)
    facts: dict[str, Any] = {"recordings": len(sample), "languages": found.counts}
    return facts if expected == AUTO else {**facts, "expected": expected, "others": found.others(expected)}


def _tell_detected(heard: dict[str, Any]) -> None:
    from personare.core.language_codes import language_title
    from personare.pipeline.jobs.spoken_languages import counts_text

    show.text(f"detected in a sample of {heard['recordings']:,} recordings: {counts_text(heard['languages'])}")
    if "expected" not in heard:
        return
    title, others = language_title(heard["expected"]), heard["others"]
    if others:
        show.text(f"not in {title}: {len(others):,} of them: {', '.join(others)}")
    else:
        show.text(f"none of them sounds like another language than {title}")


def _guessed(reading: Reading) -> dict[str, dict[str, int]]:
    """Count the speakers by guessed gender and age group, where nobody noted them."""
    from personare.engine import Serial
    from personare.listeners.attributes import KINDS
    from personare.pipeline.jobs.guess_attributes import predicted_counts, with_guesses

    guesses = with_guesses(reading.corpus.frame, engine=Serial(), kinds=KINDS)
    show.failures(guesses.failures)
    return {kind: predicted_counts(guesses.frame, kind) for kind in KINDS}


@app.command()
def convert(
    source: Path = typer.Argument(..., metavar="SRC", help="A corpus in any known layout."),
    target: Path = typer.Argument(..., metavar="DST", help="A new folder."),
    to: str = typer.Option(..., "--to", metavar="LAYOUT", help="What to write: kaldi or parquet."),
    layout: str | None = typer.Option(None, metavar="NAME", help=LAYOUT_HELP),
    speaker_from: str | None = typer.Option(None, "--speaker-from", metavar="RULE", help=SPEAKER_FROM_HELP),
    follow_links: bool = typer.Option(False, "--follow-links", help=FOLLOW_LINKS_HELP),
    as_json: bool = show.JSON,
) -> None:
    """Write the lists of a corpus in another layout; the audio stays where it is and is named by its path.

    kaldi writes wav.scp, utt2spk, spk2utt and, where known, segments, spk2gender, text, utt2lang, trials. parquet
    writes manifest.parquet and, where known, trials.parquet: personare's own layout.

    Examples:

        personare corpus convert LibriSpeech/dev-clean data/dev_clean --to kaldi

        personare corpus convert data/libri_dev lists/libri_dev --to parquet

        personare corpus convert flat/ lists/ --to parquet --speaker-from file
    """
    from personare.corpora import read_corpus, writer_named

    write = writer_named(to)
    how: dict[str, Any] = {"layout": layout, "speaker_from": speaker_from, "follow_links": follow_links}
    reading = read_corpus(source, **how, person_channels=to != "kaldi")
    write(reading.corpus, target, trials=reading.trials)
    for line in [*_told(reading), *_problem_lines(reading.problems)]:
        show.aside(line)
    speakers, utterances = len(reading.corpus.speakers), len(reading.corpus)
    if as_json:
        places = {"source": str(source), "layout": reading.layout, "target": str(target), "to": to}
        show.json_object(places, speakers=speakers, utterances=utterances)
        return
    count = f"{speakers:,} speakers, {utterances:,} utterances"
    typer.echo(f"{source} ({reading.layout}) -> {target} ({to}): {count}")


def _probed(reading: Reading) -> tuple[dict[str, Any], list[Problem]]:
    from personare.engine import Serial
    from personare.pipeline.jobs.corpus_facts import header_problems, probe_files

    results = []
    with show.progress("reading headers", reading.corpus.frame["audio"].n_unique()) as tick:
        for result in probe_files(reading.corpus, Serial()):
            results.append(result)
            tick(1)
    headers = {r.item: r.value for r in results if r.value is not None}
    return headers, header_problems(reading.corpus, results)


def _as_text(path: Path, reading: Reading, facts: CorpusFacts, problems: list[Problem]) -> list[str]:
    from personare.pipeline.jobs.corpus_facts import people_of

    rows = _rows(facts)
    rows.insert(1, ("such as", show.people(people_of(reading.corpus).examples)))
    if reading.trials is not None:
        targets = int(reading.trials.frame["target"].sum())
        rows.append(("trials", f"{len(reading.trials):,} ({targets:,} target)"))
    return [
        f"{path}: layout {reading.layout} ({reading.evidence})",
        *show.definitions(dict(rows), indent=2),
        "utterances per speaker (speakers)",
        *_bars(facts),
        *_told(reading),
        *(_problem_lines(problems) or ["problems: none"]),
    ]


def _rows(facts: CorpusFacts) -> list[tuple[str, str]]:
    genders = ", ".join(f"{name} {count:,}" for name, count in facts.genders.items())
    hours = "unknown without reading headers" if facts.hours is None else f"{facts.hours:.2f} (from {facts.hours_from})"
    spread = f"{facts.least_per_speaker:,} least, {facts.median_per_speaker:,g} median, {facts.most_per_speaker:,} most"
    rows = [
        ("speakers", f"{facts.speakers:,} ({genders})"),
        ("utterances", f"{facts.utterances:,} in {facts.files:,} files"),
        ("hours", hours),
        ("per speaker", spread),
        ("languages", _languages(facts)),
        ("transcripts", f"{facts.texts:,} of {facts.utterances:,} utterances ({facts.words:,} words)"),
    ]
    counts = (
        ("rates", "{:,} Hz", facts.rates_hz),
        ("channels", "{}", facts.channels),
        ("formats", "{}", facts.encodings),
    )
    for name, form, found in counts:
        if found:
            rows.append((name, ", ".join(f"{form.format(value)}: {count:,}" for value, count in found.items())))
    rows += [(f"part {p.name}", f"{p.speakers:,} speakers, {p.utterances:,} utterances") for p in facts.parts]
    return rows


def _languages(facts: CorpusFacts) -> str:
    from personare.pipeline.jobs.spoken_languages import NOT_GIVEN, counts_text

    if set(facts.languages) <= {NOT_GIVEN}:
        return f"{NOT_GIVEN} (--language auto identifies some)"
    return f"{counts_text(facts.languages)} (utterances)"


def _bars(facts: CorpusFacts) -> list[str]:
    """Draw the histogram; a bar that is not empty shows at least one block."""
    labels = [f"{b.low:,}" if b.low == b.high else f"{b.low:,}-{b.high:,}" for b in facts.histogram]
    widest, tallest = max(map(len, labels)), max(b.speakers for b in facts.histogram)
    drawn = ["█" * -(-BAR_WIDTH * b.speakers // tallest) for b in facts.histogram]
    rows = zip(labels, drawn, facts.histogram, strict=True)
    return [f"  {label:>{widest}}  {blocks} {b.speakers:,}" for label, blocks, b in rows]


def _told(reading: Reading) -> list[str]:
    return [f"note: {note}" for note in reading.notes]


def _problem_lines(problems: list[Problem] | tuple[Problem, ...]) -> list[str]:
    return [f"problem: {problem.line}" for problem in problems]


def _as_json(path: Path, reading: Reading, facts: CorpusFacts, problems: list[Problem]) -> dict[str, Any]:
    from personare.pipeline.jobs.corpus_facts import people_of

    trials = None if reading.trials is None else len(reading.trials)
    return {
        "path": str(path),
        "people": [dataclasses.asdict(one) for one in people_of(reading.corpus).examples],
        "layout": reading.layout,
        "evidence": reading.evidence,
        **dataclasses.asdict(facts),
        "trials": trials,
        "notes": list(reading.notes),
        "problems": [{**dataclasses.asdict(p), "count": p.count, "line": p.line} for p in problems],
    }
