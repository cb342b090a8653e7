"""The embedder while it is trained: its tensors, its loss on a batch, and its EER on held-out speakers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from personare.core import weights
from personare.core.checkpoint import load_tensors
from personare.core.errors import ConfigError, did_you_mean
from personare.core.seeding import Key, rng_for
from personare.core.tables import Embeddings
from personare.core.vectors import unit_rows
from personare.encoders import mels
from personare.encoders.ecapa import MIN_SAMPLES
from personare.encoders.ecapa import NAME as PRETRAINED
from personare.training.checkpoints import fill
from personare.training.embedder.batches import Batch, Batches
from personare.training.embedder.ecapa import ecapa, ecapa_layers
from personare.training.embedder.layers import draw
from personare.training.embedder.margins import margin_loss
from personare.training.embedder.xvector import xvector, xvector_layers
from personare.training.torch_extra import torch_for

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from personare.training.embedder.settings import EmbedderSettings
    from personare.training.embedder.utterances import TrainingUtterances

HEAD = "head.directions"
Genders = Mapping[str, str | None]
HeldOutEer = Callable[[Embeddings, Genders | None], float]


@dataclass(frozen=True, eq=False)
class EmbedderTask:
    """The task of the training loop.

    Parameters
    ----------
    held_out, genders : held-out utterances, and their speakers' genders where known (trials stay within one).
    eer : equal error rate of all trials among vectors of utterances; handed in by the caller.
    """

    settings: EmbedderSettings
    batches: Batches
    held_out: TrainingUtterances
    genders: Genders | None
    eer: HeldOutEer
    tensors: dict[str, Any] = field(repr=False)

    def batch(self, step: int) -> Batch:
        """Draw the batch of a step."""
        return self.batches(step)

    def loss(self, batch: Batch) -> Any:
        """Margin softmax over the speakers of a batch."""
        torch, head, device = torch_for("training an embedder"), self.settings.head, self.settings.plan.device
        vectors = self._network(torch.from_numpy(batch.mels).to(device), training=True)
        labels = torch.from_numpy(batch.labels).to(device)
        return margin_loss(vectors, self.tensors[HEAD], labels, kind=head.kind, margin=head.margin, scale=head.scale)

    def validate(self) -> float:
        """EER on the held-out speakers."""
        return self.eer(self.held_out_embeddings(), self.genders)

    def held_out_embeddings(self) -> Embeddings:
        """Embed the beginning of every held-out utterance."""
        longest = round(self.settings.held_out.longest_s * mels.RATE_HZ)
        vectors = [self.embed(self.held_out.samples(i)[:longest]) for i in range(len(self.held_out.items))]
        ids, speakers = zip(*((item.utterance, item.speaker) for item in self.held_out.items), strict=True)
        return Embeddings(ids, speakers, np.stack(vectors))

    def embed(self, samples: NDArray[np.float32]) -> NDArray[np.float32]:
        """Give the vector of a recording as the network is now: float32 [d]."""
        padded = np.pad(samples, (0, max(0, MIN_SAMPLES - len(samples))))
        vector: NDArray[np.float32] = self.vectors(mels.decibel_mels(padded)[None])[0]
        return vector

    def vectors(self, features: NDArray[np.float32]) -> NDArray[np.float32]:
        """Give the vectors of mel frames [batch, 80, frames]."""
        torch = torch_for("training an embedder")
        with torch.no_grad():
            output = self._network(torch.from_numpy(features).to(self.settings.plan.device), training=False)
        vectors: NDArray[np.float32] = output.cpu().numpy()
        return vectors

    def _network(self, features: Any, *, training: bool) -> Any:
        return (ecapa if self.settings.arch == "ecapa" else xvector)(self.tensors, features, training=training)

    def network_arrays(self) -> dict[str, NDArray[np.float32]]:
        """Give the network's tensors without the head, as numpy arrays."""
        return {name: tensor.detach().cpu().numpy() for name, tensor in self.tensors.items() if name != HEAD}


def new_tensors(settings: EmbedderSettings, *, classes: int, key: Key) -> dict[str, Any]:
    """Make the network's tensors, new or as published, and a new head."""
    torch, widths = torch_for("training an embedder"), settings.network
    sizes = {"channels": widths.channels, "frame_channels": widths.frame_channels, "dimensions": widths.dimensions}
    if settings.arch == "ecapa":
        layers = ecapa_layers(**sizes, attention=widths.attention, squeeze=widths.squeeze)
    else:
        layers = xvector_layers(**sizes)
    tensors = draw(layers, key=key)
    if settings.init == "ecapa":
        (published,) = weights.files_of(PRETRAINED).values()
        fill(tensors, load_tensors(published), where=str(published))
    _freeze(tensors, widths.frozen)
    directions = rng_for(key, "weights", HEAD).standard_normal((classes, widths.dimensions)).astype(np.float32)
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


def initialize_head(task: EmbedderTask) -> None:
    """Set each speaker's direction to what a pretrained network gives for them: the mean over crops of two utterances.

    A random head would first pull a published network away from what it knows.
    """
    torch = torch_for("training an embedder")
    means = np.stack([unit_rows(task.vectors(crops)).mean(axis=0) for crops in task.batches.one_of_each()])
    with torch.no_grad():
        task.tensors[HEAD].copy_(torch.from_numpy(means))
