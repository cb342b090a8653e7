"""Training networks on one's own speech (extra 'neural'): torch blocks, the one training loop, and the trainings.

``embedder`` turns speech into speaker vectors, ``recognizer`` into letters, ``synthesizer`` turns content, pitch and a
speaker vector into speech. This package imports ``core`` and ``encoders`` only.
"""
