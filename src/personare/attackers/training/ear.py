"""The ear while it learns: its tensors, its loss on a batch, and how well it tells held-out people apart."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from personare.attackers.ecapa import NAME as PRETRAINED
from personare.attackers.ecapa import SHORTEST
from personare.attackers.scoring import TrialScores, score_all
from personare.attackers.training.batches import Batch, Batches
from personare.core import weights
from personare.core.checkpoint import load_tensors
from personare.core.errors import ConfigError, did_you_mean
from personare.core.seeding import Key, rng_for
from personare.core.tables import Embeddings
from personare.core.vectors import unit_rows
from personare.encoders import mels
from personare.nn.checkpoints import fill
from personare.nn.ecapa import ecapa, ecapa_layers
from personare.nn.layers import draw
from personare.nn.margins import margin_loss
from personare.nn.torch_extra import torch_for
from personare.nn.xvector import xvector, xvector_layers

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from personare.attackers.training.clips import Clips
    from personare.attackers.training.settings import Settings

HEAD = "head.directions"
Eer = Callable[["NDArray[np.float64]", "NDArray[np.float64]"], float]


@dataclass(frozen=True, eq=False)
class Ear:
    """The task of the training loop.

    Parameters
    ----------
    judges, genders : held-out utterances, and their speakers' genders where known (trials stay within one).
    eer : equal error rate of target and nontarget scores.
    """

    settings: Settings
    batches: Batches
    judges: Clips
    genders: Mapping[str, str | None] | None
    eer: Eer
    tensors: dict[str, Any] = field(repr=False)

    def batch(self, step: int) -> Batch:
        """Draw the batch of a step."""
        return self.batches(step)

    def loss(self, batch: Batch) -> Any:
        """Guess the speakers of a batch."""
        torch, head, device = torch_for("training an embedder"), self.settings.head, self.settings.plan.device
        vectors = self._network(torch.from_numpy(batch.mels).to(device), learning=True)
        labels = torch.from_numpy(batch.labels).to(device)
        return margin_loss(vectors, self.tensors[HEAD], labels, kind=head.kind, margin=head.margin, scale=head.scale)

    def judge(self) -> float:
        """EER on the held-out people."""
        scores = self.scores()
        return self.eer(scores.targets, scores.nontargets)

    def scores(self) -> TrialScores:
        """Compare every two held-out utterances."""
        longest = round(self.settings.held_out.longest_s * mels.RATE_HZ)
        vectors = [self.hear(self.judges.samples(i)[:longest]) for i in range(len(self.judges.clips))]
        ids, speakers = zip(*((clip.utterance, clip.speaker) for clip in self.judges.clips), strict=True)
        heard = Embeddings(ids, speakers, np.stack(vectors))
        return score_all(heard, heard, genders=self.genders)

    def hear(self, samples: NDArray[np.float32]) -> NDArray[np.float32]:
        """Give the vector of a recording as the network is now: float32 [d]."""
        padded = np.pad(samples, (0, max(0, SHORTEST - len(samples))))
        vector: NDArray[np.float32] = self.vectors(mels.decibel_mels(padded)[None])[0]
        return vector

    def vectors(self, features: NDArray[np.float32]) -> NDArray[np.float32]:
        """Give the vectors of mel frames [batch, 80, frames]."""
        torch = torch_for("training an embedder")
        with torch.no_grad():
            found = self._network(torch.from_numpy(features).to(self.settings.plan.device), learning=False)
        vectors: NDArray[np.float32] = found.cpu().numpy()
        return vectors

    def _network(self, features: Any, *, learning: bool) -> Any:
        return (ecapa if self.settings.arch == "ecapa" else xvector)(self.tensors, features, learning=learning)

    def network_arrays(self) -> dict[str, NDArray[np.float32]]:
        """Give the network's tensors without the head, as numpy arrays."""
        return {name: tensor.detach().cpu().numpy() for name, tensor in self.tensors.items() if name != HEAD}


def new_tensors(settings: Settings, *, classes: int, key: Key) -> dict[str, Any]:
    """Make the network's tensors, new or as published, and a new head."""
    torch, wide = torch_for("training an embedder"), settings.network
    sizes = {"channels": wide.channels, "frame_channels": wide.frame_channels, "dimensions": wide.dimensions}
    if settings.arch == "ecapa":
        layers = ecapa_layers(**sizes, attention=wide.attention, squeeze=wide.squeeze)
    else:
        layers = xvector_layers(**sizes)
    tensors = draw(layers, key=key)
    if settings.init == "ecapa":
        (published,) = weights.files_of(PRETRAINED).values()
        fill(tensors, load_tensors(published), where=str(published))
    _freeze(tensors, wide.frozen)
    directions = rng_for(key, "weights", HEAD).standard_normal((classes, wide.dimensions)).astype(np.float32)
    tensors[HEAD] = torch.from_numpy(directions).requires_grad_(True)
    device = settings.plan.device
    if device != "cpu" and not torch.cuda.is_available():
        raise ConfigError(f"device '{device}' is not on this machine; write device: cpu")
    return {name: tensor.detach().to(device).requires_grad_(tensor.requires_grad) for name, tensor in tensors.items()}


def _freeze(tensors: Mapping[str, Any], frozen: tuple[str, ...]) -> None:
    for prefix in frozen:
        named = [tensor for name, tensor in tensors.items() if name.startswith(f"{prefix}.")]
        if not named:
            layers = sorted({name.split(".")[0] for name in tensors})
            raise ConfigError(f"no layer '{prefix}' to freeze; {did_you_mean(prefix, layers)}")
        for tensor in named:
            tensor.requires_grad_(False)


def aim_head(ear: Ear) -> None:
    """Point a new head at where a ready network hears each speaker: the mean over one crop of two utterances.

    A random head would first pull a published network away from what it knows.
    """
    torch = torch_for("training an embedder")
    means = np.stack([unit_rows(ear.vectors(sample)).mean(axis=0) for sample in ear.batches.one_of_each()])
    with torch.no_grad():
        ear.tensors[HEAD].copy_(torch.from_numpy(means))
