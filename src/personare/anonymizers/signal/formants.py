"""Formants (I1): the voice is given the vocal tract, the F0 and the speaking rate of a target drawn from a table.

Steps, in the paper's order: (1) the length of the vocal tract is changed by playing the sound faster or slower
(resampling), which shifts all formants by one factor; (2) each formant is shifted the rest of the way to the value of a
randomly chosen target speaker; (3) F0 and speaking rate are adjusted; (4) the bands of F4 and F5 are exchanged with
Hann-shaped edges; (5) pink noise, modulated by the speech, is added to the bands of F6 to F9.
[tomashenko2022voiceprivacy2020, 3.2.3, I1; dubagunta2020; after vanson2020]

Deviations: F0 and speaking rate (3) are set by the WORLD vocoder, not by PSOLA. The length of the file is kept: when
words get faster, pauses get longer. Each formant moves by at most ``max_shift`` so that vowels stay vowels. A sound too
short to be measured is taken for an average voice. The formants aimed at wander a little from phrase to phrase
(``drift``). The end of the band, or a cliff that a telephone has left, stays where it is, and what lies within 10 % of
the end, where resampling leaves an edge, is filled from below: neither tells the factor.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from personare.anonymizers.signal.band_limit import band_limit_hz
from personare.anonymizers.signal.drift import draw_drift
from personare.anonymizers.signal.formant_tracking import median_formants_hz
from personare.anonymizers.signal.ranges import Range, check_range, draw
from personare.anonymizers.signal.speaking_rate import change_speaking_rate
from personare.anonymizers.signal.targets import TargetVoice, average_target, builtin_targets, load_targets
from personare.anonymizers.signal.vocoder import (
    WORLD_LIBRARIES,
    WorldParameters,
    median_f0_hz,
    resynthesize,
    transform_f0,
    warp_frequencies,
)
from personare.core.audio import Audio
from personare.core.errors import ConfigError
from personare.core.fingerprint import Fingerprinted
from personare.core.progress import part

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

_EDGE_HZ = 150.0
_WHOLE = 0.9  # share of the band that resampling leaves as it was


@dataclass(frozen=True)
class Formants(Fingerprinted):
    """I1: vocal tract, pitch and speaking rate of a target voice drawn from a table (WORLD vocoder).

    Parameters
    ----------
    targets : table made by ``personare fit-targets``; None takes the built-in one.
    gender : draw among all targets, or only among ``"f"`` or ``"m"``.
    max_shift : largest factor by which one formant may move.
    speaking_rate : factor on the speed of the words, or a range.
    f0_spread : factor on the F0 range (the excursions around the median, in octaves), or a range.
    exchange : exchange the bands of F4 and F5.
    noise_db : level of the noise in the bands of F6 to F9, against the speech there; None adds none.
    drift : how far each formant wanders from phrase to phrase, as a share of it; 0 keeps it in its place.
    """

    paper: ClassVar[str] = (
        "Dubagunta et al., 2020; Tomashenko et al., The VoicePrivacy 2020 Challenge, 2022, sec. 3.2.3 (I1); "
        "Morise et al., WORLD, 2016"
    )
    VERSION: ClassVar[int] = 2
    LIBRARIES: ClassVar[Mapping[str, str]] = WORLD_LIBRARIES
    RENAMED: ClassVar[Mapping[str, str]] = {"most": "max_shift", "rate": "speaking_rate"}

    targets: Path | None = None
    gender: Literal["any", "f", "m"] = "any"
    max_shift: float = 1.3
    speaking_rate: Range = (0.85, 1.15)
    f0_spread: Range = (0.8, 1.2)
    exchange: bool = True
    noise_db: float | None = 0.0
    drift: float = 0.03

    def __post_init__(self) -> None:
        check_range(self.max_shift, name="formants: max_shift", low=1.0, high=2.0)
        check_range(self.speaking_rate, name="formants: speaking_rate", low=0.5, high=2.0)
        check_range(self.f0_spread, name="formants: f0_spread", low=0.0, high=3.0)
        check_range(self.drift, name="formants: drift", low=0.0, high=0.2)
        if self.noise_db is not None:
            check_range(self.noise_db, name="formants: noise_db", low=-60.0, high=20.0)

    secret_names: ClassVar[tuple[str, ...]] = (*(f"F{n}, in octaves" for n in range(6)), "F0 range")

    def secrets(self, audio: Audio, *, rng: np.random.Generator) -> Floats:
        """Give by how many octaves F0 and F1 to F5 are moved, and the factor on the F0 range."""
        target = self._draw_target(rng)
        _, spread = draw(self.speaking_rate, rng=rng), draw(self.f0_spread, rng=rng)
        own, source_hz = _own_formants(audio), median_f0_hz(audio)
        moved = np.log2(self._aimed(own, target) / own)
        octaves = 0.0 if source_hz is None else np.log2(target.f0_hz / source_hz)
        return np.concatenate([[octaves], moved, moved[-1:].repeat(5 - len(own)), [spread]])

    def undo(self, audio: Audio, secrets: Floats) -> Audio:
        """Exchange the bands again, and move formants and F0 back; the noise and the speaking rate stay."""
        ratios = np.exp2(np.clip(secrets[:6], -2.0, 2.0))
        spread = float(np.clip(secrets[6], 0.1, 10.0))
        now, now_hz, limit_hz = _own_formants(audio), median_f0_hz(audio), band_limit_hz(audio)
        before = np.maximum.accumulate(now / ratios[1 : 1 + len(now)])

        def change(speech: WorldParameters) -> WorldParameters:
            changed = speech
            if self.exchange:
                changed = warp_frequencies(changed, _exchanged(changed.frequencies_hz, now))
            sources_hz = _formant_shift(changed.frequencies_hz, now, before, 1.0, limit_hz=limit_hz)
            changed = warp_frequencies(changed, sources_hz)
            if now_hz is None:
                return changed
            return transform_f0(changed, source_hz=now_hz, target_hz=now_hz / float(ratios[0]), spread=1 / spread)

        return resynthesize(audio, change)

    def _aimed(self, own: Floats, target: TargetVoice) -> Floats:
        """Give the target's formants, as far as each may move."""
        aimed = np.array(target.formants_hz[: len(own)])
        limited: Floats = own * np.clip(aimed / own, 1 / self.max_shift, self.max_shift)
        return limited

    def __call__(self, audio: Audio, *, rng: np.random.Generator) -> Audio:
        """Anonymize one channel."""
        target = self._draw_target(rng)
        rate, spread = draw(self.speaking_rate, rng=rng), draw(self.f0_spread, rng=rng)
        with part(0.1):
            source_hz = median_f0_hz(audio)
        with part(0.1):
            own = _own_formants(audio)
        aimed = self._aimed(own, target)
        speed = float(np.exp(np.mean(np.log(aimed / own))))  # the vocal tract as a whole: all formants by one factor

        drift = draw_drift(self.drift, duration_s=audio.duration_s, rng=rng, factors=len(own))
        limit_hz = band_limit_hz(audio)

        def shifted(speech: WorldParameters, factors: Floats) -> WorldParameters:
            moved = np.maximum.accumulate(aimed * factors)
            sources_hz = _formant_shift(speech.frequencies_hz, own * speed, moved, speed, limit_hz=limit_hz)
            changed = warp_frequencies(speech, sources_hz)
            if self.exchange:
                changed = warp_frequencies(changed, _exchanged(changed.frequencies_hz, moved))
            return changed if self.noise_db is None else _add_noise(changed, moved, noise_db=self.noise_db)

        def change(speech: WorldParameters) -> WorldParameters:
            changed = drift.apply(change_speaking_rate(speech, rate), shifted)
            if source_hz is not None:
                changed = transform_f0(changed, source_hz=source_hz, target_hz=target.f0_hz, spread=spread)
            return changed

        with part(0.8):
            return resynthesize(audio, change, speed=speed)

    def _draw_target(self, rng: np.random.Generator) -> TargetVoice:
        table = builtin_targets() if self.targets is None else load_targets(self.targets)
        table = [t for t in table if self.gender in ("any", t.gender)]
        if not table:
            raise ConfigError(f"formants: {self.targets} holds no target of gender '{self.gender}'")
        return table[int(rng.integers(len(table)))]


