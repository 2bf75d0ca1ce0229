"""What a trial deploys: the networks that its agents play with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from noveltree.errors import InputError
from noveltree.heuristics import Heuristic, Heuristics
from noveltree.learning.architecture import Architecture, Weights, digest_of_weights
from noveltree.learning.inputs import batch_of_nodes
from noveltree.lookahead import POLICY, Answers
from noveltree.tree import Node


@dataclass(frozen=True)
class Deployment:
    """The networks that agents play with, by name."""

    architectures: dict[str, Architecture]
    weights: dict[str, Weights]

    @cached_property
    def digest(self) -> str:
        """Identifies the weights, bit for bit."""
        return digest_of_weights(*(self.weights[name] for name in sorted(self.weights)))

    def fits(self, first: Mapping[str, Architecture], actions: int) -> bool:
        """Whether a trial with so many actions may deploy them that began with the networks `first`.

        Heads may be added in training, but nothing else changes, and weights are those of the networks.
        """
        heads = [head for network in self.architectures.values() for head in network.heads]
        return (
            _without_heads(self.architectures) == _without_heads(first)
            and all(head.units == actions for head in heads if head.name == POLICY)
            and all(network.fits(self.weights.get(name, {})) for name, network in self.architectures.items())
        )

    def heuristics(self, *, device: str = "cpu") -> Heuristics:
        """What these networks answer to planners."""
        return Heuristics(
            tuple(
                _heuristic(architecture, self.weights[name], device)
                for name, architecture in self.architectures.items()
            )
        )


def digest_of(deployment: Deployment | None) -> str | None:
    """Identifies the networks that agents play with; None if they play without."""
    return None if deployment is None else deployment.digest


def _without_heads(networks: Mapping[str, Architecture]) -> dict[str, Architecture]:
    return {name: replace(network, heads=()) for name, network in networks.items()}


def _heuristic(architecture: Architecture, weights: Weights, device: str) -> Heuristic:
    # Planners play where ONNX Runtime is not installed.
    from noveltree.learning.inference import make_inference, remembering

    infer = make_inference(architecture, weights, device=device)
    if architecture.input.image and architecture.input.stack == 1:
        infer = remembering(infer)

    def evaluate(nodes: Sequence[Node], heads: tuple[str, ...]) -> Answers:
        return infer(batch_of_nodes(nodes, architecture.input), heads)

    return Heuristic(frozenset(head.name for head in architecture.heads), evaluate, of_observations=True)


def check_device(device: str) -> None:
    """Raise InputError if a device is not known or not there."""
    if device not in ("cpu", "cuda"):
        raise InputError(f"The device is cpu or cuda, not {device!r}.")
    if device == "cpu":
        return
    import torch  # playing on a processor needs no torch

    if not torch.cuda.is_available():
        raise InputError("The device cuda was asked for, but torch finds no GPU; use --device cpu.")
