"""Words and how sure they are: what is proposed changes nothing but the time, and a sound is recognized once."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from personare.core.audio import read_mono, resample
from personare.core.errors import ConfigError, UnknownNameError
from personare.encoders import moonshine, recognition, whisper
from personare.encoders.recognition import RATE_HZ, SHORTEST, recognize
from personare.encoders.whisper_network import Memory
from personare.encoders.word_pieces import END, spaced_words
from personare.voices.piper import Piper

if TYPE_CHECKING:
    from numpy.typing import NDArray

TEXT = "He usually walks home through the orchard, and his neighbours wave."
PIECES = 7  # of the language that the network below writes
MOST = 40


class Encoder:
    """Hears nothing, and says so in one number."""

    def run(self, _outputs: object, _inputs: object) -> list[NDArray[np.float32]]:
        return [np.full((1, 1, 1), 5, np.float32)]


class Decoder:
    """Writes by chance, but the same after the same pieces; its memory holds the pieces that it was given."""

    def __init__(self, seed: int) -> None:
        self.seed, self.steps = seed, 0

    def run(self, _outputs: object, inputs: Mapping[str, NDArray[Any]]) -> list[NDArray[np.float32]]:
        self.steps += 1
        first = not inputs["use_cache_branch"][0]
        before = inputs["past_key_values.0.decoder.key"].reshape(-1).astype(int).tolist()
        assert first == (not before) == (inputs["past_key_values.0.encoder.key"].size == 0)
        read = [*before, *inputs["input_ids"][0].tolist()]
        rows = [self.row(read[: place + 1]) for place in range(len(before), len(read))]
        memory = np.array(read, np.float32).reshape(1, 1, -1, 1)
        return [np.stack(rows)[None], memory, np.full((1, 1, int(first), 1), 5, np.float32)]

    def row(self, read: Sequence[int]) -> NDArray[np.float32]:
        return np.random.default_rng([self.seed, *read]).normal(size=PIECES).astype(np.float32)


def written(seed: int, proposal: Sequence[int]) -> tuple[moonshine._Written, int]:
    decoder = Decoder(seed)
    memories = ("present.0.decoder.key", "present.0.encoder.key")
    networks = moonshine._Networks(Encoder(), decoder, memories, (1, 1, 0, 1), False, ())  # type: ignore[arg-type]
    return moonshine._decode(np.zeros(9, np.float32), networks, proposal, MOST), decoder.steps


@given(st.integers(0, 10_000), st.lists(st.integers(3, PIECES - 1), max_size=60))
def test_no_proposal_changes_what_is_written(seed: int, proposal: list[int]) -> None:
    plain, steps = written(seed, [])
    proposed, fewer = written(seed, proposal)
    assert proposed == plain
    assert fewer <= steps


@given(st.integers(0, 10_000), st.data())
def test_a_proposal_that_is_nearly_right_spares_steps(seed: int, data: st.DataObject) -> None:
    """One pass reads twelve pieces; a wrong, a missing and a superfluous one cost a few more each."""
    plain, steps = written(seed, [])
    tokens = list(plain.tokens)
    assert written(seed, tokens)[1] <= len(tokens) // 12 + 1
    if len(tokens) >= 2:
        place, wrong = data.draw(st.integers(0, len(tokens) - 1)), data.draw(st.integers(3, PIECES - 1))
        for proposal in (
            [*tokens[:place], wrong, *tokens[place + 1 :]],
            [*tokens[:place], *tokens[place + 1 :]],
            [*tokens[:place], wrong, *tokens[place:]],
        ):
            assert written(seed, proposal)[0] == plain
            assert written(seed, proposal)[1] <= steps
    assert len(plain.tokens) <= MOST and END not in plain.tokens


def test_a_sound_is_recognized_once_and_the_oldest_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[int, tuple[int, ...]]] = []

    def count(
        samples: NDArray[np.float32], _networks: object, proposal: Sequence[int], _most: int
    ) -> moonshine._Written:
        asked.append((len(samples) - SHORTEST, tuple(proposal)))
        return moonshine._Written((len(samples),), (1.0,))

    monkeypatch.setattr(moonshine, "_decode", count)
    monkeypatch.setattr(moonshine, "_networks", lambda *_: moonshine._Networks(*[None] * 6))  # type: ignore[arg-type]
    monkeypatch.setattr(moonshine, "words_of", lambda tokens, _pieces: [(str(tokens[0]), [0])])
    monkeypatch.setattr(moonshine, "_known", {})
    monkeypatch.setattr(moonshine, "REMEMBERED", 2)
    sounds = [np.zeros(SHORTEST + more, np.float32) for more in range(3)]
    for index in (0, 1, 0, 2, 1, 0):
        (word,) = recognize(sounds[index], model="moonshine")
        assert word.text == f"{len(sounds[index])}"
    assert asked == [(0, ()), (1, ()), (2, ()), (0, ())]
    recognize(sounds[0], model="moonshine-base")
    recognize(sounds[0] + np.float32(1e-6), model="moonshine-base")
    assert len(asked) == 6, "another recognizer or another sound is no sound known"
    words = recognize(sounds[0], model="moonshine-base")
    words.clear()
    assert recognize(sounds[0], model="moonshine-base"), "what a caller does to the list changes nothing"
    recognize(sounds[1], model="moonshine-base", proposed_by="moonshine")
    assert asked[-2:] == [(1, ()), (1, (SHORTEST + 1,))], "what one writes is proposed to the other"
    assert len(moonshine._known) == 2


@cache
def spoken() -> NDArray[np.float32]:
    return resample(Piper()(TEXT, voice=3, rate=1.0, rng=np.random.default_rng(1)), RATE_HZ).samples


@pytest.mark.models
@pytest.mark.parametrize("model", recognition.RECOGNIZERS)
def test_recognizers_tell_how_sure_they_are(model: str) -> None:
    found = recognize(spoken(), model=model)
    assert "orchard" in " ".join(word.text for word in found)
    assert all(0 < word.confidence <= 1 for word in found)
    assert np.mean([word.confidence for word in found]) > 0.8


@pytest.mark.models
def test_words_are_the_same_with_a_proposal() -> None:
    """The proposal of noisy speech: partly wrong, so that the network steps, follows and steps again."""
    noisy = spoken() + np.random.default_rng(4).normal(0, 0.01, len(spoken())).astype(np.float32)
    for sound in (spoken(), noisy):
        plain, proposed = (recognize(sound, model="moonshine-base", proposed_by=by) for by in (None, "moonshine"))
        assert [word.text for word in proposed] == [word.text for word in plain]
        assert np.allclose([w.confidence for w in proposed], [w.confidence for w in plain], atol=1e-4)


def test_mistakes_are_one_line() -> None:
    second = np.zeros(RATE_HZ, np.float32)
    with pytest.raises(ConfigError, match=r"'moonshine' writes English only, not 'de'; use whisper-base or"):
        recognize(second, model="moonshine", language="de")
    with pytest.raises(UnknownNameError, match=r"no recognizer 'whisper-smal'.*whisper-small"):
        recognize(second, model="whisper-smal", language="de")
    with pytest.raises(ConfigError, match=r"a code that Whisper knows.* not 'german'"):
        recognize(second, model="whisper-base", language="german")
    assert recognize(second[: SHORTEST - 1], model="whisper-base", language="de") == []


@given(st.text(max_size=30), st.data())
def test_words_are_those_of_the_text_however_it_is_cut_into_pieces(text: str, data: st.DataObject) -> None:
    content = text.encode("utf-8", errors="replace")
    cuts = sorted(data.draw(st.lists(st.integers(0, len(content)), max_size=8)))
    bounds = [0, *cuts, len(content)]
    pieces = [content[begin:end] for begin, end in itertools.pairwise(bounds)]
    probabilities = data.draw(st.lists(st.floats(0.01, 1), min_size=len(pieces), max_size=len(pieces)))
    words = spaced_words(pieces, probabilities)
    assert [word.text for word in words] == content.decode("utf-8").split()
    assert all(min(probabilities) <= word.confidence <= max(probabilities) for word in words)


@dataclass
class WritesTokens:
    """Stands for Whisper's decoder: after n word pieces it writes the n-th token of one of its texts, then the end."""

    texts: Sequence[Sequence[int]]
    steps: int = 0
    started: int = -1

    def start(self, *_: object) -> Memory:
        self.started += 1
        return Memory((), (np.zeros((1, 1, 0, 1), np.float32),))

    def read(self, tokens: Sequence[int], memory: Memory, *, rows: int) -> tuple[NDArray[np.float32], Memory]:
        self.steps += 1
        length = memory.length + len(tokens)
        text = [*self.texts[min(self.started, len(self.texts) - 1)], whisper._END]
        logits = np.zeros((rows, whisper._START + 10), np.float32)
        for row, place in enumerate(range(length - rows - 3, length - 3)):
            logits[row, text[min(place, len(text) - 1)]] = 20.0
        return logits, Memory((), (np.zeros((1, 1, length, 1), np.float32),))