def _own_formants(audio: Audio) -> Floats:
    """Measure the formants; a sound too short to be measured is taken for an average voice."""
    own = median_formants_hz(audio)
    return np.array(average_target().formants_hz) if own is None else own


def _formant_shift(frequencies: Floats, own: Floats, aimed: Floats, speed: float, *, limit_hz: float) -> Floats:
    """Map each frequency of the result to the one it comes from: formants onto formants, linear between.

    What was played at a speed below 1 ends below the highest frequency: the rest is filled from below. Where the band
    of the recording ended before, that of the result ends, too.
    """
    nyquist = frequencies[-1]
    last = _WHOLE * nyquist * min(1.0, speed)
    end = min(limit_hz, nyquist)
    inside = (aimed < 0.95 * end) & (own < 0.95 * min(last, end * speed))
    sources: Floats = np.interp(
        frequencies, [0.0, *aimed[inside], end, nyquist], [0.0, *own[inside], min(last, end * speed), last]
    )
    return sources


def _exchanged(frequencies: Floats, formants: Floats) -> Floats:
    """Map the band of F4 onto that of F5 and back, the jumps rounded off over 150 Hz like a Hann edge."""
    if len(formants) < 5 or formants[4] + 0.5 * (formants[4] - formants[3]) > frequencies[-1]:
        return frequencies
    gap = formants[4] - formants[3]
    low, middle, high = formants[3] - 0.5 * gap, formants[3] + 0.5 * gap, formants[4] + 0.5 * gap
    jump_up, jump_back, jump_end = (_hann_edge(frequencies, edge) for edge in (low, middle, high))
    # +gap within the band of F4 (it shows F5), -gap within the band of F5 (it shows F4)
    sources: Floats = frequencies + gap * (jump_up - 2 * jump_back + jump_end)
    return sources


