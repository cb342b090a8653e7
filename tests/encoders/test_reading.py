"""Reading symbols: frames fall into the symbols that last then; tempo, reader and silence do what they say."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from personare.core.seeding import Key
from personare.core.sessions import open_session
from personare.encoders.content import moonshine_content
from personare.encoders.grid import CONTENT_CENTRE, CONTENT_STEP, WIDTH
from personare.encoders.reading import (
    PLACES,
    READER_SHARE,
    SHORTEST_UNITS,
    UNIT,
    ContentReader,
    frame_total,
    one_hot,
    within_symbols,
)

DURATIONS = st.lists(st.floats(SHORTEST_UNITS, 40.0), min_size=2, max_size=30).map(np.array)
NUMBERS = [0, 3, 1, 4, 1, 5, 2, 0]


def units(*durations: float) -> NDArray[np.float64]:
    return np.array(durations, np.float64)


def test_the_symbol_of_each_frame_by_hand() -> None:
    """Symbols end at samples 800, 1200 and 2400; frames are centred on 448, 832, 1216 and so on."""
    durations = units(2, 1, 3)
    assert frame_total(durations) == 6
    symbols, places = within_symbols(durations, 6)
    assert symbols.tolist() == [0, 1, 2, 2, 2, 2]
    share = [448 / 800, 32 / 400, 16 / 1200, 400 / 1200, 784 / 1200, 1168 / 1200]
    assert places.shape == (6, PLACES)
    assert places.dtype == np.float32
    np.testing.assert_allclose(places[:, 0], share, rtol=1e-6)
    np.testing.assert_allclose(places[:, 1], np.log([2, 1, 3, 3, 3, 3]), rtol=1e-6)
    np.testing.assert_allclose(places[:, 2], np.sin(np.pi * np.array(share)), rtol=1e-5)
    np.testing.assert_allclose(places[:, 3], np.array([448, 32, 16, 400, 784, 1168]) / 1600, rtol=1e-6)


def test_a_frame_at_an_edge_belongs_to_the_symbol_that_begins() -> None:
    symbols, places = within_symbols(units(4, 1), 4)  # the fourth frame is centred on sample 1600, where one ends
    assert symbols.tolist() == [0, 0, 0, 1]
    assert places[3].tolist() == [0.0, 0.0, 0.0, 0.0]


def test_no_frame_lies_in_a_symbol_that_does_not_last_and_frames_beyond_the_end_in_the_last() -> None:
    assert within_symbols(units(1, 0, 2), 2)[0].tolist() == [2, 2]
    symbols, places = within_symbols(units(2, 1, 3), 9)
    assert symbols[6:].tolist() == [2, 2, 2]
    np.testing.assert_allclose(places[6:, 0], 1199 / 1200, rtol=1e-6)


def test_a_very_short_symbol_counts_as_the_shortest() -> None:
    symbols, places = within_symbols(units(1.1, 0.1, 2), 1)
    assert symbols.tolist() == [1]
    np.testing.assert_allclose(places[0], [0.2, np.log(SHORTEST_UNITS), np.sin(0.2 * np.pi), 8 / 1600], rtol=1e-5)


@pytest.mark.parametrize(("durations", "frames"), [((0.3,), 1), ((1.1,), 1), ((2.2,), 2), ((1, 3), 4), ((2, 1, 3), 6)])
def test_as_many_frames_as_have_their_centre_in_a_symbol(durations: tuple[float, ...], frames: int) -> None:
    assert frame_total(units(*durations)) == frames


@pytest.mark.models
@pytest.mark.parametrize("length", [4, 17, 40, 41, 81])
def test_there_are_as_many_frames_as_the_encoder_gives(length: int) -> None:
    noise = np.random.default_rng(length).standard_normal(length * UNIT).astype(np.float32)
    assert abs(frame_total(units(length)) - len(moonshine_content(0.1 * noise))) <= 1


@given(DURATIONS)
def test_frames_go_through_the_symbols_in_order(durations: NDArray[np.float64]) -> None:
    count = frame_total(durations)
    symbols, places = within_symbols(durations, count)
    assert len(symbols) == len(places) == count
    assert 0 <= symbols.min() <= symbols.max() < len(durations)
    assert (np.diff(symbols) >= 0).all()
    assert np.isfinite(places).all()
    assert ((places[:, 0] >= 0) & (places[:, 0] <= 1)).all()
    same = np.diff(symbols) == 0
    assert (np.diff(places[:, 0])[same] > 0).all()
    starts = np.concatenate([[0.0], np.cumsum(durations)])[symbols] * UNIT
    centres = CONTENT_CENTRE + CONTENT_STEP * np.arange(count)
    inside = centres < durations.sum() * UNIT - 1
    np.testing.assert_allclose((starts + 4 * UNIT * places[:, 3])[inside], centres[inside], atol=0.1)


@given(DURATIONS, st.floats(0.5, 3.0))
def test_what_lasts_longer_has_as_many_times_the_frames(durations: NDArray[np.float64], tempo: float) -> None:
    before, after = frame_total(durations), frame_total(tempo * durations)
    assert abs(after - tempo * before) <= 2 + 2 * tempo


def test_one_hot_rows() -> None:
    assert one_hot([2, 0], 3).tolist() == [[0, 0, 1], [1, 0, 0]]


@dataclass(frozen=True)
class MadeUpNetwork:
    """A network that is a function, and remembers what it was given."""

    function: Callable[[Mapping[str, NDArray[Any]]], NDArray[np.float32]]
    given: list[Mapping[str, NDArray[Any]]] = field(default_factory=list)

    def run(self, outputs: Sequence[str] | None, inputs: Mapping[str, NDArray[Any]]) -> list[Any]:
        assert outputs is None
        self.given.append(inputs)
        return [self.function(inputs)]

    def get_inputs(self) -> Sequence[Any]:
        return []

    def get_outputs(self) -> Sequence[Any]:
        return []

    def get_modelmeta(self) -> Any:
        return None


def reads_with(*durations: float) -> ContentReader:
    """A reader whose symbols last so long, and whose content is the number of the symbol (in place of 288 numbers)."""
    rows = np.stack([np.log(durations), np.arange(len(durations))], axis=1).astype(np.float32)
    return ContentReader(MadeUpNetwork(lambda _: rows[None]), MadeUpNetwork(lambda it: it["content"][..., :1]), 7, 4)


def test_silence_at_the_ends_is_cut_by_hand() -> None:
    """Of 29 frames of 10, 3, 3 and 12 units 8 and 10 are cut: what is left begins and ends 2 units beside a sound."""
    content = reads_with(10, 3, 3, 12)([0, 1, 2, 0], reader=0)
    assert content[:, 0].tolist() == [0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3]
    assert reads_with(1, 3, 1)([0, 1, 0], reader=0)[:, 0].tolist() == [1, 1, 1, 1, 2]


@pytest.mark.parametrize("durations", [(40.0, 40.0), (40.0, 0.3, 2.0), (2.0, 0.3, 40.0), (0.01, 0.01)])
def test_something_is_always_left(durations: tuple[float, ...]) -> None:
    assert 1 <= len(reads_with(*durations)([0] * len(durations), reader=0)) <= 6


def test_networks_are_given_symbols_reader_and_places() -> None:
    reader = reads_with(1, 3, 1)
    reader([0, 6, 0], reader=2, tempo=2.0)
    text, speech = (network.given[0] for network in (reader.text, reader.speech))  # type: ignore[attr-defined]
    assert text["content"].argmax(axis=2).tolist() == [[0, 6, 0]]
    assert text["content"].shape == (1, 3, 7)
    assert text["voice"].tolist() == speech["voice"].tolist() == [[0, 0, READER_SHARE, 0]]
    assert {values.dtype for values in (*text.values(), *speech.values())} == {np.dtype(np.float32)}
    symbols, places = within_symbols(units(2, 6, 2), 10)
    np.testing.assert_allclose(speech["content"][0], np.column_stack([symbols, places]), rtol=1e-5, atol=1e-6)


def test_symbols_whose_durations_are_known_are_read_in_that_time() -> None:
    """The silence stays, the network's own durations do not count, and frames beyond the end are of the last."""
    content = reads_with(9, 9, 9).in_time([0, 6, 0], units(2, 1, 3), reader=1, count=8)
    assert content[:, 0].tolist() == [0, 1, 2, 2, 2, 2, 2, 2]