def whisper_writes(
    monkeypatch: pytest.MonkeyPatch, *texts: Sequence[int], proposal: Sequence[int] = ()
) -> tuple[tuple[int, ...], WritesTokens]:
    decoder = WritesTokens(texts)
    networks = whisper._WhisperNetworks(None, decoder, None)  # type: ignore[arg-type]
    monkeypatch.setattr(whisper, "_networks", lambda *_: networks)
    monkeypatch.setattr(whisper, "_encode", lambda *_: None)
    monkeypatch.setattr(whisper, "_states", {})
    result = whisper._believed(np.zeros(5 * RATE_HZ, np.float32), "whisper-base", "de", proposal)
    assert len(result.probabilities) == len(result.tokens) and all(one > 0.99 for one in result.probabilities)
    return result.tokens, decoder


SAID, LOOP, TWICE = (1, 2, 3, 4, 5), (9, *(5, 6, 7, 8) * 5), (1, 2, 3, 4, 1, 2, 3, 4)


@pytest.mark.parametrize(
    ("texts", "believed", "started"),
    [
        ([SAID], SAID, 0),
        ([LOOP, SAID], SAID, 1),  # with more silence behind the sound
        ([LOOP], (), 2),
        ([(7, 8) * 6], (), 2),
        ([range(1, 60)], (), 2),  # more than anybody says in 5 s
        ([TWICE, SAID], SAID, 1),
        ([TWICE], TWICE, 1),  # two transcripts agree: it was said twice
        ([TWICE, LOOP, TWICE], (), 2),
    ],
)
def test_whisper_writes_nothing_that_only_repeats(
    monkeypatch: pytest.MonkeyPatch, texts: list[Sequence[int]], believed: Sequence[int], started: int
) -> None:
    tokens, decoder = whisper_writes(monkeypatch, *texts)
    assert tokens == tuple(believed) and decoder.started == started


