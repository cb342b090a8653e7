"""ECAPA before its last layer: with the published layer on top it is ECAPA again."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest

from conftest import hum
from personare.core import weights
from personare.core.checkpoint import load_tensors
from personare.core.vectors import unit_rows
from personare.encoders import ecapa, ecapa_graph
from personare.encoders.ecapa import Ecapa
from personare.encoders.ecapa_pooled import POOLED, EcapaPooled, last_layer

pytestmark = pytest.mark.models


def test_the_published_layer_on_the_statistics_is_ecapa() -> None:
    sounds = [hum(3, duration_s=0.6), hum(4, duration_s=0.9)]
    pooled = EcapaPooled()(sounds)
    assert pooled.shape == (2, POOLED + 1) and EcapaPooled().fingerprint != Ecapa().fingerprint
    expected = Ecapa()(sounds)
    np.testing.assert_allclose(pooled @ last_layer().T, expected, rtol=1e-3, atol=2e-3)
    scaled = unit_rows(pooled) @ last_layer().T
    np.testing.assert_allclose(unit_rows(scaled), unit_rows(expected), atol=1e-4, err_msg="length 1 loses nothing")


def test_the_graph_of_ecapa_itself_is_the_pinned_one() -> None:
    (checkpoint,) = weights.files_of("ecapa").values()
    built = ecapa_graph.build(load_tensors(checkpoint))
    assert hashlib.sha256(built).hexdigest() == ecapa.GRAPH_SHA256