@pytest.fixture(scope="module")
def tiny() -> ContentReader:
    """A reader of two new networks, to whom every symbol lasts about 6 units."""
    pytest.importorskip("torch", reason="needs torch: pip install '.[neural]'")
    from personare.training.reader.settings import ReaderSettings
    from personare.training.synthesizer.export import export
    from personare.training.synthesizer.network import new_tensors

    settings = ReaderSettings(width=8, text_blocks=1, speech_blocks=1, states=4)
    sessions = []
    for shape in (settings.text_shape(symbols=7, readers=3), settings.speech_shape(readers=3)):
        tensors = new_tensors(shape, key=Key.from_seed(1), start_log=float(np.log(6)))
        graph, difference = export(tensors, shape)
        assert difference < 1e-2
        sessions.append(open_session(graph))
    return ContentReader(sessions[0], sessions[1], symbols=7, readers=3)


def test_twice_the_tempo_is_about_twice_the_frames(tiny: ContentReader) -> None:
    once, twice = (tiny(NUMBERS, reader=0, tempo=tempo) for tempo in (1.0, 2.0))
    assert once.shape[1] == WIDTH
    assert len(twice) == pytest.approx(2 * len(once), abs=8)  # the silence that is left does not grow
    assert np.isfinite(twice).all()


def test_another_reader_and_other_symbols_give_other_content(tiny: ContentReader) -> None:
    first, again, other = (tiny(NUMBERS, reader=reader) for reader in (0, 0, 2))
    np.testing.assert_array_equal(first, again)
    shared = min(len(first), len(other))
    assert np.abs(first[:shared] - other[:shared]).max() > 1e-3
    otherwise = tiny([0, 2, 2, 2, 2, 2, 2, 0], reader=0)
    shared = min(len(first), len(otherwise))
    assert np.abs(first[:shared] - otherwise[:shared]).max() > 1e-3


def test_a_reader_of_networks_leaves_little_silence(tiny: ContentReader) -> None:
    """About 8 symbols of 6 units are 50 frames; of the first and the last 2 units are left."""
    whole, left = frame_total(np.full(8, 6.0)), len(tiny(NUMBERS, reader=1))
    assert whole - left == pytest.approx(2 * 4 * UNIT / CONTENT_STEP, abs=5)
    assert left > 6 * 6 * UNIT / CONTENT_STEP * 0.8
