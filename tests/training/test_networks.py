"""The networks against others' numbers and closed forms: published weights, textbook margins, statistics of numpy."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from personare.core.checkpoint import load_tensors
from personare.core.seeding import Key
from personare.core.weights import files_of, home
from personare.encoders import ecapa_graph, graphs
from personare.encoders.ecapa import GRAPH_SHA256, VERSION
from personare.training.checkpoints import fill
from personare.training.embedder.ecapa import ecapa, ecapa_layers
from personare.training.embedder.layers import Conv, draw, statistics
from personare.training.embedder.margins import margin_logits, margin_loss
from personare.training.embedder.xvector import xvector, xvector_layers

torch = pytest.importorskip("torch", reason="needs torch: pip install '.[neural]'")
KEY = Key.from_seed(1)
RNG = np.random.default_rng(5)


@pytest.mark.models
def test_the_published_ecapa_fits_in_and_gives_the_published_vectors() -> None:
    tensors = draw(ecapa_layers(channels=1024, frame_channels=3072, attention=128, squeeze=128), key=KEY)
    (published,) = files_of("ecapa").values()
    found = load_tensors(published)
    assert {name for name in found if not name.endswith("num_batches_tracked")} == set(tensors)
    fill(tensors, found, where="published")
    mels = RNG.normal(0, 12, (2, 80, 40)).astype(np.float32)
    wanted = graphs.session("ecapa", VERSION, ecapa_graph.build, 1, home(), GRAPH_SHA256).run(None, {"mels": mels})[0]
    with torch.no_grad():
        vectors = ecapa(tensors, torch.from_numpy(mels), training=False).numpy()
    np.testing.assert_allclose(vectors, wanted, atol=1e-4 * np.abs(wanted).max())


@pytest.mark.parametrize(
    ("layers", "network"),
    [
        (ecapa_layers(channels=16, frame_channels=24, attention=8, squeeze=8), ecapa),
        (xvector_layers(channels=16, frame_channels=24, dimensions=12), xvector),
    ],
)
def test_every_tensor_is_learnt_and_used(layers: Any, network: Any) -> None:
    tensors = draw(layers, key=KEY)
    vectors = network(tensors, torch.from_numpy(RNG.normal(size=(4, 80, 30)).astype(np.float32)), training=True)
    (vectors * torch.arange(1.0, 1 + vectors.numel()).reshape(vectors.shape)).sum().backward()
    for name, tensor in tensors.items():
        if tensor.requires_grad:
            assert tensor.grad is not None, name
        else:
            assert name.endswith(("running_mean", "running_var"))
            assert not torch.equal(tensor, torch.full_like(tensor, float(name.endswith("var")))), f"{name} never moved"


def test_new_weights_depend_on_the_key_and_their_name_only() -> None:
    two = draw([Conv("a", 4, 3, 5), Conv("b", 4, 3, 5)], key=KEY)
    alone = draw([Conv("b", 4, 3, 5)], key=KEY)
    assert torch.equal(two["b.weight"], alone["b.weight"])
    assert not torch.equal(two["a.weight"], two["b.weight"])
    assert not torch.equal(draw([Conv("b", 4, 3, 5)], key=Key.from_seed(2))["b.weight"], alone["b.weight"])
    assert float(two["a.weight"].detach().abs().max()) <= 1 / math.sqrt(20)


def test_statistics_are_those_of_numpy() -> None:
    x = RNG.normal(size=(2, 3, 50))
    found = statistics(torch.from_numpy(x)).numpy()[:, :, 0]
    np.testing.assert_allclose(found, np.concatenate([x.mean(2), x.std(2)], axis=1))
    shares = RNG.dirichlet(np.ones(50), size=(2, 3))
    mean = (shares * x).sum(2)
    found = statistics(torch.from_numpy(x), torch.from_numpy(shares)).numpy()[:, :3, 0]
    np.testing.assert_allclose(found, mean)


def test_margins_by_the_textbook() -> None:
    angles = np.linspace(0.01, math.pi - 0.01, 50)
    cosines = torch.from_numpy(np.stack([np.cos(angles), np.zeros(50)], axis=1))
    labels = torch.zeros(50, dtype=torch.int64)
    am = margin_logits(cosines, labels, kind="am", margin=0.3).numpy()
    np.testing.assert_allclose(am[:, 0], np.cos(angles) - 0.3)
    aam = margin_logits(cosines, labels, kind="aam", margin=0.3).numpy()
    inside = angles < math.pi - 0.3
    np.testing.assert_allclose(aam[inside, 0], np.cos(angles[inside] + 0.3), atol=1e-5)
    assert (np.diff(aam[:, 0]) < 0).all(), "a wider angle is never rewarded"
    assert (aam[:, 1] == 0).all() and (am[:, 1] == 0).all(), "others keep their cosine"


@pytest.mark.parametrize("kind", ["am", "aam"])
def test_no_margin_is_the_plain_softmax_and_a_margin_costs(kind: Any) -> None:
    vectors, directions = torch.randn(8, 5, dtype=torch.float64), torch.randn(4, 5, dtype=torch.float64)
    labels = torch.arange(8) % 4
    unit = torch.nn.functional.normalize
    plain = torch.nn.functional.cross_entropy(30 * unit(vectors) @ unit(directions).T, labels)
    none = margin_loss(vectors, directions, labels, kind=kind, margin=0.0, scale=30.0)
    assert float(none) == pytest.approx(float(plain))
    assert float(margin_loss(vectors, directions, labels, kind=kind, margin=0.2, scale=30.0)) > float(plain)


def test_the_gradient_is_finite_where_a_vector_meets_its_direction() -> None:
    vectors = torch.tensor([[1.0, 0.0], [-1.0, 0.0]], requires_grad=True)
    margin_loss(
        vectors, torch.tensor([[1.0, 0.0], [0.0, 1.0]]), torch.tensor([0, 0]), kind="aam", margin=0.2, scale=30.0
    ).backward()
    assert torch.isfinite(vectors.grad).all()
