"""What a trial deploys: the networks that its agents play with."""

from __future__ import annotations

from dataclasses import dataclass

from noveltree.errors import InputError
from noveltree.heuristics import Heuristics
from noveltree.learning.architecture import Architecture, Weights, digest_of_weights, outputs_of
from noveltree.learning.inputs import InputShape, batch_of_nodes


@dataclass(frozen=True)
class Deployment:
    """The networks that agents play with: their input, and the weights of both."""

    input: InputShape
    policy: Weights
    value: Weights

    @property
    def digest(self) -> str:
        """Identifies the weights, bit for bit."""
        return digest_of_weights(self.policy, self.value)

    def heuristics(self, *, device: str = "cpu") -> Heuristics:
        """The base policy and the termination cost that these networks give."""
        # Planners play where ONNX Runtime is not installed.
        from noveltree.learning.inference import make_inference

        actions = Architecture(self.input, outputs_of(self.policy))
        policy = make_inference(actions, self.policy, softmax=True, device=device)
        value = make_inference(Architecture(self.input, 1), self.value, device=device)
        return Heuristics.of(
            policy=lambda nodes: policy(batch_of_nodes(nodes, self.input)),
            value=lambda nodes: value(batch_of_nodes(nodes, self.input))[:, 0],
        )


def check_device(device: str) -> None:
    """Complain about a device that is not known or not there."""
    if device not in ("cpu", "cuda"):
        raise InputError(f"The device is cpu or cuda, not {device!r}.")
    if device == "cpu":
        return
    import torch  # playing on a processor needs no torch

    if not torch.cuda.is_available():
        raise InputError("The device cuda was asked for, but torch finds no GPU; use --device cpu.")
