"""Hundreds of invented speakers: Piper's 904 voices read our sentences, each at a speaking rate of their own.

Who ``p007`` is and what ``p007-03`` says depends on the seed alone. Genders are guesses by the pitch of a voice
(``personare.voices``), and unknown where pitch does not tell or was not measured.
"""

from __future__ import annotations

import functools
import hashlib
import json
from importlib import metadata
from typing import TYPE_CHECKING

import numpy as np

from personare.core.audio import Audio, resample
from personare.core.seeding import Key, rng_for
from personare.corpora.voices.speakers import Gender, Speaker
from personare.voices.piper import VOICES, Piper, measured_voices

if TYPE_CHECKING:
    from personare.corpora.voices.plan import PlannedUtterance

MODELS = Piper.MODELS
PACE_RANGE = (0.9, 1.15)  # speaking rate, 1 is the voice's own
LOUDEST = 0.95  # resampling may overshoot; a peak above this is turned down to it
_RECIPE = 1  # raise it when the same plan would give another sound


def piper_speaker(number: int, *, seed: int, noted_gender: bool = False) -> Speaker:
    """Invent the speaker with this number, from 1: one of Piper's voices, in an order that the seed draws.

    With ``noted_gender``, women and men in turn, of the voices whose gender was measured.

    >>> piper_speaker(1, seed=1).name, piper_speaker(1, seed=1).accent
    ('p001', 'american')
    >>> [piper_speaker(number, seed=1, noted_gender=True).gender for number in (1, 2, 3)]
    ['f', 'm', 'f']
    """
    order = _noted_order(seed) if noted_gender else _order(seed)
    name, voice = f"p{number:03d}", order[number - 1]
    pace = round(float(rng_for(_key(seed), "speaker", name).uniform(*PACE_RANGE)), 3)
    return Speaker(name, _genders().get(voice), "american", (str(voice),), 1.0, pace, "piper")


@functools.cache
def _speaking() -> dict[str, str]:
    """What speaks, the same for all of many thousand utterances."""
    return {"model": Piper().fingerprint, "runtime": metadata.version("onnxruntime")}


@functools.cache
def _order(seed: int) -> tuple[int, ...]:
    """The order in which a seed takes the voices."""
    order: list[int] = rng_for(_key(seed), "order").permutation(VOICES).tolist()
    return tuple(order)


@functools.cache
def _noted_order(seed: int) -> tuple[int, ...]:
    """Voices of measured gender, women and men in turn, each in an order that the seed draws."""
    genders = _genders()
    women, men = ([voice for voice in _order(seed) if genders.get(voice) == gender] for gender in ("f", "m"))
    return tuple(voice for pair in zip(women, men, strict=False) for voice in pair)


def noted_speakers() -> int:
    """How many speakers of noted gender there are.

    >>> noted_speakers()
    28
    """
    return len(_noted_order(1))


def _key(seed: int) -> Key:
    return Key.from_seed(seed).child("piper voices")


@functools.cache
def _genders() -> dict[int, Gender]:
    guessed: dict[int, Gender] = {}
    for voice in measured_voices():
        if voice.gender:
            guessed[voice.number] = voice.gender
    return guessed


def piper_fingerprint(utterance: PlannedUtterance, *, rate_hz: int) -> str:
    """Name the sound of an utterance by all it depends on: the text, the take, the voice, the network."""
    who = utterance.speaker
    made_of = {
        "recipe": _RECIPE,
        "text": utterance.text,
        "take": utterance.name,
        "voice": who.voices,
        "pace": who.pace,
        "rate_hz": rate_hz,
        **_speaking(),
    }
    return hashlib.sha256(json.dumps(made_of, sort_keys=True).encode()).hexdigest()[:32]


def piper_synthesize(utterance: PlannedUtterance, *, rate_hz: int) -> Audio:
    """Make the sound of one utterance at ``rate_hz``; its noise is drawn by its text, voice and name."""
    who = utterance.speaker
    rng = rng_for(Key.from_seed("piper takes"), who.voices[0], utterance.name, utterance.text)
    audio = resample(Piper()(utterance.text, voice=int(who.voices[0]), rate=who.pace, rng=rng), rate_hz)
    peak = float(np.abs(audio.samples).max(initial=0.0))
    return audio if peak <= LOUDEST else Audio(audio.samples * np.float32(LOUDEST / peak), rate_hz)
