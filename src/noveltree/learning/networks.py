"""The networks in training."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import nn

from noveltree.learning.architecture import Architecture, Convolution, Dense, Weights


class Network(nn.Module):
    """From a batch of inputs to a batch of outputs of every head; probabilities come as logits.

    `norms`, if there are any, normalise what comes out of each layer of the trunk before its ReLU.
    """

    def __init__(
        self, architecture: Architecture, weights: Weights, *, norms: Sequence[nn.Module] = (), device: str = "cpu"
    ) -> None:
        super().__init__()
        self.architecture = architecture
        shapes = architecture.weight_shapes()
        self.layers = nn.ModuleList()
        for number, layer in enumerate(architecture.trunk):
            inputs = shapes[f"{number}.weight"][1]
            match layer:
                case Convolution(planes, size, stride):
                    self.layers.append(nn.Conv2d(inputs, planes, size, stride))
                case Dense(units):
                    self.layers.append(nn.Linear(inputs, units))
        for number, head in enumerate(architecture.trained_heads, start=len(architecture.trunk)):
            self.layers.append(nn.Linear(shapes[f"{number}.weight"][1], head.units))
        self.layers.load_state_dict({name: torch.from_numpy(array) for name, array in weights.items()})
        self.norms = nn.ModuleList(norms)
        # Channels last: training takes two thirds of the time that it takes with channels first.
        self.to(device, memory_format=torch.channels_last)  # type: ignore[call-overload]
        self._device = device

    def forward(self, batch: torch.Tensor) -> dict[str, torch.Tensor]:
        batch = batch.to(self._device)
        if batch.ndim == 4:
            batch = batch.contiguous(memory_format=torch.channels_last)
        x = batch.to(torch.float32, copy=True).mul_(self.architecture.scale)
        trunk = len(self.architecture.trunk)
        for number, layer in enumerate(self.layers[:trunk]):
            x = layer(x if isinstance(layer, nn.Conv2d) else x.flatten(1))
            x = nn.functional.relu(self.norms[number](x) if self.norms else x)
        hidden = x.flatten(1)
        trained = zip(self.architecture.trained_heads, self.layers[trunk:], strict=True)
        outputs = {head.name: layer(hidden) for head, layer in trained}
        return {head.name: outputs.get(head.name, hidden) for head in self.architecture.heads}

    def weights(self) -> Weights:
        """A copy of the weights."""
        return {name: tensor.cpu().numpy().copy() for name, tensor in self.layers.state_dict().items()}
