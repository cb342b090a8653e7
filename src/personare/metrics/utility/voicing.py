"""Voicing error: in what share of frames did a voiced sound become voiceless, or the other way round?

voicing error = frames whose voicing differs / all frames                                       [nakatani2008voicing]

A track is one pitch in Hz per frame, 0 where unvoiced, the same frame step before and after.
Deviations: the longer track is cut at its end; tracks that differ by more than a tenth in length are refused.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from personare.core.errors import MetricError
from personare.core.findings import MetricCard

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

CARD = MetricCard(
    name="voicing_error",
    title="Voicing decision error",
    better="lower",
    bounds=(0.0, 1.0),
    chance=None,
    cite="nakatani2008voicing",
    reading="share of frames that changed between voiced and unvoiced",
    caution="counts errors of the pitch tracker too; silence on both sides counts as agreement",
    unit="%",
)


def voicing_error(original_hz: ArrayLike, anonymized_hz: ArrayLike) -> float:
    """Compute the share of frames whose voicing differs.

    >>> voicing_error([100, 0, 120, 0], [200, 0, 0, 0])
    0.25
    """
    a, b = (np.asarray(track, dtype=np.float64) for track in (original_hz, anonymized_hz))
    if a.ndim != 1 or b.ndim != 1 or not len(a) or not len(b):
        raise MetricError(f"pitch must be one number per frame, not arrays of {list(a.shape)} and {list(b.shape)}")
    if np.isnan(a).any() or np.isnan(b).any():
        raise MetricError("pitch must be 0 (unvoiced) or above; a track holds NaN")
    if abs(len(a) - len(b)) > max(1.0, 0.1 * max(len(a), len(b))):
        raise MetricError(f"pitch tracks of {len(a)} and {len(b)} frames do not belong together; use one frame step")
    frames = min(len(a), len(b))
    return float(np.mean((a[:frames] > 0) != (b[:frames] > 0)))
