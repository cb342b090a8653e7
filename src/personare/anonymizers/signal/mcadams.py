"""McAdams: moves the formants frame by frame, so that it sounds like another vocal tract saying the same words.

Each 20 ms frame is split by linear prediction into a source and a filter. Every pole of the filter with a non-zero
imaginary part has an angle phi in (0, pi); it is moved to phi^alpha, its radius is multiplied by ``radius``, and the
source is filtered again.     [tomashenko2022voiceprivacy2020, 3.1, B2; patino2021mcadams; radius 0.975: D1, gupta2020]

Deviations: (1) the published code scales the whole file to one peak, which turns silence into noise and cannot be done
live; here each frame keeps the energy it had, the joined sound keeps its loudness (``match_level``; see loudness.py),
and peaks above full scale are turned down smoothly.
(2) Angles are measured against ``pivot_hz``: phi_0 (phi / phi_0)^alpha, phi_0 = 2 pi pivot_hz / rate. The default is
the frequency where phi = 1 at 16 kHz, the rate of the paper: other rates move the same formants by the same amount.
(3) ``order`` 20 belongs to 16 kHz and grows with the rate up to 40; a number fixes it. (4) Half a frame of zeros before
and after the sound gives its first and last samples two frames like all others. (5) Angles are kept below pi when
alpha > 1. (6) D1's radius is applied to all poles, real ones too. (7) Prediction is by autocorrelation (the paper
names no method). (8) The default of ``alpha`` is a range, one draw per speaker, that keeps a recognizer's word errors
within 1.6 times the original's (benchmarks/mcadams_range.py); the paper's is 0.8 for everybody.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from personare.anonymizers.signal.frames import BATCH_FRAMES, frame_length, overlap_add, sqrt_hann
from personare.anonymizers.signal.lpc import all_pole_filter, lpc, residual
from personare.anonymizers.signal.poles import pole_pairs
from personare.anonymizers.signal.ranges import Range, check_range, draw
from personare.core.audio import Audio
from personare.core.errors import ConfigError
from personare.core.fingerprint import Fingerprinted
from personare.core.progress import advance

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

_MAX_ORDER = 40
_MAX_RADIUS = 0.995  # of a pole that is moved outwards
PIVOT_HZ = 8000 / np.pi  # one radian at 16 kHz: "the approximate mean formant position"


@dataclass(frozen=True)
class McAdams(Fingerprinted):
    """Formants moved frame by frame, live or whole (B2, D1); does not protect against who knows the method.

    B2 is ``alpha=0.8`` and D1 ``radius=0.975`` besides. The coefficient can be read off the recording and undone.

    Parameters
    ----------
    alpha : the McAdams coefficient, or a range drawn from once per call; 1 changes nothing. One number is the same
        change for everybody, which an attacker can repeat: the default is a range in which words stay usable.
    radius : factor on the distance of the poles from the origin, or a range; below 1 widens the formants.
    order : poles per frame; None takes 20 at 16 kHz and in proportion at other rates, at most 40.
    window_ms : length of a frame; frames are half a frame apart.
    pivot_hz : the frequency that stays where it is.
    match_level : keep the loudness from moment to moment; False gives the published filter as it is.

    >>> from personare.core.audio import Audio
    >>> noise = np.random.default_rng(1).normal(0, 0.1, 1600).astype(np.float32)
    >>> len(McAdams(alpha=0.8)(Audio(noise, 16_000), rng=np.random.default_rng(1)).samples)
    1600
    """

    paper: ClassVar[str] = (
        "Patino et al., Speaker anonymisation using the McAdams coefficient, 2021; "
        "Tomashenko et al., The VoicePrivacy 2020 Challenge, 2022, sec. 3.1 (B2)"
    )
    VERSION: ClassVar[int] = 1

    alpha: Range = (0.8, 0.9)
    radius: Range = 1.0
    order: int | None = None
    window_ms: float = 20.0
    pivot_hz: float = PIVOT_HZ
    match_level: bool = True

    def __post_init__(self) -> None:
        check_range(self.alpha, name="mcadams: alpha", low=0.1, high=2.0)
        check_range(self.radius, name="mcadams: radius", low=0.1, high=1.0)
        check_range(self.window_ms, name="mcadams: window_ms", low=5.0, high=200.0)
        check_range(self.pivot_hz, name="mcadams: pivot_hz", low=50.0, high=24_000.0)
        if self.order is not None and not 2 <= self.order <= 100:
            raise ConfigError(f"mcadams: order must lie between 2 and 100, not {self.order}")

    secret_names: ClassVar[tuple[str, ...]] = ("alpha", "radius")

    def secrets(self, audio: Audio, *, rng: np.random.Generator) -> Floats:
        """Give alpha and radius, as a call with the same ``rng`` draws them."""
        del audio
        return np.array(self._drawn(rng))

    def undo(self, audio: Audio, secrets: Floats) -> Audio:
        """Move every pole back: the exponent is 1 / alpha, the distance from the origin over the radius."""
        alpha, radius = np.clip(secrets, 0.1, 2.0)
        return self._whole(audio, 1 / float(alpha), 1 / float(radius))

    def __call__(self, audio: Audio, *, rng: np.random.Generator) -> Audio:
        """Anonymize one channel."""
        return self._whole(audio, *self._drawn(rng))

    def _drawn(self, rng: np.random.Generator) -> tuple[float, float]:
        return draw(self.alpha, rng=rng), draw(self.radius, rng=rng)

    def _whole(self, audio: Audio, alpha: float, radius: float) -> Audio:
        length, count = frame_length(self.window_ms, audio.rate_hz), len(audio.samples)
        step = BATCH_FRAMES * length // 2
        blocks = [audio.samples[i : i + step] for i in range(0, count, step)]
        if blocks:  # the last frames reach beyond the sound: in one batch with the others, they cost nothing extra
            blocks[-1] = np.concatenate([blocks[-1], np.zeros(2 * length, dtype=np.float32)])
        samples = np.empty_like(audio.samples)
        done = 0
        for block in self._moved(blocks, audio.rate_hz, alpha, radius):
            fitting = block[: count - done]
            samples[done : done + len(fitting)] = fitting
            done += len(fitting)
            advance(len(fitting) / audio.rate_hz)
        return Audio(samples, audio.rate_hz)

    def stream(
        self, blocks: Iterable[NDArray[np.float32]], *, rate_hz: int, rng: np.random.Generator
    ) -> Iterator[NDArray[np.float32]]:
        """Anonymize a stream, ``latency_samples`` later: the same samples as a call on the whole."""
        return self._moved(blocks, rate_hz, *self._drawn(rng))

    def _moved(
        self, blocks: Iterable[NDArray[np.float32]], rate_hz: int, alpha: float, radius: float
    ) -> Iterator[NDArray[np.float32]]:
        length = frame_length(self.window_ms, rate_hz)
        order = self.order or min(_MAX_ORDER, 2 * round(rate_hz / 1600))
        pivot = 2 * np.pi * self.pivot_hz / rate_hz

        def change(frames: Floats) -> Floats:
            changed = _shift_poles(frames, order=min(order, length - 1), alpha=alpha, radius=radius, pivot=pivot)
            return _match_energy(changed, frames) if self.match_level else changed

        match_level_hz = rate_hz if self.match_level else None
        return overlap_add(blocks, length=length, change=change, match_level_hz=match_level_hz)

    def latency_samples(self, rate_hz: int) -> int:
        """How many more samples must have come in before a sample can go out: one and a half frames."""
        return 3 * frame_length(self.window_ms, rate_hz) // 2


def _shift_poles(frames: Floats, *, order: int, alpha: float, radius: float, pivot: float) -> Floats:
    """Move the poles of windowed frames [frames, samples]."""
    if alpha == 1.0 and radius == 1.0:
        return frames.copy()  # A(z) / A(z)
    a = lpc(frames, order=order)
    u, v = _shifted(*pole_pairs(a), alpha=alpha, radius=radius, pivot=pivot)
    return all_pole_filter(residual(frames, a), u, v)


def _shifted(u: Floats, v: Floats, *, alpha: float, radius: float, pivot: float) -> tuple[Floats, Floats]:
    """Move pole pairs given as z^2 + u z + v; v is the squared radius of a complex pair, u = -2 sqrt(v) cos phi."""
    u, v = u * radius, v * radius**2
    if radius > 1.0:  # undone: no pole leaves the unit circle
        factor = np.sqrt(np.minimum(1.0, _MAX_RADIUS**2 / np.maximum(v, 1e-12)))
        u, v = u * factor, v * factor**2
    is_complex = u * u < 4 * v  # a non-zero imaginary part; "real-valued poles are left unmodified"
    distance = np.sqrt(v[is_complex])
    phi = np.arccos(np.clip(-u[is_complex] / (2 * distance), -1.0, 1.0))
    u[is_complex] = -2 * distance * np.cos(np.minimum(pivot * (phi / pivot) ** alpha, np.pi))
    return u, v


def _match_energy(changed: Floats, frames: Floats) -> Floats:
    """Give each changed frame the energy its original has under the synthesis window."""
    window = sqrt_hann(frames.shape[1])
    target = ((frames * window) ** 2).sum(axis=1)
    energy = ((changed * window) ** 2).sum(axis=1)
    gain = np.sqrt(target / np.where(energy > 0, energy, 1.0))
    changed *= gain[:, None]
    return changed
