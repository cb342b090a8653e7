"""Speech from sounds: content of a recognizer's encoder, frame by frame, with the prosody that is kept or predicted.

The pronunciation passes, and with it something of the speaker; cascade passes the words alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from personare.anonymizers.neural.xvector.even_timing import even_places, quiet_frames
from personare.anonymizers.neural.xvector.prosody_choice import (
    ProsodyChoice,
    chosen_prosody,
    retime_rows,
    retime_track,
    retimed_places,
    sample_places,
)
from personare.anonymizers.neural.xvector.synthesis import (
    CROSSFADE,
    crossfade,
    fixed_level,
    match_level,
    one_after_another,
    silent_stretches,
    synthesize,
)
from personare.anonymizers.neural.xvector.weights import SynthesizerModel
from personare.anonymizers.signal.phrases import phrases, sample_at
from personare.core.audio import Audio
from personare.core.progress import advance, part
from personare.encoders.grid import RATE_HZ, STEP, frame_count, on_frames
from personare.encoders.prosody import F0Statistics, ProsodyTrack, f0_statistics, track_prosody
from personare.pseudospeakers.assignment import SynthesisVectors

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

SILENT_S = {"keep": 0.02, "predicted": 0.2}  # silence stays silent from this length on, by the choice of energy
_TRACKING = 0.3  # roughly the share of the work that measuring pitch and loudness is


@dataclass(frozen=True, eq=False)
class EncodedVoice:
    """Speaks the content of a recording as somebody else.

    Parameters
    ----------
    encode : 16 kHz samples -> content [encoder frames, 288].
    choice : what of the prosody is kept.
    mask : whether content goes through the mask.
    keeps_pitch : whether median and range of F0 stay the source's.
    """

    model: SynthesizerModel
    encode: Callable[[Floats], Floats]
    choice: ProsodyChoice
    mask: bool
    keeps_pitch: bool

    def __call__(self, sound: Audio, vectors: SynthesisVectors, rng: np.random.Generator) -> Floats:
        """Synthesize phrase by phrase, one fading into the next."""
        spans, choice = overlapping(sound), self.choice
        tempo = choice.tempo(rng)
        tracks: list[ProsodyTrack | None] = [None] * len(spans)
        source, target = None, self.model.bank.f0_of(vectors.source)
        if choice.needs_track or self.keeps_pitch:
            with part(_TRACKING):
                measured = [_tracked(sound.samples[first:last]) for first, last in spans]
            source = f0_statistics(np.concatenate([track.f0_hz[track.voiced] for track in measured]))
            tracks = [*measured] if choice.needs_track else tracks
        if self.keeps_pitch:
            target = source or target

        def pieces() -> Iterator[tuple[int, Floats]]:
            for (first, last), track in zip(spans, tracks, strict=True):
                some, begin = sound.samples[first:last], round(tempo * first)
                length = None if choice.timing == "even" else round(tempo * last) - begin
                yield (
                    begin,
                    self._speak(
                        some, track, vectors.envelope, source=source, target=target, tempo=tempo, length=length, rng=rng
                    ),
                )
                advance(len(some) / RATE_HZ)

        with part(1.0 if source is None else 1.0 - _TRACKING):
            if choice.timing == "even":
                joined = crossfade(*one_after_another(piece for _, piece in pieces()))
            else:
                joined = crossfade(pieces(), round(tempo * len(sound.samples)))
        return match_level(sound.samples, joined) if choice.energy == "keep" else fixed_level(joined)

    def _speak(
        self,
        samples: Floats,
        track: ProsodyTrack | None,
        vector: Floats,
        *,
        source: F0Statistics | None,
        target: F0Statistics,
        tempo: float,
        length: int | None,
        rng: np.random.Generator,
    ) -> Floats:
        """Synthesize ``length`` samples of one phrase, or as many as it takes; where it is silent, it stays silent."""
        model, choice = self.model, self.choice
        content = on_frames(self.encode(samples), frame_count(len(samples)))
        silent = silent_stretches(samples, least_s=SILENT_S[choice.energy])
        if length is None:
            energy_db = model.predict_prosody(content, vector).energy_db
            places = even_places(
                content, quiet_frames(energy_db, len(content)), reach=choice.retime, tempo=tempo, rng=rng
            )
            length = len(places) * STEP
        elif choice.retime or tempo != 1.0:
            places = retimed_places(len(content), reach=choice.retime, tempo=tempo, rng=rng)
        else:
            places = None
        if places is not None:
            content, silent = retime_rows(content, places), silent[sample_places(places, len(silent), length=length)]
            track = None if track is None else retime_track(track, places)
        predicted = model.predict_prosody(content, vector) if choice.needs_prediction else None
        prosody = chosen_prosody(choice, track, predicted, source=source, target=target)
        sound = synthesize(model, content, prosody, vector, length=length, rng=rng, mask=self.mask)
        sound = np.pad(sound, (0, length - len(sound)))
        return np.where(silent, np.float32(0), sound)


def overlapping(sound: Audio) -> list[tuple[int, int]]:
    """First sample and the one after the last of phrases that reach 20 ms into each other."""
    cuts = [(sample_at(first, RATE_HZ), sample_at(last, RATE_HZ)) for first, last in phrases(sound)]
    return [(max(first - CROSSFADE, 0), min(last + CROSSFADE, len(sound.samples))) for first, last in cuts]


def _tracked(samples: Floats) -> ProsodyTrack:
    track = track_prosody(samples)
    advance(len(samples) / RATE_HZ)
    return track
