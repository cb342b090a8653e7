"""The loss of a speaker network: classify the speaker, and be right by a margin.

cos_j is the cosine of a vector and speaker j's direction, y the true speaker, s a scale, m the margin:

AM   -log softmax_y(s (cos_j - m [j = y]))                                              [wang2018additive, eq. 6]
AAM  -log softmax_y(s cos(theta_j + m [j = y]))                                         [deng2019arcface, eq. 3]

Deviations: where theta + m would pass pi, AAM goes on as a straight line, cos_y - m sin(m), and never rises.
"""

from __future__ import annotations

import math
from typing import Any, Literal

from personare.training.torch_extra import torch_for

Kind = Literal["aam", "am"]
_EDGE = 1e-7  # keeps the gradient of the sine finite where a vector meets its direction exactly


def margin_logits(cosines: Any, labels: Any, *, kind: Kind, margin: float) -> Any:
    """Take the margin from the true speaker's cosine: [batch, speakers] -> the same shape."""
    torch = torch_for("a margin softmax")
    true = cosines.gather(1, labels[:, None])
    if kind == "am":
        moved = true - margin
    else:
        sines = (1 - true.square()).clamp_min(_EDGE).sqrt()
        turned = true * math.cos(margin) - sines * math.sin(margin)
        moved = torch.where(true > math.cos(math.pi - margin), turned, true - margin * math.sin(margin))
    return cosines.scatter(1, labels[:, None], moved)


def margin_loss(vectors: Any, directions: Any, labels: Any, *, kind: Kind, margin: float, scale: float) -> Any:
    """Mean loss of vectors [batch, d] with speakers' directions [speakers, d] and labels [batch]."""
    functional = torch_for("a margin softmax").nn.functional
    cosines = functional.linear(functional.normalize(vectors), functional.normalize(directions))
    return functional.cross_entropy(scale * margin_logits(cosines, labels, kind=kind, margin=margin), labels)
