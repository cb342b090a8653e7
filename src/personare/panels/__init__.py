"""Listening tests with people: which recordings are heard by whom, where answers are kept, what they say.

unified     one recording beside an enrolment: intelligibility, naturalness, similarity, 1 to 10   (VoicePrivacy 2020)
clustering  16 recordings put into 1 to 4 clusters, one for each speaker                           (VoicePrivacy 2020)
abx         whose voice is X, A or B?                                                              (USC)
expression  which rendering is said like the original X, A or B?
mos         naturalness and intelligibility, 1 to 5                                                (RP + GMM + SC)

``personare.web`` shows them to people; ``personare.pipeline.jobs.panel`` makes a panel of a run.
"""

from __future__ import annotations

from typing import Literal, get_args

Test = Literal["unified", "clustering", "abx", "expression", "mos"]
TESTS: tuple[Test, ...] = get_args(Test)
