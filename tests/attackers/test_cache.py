"""The cache gives back what was computed, computes again what was spoiled, and tells contents and models apart."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from conftest import hum
from personare.attackers import cache
from personare.core.audio import Audio, read_mono, write
from personare.core.errors import AudioError
from personare.core.utterances import Utterance

CALLS: list[float] = []


@dataclass(frozen=True)
class Loudness:
    """A small embedder that notes when it is asked."""

    scale: float = 1.0

    @property
    def fingerprint(self) -> str:
        return f"loudness-{self.scale}"

    def __call__(self, batch: Sequence[Audio]) -> NDArray[np.float32]:
        CALLS.append(self.scale)
        if not np.isfinite(np.concatenate([audio.samples for audio in batch])).all():
            raise AudioError("a recording holds NaN")
        return np.array([[self.scale * a.samples.std(), a.duration_s] for a in batch], np.float32)


@pytest.fixture(autouse=True)
def _small_embedder(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(cache, "make_embedder", lambda name, **parameters: Loudness(**parameters))
    cache._model.cache_clear()
    CALLS.clear()
    yield
    cache._model.cache_clear()


def _file(folder: Path, seed: int = 1) -> Path:
    path = folder / f"{seed}.wav"
    write(path, hum(seed, duration_s=0.5))
    return path


def test_a_fusion_decodes_a_file_once_and_one_that_was_heard_never(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    decoded: list[Path] = []

    def read(path: Path, **part: Any) -> Audio:
        decoded.append(path)
        return read_mono(path, **part)

    monkeypatch.setattr(cache, "read_mono", read)
    monkeypatch.setattr(cache, "make_embedder", lambda name: Loudness(scale=float(len(name))))
    path = _file(tmp_path)
    work = cache.EmbedWork("f0+ge2e+energy", folder=tmp_path)
    vector = work(Utterance("u", "s", path))
    assert vector.shape == (6,)
    assert (decoded, CALLS) == ([path], [2.0, 4.0, 6.0])
    np.testing.assert_array_equal(work(Utterance("u", "s", path)), vector)
    assert len(decoded) == 1


def test_the_second_time_nothing_is_computed(tmp_path: Path) -> None:
    path = _file(tmp_path)
    first = cache.embed_file(path, "loudness", folder=tmp_path)
    again = cache.embed_file(path, "loudness", folder=tmp_path)
    np.testing.assert_array_equal(first, again)
    assert first.dtype == again.dtype == np.float32
    assert len(CALLS) == 1


def test_the_same_bytes_elsewhere_are_known(tmp_path: Path) -> None:
    path = _file(tmp_path)
    cache.embed_file(path, "loudness", folder=tmp_path)
    copy = tmp_path / "copy.wav"
    copy.write_bytes(path.read_bytes())
    cache.embed_file(copy, "loudness", folder=tmp_path)
    assert len(CALLS) == 1


def test_content_part_and_parameters_are_told_apart(tmp_path: Path) -> None:
    path = _file(tmp_path)
    whole = cache.embed_file(path, "loudness", folder=tmp_path)
    part = cache.embed_file(path, "loudness", start_s=0.1, end_s=0.3, folder=tmp_path)
    louder = cache.embed_file(path, "loudness", folder=tmp_path, scale=2.0)
    assert part[1] == pytest.approx(0.2)
    assert louder[0] == pytest.approx(2 * whole[0])
    write(path, hum(9, duration_s=0.7))
    assert cache.embed_file(path, "loudness", folder=tmp_path)[1] == pytest.approx(0.7)
    assert len(CALLS) == 4


@pytest.mark.parametrize("spoil", [lambda b: b[:-3], lambda b: b"", lambda b: b[:20] + b"\xff" + b[21:]])
def test_a_spoiled_entry_is_computed_again(tmp_path: Path, spoil: Any) -> None:
    path = _file(tmp_path)
    first = cache.embed_file(path, "loudness", folder=tmp_path)
    (entry,) = tmp_path.glob("vectors/*/*/*.vector")
    entry.write_bytes(spoil(entry.read_bytes()))
    np.testing.assert_array_equal(cache.embed_file(path, "loudness", folder=tmp_path), first)
    assert len(CALLS) == 2
    cache.embed_file(path, "loudness", folder=tmp_path)
    assert len(CALLS) == 2


def test_an_entry_of_another_sound_or_model_is_never_taken(tmp_path: Path) -> None:
    """Whoever puts a whole, checksummed entry in the place of another one changes nothing."""
    one, two = _file(tmp_path, 1), _file(tmp_path, 2)
    cache.embed_file(one, "loudness", folder=tmp_path)
    (entry,) = tmp_path.glob("vectors/*/*/*.vector")
    mine = cache.embed_file(two, "loudness", folder=tmp_path)
    (other,) = set(tmp_path.glob("vectors/*/*/*.vector")) - {entry}
    other.write_bytes(entry.read_bytes())
    np.testing.assert_array_equal(cache.embed_file(two, "loudness", folder=tmp_path), mine)
    assert len(CALLS) == 3


def test_sounds_in_memory(tmp_path: Path) -> None:
    sound = hum(3)
    first = cache.embed_audio(sound, "loudness", folder=tmp_path)
    np.testing.assert_array_equal(cache.embed_audio(sound, "loudness", folder=tmp_path), first)
    assert len(CALLS) == 1
    cache.embed_audio(Audio(sound.samples, 8000), "loudness", folder=tmp_path)
    assert len(CALLS) == 2


def test_work_for_an_engine_is_picklable_and_names_the_file_it_failed_on(tmp_path: Path) -> None:
    work = pickle.loads(pickle.dumps(cache.EmbedWork("loudness", tmp_path, {"scale": 3.0})))  # noqa: S301
    assert work(Utterance("u", "s", _file(tmp_path))).shape == (2,)
    assert CALLS == [3.0]
    with pytest.raises(AudioError, match=r"none\.wav: no such file"):
        work(Utterance("u", "s", tmp_path / "none.wav"))
    noise = tmp_path / "noise.wav"
    noise.write_bytes(b"not audio")
    with pytest.raises(AudioError, match=r"noise\.wav: not audio"):
        work(Utterance("u", "s", noise))


def test_vectors_are_for_the_owner_only_and_can_be_forgotten(tmp_path: Path) -> None:
    for seed in (1, 2):
        cache.embed_file(_file(tmp_path, seed), "loudness", folder=tmp_path)
    assert (tmp_path / "vectors").stat().st_mode & 0o077 == 0
    assert cache.forget(folder=tmp_path) == 2
    assert not (tmp_path / "vectors").exists()
    assert cache.forget(folder=tmp_path) == 0
