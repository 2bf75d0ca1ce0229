"""The networks in training."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import nn

from noveltree.learning.architecture import Affine, Architecture, Convolution, Dense, Layer, Weights


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
        layers: list[Layer] = [*architecture.trunk, *(head.layer for head in architecture.trained_heads)]
        for number, layer in enumerate(layers):
            shape = shapes[f"{number}.weight"]
            match layer:
                case Convolution(planes, size, stride, padding):
                    self.layers.append(nn.Conv2d(shape[1], planes, size, stride, padding))
                case Dense(units):
                    self.layers.append(nn.Linear(shape[1], units))
                case Affine():
                    self.layers.append(_Affine(shape))
        self.layers.load_state_dict({name: torch.from_numpy(array) for name, array in weights.items()})
        self.norms = nn.ModuleList(norms)
        # Channels last: training takes two thirds of the time that it takes with channels first.
        self.to(device, memory_format=torch.channels_last)  # type: ignore[call-overload]
        self._device = device

    def forward(self, batch: torch.Tensor) -> dict[str, torch.Tensor]:
        batch = batch.to(self._device)
        if batch.ndim == 4:
            batch = batch.contiguous(memory_format=torch.channels_last)
        x = batch.to(torch.float32)
        if self.architecture.scale != 1.0:
            x = x * self.architecture.scale
        trunk, slope = len(self.architecture.trunk), self.architecture.slope
        for number, layer in enumerate(self.layers[:trunk]):
            x = layer(x.flatten(1) if isinstance(layer, nn.Linear) else x)
            x = self.norms[number](x) if self.norms else x
            x = nn.functional.leaky_relu(x, slope) if slope else nn.functional.relu(x)
        hidden = x.flatten(1)
        trained = zip(self.architecture.trained_heads, self.layers[trunk:], strict=True)
        outputs = {
            head.name: layer(hidden if isinstance(layer, nn.Linear) else x).flatten(1) for head, layer in trained
        }
        return {head.name: outputs.get(head.name, hidden) for head in self.architecture.heads}

    def weights(self) -> Weights:
        """A copy of the weights."""
        return {name: tensor.cpu().numpy().copy() for name, tensor in self.layers.state_dict().items()}


class _Affine(nn.Module):
    """Every plane times a number of its own, plus another."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(shape))
        self.bias = nn.Parameter(torch.zeros(shape))

    def forward(self, planes: torch.Tensor) -> torch.Tensor:
        return planes * self.weight + self.bias
