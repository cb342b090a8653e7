"""Which recordings the word methods speak, omit or reject: real speech in English and other languages.

    python benchmarks/languages.py ../shared/corpus ../shared/corpus-world --jobs 2

Prints, per corpus of the manifests, how many recordings would be spoken as English, how many are rejected and why, and
how often the language was named correctly; then mixed recordings (English, German, English), of which no German second
may be spoken. The transcription is that of ``cascade`` with an English voice; nothing is synthesized. Manifests are
tables with the columns utterance, speaker, audio, corpus, and part and language where known.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl

from personare.anonymizers.neural.cascade.anonymizer import Cascade
from personare.anonymizers.neural.words.languages import identify
from personare.anonymizers.neural.words.transcript import Transcript, transcribe
from personare.core.audio import Audio, read_mono, resample
from personare.core.errors import PersonareError, RejectedSpeechError
from personare.core.spoken import NOTHING_KNOWN, SpeakerFacts, pool
from personare.engine import ProcessPool, Serial

RATE_HZ = 16_000


@dataclasses.dataclass(frozen=True)
class Speaker:
    """The recordings of one speaker of one corpus, and the language they are in."""

    corpus: str
    language: str
    name: str
    audio: tuple[Path, ...]


@dataclasses.dataclass(frozen=True)
class Outcome:
    """What became of one recording."""

    corpus: str
    language: str
    utterance: str
    duration_s: float
    outcome: str
    named: str
    words: int = 0
    reason: str = ""


def speakers_of(folder: Path, *, part: str, most: int | None) -> list[Speaker]:
    """Read a manifest; German, French and Spanish corpora are judged whatever their part is."""
    table = pl.read_csv(folder / "manifest.tsv", separator="\t", infer_schema_length=0, quote_char=None)
    if "language" not in table.columns:
        table = table.with_columns(pl.lit("en").alias("language"))
        table = table.filter(pl.col("part") == part)
    rows = []
    for (corpus, language, speaker), own in table.group_by("corpus", "language", "speaker", maintain_order=True):
        audio = [folder / path for path in own["audio"].to_list()]
        rows.append(Speaker(str(corpus), str(language), str(speaker), tuple(audio[:most])))
    return rows


def judge(speaker: Speaker) -> list[Outcome]:
    """Judge every recording of a speaker with what all of them say together, as ``anonymize`` does."""
    method = Cascade(voice="piper", gender="any")
    sounds = [resample(read_mono(path), RATE_HZ) for path in speaker.audio]
    facts = pool([method.evidence(sound) for sound in sounds])
    return [_judge(method, speaker, path, sound, facts) for path, sound in zip(speaker.audio, sounds, strict=True)]


def _judge(method: Cascade, speaker: Speaker, path: Path, sound: Audio, facts: SpeakerFacts) -> Outcome:
    known = (speaker.corpus, speaker.language, path.stem, sound.duration_s)
    try:
        transcript = transcribe(sound.samples, how=method._recognizing, speaker=facts, method="cascade")
    except RejectedSpeechError as error:
        reason = str(error)
        named = reason.split("(")[1].split(")")[0] if reason.startswith("this sounds like") and "(" in reason else ""
        return Outcome(*known, "rejected", named, reason=reason)
    notes = transcript.notes
    outcome = "spoken" if notes.is_speech else "no speech"
    if notes.omitted_s:
        outcome = "partly"
    return Outcome(*known, outcome, notes.language, notes.words, _text(transcript))


def _text(transcript: Transcript) -> str:
    return " ".join(word.text for one in transcript.spoken for word in one.words)


def mixes(
    english: Sequence[Path], german: Sequence[Path], *, count: int, pause_s: float
) -> list[tuple[Audio, float, float]]:
    """Join English, German and English speech: (sound, where German begins, where it ends)."""
    mixed = []
    pause = np.zeros(round(pause_s * RATE_HZ), np.float32)
    for number in range(count):
        first, last = (_level(english[(2 * number + k) % len(english)]) for k in (0, 1))
        middle = np.concatenate(
            [part for k in range(4) for part in (_level(german[(4 * number + k) % len(german)]), pause)]
        )
        whole = np.concatenate([first, pause, middle, last])
        begin = len(first) + len(pause)
        mixed.append((Audio(whole, RATE_HZ), begin / RATE_HZ, (begin + len(middle)) / RATE_HZ))
    return mixed


def halves(
    english: Sequence[Speaker], german: Sequence[Speaker], *, pause_s: float
) -> list[tuple[Audio, float, float]]:
    """Join half a minute of an English reader and 18 s of a German actor, for as many pairs as there are."""
    mixed = []
    for one, other in zip(english, german, strict=False):
        first, second = _seconds(one.audio, 30.0, pause_s), _seconds(other.audio[::5], 18.0, pause_s)
        whole = np.concatenate([first, second])
        mixed.append((Audio(whole, RATE_HZ), len(first) / RATE_HZ, len(whole) / RATE_HZ))
    return mixed


def _seconds(paths: Sequence[Path], least_s: float, pause_s: float) -> np.ndarray:
    parts: list[np.ndarray] = []
    for path in paths:
        parts += [_level(path), np.zeros(round(pause_s * RATE_HZ), np.float32)]
        if sum(map(len, parts)) >= least_s * RATE_HZ:
            break
    return np.concatenate(parts)


def _level(path: Path) -> np.ndarray:
    samples = resample(read_mono(path), RATE_HZ).samples
    return np.asarray(samples * np.float32(0.05 / max(float(np.sqrt(np.mean(samples**2))), 1e-6)), np.float32)


def judge_mix(mix: tuple[Audio, float, float]) -> tuple[float, float, float, float]:
    """Give German seconds, those of them that would be spoken, English seconds, and those of them that would be."""
    sound, begin_s, end_s = mix
    spoken = [(0.0, 0.0)]
    try:
        how = Cascade(voice="piper")._recognizing
        transcript = transcribe(sound.samples, how=how, speaker=NOTHING_KNOWN, method="cascade")
        spoken = [(one.phrase.start / RATE_HZ, one.phrase.end / RATE_HZ) for one in transcript.spoken if one.words]
    except RejectedSpeechError:
        pass
    stretches = identify(sound.samples, language="auto", speaker=NOTHING_KNOWN)
    speech = [(one.phrase.start / RATE_HZ, one.phrase.end / RATE_HZ, one.speech_s) for one in stretches]

    def seconds(first_s: float, last_s: float, *, only_spoken: bool) -> float:
        total = 0.0
        for start, stop, speech_s in speech:
            inside = [(max(start, first_s), min(stop, last_s))]
            if only_spoken:
                inside = [(max(a, s), min(b, t)) for a, b in inside for s, t in spoken]
            total += sum(max(0.0, b - a) for a, b in inside) / max(stop - start, 1e-9) * speech_s
        return total

    german = (seconds(begin_s, end_s, only_spoken=False), seconds(begin_s, end_s, only_spoken=True))
    whole = (seconds(0, sound.duration_s, only_spoken=False), seconds(0, sound.duration_s, only_spoken=True))
    return (*german, whole[0] - german[0], whole[1] - german[1])


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", type=Path, nargs="+", help="folders with a manifest.tsv")
    parser.add_argument("--part", default="eval", help="which part of English corpora")
    parser.add_argument("--most", type=int, help="recordings per speaker at most")
    parser.add_argument("--only", help="corpora whose name begins so")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--mixes", type=int, default=20)
    parser.add_argument("--json", type=Path, help="write every outcome here")
    asked = parser.parse_args()
    try:
        everyone = [s for folder in asked.folders for s in speakers_of(folder, part=asked.part, most=asked.most)]
    except (OSError, pl.exceptions.PolarsError, PersonareError) as error:
        sys.exit(f"languages.py: {str(error).splitlines()[0]}")
    everyone = [s for s in everyone if not asked.only or s.corpus.startswith(asked.only)]
    engine = ProcessPool(asked.jobs) if asked.jobs > 1 else Serial()
    began = time.perf_counter()
    outcomes = []
    for result in engine.map(judge, everyone):
        if result.value is None:
            sys.exit(f"languages.py: {result.item.name}: {result.error}")
        outcomes += result.value
    _print(outcomes, time.perf_counter() - began)
    if asked.json:
        asked.json.write_text(json.dumps([dataclasses.asdict(one) for one in outcomes], indent=1), encoding="utf-8")
    readers = [s for s in everyone if s.corpus.startswith("librispeech")]
    actors = [s for s in everyone if s.corpus.startswith("emodb")]
    if asked.mixes and readers and actors:
        _print_mixes(readers, actors, engine, count=asked.mixes)


def _print_mixes(
    readers: Sequence[Speaker], actors: Sequence[Speaker], engine: ProcessPool | Serial, *, count: int
) -> None:
    head = f"{'pause':>6} {'recordings':>11} {'German s':>9} {'spoken s':>9} {'English s':>10} {'spoken s':>9}"
    english, german = ([path for s in some for path in s.audio[:4]] for some in (readers, actors))
    for title, pauses_s in (
        ("30 s of English, then 18 s of German", (0.3, 0.0)),
        ("four German sentences inside English", (0.5, 0.2, 0.0)),
    ):
        print(f"\nmixed recordings: {title}\n{head}")
        for pause_s in pauses_s:
            inside = title.startswith("four")
            mixed = (
                mixes(english, german, count=count, pause_s=pause_s)
                if inside
                else halves(readers, actors, pause_s=pause_s)
            )
            rows = np.array([result.value for result in engine.map(judge_mix, mixed)])
            total, spoken, other, kept = rows.sum(axis=0)
            print(f"{pause_s:>6} {len(mixed):>11} {total:>9.1f} {spoken:>9.1f} {other:>10.1f} {kept:>9.1f}")


def _print(outcomes: Sequence[Outcome], seconds: float) -> None:
    head = ("corpus", "lang", "recordings", "spoken", "partly", "no speech", "rejected", "named right", "of >= 3 s")
    print(("{:<18} {:<5}" + " {:>11}" * 7).format(*head))
    for corpus, language in sorted({(one.corpus, one.language) for one in outcomes}):
        own = [one for one in outcomes if (one.corpus, one.language) == (corpus, language)]
        counts = Counter(one.outcome for one in own)
        long = [one for one in own if one.duration_s >= 3]
        right = [sum(one.named == language for one in some) / max(len(some), 1) for some in (own, long)]
        shares = [f"{100 * share:.1f} %" for share in right]
        cells = (len(own), counts["spoken"], counts["partly"], counts["no speech"], counts["rejected"], *shares)
        print(("{:<18} {:<5}" + " {:>11}" * 7).format(corpus, language, *cells))
    speech_s = sum(one.duration_s for one in outcomes)
    print(f"{speech_s / 60:.0f} minutes of recordings in {seconds / 60:.1f} minutes")


if __name__ == "__main__":
    main()
