"""Measure an attack of your own from Python: speaker vectors in, EER and linkability with intervals out.

python examples/measure_an_attack.py
"""

import numpy as np

from personare.metrics.privacy.eer import rocch_eer_estimate
from personare.metrics.privacy.linkability import linkability


def main() -> None:
    """Invent 50 speakers whose voices are half hidden, enrol each once, and test each with two recordings."""
    rng = np.random.default_rng(1)
    people, voices = np.arange(50), rng.standard_normal((50, 64))
    enrolled = voices + rng.standard_normal(voices.shape)
    tested = np.repeat(people, 2)
    heard = voices[tested] + 2 * rng.standard_normal((100, 64))

    found = linkability(heard, tested, enrolled, people, sizes=(10, 50), rng=rng)
    for size, estimate, chance in zip(found.sizes, found.estimates, found.chance, strict=True):
        print(f"linkability among {size}: {estimate} (guessing: {chance:.3f})")

    scores = heard @ enrolled.T / np.linalg.norm(heard, axis=1)[:, None] / np.linalg.norm(enrolled, axis=1)
    same = tested[:, None] == people
    owner = np.broadcast_to(tested[:, None], same.shape)
    eer = rocch_eer_estimate(
        scores[same], scores[~same], target_speakers=owner[same], nontarget_speakers=owner[~same], rng=rng
    )
    print(f"EER (ROCCH): {eer}")


if __name__ == "__main__":
    main()
