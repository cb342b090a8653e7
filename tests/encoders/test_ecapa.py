"""The strong embedder: its graph is the published network, and it tells real speakers apart."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray

from conftest import hum
from personare.attackers import scoring
from personare.core import weights
from personare.core.audio import Audio, read_mono
from personare.core.protocols import Embedder
from personare.core.tables import Corpus, Embeddings
from personare.encoders import ecapa, ecapa_graph, ge2e, graphs, mels
from personare.encoders.ecapa import Ecapa

pytestmark = pytest.mark.models


def test_a_long_recording_is_heard_in_pieces_of_bounded_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ecapa, "MAX_SEGMENT_S", 1.0)
    sound = hum(6, duration_s=2.5)
    long = Ecapa()([hum(7, duration_s=0.5), sound])[1]
    cut = np.array_split(sound.samples, 3)
    parts = Ecapa()([Audio(piece, 16000) for piece in cut])
    lengths = np.array([len(piece) for piece in cut])[:, None]
    np.testing.assert_allclose(long, (parts * lengths).sum(0) / lengths.sum(), rtol=1e-4, atol=1e-3)


def test_a_spoiled_or_forged_graph_is_made_anew(tmp_path: Path) -> None:
    """One changed byte among millions must not be listened with, nor a whole network that somebody else put there."""
    place = tmp_path / "graphs" / f"{graphs.fingerprint_of('ge2e', 0)}.onnx"
    graphs.session("ge2e", 0, ge2e.build, 1, tmp_path, ge2e.GRAPH_SHA256)
    right = place.read_bytes()
    graph = graphs.OnnxGraph()
    forged = graph.encode("mels", ["batch", "frames", 40], graph.add("Neg", "mels"), ["batch", "frames", 40])
    for spoiled in (b"half a file", right[:-1000], right[:5000] + bytes([right[5000] ^ 1]) + right[5001:], forged):
        place.write_bytes(spoiled)
        graphs.session.cache_clear()
        graphs.session("ge2e", 0, ge2e.build, 1, tmp_path, ge2e.GRAPH_SHA256)
        assert place.read_bytes() == right


def test_a_graph_that_is_not_the_pinned_one_is_not_kept(tmp_path: Path) -> None:
    graphs.session.cache_clear()
    graphs.session("ge2e", 0, ge2e.build, 1, tmp_path, "0" * 64)
    assert not (tmp_path / "graphs").exists()


def test_graph_equals_the_published_layers_written_plainly() -> None:
    """The architecture of desplanques2020ecapa in plain numpy, layer by layer, nothing merged."""
    (checkpoint,) = weights.files_of("ecapa").values()
    from personare.core.checkpoint import load_tensors

    tensors = {name: values.astype(np.float64) for name, values in load_tensors(checkpoint).items()}
    features = mels.decibel_mels(hum(8, duration_s=0.4).samples)
    session = graphs.session("ecapa", ecapa.VERSION, ecapa_graph.build, 1, weights.home(), ecapa.GRAPH_SHA256)
    found = session.run(None, {"mels": features[None]})[0][0]
    expected = _plain(tensors, features.astype(np.float64))
    np.testing.assert_allclose(found, expected, rtol=1e-3, atol=2e-3)


Tensors = dict[str, NDArray[np.float64]]


def _conv(p: Tensors, name: str, x: NDArray[np.float64], dilation: int = 1) -> NDArray[np.float64]:
    weight, bias = p[f"{name}.weight"], p[f"{name}.bias"]
    width = weight.shape[2]
    reach = dilation * (width - 1) // 2
    padded = np.pad(x, ((0, 0), (reach, reach)), mode="reflect") if reach else x
    n = x.shape[1]
    result: NDArray[np.float64] = bias[:, None] + sum(
        weight[:, :, k] @ padded[:, k * dilation : k * dilation + n] for k in range(width)
    )
    return result


def _norm(p: Tensors, name: str, x: NDArray[np.float64]) -> NDArray[np.float64]:
    w, b, m, v = (p[f"{name}.{k}"][:, None] for k in ("weight", "bias", "running_mean", "running_var"))
    result: NDArray[np.float64] = (x - m) / np.sqrt(v + 1e-5) * w + b
    return result


def _layer(p: Tensors, name: str, x: NDArray[np.float64], dilation: int = 1) -> NDArray[np.float64]:
    return _norm(p, f"{name}.norm.norm", np.maximum(_conv(p, f"{name}.conv.conv", x, dilation), 0))


def _block(p: Tensors, name: str, x: NDArray[np.float64], dilation: int) -> NDArray[np.float64]:
    parts = np.split(_layer(p, f"{name}.tdnn1", x), 8)
    done = [parts[0]]
    for i, part in enumerate(parts[1:]):
        mixed = part + done[-1] if i else part
        done.append(_layer(p, f"{name}.res2net_block.blocks.{i}", mixed, dilation))
    hidden = _layer(p, f"{name}.tdnn2", np.concatenate(done))
    small = np.maximum(_conv(p, f"{name}.se_block.conv1.conv", hidden.mean(1, keepdims=True)), 0)
    gate = 1 / (1 + np.exp(-_conv(p, f"{name}.se_block.conv2.conv", small)))
    result: NDArray[np.float64] = hidden * gate + x
    return result


def _plain(p: Tensors, x: NDArray[np.float64]) -> NDArray[np.float64]:
    x = _layer(p, "blocks.0", x)
    outputs = []
    for i, dilation in ((1, 2), (2, 3), (3, 4)):
        x = _block(p, f"blocks.{i}", x, dilation)
        outputs.append(x)
    x = _layer(p, "mfa", np.concatenate(outputs))
    context = [np.broadcast_to(s, x.shape) for s in (x.mean(1, keepdims=True), x.std(1, keepdims=True))]
    hidden = np.tanh(_layer(p, "asp.tdnn", np.concatenate([x, *context])))
    attention = np.exp(_conv(p, "asp.conv.conv", hidden))
    attention /= attention.sum(1, keepdims=True)
    mean = (attention * x).sum(1, keepdims=True)
    std = np.sqrt(np.maximum((attention * (x - mean) ** 2).sum(1, keepdims=True), 1e-12))
    return _conv(p, "fc.conv", _norm(p, "asp_bn.norm", np.concatenate([mean, std])))[:, 0]


def _same_gender_eer(tested: Embedder, corpus: Corpus, stop_s: float | None = None) -> float:
    """EER where miss and false alarm meet, of every pair of single utterances within a gender."""
    frame = corpus.frame
    vectors = np.concatenate([tested([read_mono(Path(path), stop_s=stop_s)]) for path in frame["audio"]])
    heard = Embeddings(tuple(frame["utterance"]), tuple(frame["speaker"]), vectors)
    genders = dict(zip(frame["speaker"], frame["gender"], strict=True))
    scores = scoring.score_all(heard, heard, genders=genders)
    order = np.argsort(-scores.score)
    target = scores.target[order]
    miss, alarm = 1 - np.cumsum(target) / target.sum(), np.cumsum(~target) / (~target).sum()
    where = np.argmin(np.abs(miss - alarm))
    return float(miss[where] + alarm[where]) / 2


@pytest.mark.shared
def test_real_speakers_are_told_apart(shared_folder: Path) -> None:
    """The first 2 seconds of two utterances of every LibriSpeech speaker; whole utterances are the slow test below."""
    frame = Corpus.load(shared_folder / "corpus" / "manifest.tsv").frame.filter(pl.col("corpus") == "librispeech-mini")
    few = frame.filter(pl.col("seconds").cast(pl.Float64) > 3).group_by("speaker", maintain_order=True).head(2)
    assert _same_gender_eer(Ecapa(), Corpus(few), stop_s=2.0) < 0.1


@pytest.mark.shared
@pytest.mark.slow
@pytest.mark.parametrize(("corpus", "limit"), [("librispeech-mini", 0.03), ("speechocean762", 0.05)])
def test_same_gender_eer_on_original_speech(shared_folder: Path, corpus: str, limit: float) -> None:
    frame = Corpus.load(shared_folder / "corpus" / "manifest.tsv").frame.filter(pl.col("corpus") == corpus)
    assert _same_gender_eer(Ecapa(), Corpus(frame)) < limit
