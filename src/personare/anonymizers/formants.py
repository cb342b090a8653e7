"""Formants (I1): the voice is given the throat, the pitch and the pace of another person drawn from a table.

Steps, in the paper's order: (1) the length of the vocal tract is changed by playing the sound faster or slower
(resampling), which shifts all formants by one factor; (2) each formant is shifted the rest of the way to the value of a
randomly chosen target speaker; (3) F0 and speaking rate are adjusted; (4) the bands of F4 and F5 are exchanged with
Hann-shaped edges; (5) pink noise, modulated by the speech, is added to the bands of F6 to F9.
[tomashenko2022voiceprivacy2020, 3.2.3, I1; dubagunta2020; after vanson2020]

Deviations: pitch and pace (3) are set by the WORLD vocoder, not by PSOLA. The length of the file is kept: when words
get faster, pauses get longer. Each formant moves by at most ``most`` so that vowels stay vowels. A sound too short to
be measured is taken for an average voice.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from personare.anonymizers.chance import Range, check_range, draw
from personare.anonymizers.pace import paced
from personare.anonymizers.resonances import formants
from personare.anonymizers.targets import Target, built_in, load, neutral
from personare.anonymizers.vocoder import Speech, median_pitch_hz, repitched, revoiced, warped
from personare.core.audio import Audio
from personare.core.errors import ConfigError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

_EDGE_HZ = 150.0


@dataclass(frozen=True)
class Formants:
    """I1: throat, pitch and pace of a target voice drawn from a table (WORLD vocoder).

    Parameters
    ----------
    targets : table made by ``personare fit-targets``; None takes the built-in one.
    gender : draw among all targets, or only among ``"f"`` or ``"m"``.
    most : largest factor by which one formant may move.
    rate : factor on the speed of the words, or a range.
    f0_spread : factor on the swings of the pitch around its median, or a range.
    exchange : exchange the bands of F4 and F5.
    noise_db : level of the noise in the bands of F6 to F9, against the speech there; None adds none.
    """

    paper: ClassVar[str] = (
        "Dubagunta et al., 2020; Tomashenko et al., The VoicePrivacy 2020 Challenge, 2022, sec. 3.2.3 (I1); "
        "Morise et al., WORLD, 2016"
    )

    targets: Path | None = None
    gender: Literal["any", "f", "m"] = "any"
    most: float = 1.3
    rate: Range = (0.85, 1.15)
    f0_spread: Range = (0.8, 1.2)
    exchange: bool = True
    noise_db: float | None = 0.0

    def __post_init__(self) -> None:
        check_range(self.most, name="formants: most", low=1.0, high=2.0)
        check_range(self.rate, name="formants: rate", low=0.5, high=2.0)
        check_range(self.f0_spread, name="formants: f0_spread", low=0.0, high=3.0)
        if self.noise_db is not None:
            check_range(self.noise_db, name="formants: noise_db", low=-60.0, high=20.0)

    def __call__(self, audio: Audio, *, rng: np.random.Generator) -> Audio:
        """Hide the voice of one channel."""
        target = self._drawn(rng)
        rate, spread = draw(self.rate, rng=rng), draw(self.f0_spread, rng=rng)
        centre = median_pitch_hz(audio)
        own = formants(audio)
        own = np.array(neutral().formants_hz) if own is None else own
        aimed = np.array(target.formants_hz[: len(own)])
        aimed = own * np.clip(aimed / own, 1 / self.most, self.most)
        speed = float(np.exp(np.mean(np.log(aimed / own))))  # the throat as a whole: all formants by one factor

        def change(speech: Speech) -> Speech:
            moved = paced(speech, rate)
            moved = warped(moved, _sources(moved.frequencies_hz, own * speed, aimed, speed))
            if self.exchange:
                moved = warped(moved, _exchanged(moved.frequencies_hz, aimed))
            if self.noise_db is not None:
                moved = _masked(moved, aimed, noise_db=self.noise_db)
            if centre is not None:
                moved = repitched(moved, centre_hz=centre, target_hz=target.f0_hz, spread=spread)
            return moved

        return revoiced(audio, change, speed=speed)

    def _drawn(self, rng: np.random.Generator) -> Target:
        table = built_in() if self.targets is None else load(self.targets)
        table = [t for t in table if self.gender in ("any", t.gender)]
        if not table:
            raise ConfigError(f"formants: {self.targets} holds no target of gender '{self.gender}'")
        return table[int(rng.integers(len(table)))]


def _sources(frequencies: Floats, own: Floats, aimed: Floats, speed: float) -> Floats:
    """Map each frequency of the result to the one it comes from: formants onto formants, straight lines between.

    What was played at a speed below 1 ends below the highest frequency: the rest is filled from below.
    """
    nyquist = frequencies[-1]
    inside = (aimed < 0.95 * nyquist) & (own < 0.95 * nyquist * min(1.0, speed))
    last = nyquist * min(1.0, speed)
    shown: Floats = np.interp(frequencies, [0.0, *aimed[inside], nyquist], [0.0, *own[inside], last])
    return shown


def _exchanged(frequencies: Floats, places: Floats) -> Floats:
    """Map the band of F4 onto that of F5 and back, the jumps rounded off over 150 Hz like a Hann edge."""
    if len(places) < 5 or places[4] + 0.5 * (places[4] - places[3]) > frequencies[-1]:
        return frequencies
    gap = places[4] - places[3]
    low, middle, high = places[3] - 0.5 * gap, places[3] + 0.5 * gap, places[4] + 0.5 * gap
    jump_up, jump_back, jump_end = (_edge(frequencies, edge) for edge in (low, middle, high))
    # +gap within the band of F4 (it shows F5), -gap within the band of F5 (it shows F4)
    shown: Floats = frequencies + gap * (jump_up - 2 * jump_back + jump_end)
    return shown


def _edge(frequencies: Floats, place: float) -> Floats:
    """Rise from 0 to 1 around ``place`` like half a Hann window."""
    way = np.clip((frequencies - place) / _EDGE_HZ + 0.5, 0.0, 1.0)
    rising: Floats = 0.5 - 0.5 * np.cos(np.pi * way)
    return rising


def _masked(speech: Speech, places: Floats, *, noise_db: float) -> Speech:
    """Add pink noise, ``noise_db`` against the speech there, from F6 to F9; a tube puts Fn at (2n - 1) / 9 F5."""
    if len(places) < 5:
        return speech
    frequencies = speech.frequencies_hz
    band = _edge(frequencies, places[4] * 10 / 9) * (1 - _edge(frequencies, places[4] * 18 / 9))
    inside = band > 0.5
    if not inside.any():
        return speech
    strength = speech.envelope[:, inside].mean(axis=1) * 10 ** (noise_db / 10)
    pink = 1.0 / np.maximum(frequencies, 1.0)
    noise = strength[:, None] * band * pink / pink[inside].mean()
    total = speech.envelope + noise
    # the breath is an amplitude; the powers of what was noise before and of the new noise add up
    breath = np.sqrt((speech.breath**2 * speech.envelope + noise) / np.maximum(total, 1e-300))
    return replace(speech, envelope=total, breath=np.clip(breath, 0.0, 1.0))
