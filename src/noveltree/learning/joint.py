"""The learner of N-CPL+: one trunk with two heads, trained a little after every round from all that is kept.

The value head is trained in units of a scale, the spread of its targets, so that games that pay in thousands are
learnt like games that pay in ones. Agents play with an average of the weights over the last steps, in which the
value head has the game's own units.

Some episodes are never trained on: they say how far values can be trusted, and agents play with values that are
shrunk by that.
"""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from noveltree.errors import LearningError
from noveltree.learning.architecture import MNIH_2013, MNIH_2015, SMALL, Architecture, Head, Weights
from noveltree.learning.experience import CriticalPath, inputs_of_path
from noveltree.learning.foresight import FORESIGHT
from noveltree.learning.inference import make_inference
from noveltree.learning.inputs import InputShape
from noveltree.learning.learner import Learner, Losses
from noveltree.learning.networks import Network
from noveltree.learning.optimiser import read_moments, write_moments, zero_moments
from noveltree.learning.sampling import recent, shifted
from noveltree.learning.settings import JointSettings
from noveltree.learning.snapshot import Snapshot
from noveltree.learning.trust import trust_in
from noveltree.learning.value_targets import MonteCarlo
from noveltree.lookahead import POLICY, VALUE

#: The network's name in snapshots: its weights there are those that agents play with.
JOINT = "joint"
#: How many transitions of episodes that are held out judge the values.
_JUDGES = 600
#: How many inputs the networks in training are asked about at once.
_AT_ONCE = 1024
_TRUNKS = {"mnih-2013": MNIH_2013, "mnih-2015": MNIH_2015}


