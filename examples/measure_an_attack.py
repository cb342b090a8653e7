"""Measure an attack of your own from Python: speaker vectors in, EER and linkability with intervals out.

python examples/measure_an_attack.py
"""

import numpy as np

from personare import metrics
from personare.core.vectors import cosine, speaker_means


def main() -> None:
    """Invent 50 speakers, enrol each with three noisy recordings, and test each with two noisier ones."""
    rng = np.random.default_rng(1)
    people, voices = np.arange(50), rng.standard_normal((50, 64))
    enrolled, tested = np.repeat(people, 3), np.repeat(people, 2)
    enroll = voices[enrolled] + 2 * rng.standard_normal((150, 64))
    test = voices[tested] + 3 * rng.standard_normal((100, 64))
    print(metrics.linkability(test, tested, enroll, enrolled, N=[10, 50], rng=1))

    gallery = speaker_means(enroll, enrolled)
    scores = cosine(test, gallery.vectors)
    same = tested[:, None] == gallery.speakers
    owner = np.broadcast_to(tested[:, None], same.shape)
    speakers = {"target_speakers": owner[same], "nontarget_speakers": owner[~same]}
    print(f"EER (ROCCH): {metrics.eer(scores[same], scores[~same], **speakers, rng=1)}")


if __name__ == "__main__":
    main()
