"""What guessing achieves in the Singling Out protocol: less than exp(-1), as the threshold is fitted to few scores.

A predicate that is true for each of N people with probability t isolates exactly one with probability N t (1-t)^(N-1),
at best about exp(-1) = 37 %. The protocol takes its threshold midway between the r-th and (r+1)-th highest of C
calibration scores, so t is itself random. With scores of one and the same bell curve for everybody:

chance = E[ N t (1-t)^(N-1) ],   t = Q( (Q^-1(t_r) + Q^-1(t_{r+1})) / 2 )
t_{r+1} ~ Beta(r+1, C-r),   t_r = t_{r+1} u^(1/r)

where Q is the Gaussian tail, t_r the tail above the r-th score and u uniform. Integrated, not simulated.
Deviations: none from [vauquier2025legal], which gives exp(-1) only; both are reported.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from personare.core.errors import MetricError

TRIVIAL = math.exp(-1)  # the paper's chance level
NODES = 160


@lru_cache(maxsize=4096)
def chance_of_isolation(people: int, *, calibration: int, rank: int) -> float:
    """Give the chance to isolate one of ``people`` with a threshold midway between calibration scores rank, rank + 1.

    >>> round(chance_of_isolation(20, calibration=180, rank=9), 3)
    0.359
    """
    from scipy import special

    if people < 1 or rank < 1 or calibration <= rank:
        raise MetricError(
            f"isolation needs people >= 1 and 1 <= rank < calibration scores; got {people}, {rank}, {calibration}"
        )
    x, w = np.polynomial.legendre.leggauss(NODES)
    x, w = (x + 1) / 2, w / 2
    outer = special.betaincinv(rank + 1, calibration - rank, x)[:, None]  # tail above the (rank + 1)-th score
    inner = outer * x[None, :]  # tail above the rank-th score
    t = special.ndtr((special.ndtri(inner) + special.ndtri(outer)) / 2)
    weight = w[:, None] * (w * rank * x ** (rank - 1))[None, :]
    return float(np.sum(weight * people * t * np.exp((people - 1) * np.log1p(-t))))


def chance_at_rank(people: int, *, calibration: int, rank: int) -> float:
    """Give the same for a threshold exactly at the rank-th calibration score: N B(1+r, N-1+b) / B(r, b), b = C-r+1.

    >>> round(chance_at_rank(1000, calibration=9000, rank=9), 4)
    0.3489
    """
    from scipy import special

    if people < 1 or not 1 <= rank <= calibration:
        raise MetricError(f"isolation needs people >= 1 and 1 <= rank <= {calibration}; got {people} and {rank}")
    b = calibration - rank + 1
    return float(people * np.exp(special.betaln(1 + rank, people - 1 + b) - special.betaln(rank, b)))
