"""Rehearsal: crops without a recording, whose target is what a teacher gives for the same input."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs torch: pip install '.[neural]'")

from personare.anonymizers.neural.xvector.weights import PROSODY_NETWORK, READING_NETWORK, shipped_folder  # noqa: E402
from personare.core.errors import TrainingError  # noqa: E402
from personare.core.seeding import Key  # noqa: E402
from personare.encoders.grid import WIDTH  # noqa: E402
from personare.encoders.prosody import F0Statistics  # noqa: E402
from personare.training.synthesizer import network, rehearsal  # noqa: E402
from personare.training.synthesizer.export import read_tensors  # noqa: E402
from personare.training.synthesizer.rehearsal import RehearsalFiles, TeacherRehearsal, open_rehearsal  # noqa: E402
from personare.training.synthesizer.settings import SynthesizerSettings  # noqa: E402
from personare.training.synthesizer.task import SynthesizerTask  # noqa: E402

LENGTHS = (30, 60)
FRAMES = 40


@pytest.fixture
def files(tmp_path: Path) -> RehearsalFiles:
    rng = np.random.default_rng(1)
    contents = [rng.standard_normal((length, WIDTH)).astype(np.float32) for length in LENGTHS]
    vectors = rng.standard_normal((3, 256)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    spoken = [F0Statistics(7.0 + 0.2 * number, 0.2) for number in range(3)]
    rehearsal.save(tmp_path / "rehearsed.npz", contents=contents, vectors=vectors, spoken=spoken)
    shipped = shipped_folder()
    return RehearsalFiles(shipped / READING_NETWORK, shipped / PROSODY_NETWORK, tmp_path / "rehearsed.npz")


@pytest.fixture
def rehearsed(files: RehearsalFiles) -> TeacherRehearsal:
    return open_rehearsal(files)


def test_what_is_saved_is_rehearsed(rehearsed: TeacherRehearsal) -> None:
    assert [len(content) for content in rehearsed.contents] == list(LENGTHS)
    assert [round(one.median_log2_hz, 3) for one in rehearsed.spoken] == [7.0, 7.2, 7.4]
    crops = rehearsed.crops(6, FRAMES, np.random.default_rng(2))
    shapes = {name: values.shape for name, values in crops.items()}
    assert shapes == {
        "content": (6, FRAMES, WIDTH),
        "prosody": (6, FRAMES, 6),
        "voice": (6, 256),
        "levels": (6, 40, 240),
    }
    again = rehearsed.crops(6, FRAMES, np.random.default_rng(2))
    assert all(np.array_equal(values, again[name]) for name, values in crops.items())
    assert {row.tobytes() for row in crops["voice"]} <= {row.tobytes() for row in rehearsed.vectors}
    given = {name: crops[name] for name in ("content", "prosody", "voice")}
    np.testing.assert_array_equal(crops["levels"], rehearsed.teacher.run(None, given)[0])


def test_the_teacher_forgets_nothing_and_another_network_does(
    files: RehearsalFiles, rehearsed: TeacherRehearsal
) -> None:
    settings = dataclasses.replace(SynthesizerSettings(), frames=FRAMES, discriminator_frames=FRAMES)
    teacher = read_tensors(files.teacher.read_bytes(), settings.shape)
    alike = {name: torch.from_numpy(np.ascontiguousarray(values)) for name, values in teacher.items()}
    crops = rehearsed.crops(settings.rehearsed, FRAMES, np.random.default_rng(3))
    given = rehearsed.other_speakers(crops, 2, np.random.default_rng(4))
    arrays = {**{f"taught_{name}": values for name, values in crops.items()}, "content": crops["content"]}
    arrays |= {f"other_{name}": values for name, values in given.items()}
    batch = {name: torch.from_numpy(values) for name, values in arrays.items()}
    task = SynthesizerTask(settings, [], [], alike, Key.from_seed(1), rehearsal=rehearsed)
    other = dataclasses.replace(task, tensors=network.new_tensors(settings.shape, key=Key.from_seed(2)))
    with torch.no_grad():
        forgotten, never_known = (float(one._forgotten(batch)) for one in (task, other))
        strange, stranger = (float(one._strange(batch, batch["taught_levels"])) for one in (task, other))
    assert forgotten < 1e-4 < 0.5 < never_known
    assert strange < 1e-4 < 0.1 < stranger


def test_crops_are_given_to_pseudo_speakers_with_their_own_f0(rehearsed: TeacherRehearsal) -> None:
    crops = rehearsed.crops(3, FRAMES, np.random.default_rng(3))
    given = rehearsed.other_speakers(crops, 8, np.random.default_rng(4))
    assert given["moved"].shape == (3, FRAMES, 240), "no more than there are"
    medians = {round(7.0 + 0.2 * number - np.log2(160.0), 3) for number in range(3)}
    for row, before in zip(given["prosody"], crops["prosody"], strict=True):
        assert round(float(row[:, ::3].mean()), 3) in medians
        np.testing.assert_allclose(row[:, ::3].std(), before[:, ::3].std(), rtol=1e-3)
        np.testing.assert_array_equal(np.delete(row, (0, 3), axis=1), np.delete(before, (0, 3), axis=1))


def test_a_broken_file_is_one_line(files: RehearsalFiles) -> None:
    files.rehearsed.write_bytes(files.rehearsed.read_bytes()[:200])
    with pytest.raises(TrainingError, match=r"rehearsed.npz: no rehearsal .*; remove it and begin anew"):
        open_rehearsal(files)
