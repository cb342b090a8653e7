"""A few utterances to listen to: anonymized and without their text; original speech and text only where asked for."""

from __future__ import annotations

from typing import Literal

from personare.core.audio import Audio, read_mono
from personare.core.errors import AudioError
from personare.reports.blocks import AudioExample, AudioExamples, Block, Notice, Paragraph, Section
from personare.reports.run import ORIGINAL, ArtefactFile, Run

SoundChoice = Literal["none", "anonymized", "original"]
MOST_UTTERANCES, LONGEST_S, MOST_SOUNDS = 6, 10.0, 36
TITLE = "Listen"
WARNING = "This page holds original speech and what was said: keep it where the originals may be kept."
WORDS_STAY = (
    "Anonymized speech only: the words that are spoken are the speakers' own and may identify somebody. "
    "personare report RUN --sounds puts the original beside it; --no-sounds leaves all speech out."
)


def sounds_section(run: Run, choice: SoundChoice) -> Section:
    """Let a reader hear a few utterances, at most ten seconds of each."""
    clips = [a for a in run.of_kind("clip") if choice == "original" or a.conditions.get("anonymizer") != ORIGINAL]
    if choice == "none":
        return Section("sounds", TITLE, unmeasured=["sounds (this report was made without them)"])
    if not clips:
        return Section("sounds", TITLE, unmeasured=["sounds (the run keeps no clips)"])
    versions: dict[tuple[str, str, str], list[tuple[str, Audio]]] = {}
    titles: dict[tuple[str, str, str], str] = {}
    unreadable = 0
    for clip in clips:
        c = clip.conditions
        key = (str(c.get("corpus", "")), str(c.get("utterance", "")), str(c.get("speaker", "")))
        full = key not in versions and len(versions) >= MOST_UTTERANCES
        if full or sum(map(len, versions.values())) >= MOST_SOUNDS:
            continue
        try:
            versions.setdefault(key, []).append((str(c.get("anonymizer", "sound")), _beginning(clip)))
        except AudioError:
            unreadable += 1
            continue
        titles[key] = _title(clip, run, with_text=choice == "original")
    blocks: list[Block] = [Paragraph(WARNING if choice == "original" else WORDS_STAY, soft=True)]
    blocks.append(AudioExamples([AudioExample(titles[key], sounds) for key, sounds in versions.items() if sounds]))
    if unreadable:
        blocks.append(Notice(f"{unreadable} clips could not be read."))
    return Section("sounds", TITLE, blocks)


def _beginning(clip: ArtefactFile) -> Audio:
    sound = read_mono(clip.path)
    return Audio(sound.samples[: int(LONGEST_S * sound.rate_hz)], sound.rate_hz)


def _title(clip: ArtefactFile, run: Run, *, with_text: bool) -> str:
    c = clip.conditions
    speaker = str(c.get("speaker", ""))
    label = run.speaker_labels.get((str(c.get("corpus", "")), speaker), speaker)
    text = f": “{c['text']}”" if with_text and c.get("text") else ""
    return f"{label}, {c.get('utterance', '')}{text}"
