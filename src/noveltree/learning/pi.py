"""The learner of pi-IW and its family: one network, and a batch from the replay for every decision.

Its last hidden layer is what novelty is defined over, its policy guides rollouts and, in pi-IW(1)+ and pi-HIW, its
value closes them. An episode enters the replay when it is over. Until the replay holds a few transitions agents
play with the hidden units of the untrained network and a uniform policy.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from noveltree.errors import LearningError
from noveltree.learning.architecture import MNIH_2013, SMALL, Architecture, Head, Weights
from noveltree.learning.deployment import Deployment
from noveltree.learning.experience import CriticalPath
from noveltree.learning.inputs import InputShape
from noveltree.learning.learner import Learner, Losses
from noveltree.learning.networks import Network
from noveltree.learning.optimiser import RMSprop, read_moments, steps_of, write_moments, zero_moments
from noveltree.learning.pi_settings import PiSettings, ReturnSettings
from noveltree.learning.renormalisation import Renormalisation, folded
from noveltree.learning.snapshot import Snapshot
from noveltree.learning.value_targets import MonteCarlo
from noveltree.lookahead import POLICY, UNITS, VALUE

#: The network's name in snapshots: its weights there are those that agents play with.
PI = "pi"


class PiLearner(Learner):
    """Trains after every round, a batch for every decision that was made in it."""

    def __init__(self, snapshot: Snapshot, settings: PiSettings, *, device: str = "cpu") -> None:
        super().__init__(snapshot.networks[PI].input)
        self.settings = settings
        self._device = device
        #: What is learnt from each path: its policy targets, and its returns.
        self._policies: dict[CriticalPath, NDArray[np.float32]] = {}
        self._returns: dict[CriticalPath, NDArray[np.float32]] = {}
        self.restore(snapshot)

    def restore(self, snapshot: Snapshot) -> None:
        trained, counters = snapshot.weights["trained"], snapshot.counters
        self._architecture = architecture_for(snapshot.networks[PI].input, counters["actions"], self.settings)
        self.network = _network(self._architecture, trained, self.settings, self._device)
        self._optimiser = RMSprop(
            self.network.parameters(),
            lr=self.settings.learning_rate,
            alpha=self.settings.decay,
            eps=self.settings.epsilon,
        )
        write_moments(self.network, self._optimiser, snapshot.weights, counters["optimiser_steps"])
        self._warned = bool(counters["warned"])

    def take_in(self, path: CriticalPath, *, rng: np.random.Generator) -> Losses:
        if self.settings.returns is not None:
            self._warn_about(path, self.settings.returns)
        return super().take_in(path, rng=rng)

    def close_round(self, decisions: int, *, rng: np.random.Generator) -> Losses:
        settings = self.settings
        drawn_from = min(len(self.experience), settings.retention.transitions)
        if drawn_from < max(settings.batch, settings.warm_up):
            return {}
        losses: Losses = {name: [] for name in self._architecture.head_layers}
        for _ in range(decisions):
            numbers = rng.choice(drawn_from, settings.batch, replace=False)
            for name, loss in self._step(len(self.experience) - 1 - numbers).items():
                losses[name].append(loss)
        if not np.isfinite(list(losses.values())).all():
            raise LearningError("The loss of the network is not a finite number.")
        return losses

    def keep(self, count: int, *, drop_newest: int = 0) -> None:
        super().keep(count, drop_newest=drop_newest)
        for targets in (self._policies, self._returns):
            for gone in targets.keys() - {*self.experience.paths}:
                del targets[gone]

    def snapshot(self) -> Snapshot:
        moments, steps = read_moments(self.network, self._optimiser)
        weights = folded(self.network.weights(), self.network.norms)
        trained = {name: tensor.cpu().numpy().copy() for name, tensor in self.network.state_dict().items()}
        return _snapshot(self._architecture, weights, trained, moments, steps=steps, warned=self._warned)

    def deployment(self) -> Deployment:
        # Without all that training goes on from, which takes five times as long to copy.
        weights = folded(self.network.weights(), self.network.norms)
        return Deployment(*_played_with(self._architecture, weights, steps_of(self._optimiser)))

    def _step(self, transitions: NDArray[np.int64]) -> dict[str, float]:
        """One batch; the loss of each head."""
        outputs = self.network(torch.from_numpy(self.experience.inputs(transitions)))
        places = [self.experience.locate(transition) for transition in transitions.tolist()]
        policies = np.stack([self._policies_of(path)[time] for path, time in places])
        losses = {POLICY: _cross_entropy(outputs[POLICY], policies)}
        total = losses[POLICY]
        if self.settings.returns is not None:
            returns = np.array([self._returns_of(path, self.settings.returns)[time] for path, time in places])
            losses[VALUE] = _cross_entropy(outputs[VALUE], on_supports(returns, self.settings.returns))
            total = total + self.settings.returns.weight * losses[VALUE]
        self._optimiser.zero_grad(set_to_none=True)
        total.backward()  # type: ignore[no-untyped-call]
        self._optimiser.descend(regularisation=self.settings.regularisation, norm=self.settings.gradient_norm)
        return {name: float(loss.detach()) for name, loss in losses.items()}

    def _policies_of(self, path: CriticalPath) -> NDArray[np.float32]:
        if path not in self._policies:
            actions = next(head.units for head in self._architecture.heads if head.name == POLICY)
            self._policies[path] = self.settings.policy_targets.targets([path], actions)
        return self._policies[path]

    def _returns_of(self, path: CriticalPath, settings: ReturnSettings) -> NDArray[np.float32]:
        """The discounted returns of a whole episode; nothing follows its end, whether it is terminal or not."""
        if path not in self._returns:
            nothing = np.zeros(len(path) + 1, dtype=np.float32)
            self._returns[path] = MonteCarlo(discount=settings.discount).targets(path, nothing)
        return self._returns[path]

    def _warn_about(self, path: CriticalPath, settings: ReturnSettings) -> None:
        beyond = np.abs(self._returns_of(path, settings)) > settings.largest
        if beyond.any() and not self._warned:
            self._warned = True
            self.notices.append(
                f"{_share(float(beyond.mean()))} of the returns of an episode are beyond the supports of the value "
                f"head, {-settings.largest:g} to {settings.largest:g}, and are clipped; choose another "
                "learning.returns.largest."
            )


def _share(share: float) -> str:
    return "Less than 1%" if share < 0.01 else f"{share:.0%}"


def architecture_for(shape: InputShape, actions: int, settings: PiSettings) -> Architecture:
    """The network in training, with all its heads."""
    heads = [Head(POLICY, "softmax", actions)]
    if settings.returns is not None:
        heads.append(Head(VALUE, "expected", settings.returns.supports, settings.returns.largest))
    heads.append(Head(UNITS, "hidden"))
    return Architecture(shape, tuple(heads), MNIH_2013 if shape.image else SMALL, bytes_as_they_are=True)


def initial_snapshot(
    shape: InputShape, actions: int, settings: PiSettings, *, rng: np.random.Generator
) -> Snapshot:
    """An untrained network of which only the hidden units are asked."""
    architecture = architecture_for(shape, actions, settings)
    weights = architecture.initial_weights(rng=rng, start=settings.start)
    network = _network(architecture, {f"layers.{name}": array for name, array in weights.items()}, settings, "cpu")
    trained = {name: tensor.numpy().copy() for name, tensor in network.state_dict().items()}
    parameters = {name: trained[name] for name, _ in network.named_parameters()}
    moments = zero_moments(parameters, RMSprop)
    return _snapshot(architecture, weights, trained, moments, steps=0, warned=False)


def on_supports(returns: NDArray[np.floating], settings: ReturnSettings) -> NDArray[np.float32]:
    """(n, supports): each return as a distribution with that mean over the two supports next to it.

    Returns beyond the supports are taken for the outermost one.
    """
    last = settings.supports - 1
    places = (np.clip(returns / settings.largest, -1.0, 1.0) + 1.0) / 2.0 * last
    below = np.minimum(places.astype(np.int64), last - 1)
    rows = np.zeros((len(returns), settings.supports), dtype=np.float32)
    rows[np.arange(len(returns)), below] = 1.0 - (places - below)
    rows[np.arange(len(returns)), below + 1] = places - below
    return rows


def _snapshot(
    architecture: Architecture,
    weights: Weights,
    trained: Weights,
    moments: dict[str, Weights],
    *,
    steps: int,
    warned: bool,
) -> Snapshot:
    networks, played_with = _played_with(architecture, weights, steps)
    return Snapshot(
        networks=networks,
        deployed=True,
        weights={**played_with, "trained": trained, **moments},
        counters={
            "optimiser_steps": steps,
            "actions": trained[f"layers.{len(architecture.trunk)}.bias"].size,  # of the policy, the first head
            "warned": int(warned),
        },
    )


def _played_with(
    architecture: Architecture, weights: Weights, steps: int
) -> tuple[dict[str, Architecture], dict[str, Weights]]:
    """The network that agents play with: after the first step with all heads, before with the hidden units."""
    if not steps:
        architecture = replace(architecture, heads=tuple(h for h in architecture.heads if h.kind == "hidden"))
        weights = {name: weights[name] for name in architecture.weight_shapes()}
    return {PI: architecture}, {PI: weights}


def _network(architecture: Architecture, trained: Weights, settings: PiSettings, device: str) -> Network:
    """The network in training, from its whole state: its layers, and its norms if they are there yet."""
    parts: dict[str, Weights] = {"layers": {}, "norms": {}}
    for name, array in trained.items():
        part, _, rest = name.partition(".")
        parts[part][rest] = array
    norms = []
    if settings.normalisation == "renormalised":
        norms = [
            Renormalisation(architecture.weight_shapes()[f"{number}.bias"][0])
            for number in range(len(architecture.trunk))
        ]
    network = Network(architecture, parts["layers"], norms=norms, device=device)
    if parts["norms"]:
        network.norms.load_state_dict({name: torch.from_numpy(array) for name, array in parts["norms"].items()})
    return network


def _cross_entropy(logits: torch.Tensor, targets: NDArray[np.float32]) -> torch.Tensor:
    return nn.functional.cross_entropy(logits, torch.from_numpy(targets).to(logits.device))
