"""Policy learning: at the end of an interval the policy network learns to do what the lookahead did."""

from __future__ import annotations

import math

import numpy as np
import torch
from torch import nn

from noveltree.errors import LearningError
from noveltree.learning.experience import Experience
from noveltree.learning.networks import Network
from noveltree.learning.settings import PolicySettings
from noveltree.lookahead import POLICY


def train_policy(
    network: Network, experience: Experience, settings: PolicySettings, *, rng: np.random.Generator
) -> list[float]:
    """Cross-entropy with the targets, `epochs` times over all transitions; the mean loss of each epoch."""
    if not len(experience):
        return []
    actions = next(head.units for head in network.architecture.heads if head.name == POLICY)
    targets = settings.targets.targets(experience.paths, actions)
    optimiser = torch.optim.Adam(network.parameters(), lr=settings.learning_rate, fused=True)
    losses = []
    for _ in range(settings.epochs):
        total = 0.0
        order = rng.permutation(len(experience))
        for first in range(0, len(order), settings.batch):
            transitions = order[first : first + settings.batch]
            logits = network(torch.from_numpy(experience.inputs(transitions)))[POLICY]
            loss = nn.functional.cross_entropy(logits, torch.from_numpy(targets[transitions]).to(logits.device))
            optimiser.zero_grad(set_to_none=True)
            loss.backward()  # type: ignore[no-untyped-call]
            optimiser.step()
            total += float(loss.detach()) * len(transitions)
        losses.append(total / len(order))
        if not math.isfinite(losses[-1]):
            raise LearningError("The loss of the policy network is not a finite number.")
    return losses
