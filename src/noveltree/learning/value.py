"""Value learning: the value network moves towards its targets as transitions come in."""

from __future__ import annotations

import math

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from noveltree.errors import LearningError
from noveltree.learning.architecture import Architecture, Weights
from noveltree.learning.experience import CriticalPath, Experience, inputs_of_path
from noveltree.learning.inference import Inference, make_inference
from noveltree.learning.networks import Network
from noveltree.learning.settings import ValueSettings
from noveltree.lookahead import VALUE


class ValueLearner:
    """The value network in training, its target network, its optimiser, and how far it is in its routine."""

    def __init__(
        self,
        architecture: Architecture,
        weights: Weights,
        settings: ValueSettings,
        *,
        target: Weights | None = None,
        device: str = "cpu",
    ) -> None:
        """`target` are the weights of the target network, if they are others."""
        self.settings = settings
        self._device = device
        self.network = Network(architecture, weights, device=device)
        self.optimiser = torch.optim.Adam(self.network.parameters(), lr=settings.learning_rate, fused=True)
        #: Transitions ever taken in, and how many of them since the last update.
        self.time_steps = 0
        self.since_update = 0
        self.refresh(weights if target is None else target)

    def take_in(self, path: CriticalPath, experience: Experience, *, rng: np.random.Generator) -> list[float]:
        """Add a path to the experience and learn on the way; the losses of the updates."""
        settings = self.settings
        first = len(experience)
        experience.add(path)
        losses = []
        for held in range(first + 1, first + len(path) + 1):
            self.time_steps += 1
            self.since_update += 1
            if held > settings.at_least and self.since_update >= settings.every:
                self.since_update = 0
                for _ in range(settings.batches):
                    losses.append(self._update(experience, rng.integers(held, size=settings.batch)))
            if self.time_steps % settings.refresh == 0:
                self.refresh(self.network.weights())
        return losses

    def refresh(self, target: Weights) -> None:
        """Give the target network these weights."""
        self.target = target
        self._target_network: Inference = make_inference(self.network.architecture, target, device=self._device)
        self._targets: dict[CriticalPath, NDArray[np.float32]] = {}

    def forget_paths(self) -> None:
        """Forget what was computed of paths that may be gone."""
        self._targets.clear()

    def _update(self, experience: Experience, transitions: NDArray[np.int64]) -> float:
        targets = np.empty(len(transitions), dtype=np.float32)
        for place, transition in enumerate(transitions.tolist()):
            path, time = experience.locate(transition)
            targets[place] = self._targets_of(path, experience)[time]
        values = self.network(torch.from_numpy(experience.inputs(transitions)))[VALUE].squeeze(1)
        loss = nn.functional.huber_loss(values, torch.from_numpy(targets).to(values.device))
        self.optimiser.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        self._shorten_gradients()
        self.optimiser.step()
        result = float(loss.detach())
        if not math.isfinite(result):
            raise LearningError("The loss of the value network is not a finite number.")
        return result

    def _shorten_gradients(self) -> None:
        parameters = list(self.network.parameters())
        groups = [parameters] if self.settings.clipping == "together" else [[each] for each in parameters]
        for group in groups:
            nn.utils.clip_grad_norm_(group, self.settings.gradient_norm)

    def _targets_of(self, path: CriticalPath, experience: Experience) -> NDArray[np.float32]:
        """The targets of a path's transitions, which do not change until the target network does."""
        known = self._targets.get(path)
        if known is None:
            values = self._target_network(inputs_of_path(path, experience.shape), (VALUE,))[VALUE]
            known = self._targets[path] = self.settings.targets.targets(path, values)
        return known
