"""Which recordings are spoken in which language, omitted or rejected: real speech in English and other languages.

    python benchmarks/languages.py ../shared/corpus-world ../shared/corpus

Prints, per corpus of the manifests, how many recordings would be spoken in their own language, in a wrong one or are
rejected, and how often the language was named correctly: first with what all recordings of a speaker say together, as
``anonymize`` does, then each recording by itself. Then mixed recordings (English, German, English), of which no German
second may be spoken as English. With ``--words`` recordings are transcribed as well, so that those without recognized
words are rejected too; with ``--recognizers`` only the recognizers are compared: word and character errors against the
manifest's texts, and processor seconds per second of sound. Nothing is synthesized. Manifests are tables with the
columns utterance, speaker, audio, corpus, and part, text, emotion and language where known.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # one core, before numpy wakes up

import argparse
import dataclasses
import json
import sys
import time
from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl

from personare.anonymizers.neural.words.languages import identify, language_evidence, levelled, overall_language
from personare.anonymizers.neural.words.transcript import Recognizing, Transcript, transcribe
from personare.core.audio import Audio, read_mono, resample
from personare.core.errors import PersonareError, RejectedSpeechError
from personare.core.spoken import NOTHING_KNOWN, SpeakerEvidence, SpeakerFacts, pool
from personare.encoders.recognition import ENGLISH_RECOGNIZERS, recognize
from personare.engine import ProcessPool, Serial
from personare.languages import LANGUAGES
from personare.metrics.utility.wer import character_errors, wer, word_errors

RATE_HZ = 16_000
SPOKEN = tuple(LANGUAGES)
RECOGNIZING = Recognizing("moonshine", again="moonshine-base", sure_from=0.9, longest_s=16.0, refuse_below=0.25)
WAYS = {
    "moonshine": ("moonshine", None),
    "moonshine-base": ("moonshine-base", None),
    "whisper-base": ("whisper-base", None),
    "whisper-small": ("whisper-small", None),
    "small, proposed by base": ("whisper-small", "whisper-base"),
}


@dataclasses.dataclass(frozen=True)
class Speaker:
    """The recordings of one speaker of one corpus, and the language they are in."""

    corpus: str
    language: str
    name: str
    audio: tuple[Path, ...]


@dataclasses.dataclass(frozen=True)
class Outcome:
    """What became of one recording, judged with the others of its speaker or alone."""

    corpus: str
    language: str
    utterance: str
    duration_s: float
    outcome: str
    named: str
    is_alone: bool
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


def judge(speaker: Speaker, *, with_words: bool) -> list[Outcome]:
    """Judge every recording of a speaker with what all of them say together, as ``anonymize`` does, and alone."""
    sounds = [resample(read_mono(path), RATE_HZ) for path in speaker.audio]
    heard = [language_evidence(sound.samples, language="auto", spoken=SPOKEN) for sound in sounds]
    evidence = [SpeakerEvidence(one.speech_s, language=one.odds, languages=one.languages) for one in heard]
    return [
        _judge(speaker, path, sound, facts, with_words=with_words)
        for facts in (pool(evidence), NOTHING_KNOWN)
        for path, sound in zip(speaker.audio, sounds, strict=True)
    ]


def _judge(speaker: Speaker, path: Path, sound: Audio, facts: SpeakerFacts, *, with_words: bool) -> Outcome:
    stretches = identify(sound.samples, language="auto", speaker=facts, spoken=SPOKEN)
    speech_s = sum(one.speech_s for one in stretches)
    omitted_s = sum(one.speech_s for one in stretches if one.language and not one.is_spoken)
    wrong_s = sum(one.speech_s for one in stretches if one.is_spoken and one.language not in ("", speaker.language))
    outcome, reason = "spoken", ""
    if not speech_s:
        outcome = "no speech"
    elif 2 * omitted_s > speech_s:
        outcome = "rejected"
    elif wrong_s:
        outcome, reason = "wrong", f"{wrong_s:.1f} of {speech_s:.1f} s"
    elif omitted_s:
        outcome = "partly"
    if with_words and outcome in ("spoken", "partly", "wrong"):
        try:
            how = dataclasses.replace(RECOGNIZING, spoken=SPOKEN)
            transcript = transcribe(sound.samples, how=how, speaker=facts, method="cascade")
            reason += f" {_text(transcript)}"
        except RejectedSpeechError as error:
            outcome, reason = "rejected", str(error)
    named, _ = overall_language(stretches)
    is_alone = facts is NOTHING_KNOWN
    return Outcome(speaker.corpus, speaker.language, path.stem, sound.duration_s, outcome, named, is_alone, reason)


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
        transcript = transcribe(sound.samples, how=RECOGNIZING, speaker=NOTHING_KNOWN, method="cascade")
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


def print_recognizers(folders: Sequence[Path], everyone: Sequence[Speaker]) -> None:
    """Print errors and processor time of each recognizer, one core; acted speech in its neutral form."""
    texts: dict[Path, str] = {}
    for folder in folders:
        table = pl.read_csv(folder / "manifest.tsv", separator="\t", infer_schema_length=0, quote_char=None)
        if "emotion" in table.columns:
            table = table.filter(pl.col("emotion").is_null() | pl.col("emotion").is_in(["", "neutral"]))
        texts |= {folder / audio: text for audio, text in table.select("audio", "text").drop_nulls().iter_rows()}
    print(f"{'corpus':<18} {'recognizer':<24} {'s':>5} {'WER':>6} {'CER':>6} {'added':>6} {'none':>5} {'CPU s / s':>9}")
    for corpus, code in sorted({(one.corpus, one.language) for one in everyone}):
        paths = [path for one in everyone if one.corpus == corpus for path in one.audio if path in texts]
        sounds = [levelled(resample(read_mono(path), RATE_HZ).samples[: 28 * RATE_HZ]) for path in paths]
        normalize = LANGUAGES[code].normalize
        for way, (model, proposed_by) in WAYS.items():
            if not sounds or (model in ENGLISH_RECOGNIZERS and code != "en"):
                continue
            ask = partial(recognize, model=model, language=code, proposed_by=proposed_by)
            ask(sounds[0][:RATE_HZ])  # loading is not counted
            began = time.process_time()
            heard = [normalize(" ".join(word.text for word in ask(sound))) for sound in sounds]
            spent_s, sound_s = time.process_time() - began, sum(map(len, sounds)) / RATE_HZ
            said = [normalize(texts[path]) for path in paths]
            errors, letters = word_errors(said, heard), character_errors(said, heard)
            rates = f"{100 * wer(errors):>6.1f} {100 * wer(letters):>6.1f}"
            counts = f"{int(errors.insertions.sum()):>6} {sum(not text for text in heard):>5}"
            print(f"{corpus:<18} {way:<24} {sound_s:>5.0f} {rates} {counts} {spent_s / sound_s:>9.3f}", flush=True)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", type=Path, nargs="+", help="folders with a manifest.tsv")
    parser.add_argument("--part", default="eval", help="which part of English corpora")
    parser.add_argument("--most", type=int, help="recordings per speaker at most")
    parser.add_argument("--only", help="corpora whose name begins so")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--mixes", type=int, default=20)
    parser.add_argument("--words", action="store_true", help="transcribe as well")
    parser.add_argument("--recognizers", action="store_true", help="compare recognizers instead")
    parser.add_argument("--json", type=Path, help="write every outcome here")
    asked = parser.parse_args()
    try:
        everyone = [s for folder in asked.folders for s in speakers_of(folder, part=asked.part, most=asked.most)]
    except (OSError, pl.exceptions.PolarsError, PersonareError) as error:
        sys.exit(f"languages.py: {str(error).splitlines()[0]}")
    everyone = [s for s in everyone if not asked.only or s.corpus.startswith(asked.only)]
    if asked.recognizers:
        print_recognizers(asked.folders, everyone)
        return
    engine = ProcessPool(asked.jobs) if asked.jobs > 1 else Serial()
    began = time.perf_counter()
    outcomes = []
    for result in engine.map(partial(judge, with_words=asked.words), everyone):
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
    kinds = ("spoken", "partly", "wrong", "no speech", "rejected")
    for title, is_alone in (("with the speaker's other recordings", False), ("each recording alone", True)):
        print(f"\n{title}")
        print(
            ("{:<18} {:<5}" + " {:>11}" * 8).format("corpus", "lang", "recordings", *kinds, "named right", "of >= 3 s")
        )
        for corpus, language in sorted({(one.corpus, one.language) for one in outcomes}):
            own = [one for one in outcomes if (one.corpus, one.language, one.is_alone) == (corpus, language, is_alone)]
            counts = Counter(one.outcome for one in own)
            long = [one for one in own if one.duration_s >= 3]
            right = [sum(one.named == language for one in some) / max(len(some), 1) for some in (own, long)]
            cells = (len(own), *(counts[kind] for kind in kinds), *(f"{100 * share:.1f} %" for share in right))
            print(("{:<18} {:<5}" + " {:>11}" * 8).format(corpus, language, *cells))
    for one in outcomes:
        if one.outcome == "wrong":
            how = "alone" if one.is_alone else "pooled"
            print(f"wrong, {how}: {one.utterance} ({one.language}) as {one.named}, {one.reason}")
    speech_s = sum(one.duration_s for one in outcomes) / 2
    print(f"{speech_s / 60:.0f} minutes of recordings in {seconds / 60:.1f} minutes")


if __name__ == "__main__":
    main()
