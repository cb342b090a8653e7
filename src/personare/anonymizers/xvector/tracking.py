"""How an utterance is sung: its pitch by DIO and StoneMask and its energy, every 6 ms.     [morise2009dio]"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from personare.anonymizers.vocoder import world_library
from personare.anonymizers.xvector.grid import FINE, PAIR, RATE_HZ, Track, drawn_through, energies_db, frame_count

if TYPE_CHECKING:
    from numpy.typing import NDArray

LOWEST_HZ, HIGHEST_HZ = 60.0, 600.0
_UNVOICED_HZ = 160.0


def tracked(samples: NDArray[np.float32]) -> Track:
    """Measure 16 kHz samples; the track covers whole frames of the network."""
    world = world_library()
    count = frame_count(len(samples)) * PAIR
    sound = np.pad(samples.astype(np.float64), (0, (count + 1) * FINE - len(samples)))
    rough, times = world.dio(sound, RATE_HZ, f0_floor=LOWEST_HZ, f0_ceil=HIGHEST_HZ, frame_period=1000 * FINE / RATE_HZ)
    f0 = world.stonemask(sound, rough, times, RATE_HZ)[:count]
    f0 = np.where((f0 >= LOWEST_HZ) & (f0 <= HIGHEST_HZ), f0, 0.0)
    return Track(drawn_through(f0, otherwise_hz=_UNVOICED_HZ), f0 > 0, energies_db(samples, count))