class JointLearner(Learner):
    """Trains when an interval is closed, on samples of all transitions, of the newest most often."""

    def __init__(self, snapshot: Snapshot, settings: JointSettings, *, device: str = "cpu") -> None:
        super().__init__(snapshot.networks[JOINT].input)
        self.settings = settings
        self._device = device
        self._architecture = snapshot.networks[JOINT]
        self._heads = self._architecture.head_layers
        self._targets: dict[CriticalPath, NDArray[np.float32]] = {}
        self.restore(snapshot)

    def restore(self, snapshot: Snapshot) -> None:
        weights, counters = snapshot.weights, snapshot.counters
        self.network = Network(self._architecture, weights["trained"], device=self._device)
        self._average = Network(self._architecture, weights["average"], device=self._device)
        self._optimiser = torch.optim.Adam(self.network.parameters(), lr=self.settings.learning_rate, fused=True)
        write_moments(self.network.layers, self._optimiser, weights, counters["optimiser_steps"])
        #: What one unit of the value head is worth, and by how much values are shrunk when they are deployed.
        self.scale, self.trust = weights["scale"]["value"][0], weights["scale"]["trust"][0]
        #: Transitions since the last training, and since the targets of values were last computed.
        self._new, self._since_refresh = counters["new"], counters["since_refresh"]
        self._use_target(weights["target"])

    def take_in(self, path: CriticalPath, *, rng: np.random.Generator) -> Losses:
        self._new += len(path)
        self._since_refresh += len(path)
        return super().take_in(path, rng=rng)

    def close_interval(self, *, rng: np.random.Generator) -> Losses:
        held = len(self.experience)
        if not held:
            return {}
        if self._since_refresh >= self.settings.refresh * held:
            self._refresh()
        batches = max(1, self._new * self.settings.samples // self.settings.batch)
        policies = self._policy_targets()
        foresight = self._foresight(policies)
        self._new = 0
        trained_on = self._trained_on()
        if not len(trained_on):
            return {}
        losses = [self._step(trained_on, policies, rng) for _ in range(batches)]
        means = {head: float(np.mean([each[head] for each in losses])) for head in self._heads}
        if not np.isfinite(list(means.values())).all():
            raise LearningError("The loss of the networks is not a finite number.")
        if VALUE in self._heads:
            self._measure_trust()
        return {**{head: [mean] for head, mean in means.items()}, FORESIGHT: foresight}

    def keep(self, count: int, *, drop_newest: int = 0) -> None:
        super().keep(count, drop_newest=drop_newest)
        if drop_newest:  # what they are followed by is not what it was
            self._targets.clear()
        held = {*self.experience.paths}
        self._targets = {path: targets for path, targets in self._targets.items() if path in held}

    def snapshot(self) -> Snapshot:
        moments, steps = read_moments(self.network.layers, self._optimiser)
        average = self._average.weights()
        return Snapshot(
            networks={JOINT: self._architecture},
            deployed=True,
            weights={
                JOINT: self._in_units(average, self.scale * self.trust),
                "trained": self.network.weights(),
                "average": average,
                "target": self._target,
                "scale": {
                    "value": np.array([self.scale], dtype=np.float32),
                    "trust": np.array([self.trust], dtype=np.float32),
                },
                **moments,
            },
            counters={"optimiser_steps": steps, "new": self._new, "since_refresh": self._since_refresh},
        )

    def _is_held_out(self, path: CriticalPath) -> bool:
        return VALUE in self._heads and path.episode is not None and path.episode[1] % self.settings.hold_out == 0

    def _trained_on(self) -> NDArray[np.int64]:
        """The numbers of the transitions that are trained on, oldest first."""
        first, numbers = 0, []
        for path in self.experience.paths:
            if not self._is_held_out(path):
                numbers.append(np.arange(first, first + len(path)))
            first += len(path)
        return np.concatenate(numbers) if numbers else np.empty(0, dtype=np.int64)

    def _measure_trust(self) -> None:
        """Judge the values by the newest of what is held out."""
        episodes: dict[tuple[int, int], list[CriticalPath]] = {}
        count = 0
        for path in reversed(self.experience.paths):
            if self._is_held_out(path) and len(path) and count < _JUDGES:
                assert path.episode is not None
                episodes.setdefault(path.episode, []).insert(0, path)
                count += len(path)
        weights = self._in_units(self._average.weights(), self.scale)
        network = make_inference(self._architecture, weights, device=self._device)

        def values_of(path: CriticalPath) -> NDArray[np.float32]:
            return network(inputs_of_path(path, self.experience.shape), (VALUE,))[VALUE]

        targets = self.settings.value_targets
        returns = MonteCarlo(discount=targets.discount, lives=targets.lives)
        self.trust = np.float32(trust_in(episodes.values(), values_of, returns))

    def _policy_targets(self) -> NDArray[np.float32]:
        actions = next((head.units for head in self._architecture.heads if head.name == POLICY), None)
        if actions is None:
            return np.empty((0, 0), dtype=np.float32)
        return self.settings.policy_targets.targets(self.experience.paths, actions)

    def _foresight(self, policies: NDArray[np.float32]) -> list[float]:
        """The loss of the deployed policy on what is new, before it is trained on it, per unit of weight.

        Rewards come and go with the place that an episode has come to; this falls only by learning.
        """
        held = len(self.experience)
        new = np.arange(max(0, held - self._new), held)
        if POLICY not in self._heads or not policies[new].any():
            return []
        total = 0.0
        for some in np.array_split(new, -(-len(new) // _AT_ONCE)):  # an interval may hold thousands
            with torch.no_grad():
                logits = self._average(torch.from_numpy(self.experience.inputs(some)))[POLICY]
            total += float(_cross_entropy(logits, policies[some])) * len(some)
        return [total / float(policies[new].sum())]

    def _step(
        self, numbers: NDArray[np.int64], policies: NDArray[np.float32], rng: np.random.Generator
    ) -> dict[str, float]:
        """One batch of the transitions with these numbers; the loss of each head."""
        settings = self.settings
        transitions = numbers[recent(len(numbers), settings.batch, settings.half_life, rng=rng)]
        inputs = self.experience.inputs(transitions)
        if self._architecture.input.image and settings.shift:
            inputs = shifted(inputs, settings.shift, rng=rng)
        outputs = self.network(torch.from_numpy(inputs))
        losses = {}
        if POLICY in self._heads:
            losses[POLICY] = _cross_entropy(outputs[POLICY], policies[transitions])
        if VALUE in self._heads:
            places = map(self.experience.locate, transitions.tolist())
            targets = np.array([self._targets_of(path)[time] for path, time in places], dtype=np.float32)
            losses[VALUE] = _huber(outputs[VALUE], targets / self.scale)
        self._optimiser.zero_grad(set_to_none=True)
        sum(losses.values()).backward()  # type: ignore[union-attr]
        nn.utils.clip_grad_norm_(self.network.parameters(), settings.gradient_norm)
        self._optimiser.step()
        with torch.no_grad():
            for mean, parameter in zip(self._average.parameters(), self.network.parameters(), strict=True):
                mean.lerp_(parameter, 1.0 - settings.average)
        return {head: float(loss.detach()) for head, loss in losses.items()}

    def _refresh(self) -> None:
        """Compute the targets of values anew from the average as it is now, and their scale."""
        self._since_refresh = 0
        if VALUE not in self._heads:
            return
        self._use_target(self._in_units(self._average.weights(), self.scale))
        targets = np.concatenate([self._targets_of(path) for path in self.experience.paths if len(path)])
        scale = np.float32(max(float(np.sqrt(np.mean(np.square(targets)))), self.settings.smallest_scale))
        # What the heads say in the game's units stays as it is.
        for network in (self.network, self._average):
            head = network.layers[self._heads[VALUE]]
            with torch.no_grad():
                for parameter in head.parameters():
                    parameter.mul_(float(self.scale / scale))
        self.scale = scale

    def _in_units(self, weights: Weights, unit: np.float32) -> Weights:
        """The same network with values in another unit."""
        head = self._heads.get(VALUE)
        scaled = (f"{head}.weight", f"{head}.bias")
        return {name: array * unit if name in scaled else array for name, array in weights.items()}

    def _use_target(self, target: Weights) -> None:
        self._target = target
        self._target_network = make_inference(self._architecture, target, device=self._device)
        self._targets.clear()

    def _targets_of(self, path: CriticalPath) -> NDArray[np.float32]:
        """The targets of a path's values, which do not change until they are computed anew."""
        if path not in self._targets:
            self._compute_targets()
        return self._targets[path]

    def _compute_targets(self) -> None:
        """Compute the targets of all paths that have none.

        Pieces of an episode are joined, so that a return goes on into the next piece; but those that came in after
        the targets were last computed anew are not, for what is known already does not change until then.
        """
        paths = self.experience.paths
        joined = len(self.experience) - self._since_refresh
        end = len(self.experience)
        #: The return from a time step of an episode on.
        following: dict[tuple[tuple[int, int] | None, int], float] = {}
        for path in reversed(paths):
            old, end = end <= joined, end - len(path)
            if path not in self._targets:
                values = self._target_network(inputs_of_path(path, self.experience.shape), (VALUE,))[VALUE]
                after = following.get((path.episode, path.first + len(path))) if old else None
                self._targets[path] = self.settings.value_targets.targets(path, values, after=after)
            if old and path.episode is not None and len(path):
                following[path.episode, path.first] = float(self._targets[path][0])


def initial_snapshot(
    shape: InputShape, actions: int, settings: JointSettings, *, rng: np.random.Generator
) -> Snapshot:
    """An untrained network, not deployed, whose heads say nothing: all actions alike, all values zero."""
    heads = {POLICY: Head(POLICY, "softmax", actions), VALUE: Head(VALUE, "scalar")}
    architecture = Architecture(
        shape,
        tuple(heads[name] for name in settings.heads.split("+")),
        _TRUNKS[settings.trunk] if shape.image else SMALL,
    )
    weights = architecture.initial_weights(rng=rng, start="glorot")
    for number in architecture.head_layers.values():
        weights[f"{number}.weight"][...] = 0.0
    return Snapshot(
        networks={JOINT: architecture},
        deployed=False,
        weights={
            **{part: weights for part in (JOINT, "trained", "average", "target")},
            "scale": {"value": np.ones(1, dtype=np.float32), "trust": np.zeros(1, dtype=np.float32)},
            **zero_moments(weights),
        },
        counters={"optimiser_steps": 0, "new": 0, "since_refresh": 0},
    )


def _cross_entropy(logits: torch.Tensor, targets: NDArray[np.float32]) -> torch.Tensor:
    """With targets that need not sum to 1: what they sum to is their weight."""
    logs = nn.functional.log_softmax(logits, dim=1)
    return -(torch.from_numpy(targets).to(logs.device) * logs).sum(dim=1).mean()


def _huber(values: torch.Tensor, targets: NDArray[np.float32]) -> torch.Tensor:
    return nn.functional.huber_loss(values.squeeze(1), torch.from_numpy(targets).to(values.device))