@given(st.lists(st.integers(1, 6), min_size=1, max_size=12), st.lists(st.integers(1, 6), max_size=16))
def test_no_proposal_changes_what_whisper_writes(said: list[int], proposal: list[int]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        plain, steps = whisper_writes(patch, said)
        assert whisper_writes(patch, said, proposal=proposal)[0] == plain
        if plain == tuple(said) and len(said) > 3:
            assert whisper_writes(patch, said, proposal=said)[1].steps < steps.steps, "a correct one is read at once"


@pytest.mark.models
def test_whisper_small_writes_the_same_with_a_proposal() -> None:
    plain, proposed = (recognize(spoken(), model="whisper-small", proposed_by=by) for by in (None, "whisper-base"))
    assert [word.text for word in proposed] == [word.text for word in plain]


@pytest.mark.models
@pytest.mark.shared
@pytest.mark.parametrize("model", whisper.MODELS)
def test_german_is_recognized(shared_folder: Path, model: str) -> None:
    path = shared_folder / "corpus-world" / "audio" / "emodb-03" / "emodb-03-03a01nc.opus"
    words = recognize(resample(read_mono(path), RATE_HZ).samples, model=model, language="de")
    assert [word.text.lower().strip(".") for word in words[:2]] == ["der", "lappen"]
    assert all(0 < word.confidence <= 1 for word in words)
