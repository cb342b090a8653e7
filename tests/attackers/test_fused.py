"""Fusions: the vectors of several embedders as one, kept apart in the cache and in every mean."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from conftest import hum
from personare.attackers import cache, embedder
from personare.attackers.fused import FusedEmbedder, joined, parts_of, widths_of
from personare.core.audio import write
from personare.core.errors import ConfigError, UnknownNameError
from personare.core.vectors import cosine, speaker_means, unit_rows

FUSION = "energy+rhythm+spectrum"


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("ecapa", ("ecapa",)),
        ("ecapa+energy", ("ecapa", "energy")),
        ("ecapa + energy", ("ecapa", "energy")),
        ("trained:/a+b/c.onnx", ("trained:/a+b/c.onnx",)),
        ("ecapa+trained:c.onnx+my_module:Mine", ("ecapa", "trained:c.onnx", "my_module:Mine")),
    ],
)
def test_parts_of_a_name(name: str, parts: tuple[str, ...]) -> None:
    assert parts_of(name) == parts


def test_a_fusion_is_its_parts_side_by_side_each_of_length_one() -> None:
    sounds = [hum(1), hum(2, duration_s=2.0)]
    whole = embedder(FUSION)(sounds)
    at = 0
    for part, width in zip(FUSION.split("+"), widths_of(FUSION), strict=True):
        np.testing.assert_array_equal(whole[:, at : at + width], unit_rows(embedder(part)(sounds), dtype=np.float32))
        at += width
    assert at == whole.shape[1]


def test_means_and_cosines_of_a_fusion_are_those_of_its_parts() -> None:
    rng = np.random.default_rng(1)
    parts = [rng.normal(size=(6, d)).astype(np.float32) for d in (4, 9)]
    whole, who = joined(parts), [0, 0, 0, 1, 1, 1]
    means = speaker_means(whole, who).vectors
    own = [speaker_means(part, who).vectors for part in parts]
    np.testing.assert_allclose(means * np.sqrt(2), np.concatenate(own, axis=1), atol=1e-6)
    both = (cosine(parts[0], parts[0]) + cosine(parts[1], parts[1])) / 2
    np.testing.assert_allclose(cosine(whole, whole), both, atol=1e-6)


def test_parts_are_kept_by_themselves_and_never_computed_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "a.wav", hum(1))
    first = cache.embed_file(tmp_path / "a.wav", "energy", folder=tmp_path)
    calls: list[str] = []
    from personare.encoders.statistics import Statistics

    plain = Statistics.__call__

    def counted(self: Statistics, batch: object) -> object:
        calls.append(self.NAME)
        return plain(self, batch)  # type: ignore[arg-type]

    monkeypatch.setattr(Statistics, "__call__", counted)
    fused = cache.embed_file(tmp_path / "a.wav", "energy+rhythm", folder=tmp_path)
    again = cache.embed_file(tmp_path / "a.wav", "rhythm+energy", folder=tmp_path)
    assert calls == ["rhythm"]
    np.testing.assert_allclose(fused[: len(first)], unit_rows(first[None])[0], atol=1e-6)
    np.testing.assert_array_equal(np.sort(fused), np.sort(again))


def test_fingerprints_name_parts_in_order() -> None:
    assert embedder("energy+rhythm").fingerprint != embedder("rhythm+energy").fingerprint
    assert embedder("energy+rhythm").fingerprint == FusedEmbedder(("energy", "rhythm")).fingerprint


def test_mistakes_are_one_line() -> None:
    with pytest.raises(ConfigError, match="a fusion joins different embedders, not 'energy\\+energy'"):
        embedder("energy+energy")
    with pytest.raises(ConfigError, match="has no parameters"):
        embedder("energy+rhythm", threads=2)
    with pytest.raises(UnknownNameError, match="no embedder 'energie\\+rhytm'"):
        embedder("energie+rhytm")