def _hann_edge(frequencies: Floats, place: float) -> Floats:
    """Rise from 0 to 1 around ``place`` like half a Hann window."""
    share = np.clip((frequencies - place) / _EDGE_HZ + 0.5, 0.0, 1.0)
    rising: Floats = 0.5 - 0.5 * np.cos(np.pi * share)
    return rising


def _add_noise(speech: WorldParameters, formants: Floats, *, noise_db: float) -> WorldParameters:
    """Add pink noise, ``noise_db`` against the speech there, from F6 to F9; a tube puts Fn at (2n - 1) / 9 F5."""
    if len(formants) < 5:
        return speech
    frequencies = speech.frequencies_hz
    band = _hann_edge(frequencies, formants[4] * 10 / 9) * (1 - _hann_edge(frequencies, formants[4] * 18 / 9))
    inside = band > 0.5
    if not inside.any():
        return speech
    strength = speech.envelope[:, inside].mean(axis=1) * 10 ** (noise_db / 10)
    pink = 1.0 / np.maximum(frequencies, 1.0)
    noise = strength[:, None] * band * pink / pink[inside].mean()
    total = speech.envelope + noise
    # the aperiodicity is an amplitude; the powers of what was noise before and of the new noise add up
    aperiodicity = np.sqrt((speech.aperiodicity**2 * speech.envelope + noise) / np.maximum(total, 1e-300))
    return replace(speech, envelope=total, aperiodicity=np.clip(aperiodicity, 0.0, 1.0))
